"""Files decompressed as they are read, in bounded memory: gzip, Zstandard, bzip2 and xz.

A file's first bytes say how it is compressed; a suffix that says otherwise is refused. What a file
unpacks to is bounded by the part of it that was read: a bomb is noticed after 256 MiB, however
large it would become.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import IO, Any, BinaryIO

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, silent

MAX_DECOMPRESSED = 2**28
MAX_RATIO = 100
"""A compressed file is refused as soon as it has unpacked to more than this many bytes, and to
more than this many times what was read of it. Judgments, runs and qrels shrink by a factor of 5 to
30."""

COMPRESSIONS = {".gz": "gzip", ".zst": "Zstandard", ".bz2": "bzip2", ".xz": "xz"}
"""The kinds of compression, by suffix."""

_BUFFER = 1 << 18
_GZIP_FORMAT = 16 + zlib.MAX_WBITS
_MAGIC = {".gz": b"\x1f\x8b", ".zst": b"(\xb5/\xfd", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00"}


def split_compression(name: str) -> tuple[str, str]:
    """Split the suffix of a compression off a file's name.

    Parameters
    ----------
    name : str

    Returns
    -------
    rest : str
        The name without it.
    suffix : str
        In lower case; empty if the name has none of :data:`COMPRESSIONS`.

    Examples
    --------
    >>> split_compression("judgments.csv.GZ")
    ('judgments.csv', '.gz')
    """
    suffix = PurePath(name).suffix.lower()
    return (name[: -len(suffix)], suffix) if suffix in COMPRESSIONS else (name, "")


def find_compression(name: str, head: bytes) -> str:
    """Return how a file is compressed, by its first bytes.

    Parameters
    ----------
    name : str
        The name of the file, for its suffix and for the message.
    head : bytes
        At least its first 6 bytes.

    Returns
    -------
    str
        One of the suffixes of :data:`COMPRESSIONS`, or empty.

    Raises
    ------
    InputError
        If the suffix names a compression, and the file is not compressed, or by another one.

    Examples
    --------
    >>> find_compression("qrels.bz2", bz2.compress(b"q1 0 d1 2"))
    '.bz2'
    >>> find_compression("qrels.xz", b"q1 0 d1 2")
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: qrels.xz: is not compressed by xz, as its name says; rename it
    """
    _, named = split_compression(name)
    found = next((suffix for suffix, magic in _MAGIC.items() if head.startswith(magic)), "")
    if named and found != named and head:
        problem = f"is not compressed by {COMPRESSIONS[named]}, as its name says"
        remedy = f"it is by {COMPRESSIONS[found]}: name it {found}" if found else "rename it"
        raise InputError(problem, remedy, name)
    if named and not head:
        raise InputError("is empty, and not even compressed", "fetch it again", name)
    return found


class _Decompressed(io.RawIOBase):
    """What a compressed file unpacks to; its errors name the file."""

    def __init__(self, file: BinaryIO, compression: str, name: str) -> None:
        self._file, self._name, self._size = file, name, 0
        self._stream = _OPENERS[compression](file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._unpacked(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self._unpacked(_BUFFER), b""))

    def _unpacked(self, size: int) -> bytes:
        try:
            found: bytes = self._stream.read(size)
        except EOFError as error:
            raise self._cut_short() from error
        except (zlib.error, lzma.LZMAError, OSError) as error:
            if "runcated" in str(error):  # what pyarrow says
                raise self._cut_short() from error
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"is damaged ({reason})", "fetch or compress it again", self._name
            ) from error
        self._size += len(found)
        if self._size > max(MAX_DECOMPRESSED, MAX_RATIO * self._file.tell()):
            problem = (
                f"holds more than {self._size / 2**20:,.0f} MiB, over {MAX_RATIO} times its "
                "compressed size"
            )
            raise InputError(problem, "decompress it first if that is right", self._name)
        return found

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._file.close()
        super().close()

    def _cut_short(self) -> InputError:
        return InputError("is cut short", "fetch or compress it again", self._name)


def _open_zstandard(file: BinaryIO) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")


class _GzipMembers:
    """What a gzip file unpacks to, in fewer and larger steps than the module gzip takes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._rest = file, b""
        self._member = zlib.decompressobj(_GZIP_FORMAT)

    def read(self, size: int) -> bytes:
        while True:
            if self._member.eof:
                self._rest = self._rest.lstrip(b"\0")
                while not self._rest:
                    more = self._file.read(_BUFFER)
                    if not more:
                        return b""
                    self._rest = more.lstrip(b"\0")
                self._member = zlib.decompressobj(_GZIP_FORMAT)
            packed = self._rest or self._file.read(_BUFFER)
            found = self._member.decompress(packed, size)
            self._rest = self._member.unconsumed_tail or self._member.unused_data
            if found:
                return found
            if not packed and not self._member.eof:
                raise EOFError

    def close(self) -> None:
        """Leave the file open, as the module gzip does."""


