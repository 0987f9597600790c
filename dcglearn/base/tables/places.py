"""The files that places name: paths, patterns, folders of parts, standard input and open files."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple, cast
from urllib.parse import unquote

from dcglearn.base.errors import InputError
from dcglearn.base.tables.text import guarded

Place = str | os.PathLike[str] | IO[bytes] | IO[str]
"""``-`` is standard input."""

_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class TemporaryCopies:
    """Copies of what can be read only once, removed with the last source."""

    @cached_property
    def _folder(self) -> Path:
        folder = tempfile.mkdtemp(prefix="dcglearn-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def new_path(self) -> Path:
        """Return the path of a file that does not exist yet."""
        return self._folder / os.urandom(6).hex()

    def add(self, content: Any, name: str) -> Path:
        """Copy the rest of an open file, of bytes or of text."""
        path = self.new_path()
        with guarded(name), path.open("wb") as copy:
            while block := content.read(1 << 20):
                copy.write(block.encode() if isinstance(block, str) else block)
        return path


class Part(NamedTuple):
    """A file, and the columns that the names of folders give."""

    name: str
    path: Path
    partition: dict[str, str]


def expand_places(
    places: Place | Iterable[Place], copies: TemporaryCopies
) -> list[tuple[str, list[Part]]]:
    """Return each place's name and files; a file that appears twice is refused."""
    if hasattr(places, "read") or not isinstance(places, list | tuple | Iterator):
        places = [cast(Place, places)]
    found = [_expand(place, copies) for place in places]
    if not found:
        raise InputError("no file", "name at least one")
    seen = set()
    for part in (part for _, parts in found for part in parts):
        about = part.path.stat()
        if (key := (about.st_dev, about.st_ino)) in seen:
            raise InputError("appears twice", "name it once", part.name)
        seen.add(key)
    return found


def _expand(place: Any, copies: TemporaryCopies) -> tuple[str, list[Part]]:
    if hasattr(place, "read"):
        given = getattr(place, "name", None)
        name = given if isinstance(given, str) else "an open file"
        return name, [Part(name, copies.add(place, name), {})]
    if os.fspath(place) == "-":
        stdin = getattr(sys.stdin, "buffer", sys.stdin)
        return "-", [Part("standard input", copies.add(stdin, "standard input"), {})]
    path, name = Path(place), os.fspath(place)
    with guarded(name):
        if path.is_file():
            return name, [Part(name, path, _partition(path))]
        if path.exists() and not path.is_dir():  # a pipe
            with path.open("rb") as content:
                return _expand(content, copies)
        found = glob.glob(name, recursive=True)  # noqa: PTH207 - Path's are relative
        files = _files_below(path, name) if path.is_dir() else map(Path, found)
        kept = [one for one in sorted(files) if not _is_hidden(one) and one.is_file()]
    if not kept:
        problem = "is a folder without files" if path.is_dir() else "no such file"
        raise InputError(problem, "check the path", name)
    return name, [Part(str(one), one, _partition(one)) for one in kept]


def _files_below(folder: Path, name: str) -> Iterator[Path]:
    """Iterate over the files of a folder and of its partitions (``key=value``)."""
    for path in folder.iterdir():
        if not path.is_dir():
            yield path
        elif path.name == "_delta_log":
            problem = "is a table of Delta Lake, some of whose files may be out of date"
            raise InputError(problem, "export the table as Parquet", name)
        elif "=" in path.name:
            yield from _files_below(path, name)
        elif not _is_hidden(path):
            pattern = str(folder / "**" / "*")
            remedy = f"name the files by a pattern in quotes, such as {pattern!r}"
            raise InputError(f"holds the folder {path.name}", remedy, name)


def _partition(path: Path) -> dict[str, str]:
    pairs = (folder.split("=", 1) for folder in path.parts[:-1] if "=" in folder)
    return {unquote(k): "" if value == _NULL_PARTITION else unquote(value) for k, value in pairs}


def _is_hidden(path: Path) -> bool:
    """Return whether a file is not data: of the file system, or a note of Spark or Hadoop."""
    return path.name.startswith((".", "_")) or path.suffix.lower() == ".crc"
