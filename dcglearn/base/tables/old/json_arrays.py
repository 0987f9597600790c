r"""An array of JSON objects, as one object per line.

Where one object ends and the next begins follows from the depth of brackets outside texts. So the
array is cut into lines a chunk at a time, and read as JSON lines are; only what is between the
objects is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.text import ASCII_BLANKS

_CHUNK = 1 << 20
_LONGEST = 1 << 24
"""An object of more bytes is refused."""

_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_BLANKS = ASCII_BLANKS.encode()
_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")
_DEPTH = np.zeros(256, np.int8)
_DEPTH[[ord("{"), ord("[")]] = 1
_DEPTH[[ord("}"), ord("]")]] = -1


def array_as_lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    r"""Read an array of objects as chunks of lines, one object each.

    Parameters
    ----------
    file : binary file
        UTF-8 text.
    name : str
        For messages.

    Yields
    ------
    bytes
        Whole lines with their ends. Whether they are valid JSON is not checked.

    Raises
    ------
    InputError
        If it is not an array of objects with commas between them, or it does not end.

    Examples
    --------
    >>> import io
    >>> text = b'[{"a": [1, 0]},\n {"a":\n [0]}]'
    >>> list(array_as_lines(io.BytesIO(text), "x.json"))
    [b'{"a": [1, 0]}\n{"a":  [0]}\n']
    """
    records = _Records(name)
    held = b""
    while chunk := file.read(_CHUNK):
        lines, held = records.cut(held + chunk)
        if len(held) > _LONGEST:
            problem = f"an object of more than {_LONGEST / 2**20:.0f} MiB"
            raise InputError(problem, "check its brackets and quotes", records.place())
        if lines:
            yield lines
    records.check_end(held)


class _Records:
    """Cuts text into the objects of an array; remembers what came before."""

    def __init__(self, name: str) -> None:
        self._name, self._count = name, 0
        self._opened = self._closed = False

    def place(self) -> str:
        """Return the place of the object that is being read."""
        return f"{self._name}, record {self._count + 1}"

    def cut(self, content: bytes) -> tuple[bytes, bytes]:
        """Return the whole objects at the beginning as lines, and the rest."""
        if not self._opened:
            content = content.lstrip(_BLANKS)
            if not content:
                return b"", b""
            if not content.startswith(b"["):
                raise InputError("is not an array of JSON", "write [{...}, {...}]", self._name)
            content, self._opened = content[1:], True
        if self._closed:
            return b"", content.lstrip(_BLANKS)
        starts, ends, stop = _objects(content)
        lines, last = [], 0
        for start, end in zip(starts, ends, strict=True):
            self._check_gap(content[last:start])
            if content[start : start + 1] != b"{":
                raise self._no_object(content[start:end])
            lines.append(content[start:end])
            self._count += 1
            last = end
        if stop >= 0:
            self._check_last(content[last : stop + 1].strip(_BLANKS))
            self._closed, last = True, stop + 1
        rest = content[last:].lstrip(_BLANKS)
        if not lines:
            return b"", rest
        text = b"\n".join(lines)
        if text.count(b"\n") != len(lines) - 1 or b"\r" in text:
            text = b"\n".join(self._on_one_line(line) for line in lines)
        return text + b"\n", rest

    def check_end(self, rest: bytes) -> None:
        """Check that the array ended, and nothing but blanks follows."""
        if not self._closed:
            raise InputError("is cut short: its array does not end", "fetch it again", self._name)
        if rest.strip(_BLANKS):
            raise InputError("goes on after its array", "delete what follows", self._name)

    def _check_gap(self, gap: bytes) -> None:
        """Check that one comma precedes an object, and none the first."""
        found = gap.strip(_BLANKS)
        if found == (b"," if self._count else b""):
            return
        if found.strip(_BLANKS + b","):
            raise self._no_object(found.lstrip(_BLANKS + b","))
        problem = "no comma before it" if not found else "too many commas before it"
        raise InputError(problem, "write one between two objects", self.place())

    def _check_last(self, end: bytes) -> None:
        """Check that nothing precedes the bracket that closes the array."""
        if end == b"]":
            return
        if end[-1:] == b"]" and not end[:-1].strip(_BLANKS + b","):
            raise InputError("a comma after the last object", "delete it", self._name)
        raise self._no_object(end.lstrip(_BLANKS + b","))

    def _no_object(self, text: bytes) -> InputError:
        shown = text[:40].decode(errors="replace")
        problem = f"is not a JSON object ({shown!r})"
        remedy = 'write {"field": value, ...}'
        if text.startswith(b"["):
            remedy += ", as pandas does by to_json(orient='records')"
        return InputError(problem, remedy, self.place())

    def _on_one_line(self, line: bytes) -> bytes:
        """Return an object without line breaks, which are between its values or a fault."""
        masked = _ESCAPE.sub(b"__", line)
        if any(b"\n" in text or b"\r" in text for text in masked.split(b'"')[1::2]):
            problem = "a line break within a text"
            raise InputError(problem, r"write it as \n", f"{self._name}, in {line[:40]!r}")
        return line.translate(_ONE_LINE)


def _objects(content: bytes) -> tuple[list[int], list[int], int]:
    """Return where each whole element in brackets starts and ends, and the array; -1 if later."""
    masked = _ESCAPE.sub(b"__", content) if b"\\" in content else content
    array = np.frombuffer(masked, np.uint8)
    change = _DEPTH[array]
    places = np.flatnonzero(change)
    if b'"' in masked:
        quotes = np.flatnonzero(array == ord('"'))
        places = places[np.searchsorted(quotes, places) % 2 == 0]
    change = change[places]
    depth = np.cumsum(change, dtype=np.int32)
    closing = np.flatnonzero(depth < 0)
    stop = int(places[closing[0]]) if len(closing) else -1
    inside = slice(closing[0] if len(closing) else None)
    places, change, depth = places[inside], change[inside], depth[inside]
    ends = places[(depth == 0) & (change < 0)] + 1
    starts = places[(depth == 1) & (change > 0)][: len(ends)]
    return starts.tolist(), ends.tolist(), stop
