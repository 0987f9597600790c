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
from dcglearn.base.tables.old.compressed import split_compression

Place = str | os.PathLike[str] | IO[bytes] | IO[str]
"""A path, a pattern, a folder, ``-`` for standard input, or an open file."""

STANDARD_INPUT = "standard input"

_BLOCK = 1 << 20
_PARTITION = re.compile(r"([^=]+)=(.*)")
_MISSING = "__HIVE_DEFAULT_PARTITION__"


class TemporaryCopies:
    """Copies of what can be read only once, removed with the last source that reads one."""

    @cached_property
    def _folder(self) -> Path:
        folder = tempfile.mkdtemp(prefix="dcglearn-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def add(self, content: Any, name: str) -> Path:
        """Copy the rest of an open file.

        Parameters
        ----------
        content : file
            Binary, or text, which becomes UTF-8.
        name : str
            For messages.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            If it cannot be read, or copied.
        """
        try:
            path = self._folder / str(len(list(self._folder.iterdir())))
            with path.open("wb") as copy:
                for block in _blocks(content):
                    copy.write(block)
        except UnicodeError as error:
            problem = f"is not text of its encoding ({error.reason})"  # type: ignore[attr-defined]  # of both kinds of UnicodeError
            raise InputError(problem, "open it as a binary file", name) from error
        except OSError as error:
            problem = f"cannot be copied ({error.strerror or error})"
            raise InputError(problem, "save a file", name) from error
        return path


def _blocks(content: Any) -> Iterator[bytes]:
    while block := content.read(_BLOCK):
        yield block.encode() if isinstance(block, str) else block


@dataclass(frozen=True)
class Part:
    """A file that can be opened again and again.

    Attributes
    ----------
    name : str
        For messages.
    path : pathlib.Path
    named : bool
        Whether the name must say what the file is; that of an open file may be any.
    partition : dict
        From keys to values, of folders on the way to the file that are named ``key=value``, as
        Hive names them.
    """

    name: str
    path: Path
    named: bool = True
    partition: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PartGroup:
    """The files of one place.

    Attributes
    ----------
    name : str
        The place.
    parts : list of Part
    notes : list of str
        What was left out.
    """

    name: str
    parts: list[Part]
    notes: list[str] = field(default_factory=list)


def expand_places(places: Place | Iterable[Place], copies: TemporaryCopies) -> list[PartGroup]:
    """Return the files of places.

    Parameters
    ----------
    places : place or iterable of places
    copies : TemporaryCopies
        Where pipes and open files are copied to.

    Returns
    -------
    list of PartGroup
        In the order of the places; the files of a pattern or folder by name.

    Raises
    ------
    InputError
        If a place is not there or holds no file, or a file appears twice.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("part-1.csv", "part-0.csv", "_SUCCESS", ".part-0.csv.crc"):
    ...         _ = Path(folder, name).write_text("a,b,answer")
    ...     (group,) = expand_places(folder, TemporaryCopies())
    >>> [part.path.name for part in group.parts], group.notes
    (['part-0.csv', 'part-1.csv'], ['2 hidden files are left out'])
    """
    if hasattr(places, "read") or not isinstance(places, list | tuple | Iterator):
        places = [cast(Place, places)]
    seen: dict[Any, str] = {}
    groups = []
    for place in places:
        group = _expand(place, copies, seen)
        for part in group.parts:
            about = part.path.stat()
            key = (about.st_dev, about.st_ino)
            if key in seen:
                other = "" if seen[key] == part.name else f" (as {seen[key]}, too)"
                raise InputError(f"appears twice{other}", "name it once", part.name)
            seen[key] = part.name
        groups.append(group)
    if not groups:
        raise InputError("no file", "name at least one")
    return groups


def _expand(place: Any, copies: TemporaryCopies, seen: dict[Any, str]) -> PartGroup:
    if hasattr(place, "read") or (isinstance(place, str) and place == "-"):
        name, content = _open_file(place)
        if id(content) in seen:
            raise InputError("appears twice", "name it once", name)
        seen[id(content)] = name
        return _copied(content, name, copies, named=False)
    if not isinstance(place, str | os.PathLike):
        problem = f"a place of type {type(place).__name__}"
        raise InputError(problem, "give a path, a pattern, a folder or an open file")
    path, name = Path(place), os.fspath(place)
    if "\0" in name:
        raise InputError("no such file", "check the path", name)
    try:
        if path.is_dir():
            return _folder_parts(path, name)
        if not path.exists():
            return _matching(name)
        if not path.is_file():  # a pipe
            with path.open("rb") as content:
                return _copied(content, name, copies)
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        raise InputError(problem, "check the path and its permissions", name) from error
    return PartGroup(name, [Part(name, path, partition=_partition(path))])


def _open_file(place: Any) -> tuple[str, Any]:
    """Return a name for an open file or standard input, and the file."""
    if place == "-":
        return STANDARD_INPUT, getattr(sys.stdin, "buffer", sys.stdin)
    name = getattr(place, "name", None)
    return (split_compression(name)[0] if isinstance(name, str) else "an open file"), place


def _copied(content: Any, name: str, copies: TemporaryCopies, named: bool = True) -> PartGroup:
    return PartGroup(name, [Part(name, copies.add(content, name), named)])


def _folder_parts(folder: Path, name: str) -> PartGroup:
    return _group(name, list(_files_below(folder, name)), "is a folder without files of records")


def _files_below(folder: Path, name: str) -> Iterator[Path]:
    """Iterate over the files of a folder and of its partitions, by name."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name == "_delta_log":
            problem = "is a table of Delta Lake, some of whose files may be out of date"
            raise InputError(problem, "export the table as Parquet", name)
        if not path.is_dir() or _is_hidden(path):
            yield path
        elif _PARTITION.fullmatch(path.name):
            yield from _files_below(path, name)
        else:
            inside = next((one for one in sorted(path.rglob("*.*")) if one.is_file()), path / "*")
            depth = len(inside.relative_to(folder).parts) - 1
            suffix = inside.name[len(Path(split_compression(inside.name)[0]).stem) :]
            pattern = "/".join((str(folder), *("*" * depth), "*" + suffix))
            raise InputError(
                f"holds the folder {path.name}", f"name the files in quotes: {pattern!r}", name
            )


def _partition(path: Path) -> dict[str, str]:
    """Return the values that the names of the folders of a file hold: ``date=2026-01-01``."""
    found = filter(None, map(_PARTITION.fullmatch, path.parts[:-1]))
    values = {unquote(one[1]): unquote(one[2]) for one in found}
    return {key: "" if value == _MISSING else value for key, value in values.items()}


def _matching(pattern: str) -> PartGroup:
    if not glob.has_magic(pattern):
        raise InputError("no such file", "check the path", pattern)
    names = glob.glob(pattern, recursive=True, include_hidden=True)  # noqa: PTH207 - Path's are relative
    found = sorted(map(Path, names))
    return _group(pattern, [path for path in found if path.is_file()], "no file matches")


def _group(name: str, paths: list[Path], empty: str) -> PartGroup:
    """Return the files that are not hidden; refuse none at all, and one in two compressions."""
    kept = [path for path in paths if not _is_hidden(path)]
    hidden = len(paths) - len(kept)
    notes = (
        [f"{counted(hidden, 'hidden file')} {'is' if hidden == 1 else 'are'} left out"]
        if hidden
        else []
    )
    if not kept:
        remedy = "put files there that do not begin with . or _" if hidden else "check the path"
        raise InputError(empty, remedy, name)
    plain: dict[str, Path] = {}
    for path in kept:
        other = plain.setdefault(split_compression(str(path))[0], path)
        if other is not path:
            raise InputError(f"holds {other.name} and {path.name}", "keep one of them", name)
    parts = [Part(str(path), path, partition=_partition(path)) for path in kept]
    return PartGroup(name, parts, notes)


def _is_hidden(path: Path) -> bool:
    """Return whether a file is not data: of the file system, or a note of Spark or Hadoop."""
    return path.name.startswith((".", "_")) or path.suffix.lower() == ".crc"
