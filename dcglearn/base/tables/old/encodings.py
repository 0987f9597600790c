r"""Text in the encodings that people have, made UTF-8 as it is read, in bounded memory.

The encoding of a file is decided once. A byte order mark says UTF-8 or UTF-16; two ASCII characters
with a zero byte after (or before) each are UTF-16 without a mark, for zero bytes are not text.
Otherwise the first line that is not ASCII decides: if it is valid UTF-8 the file is UTF-8, else it
is Latin-1 (Windows-1252, whose bytes 0x80-0x9f are letters and quotes). A later line that
contradicts it, one that is not UTF-8 or, in Latin-1, one that is, mixes encodings: an error that
names both lines. Lines end with ``\n`` or ``\r\n``.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from typing import Any, BinaryIO

from dcglearn.base.errors import InputError
from dcglearn.base.text_lines import BYTE_ORDER_MARK, check_text

_CHUNK = 1 << 20
_FARTHEST_END = 1 << 16
"""A chunk is prolonged by at most so many bytes to end with an ASCII character."""

_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


class Utf8Stream(io.RawIOBase):
    r"""The text of a file as UTF-8 without a byte order mark.

    Parameters
    ----------
    file : binary file
        The text in its own encoding. It is closed with the stream.
    name : str
        For messages, which name the line.
    decided : callable, optional
        Called with ``UTF-16`` or ``Latin-1`` once the text is known to be.
    left_out : bytes, optional
        What is left out at the beginning of the UTF-8 text, but for its line breaks.

    Raises
    ------
    InputError
        As it is read: if encodings are mixed, the text is in none of them, or a carriage return
        does not end a line.

    Examples
    --------
    >>> io.BufferedReader(Utf8Stream(io.BytesIO("é\r\n".encode("utf-16")), "x")).read().decode()
    'é\r\n'
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        decided: Callable[[str], object] | None = None,
        left_out: bytes = b"",
    ) -> None:
        self._file, self._name, self._decided = file, name, decided
        self._left_out = left_out
        self._decode: Callable[[bytes, bool], bytes] = self._first
        self._lines = self._deciding_line = 0
        self._held = self._ready = b""
        self._at = 0
        self._ended = False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return the number of bytes, 0 at the end."""
        while self._at == len(self._ready) and not self._ended:
            self._ready, self._at = self._next(), 0
        size = min(len(buffer), len(self._ready) - self._at)
        buffer[:size] = self._ready[self._at : self._at + size]
        self._at += size
        return size

    def close(self) -> None:
        """Close the file, too."""
        if not self.closed:
            self._file.close()
        super().close()

    def _next(self) -> bytes:
        """Return the next chunk of text, of whole characters and no half of a line end."""
        chunk = self._chunk()
        self._ended = not chunk
        text = self._held + self._decode(chunk, self._ended)
        self._held = b""
        if text.endswith(b"\r") and not self._ended:
            text, self._held = text[:-1], b"\r"
        if b"\r" in text:
            self._check_line_ends(text)
        self._lines += text.count(b"\n")
        if self._left_out:
            rest = text.removeprefix(self._left_out)
            text = b"\n" * self._left_out.count(b"\n") + rest if len(rest) < len(text) else text
            self._left_out = b""
        return text

    def _chunk(self) -> bytes:
        """Return the next bytes, up to an ASCII character if there is one soon."""
        try:
            chunk = self._file.read(_CHUNK)
            tail: list[bytes] = []
            last = chunk[-1:]
            while last >= b"\x80" and len(tail) < _FARTHEST_END:
                last = self._file.read(1)
                tail.append(last)
        except OSError as error:
            problem = f"cannot be read ({error.strerror or error})"
            raise InputError(problem, "check the file", self._name) from error
        return b"".join((chunk, *tail))

    def _first(self, chunk: bytes, final: bool) -> bytes:
        """Decode the first chunk, whose byte order mark or zero bytes may name the encoding."""
        encoding, mark = _marked_encoding(chunk[:4])
        if encoding == "utf-32":
            raise InputError("is UTF-32 text", "save it as UTF-8", self._name)
        if not encoding:
            self._decode = self._ascii
        elif encoding == "utf-8":
            self._decode, self._deciding_line = self._utf_8(), 1
        else:
            self._decode = self._utf_16(encoding)
            self._decide("UTF-16")
        return self._decode(chunk[mark:], final)

    def _ascii(self, chunk: bytes, final: bool) -> bytes:
        """Return ASCII as it is; the first other line decides between UTF-8 and Latin-1."""
        found = None if chunk.isascii() else _NOT_ASCII.search(chunk)
        if found is None:
            return chunk
        line = _line_around(chunk, found.start())
        self._deciding_line = self._line_of(chunk, found.start())
        if _is_utf_8(line):
            self._decode = self._utf_8()
        else:
            self._decode = self._latin_1
            self._decide("Latin-1")
        return self._decode(chunk, final)

    def _utf_8(self) -> Callable[[bytes, bool], bytes]:
        decoder = codecs.getincrementaldecoder("utf-8")()

        def check(chunk: bytes, final: bool) -> bytes:
            if chunk.isascii() and not decoder.getstate()[0]:
                return chunk
            try:
                decoder.decode(chunk, final)
            except UnicodeDecodeError as error:
                before = len(error.object) - len(chunk)
                line = self._line_of(chunk, max(0, error.start - before))
                raise self._mixed(line, "is not UTF-8", "is") from error
            return chunk

        return check

    def _latin_1(self, chunk: bytes, _final: bool) -> bytes:
        for found in _UTF_8.finditer(chunk):
            if _is_utf_8(_line_around(chunk, found.start())):
                line = self._line_of(chunk, found.start())
                raise self._mixed(line, "is UTF-8", "is not")
        try:
            return chunk.decode("cp1252").encode()
        except UnicodeDecodeError as error:
            problem = f"the byte {error.object[error.start]:#x} is neither UTF-8 nor Latin-1"
            place = f"{self._name}, line {self._line_of(chunk, error.start)}"
            raise InputError(problem, "save it as UTF-8", place) from error

    def _utf_16(self, encoding: str) -> Callable[[bytes, bool], bytes]:
        decoder = codecs.getincrementaldecoder(encoding)()

        def decode(chunk: bytes, final: bool) -> bytes:
            try:
                return decoder.decode(chunk, final).encode()
            except UnicodeDecodeError as error:
                before = error.object[: error.start].decode(encoding).encode()
                place = f"{self._name}, line {self._line_of(before, len(before))}"
                problem = f"is not valid UTF-16 ({error.reason})"
                raise InputError(problem, "save it as UTF-8", place) from error

        return decode

    def _decide(self, encoding: str) -> None:
        if self._decided is not None:
            self._decided(encoding)

    def _line_of(self, text: bytes, place: int) -> int:
        return self._lines + text.count(b"\n", 0, place) + 1

    def _mixed(self, line: int, this: str, other: str) -> InputError:
        place = f"{self._name}, line {line}"
        if line == self._deciding_line:
            return InputError(f"{this} text", "save it as UTF-8", place)
        problem = f"mixed encodings: this line {this}, and line {self._deciding_line} {other}"
        return InputError(problem, "save the whole file as UTF-8", place)

    def _check_line_ends(self, text: bytes) -> None:
        if text.count(b"\r") != text.count(b"\r\n"):
            try:
                check_text(text, "")
            except InputError as error:
                line = self._lines + int(error.place.rpartition(" ")[2])
                raise InputError(
                    error.problem, error.remedy, f"{self._name}, line {line}"
                ) from error


def _marked_encoding(head: bytes) -> tuple[str, int]:
    """Return the encoding that the first bytes show, and the length of the byte order mark."""
    if head in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return "utf-32", 4
    if head.startswith(BYTE_ORDER_MARK):
        return "utf-8", 3
    for encoding, mark in (
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
    ):
        if head.startswith(mark):
            return encoding, 2
    zeros = [byte == 0 for byte in head]
    if zeros == [False, True, False, True]:
        return "utf-16-le", 0
    if zeros == [True, False, True, False]:
        return "utf-16-be", 0
    return "", 0


def _line_around(text: bytes, place: int) -> bytes:
    end = text.find(b"\n", place)
    return text[text.rfind(b"\n", 0, place) + 1 : len(text) if end < 0 else end]


def _is_utf_8(line: bytes) -> bool:
    """Return whether a line is UTF-8; one that is too long for a chunk may be cut anywhere."""
    try:
        codecs.utf_8_decode(line, "strict", len(line) <= _FARTHEST_END)
    except UnicodeDecodeError:
        return False
    return True
