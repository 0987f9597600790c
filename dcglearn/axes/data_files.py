"""Data files that functions of one's own read: part of the cell, as their code is.

    @learner(reads={"table": "data/table.csv"})
    def mine(pairs, setting, rng, *, table): ...

The content of a declared file is read where the config is read. It travels with the code, and its
hash is part of the code's. The function receives the path of a copy. What a function opens besides
is noticed (:func:`files_read`), because a change of it would change results and recompute nothing.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError

LARGEST = 8 << 20
"""The largest file that travels with cells, in bytes."""

_COPIES = "dcglearn-reads-"
_SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/lib64")
_PROGRAMS = {".py", ".pyc", ".pyd", ".so", ".dll", ".dylib"}
_INSTALLED = {"site-packages", "dist-packages", "__pycache__"}


@dataclass(frozen=True)
class DataFile:
    """A file that a function reads, with its content.

    Attributes
    ----------
    option : str
        The parameter of the function that receives its path.
    name : str
        As it is declared.
    digest : str
        SHA-256 of the content, in hexadecimal.
    content : str
        Compressed by zlib, in base 64.
    """

    option: str
    name: str
    digest: str
    content: str

    def write(self, folder: Path) -> Path:
        """Write the file into a folder, with its name; return the path."""
        place = folder / self.option
        place.mkdir()
        path = place / Path(self.name).name
        path.write_bytes(zlib.decompress(base64.b64decode(self.content)))
        return path


@contextmanager
def copied(files: Sequence[DataFile]) -> Iterator[dict[str, Path]]:
    """Write files for one call of a function, so that nothing is left for the next one.

    Parameters
    ----------
    files : sequence of DataFile

    Yields
    ------
    dict from str to Path
        The paths, by the parameters of the function; empty without files.
    """
    if not files:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix=_COPIES) as folder:
        yield {file.option: file.write(Path(folder)) for file in files}


def data_files(reads: Mapping[str, str], root: Path, place: str) -> tuple[DataFile, ...]:
    """Read the files that a function declares.

    Parameters
    ----------
    reads : mapping from str to str
        Their names, by the parameters of the function.
    root : Path
        The folder from which they are named; the current folder is next.
    place : str
        The experiment file, as errors name it.

    Returns
    -------
    tuple of DataFile

    Raises
    ------
    InputError
        If a file cannot be read, or is too large to travel.
    """
    found = []
    for option, name in sorted(reads.items()):
        path = root / name if (root / name).exists() else Path(name)
        try:
            size = path.stat().st_size
            content = path.read_bytes() if size <= LARGEST else b""
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(
                f"declares that it reads {name!r}, which cannot be read ({why})",
                f"name it from {root}",
                place,
            ) from error
        if size > LARGEST:
            raise InputError(
                f"declares that it reads {name!r}, which is too large to travel with cells "
                f"({size / (1 << 20):,.0f} MiB of at most {LARGEST >> 20})",
                "make it smaller, or part of an installed package",
                place,
            )
        packed = base64.b64encode(zlib.compress(content)).decode()
        found.append(DataFile(option, name, hashlib.sha256(content).hexdigest(), packed))
    return tuple(found)


@dataclass
class FilesRead:
    """What a function opens to read, besides programs and what it wrote itself.

    Attributes
    ----------
    source : str
        The file of the function, as its frames name it.
    first : (str, int or None), optional
        The first file, and the line of `source` that opens it.
    """

    source: str
    first: tuple[str, int | None] | None = None
    _written: set[str] = field(default_factory=set)

    def note(self, opened: object, mode: object, flags: object) -> None:
        """Note that a file is opened."""
        if self.first is not None or not isinstance(opened, str | bytes):
            return
        path = os.path.realpath(os.fsdecode(opened))
        if _writes(mode, flags):
            self._written.add(path)
        elif path not in self._written and _is_data(Path(path)):
            self.first = os.fsdecode(opened), self._line()

    def _line(self) -> int | None:
        frame = sys._getframe()
        while frame is not None and frame.f_code.co_filename != self.source:
            frame = frame.f_back  # type: ignore[assignment]  # None above the outermost
        return frame.f_lineno if frame is not None else None


def _writes(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return bool(set(mode) & set("wax"))
    kept = flags & (os.O_ACCMODE | os.O_TRUNC | os.O_CREAT) if isinstance(flags, int) else 0
    return kept != os.O_RDONLY


def _is_data(path: Path) -> bool:
    """Return whether a file may be data of the experiment, and is not part of a program."""
    roots = (*_SYSTEM, sys.prefix, sys.base_prefix)
    return not (
        path.suffix in _PROGRAMS
        or _INSTALLED & set(path.parts)
        or any(part.startswith((".", _COPIES)) for part in path.parts)
        or any(path.is_relative_to(root) for root in roots)
        or not path.is_file()
    )


_LISTENING = threading.local()


@contextmanager
def files_read(source: str) -> Iterator[FilesRead]:
    """Notice which files this thread opens.

    What is opened by libraries without Python, as by Arrow, is not seen.

    Parameters
    ----------
    source : str
        The file of the function, as its frames name it.

    Yields
    ------
    FilesRead

    Examples
    --------
    >>> with files_read("mine.py") as seen, tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a").write_text("written here")
    ...     _ = Path(folder, "a").read_text()
    >>> seen.first is None
    True
    """
    _hear_opened_files()
    before, found = getattr(_LISTENING, "files", None), FilesRead(source)
    _LISTENING.files = found
    try:
        yield found
    finally:
        _LISTENING.files = before


@lru_cache(1)
def _hear_opened_files() -> None:
    """Add the hook, once for a process: Python removes none."""
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        files = getattr(_LISTENING, "files", None)
        if files is not None:
            files.note(*arguments)