_OPENERS: dict[str, Callable[[BinaryIO], IO[bytes] | Any]] = {
    ".gz": _GzipMembers,
    ".zst": _open_zstandard,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}


class _CountedFile(io.FileIO):
    """A file that reports how much of it was read."""

    def __init__(self, path: Path, advance: Advance) -> None:
        super().__init__(path)
        self._advance, self._total = advance, os.fstat(self.fileno()).st_size

    def readinto(self, buffer: Any) -> int | None:
        found = super().readinto(buffer)
        self._advance(self.tell() if self.seekable() else 0, self._total)
        return found


def open_decompressed(path: Path, name: str = "", advance: Advance = silent) -> BinaryIO:
    """Open a file, decompressed as it is read if it is compressed.

    Parameters
    ----------
    path : pathlib.Path
    name : str, optional
        What to call it in messages; by default its path.
    advance : callable, optional
        Called with (bytes of the file read, bytes of the file).

    Returns
    -------
    binary file
        Not seekable if the file is compressed. Reading it raises the errors below, too.

    Raises
    ------
    InputError
        If it cannot be read or decompressed, its name says another compression, or it unpacks to
        more than both :data:`MAX_DECOMPRESSED` bytes and :data:`MAX_RATIO` times what was read.
    """
    name = name or str(path)
    try:
        file = io.BufferedReader(_CountedFile(path, advance), _BUFFER)
    except FileNotFoundError as error:
        raise InputError("no such file", "check the path", name) from error
    except OSError as error:
        raise _unreadable(error, name) from error
    try:
        compression = find_compression(name, file.peek(6)[:6])
        if not compression:
            return file
        return io.BufferedReader(_Decompressed(file, compression, name), _BUFFER)
    except OSError as error:
        file.close()
        raise _unreadable(error, name) from error
    except InputError:
        file.close()
        raise


def read_content(path: Path) -> bytes:
    """Read a whole file, decompressed if it is compressed.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    bytes

    Raises
    ------
    InputError
        As :func:`open_decompressed`.
    """
    with open_decompressed(path) as file:
        try:
            return file.read()
        except OSError as error:
            raise _unreadable(error, str(path)) from error


def compress_as_named(content: bytes, name: str) -> bytes:
    """Compress what a file will hold as its name says.

    Parameters
    ----------
    content : bytes
    name : str
        If it ends in none of :data:`COMPRESSIONS`, the content stays as it is.

    Returns
    -------
    bytes
        The same for the same content.

    Examples
    --------
    >>> gzip.decompress(compress_as_named(b"2 0 1", "lists.gz"))
    b'2 0 1'
    """
    compress = _COMPRESS.get(split_compression(name)[1])
    return content if compress is None else compress(content)


def _compress_zstandard(content: bytes) -> bytes:
    import pyarrow as pa

    return bytes(pa.compress(content, codec="zstd", asbytes=True))


_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".zst": _compress_zstandard,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def _unreadable(error: OSError, name: str) -> InputError:
    reason = error.strerror or str(error)
    return InputError(f"cannot be read ({reason})", "check the file", name)
