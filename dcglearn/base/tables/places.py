"""The files that places name: paths, patterns, folders of parts, standard input and open files."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import unquote

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted

Place = str | os.PathLike[str] | IO[bytes] | IO[str]
"""A path, a pattern, a folder, ``-`` for standard input, or an open file."""

_PARTITION = re.compile(r"([^=]+)=(.*)")
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class TemporaryCopies:
    """Copies of what can be read only once, removed with the last source that reads one."""

    @cached_property
    def _folder(self) -> Path:
        folder = tempfile.mkdtemp(prefix="dcglearn-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def add(self, content: Any, name: str) -> Path:
        """Copy the rest of an open file, of bytes or of text."""
        path = self._folder / str(len(list(self._folder.iterdir())))
        try:
            with path.open("wb") as copy:
                while block := content.read(1 << 20):
                    copy.write(block.encode() if isinstance(block, str) else block)
        except UnicodeError as error:
            raise InputError("is not text of its encoding", "open it as binary", name) from error
        except OSError as error:
            problem = f"cannot be copied ({error.strerror or error})"
            raise InputError(problem, "save a file", name) from error
        return path


@dataclass(frozen=True)
class Part:
    """A file that can be opened again and again, and the columns that the names of folders give."""

    name: str
    path: Path
    partition: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PartGroup:
    """The files of one place, and a line about each thing that is left out."""

    name: str
    parts: list[Part]
    notes: list[str] = field(default_factory=list)


def expand_places(places: Place | Iterable[Place], copies: TemporaryCopies) -> list[PartGroup]:
    """Return the files of places in order; a file that appears twice is refused."""
    if hasattr(places, "read") or not isinstance(places, list | tuple | Iterator):
        places = [cast(Place, places)]
    seen: dict[object, str] = {}
    groups = [_expand(place, copies, seen) for place in places]
    if not groups:
        raise InputError("no file", "name at least one")
    for part in (part for group in groups for part in group.parts):
        about = part.path.stat()
        if (key := (about.st_dev, about.st_ino)) in seen:
            raise InputError("appears twice", "name it once", part.name)
        seen[key] = part.name
    return groups


def _expand(place: Any, copies: TemporaryCopies, seen: dict[object, str]) -> PartGroup:
    if hasattr(place, "read") or (isinstance(place, str) and place == "-"):
        name, content = _open_file(place)
        if id(content) in seen:
            raise InputError("appears twice", "name it once", name)
        seen[id(content)] = name
        return PartGroup(name, [Part(name, copies.add(content, name))])
    if not isinstance(place, str | os.PathLike):
        problem = f"a place of type {type(place).__name__}"
        raise InputError(problem, "give a path, a pattern, a folder or an open file")
    path, name = Path(place), os.fspath(place)
    try:
        if path.is_dir():
            return _group(name, list(_files_below(path, name)), "is a folder without files")
        if not path.exists():
            return _matching(name)
        if not path.is_file():  # a pipe
            with path.open("rb") as content:
                return PartGroup(name, [Part(name, copies.add(content, name))])
    except (OSError, ValueError) as error:  # ValueError: a null character
        if isinstance(error, InputError):
            raise
        problem = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise InputError(problem, "check the path and its permissions", name) from error
    return PartGroup(name, [Part(name, path, _partition(path))])


def _open_file(place: Any) -> tuple[str, Any]:
    if place == "-":
        return "standard input", getattr(sys.stdin, "buffer", sys.stdin)
    name = getattr(place, "name", None)
    return name if isinstance(name, str) else "an open file", place


def _files_below(folder: Path, name: str) -> Iterator[Path]:
    """Iterate over the files of a folder and of its partitions (``key=value``), by name."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name == "_delta_log":
            problem = "is a table of Delta Lake, some of whose files may be out of date"
            raise InputError(problem, "export the table as Parquet", name)
        if not path.is_dir() or _is_hidden(path):
            yield path
        elif _PARTITION.fullmatch(path.name):
            yield from _files_below(path, name)
        else:
            pattern = str(folder / "**" / "*")
            remedy = f"name the files by a pattern in quotes, such as {pattern!r}"
            raise InputError(f"holds the folder {path.name}", remedy, name)


def _partition(path: Path) -> dict[str, str]:
    found = filter(None, map(_PARTITION.fullmatch, path.parts[:-1]))
    values = {unquote(one[1]): unquote(one[2]) for one in found}
    return {key: "" if value == _NULL_PARTITION else value for key, value in values.items()}


def _matching(pattern: str) -> PartGroup:
    if not glob.has_magic(pattern):
        raise InputError("no such file", "check the path", pattern)
    names = glob.glob(pattern, recursive=True, include_hidden=True)  # noqa: PTH207 - Path's are relative
    paths = [path for path in sorted(map(Path, names)) if path.is_file()]
    return _group(pattern, paths, "no file matches")


def _group(name: str, paths: list[Path], empty: str) -> PartGroup:
    """Return the files that are not hidden; refuse none at all."""
    kept = [path for path in paths if not _is_hidden(path)]
    hidden = len(paths) - len(kept)
    if not kept:
        remedy = "put files there that do not begin with . or _" if hidden else "check the path"
        raise InputError(empty, remedy, name)
    are = "is" if hidden == 1 else "are"
    notes = [f"{counted(hidden, 'hidden file')} {are} left out"] if hidden else []
    return PartGroup(name, [Part(str(path), path, _partition(path)) for path in kept], notes)


def _is_hidden(path: Path) -> bool:
    """Return whether a file is not data: of the file system, or a note of Spark or Hadoop."""
    return path.name.startswith((".", "_")) or path.suffix.lower() == ".crc"
