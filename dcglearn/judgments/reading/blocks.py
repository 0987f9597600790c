"""Records a block at a time: columns decoded by Arrow, and the same records read exactly.

A block is a bounded number of records of a file. Arrow decodes it into columns where it decides as
the readers of :mod:`dcglearn.judgments.reading.record_formats` do. Where it might not (a fault, a key that
appears twice, numbers next to text, a number that a float cannot hold), the block has no columns,
and its records are read one by one. So what is read, and the error for what cannot be read, do not
depend on which of the two did it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Literal

from dcglearn.base.types import Integers

Unit = Literal["line", "record", "row"]
"""What the records of a file are numbered by."""

NumberedRecord = tuple[int, dict[str, Any]]
"""The line, record or row of a record, and its fields."""

FieldKind = Literal["labels", "label", "answer", "number", "id"]
"""What a field holds: the grades of a list, a number or text, an answer, a number, an id."""

FieldKinds = Mapping[str, FieldKind]
"""What the columns that are used hold, by name."""

ChooseColumns = Callable[[Sequence[str]], FieldKinds]
"""Given the names of all columns, returns what those that are used hold."""

BLOCK_BYTES = 1 << 20
"""About how much text a block holds."""

FEW_BYTES = 1 << 18
"""A file of less text is read record by record in less time than Arrow takes to load."""


@dataclass(frozen=True)
class RecordBlock:
    """Some consecutive records of a file.

    Attributes
    ----------
    columns : dict of str to pyarrow.Array, or None
        The columns under the file's own names; None where the records must be read one by one.
    numbers : range or ndarray of int
        The number of each record; empty without columns.
    unit : {"line", "record", "row"}
        What `numbers` counts.
    read : callable
        Iterates over the numbers and the fields of the records, read one by one; raises the
        error of the first fault.
    textual : bool
        Whether all cells are text, as in CSV; a missing value is empty text.
    """

    columns: dict[str, Any] | None
    numbers: range | Integers
    unit: Unit
    read: Callable[[], Iterator[NumberedRecord]]
    textual: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    def with_partition(self, values: Mapping[str, str]) -> RecordBlock:
        """Return the block with more columns of one value each, where it does not have them.

        Parameters
        ----------
        values : mapping of str to str
            By column; empty text where it is missing.

        Returns
        -------
        RecordBlock

        Examples
        --------
        >>> block = RecordBlock(None, range(0), "line", lambda: iter([(1, {"a": "2 0"})]))
        >>> list(block.with_partition({"query": "q1"}).read())
        [(1, {'query': 'q1', 'a': '2 0'})]
        """
        plain = {name: value if value or self.textual else None for name, value in values.items()}
        exact = replace(
            self,
            columns=None,
            numbers=range(0),
            read=lambda: ((number, plain | record) for number, record in self.read()),
        )
        columns = self.columns
        if columns is None or any(columns[name].null_count for name in plain if name in columns):
            return exact  # of nulls, some may be of records without the field
        import pyarrow as pa

        texts = {name: pa.scalar(value, pa.string()) for name, value in plain.items()}
        more = {name: pa.repeat(text, len(self)) for name, text in texts.items()}
        return replace(exact, columns=more | columns, numbers=self.numbers)


def read_chunks(file: BinaryIO, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    r"""Read a text file in chunks of whole lines.

    Parameters
    ----------
    file : binary file
    size : int
        About how many bytes a chunk holds; a longer line is a chunk of its own.

    Yields
    ------
    bytes
        Lines with their ends; only the last chunk may end without one.

    Examples
    --------
    >>> import io
    >>> list(read_chunks(io.BytesIO(b"one\ntwo\nthree"), 5))
    [b'one\n', b'two\n', b'three']
    """
    held: list[bytes] = []
    while data := file.read(size):
        cut = data.rfind(b"\n") + 1
        if not cut:
            held.append(data)
            continue
        yield b"".join((*held, data[:cut]))
        held = [data[cut:]] if cut < len(data) else []
    if held:
        yield b"".join(held)


def takes_arrow(content: bytes) -> bool:
    """Return whether Arrow decodes a whole file sooner than it is read record by record.

    Parameters
    ----------
    content : bytes
        All text of the file.

    Returns
    -------
    bool
        Also where Arrow is loaded already.
    """
    return len(content) >= FEW_BYTES or "pyarrow" in sys.modules


def is_plain_text(content: bytes) -> bool:
    r"""Return whether bytes are UTF-8 whose carriage returns all end a line.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    bool

    Examples
    --------
    >>> is_plain_text(b"caf\xc3\xa9\r\n"), is_plain_text(b"caf\xe9"), is_plain_text(b"a\rb")
    (True, False, False)
    """
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        return False
    if content.isascii():
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
