"""The bytes of files: decompressed, and text as UTF-8, with faults named by their line.

Gzip, Zstandard and bzip2 are unpacked by Arrow, xz by Python. Text is UTF-8, or UTF-16 if it
begins with its byte order mark, or what the caller says.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, silent

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
"""The kinds of compression, by suffix."""

_MAGIC = {".gz": b"\x1f\x8b", ".zst": b"(\xb5/\xfd", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00"}
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_BUFFER = 1 << 14
_CHUNK = 1 << 20


def split_compression(name: str) -> tuple[str, str]:
    """Split the suffix of a compression off a file's name; ``""`` if there is none."""
    suffix = PurePath(name).suffix.lower()
    return (name[: -len(suffix)], suffix) if suffix in COMPRESSIONS else (name, "")


@contextmanager
def guarded(name: str, what: str = "") -> Iterator[None]:
    """Turn any exception of a foreign reader into the error of a damaged file.

    Readers of other libraries raise what they like on damaged bytes: this is their one door.
    """
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError("no such file", "check the path", name) from error
    except PermissionError as error:
        raise InputError("cannot be read (permission denied)", "check the file", name) from error
    except Exception as error:
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        damaged = f"is damaged, or not {what}" if what else "is damaged"
        raise InputError(f"{damaged} ({reason})", "fetch or write it again", name) from error


class _Chunks(io.RawIOBase):
    """Bytes that a function gives chunk by chunk, ``b""`` at the end."""

    def __init__(self, following: Callable[[int], bytes], close: Callable[[], None]) -> None:
        self._following, self._close = following, close
        self._ready, self._at = b"", 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._at == len(self._ready):
            self._ready, self._at = self._following(min(len(buffer), _CHUNK)), 0
        found = self._ready[self._at : self._at + len(buffer)]
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()


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
    """Open a file, decompressed as it is read if its first bytes are those of a compression."""
    name = name or str(path)
    with guarded(name):
        file = io.BufferedReader(_CountedFile(path, advance), _BUFFER)
        head = file.peek(6)[:6]
    found = next((suffix for suffix, magic in _MAGIC.items() if head.startswith(magic)), "")
    named = split_compression(path.name)[1]  # an open file may be one that unpacks it
    if named and found != named:
        file.close()
        is_what = f"is compressed by {COMPRESSIONS[found]}" if found else "is not compressed"
        problem = f"{is_what}, and its name says {COMPRESSIONS[named]}"
        raise InputError(problem, "fetch it again, or rename it", name)
    if not found:
        return file
    with guarded(name):
        stream = _decompressor(file, found)

    def following(size: int) -> bytes:
        with guarded(name, COMPRESSIONS[found]):
            return bytes(stream.read(size))

    return io.BufferedReader(_Chunks(following, file.close), _BUFFER)


def _decompressor(file: BinaryIO, compression: str) -> Any:
    if compression == ".xz":
        return lzma.LZMAFile(file)
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(file, "r"), COMPRESSIONS[compression])


def open_text(
    path: Path, name: str, encoding: str = "utf-8", advance: Advance = silent
) -> BinaryIO:
    """Open a text file as UTF-8 without a byte order mark."""
    file = open_decompressed(path, name, advance)
    with guarded(name):
        head = file.peek(3)[:3]  # type: ignore[attr-defined]  # a BufferedReader
    marked = next((mark for mark in _MARKS if head.startswith(mark)), b"")
    if marked:
        file.read(len(marked))
        encoding = _MARKS[marked]
    try:
        decoder = _Decoder(file, name, encoding)
    except InputError:
        file.close()
        raise
    return io.BufferedReader(_Chunks(decoder.chunk, file.close), _BUFFER)


class _Decoder:
    """Decodes a file chunk by chunk; a chunk does not end between the halves of a line end."""

    def __init__(self, file: BinaryIO, name: str, encoding: str) -> None:
        self._file, self._name, self._encoding = file, name, encoding
        try:
            "".encode(encoding)  # refuses codecs of bytes, such as base64
            self._decoder = codecs.getincrementaldecoder(encoding)()
        except LookupError as error:
            raise InputError(
                f"`encoding` is {encoding!r}", "use utf-8, latin-1 ...", name
            ) from error
        self._as_is = codecs.lookup(encoding).name == "utf-8"
        self._lines, self._held = 1, b""

    def chunk(self, size: int) -> bytes:
        import numpy as np  # which help texts do without

        with guarded(self._name):
            read = self._file.read(size)
        if self._as_is and read.isascii() and not self._decoder.getstate()[0]:
            text = read
        else:
            text = self._decoded(read)
        if b"\0" in text:
            raise InputError(
                "holds zero bytes: it is not text", "save it as UTF-8 text", self._name
            )
        text, self._held = self._held + text, b""
        if text.endswith(b"\r") and read:
            text, self._held = text[:-1], b"\r"
        if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
            before = text.replace(b"\r\n", b"\n\n").partition(b"\r")[0]
            line = self._lines + text.count(b"\n", 0, len(before))
            problem = "a carriage return without a line feed"
            remedy = r"save it with line ends \n or \r\n"
            raise InputError(problem, remedy, f"{self._name}, line {line}")
        self._lines += int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))
        return text if text or not read else self.chunk(size)

    def _decoded(self, read: bytes) -> bytes:
        try:
            text = self._decoder.decode(read, final=not read)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(self._encoding, "replace")
            place = f"{self._name}, line {self._lines + before.count(chr(10))}"
            if not self._as_is:
                problem = f"is not {self._encoding} text"
                raise InputError(problem, "name another `encoding`", place) from error
            remedy = "save it as UTF-8, or name its encoding: `encoding='latin-1'`"
            raise InputError("is not UTF-8 text", remedy, place) from error
        return read if self._as_is else text.encode()


def whole_lines(file: BinaryIO, size: int = _CHUNK) -> Iterator[bytes]:
    """Read a text file in chunks of whole lines, each of about `size` bytes."""
    while chunk := file.read(size):
        yield chunk + file.readline() if not chunk.endswith(b"\n") else chunk


def compress_as_named(content: bytes, name: str) -> bytes:
    """Compress what a file will hold as its name says."""
    compression = split_compression(name)[1]
    if compression == ".gz":
        return gzip.compress(content, mtime=0)
    if compression == ".zst":
        import pyarrow as pa

        return bytes(pa.compress(content, codec="zstd", asbytes=True))
    if compression == ".bz2":
        return bz2.compress(content)
    return lzma.compress(content) if compression else content
