r"""Blocks of delimited text: CSV, and columns between semicolons or tabs.

A quote opens a field if a delimiter or a line break precedes it; in another field, such as
``laptop 15"``, it is a character. Arrow's reader differs from Python's where text follows the quote
that ends a field. So a block is decoded by it only if a delimiter or a line break follows every
such quote. Then a line break is within a field exactly if the number of quotes before it is odd,
without those that are characters of fields without quotes.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.numbers import counted
from dcglearn.base.tables.old.delimiters import DELIMITERS
from dcglearn.base.text_lines import decode_line
from dcglearn.base.types import Integers
from dcglearn.judgments.reading.blocks import (
    BLOCK_BYTES,
    NumberedRecord,
    RecordBlock,
    is_plain_text,
    read_chunks,
    takes_arrow,
)

_LONGEST_HELD = 4 * BLOCK_BYTES
"""More text that holds no whole record is left to the exact reader, which refuses long fields."""

_LINE_END = np.frombuffer(b"\n", np.uint8)


def read_csv_blocks(
    file: BinaryIO, name: str, ignored: IgnoredInput | None, delimiter: str = ","
) -> Iterator[RecordBlock]:
    """Read delimited text block by block.

    Parameters
    ----------
    file : binary file
        UTF-8; the first line names the columns.
    name : str
        For messages.
    ignored : IgnoredInput or None
        If given, repeated columns (the last one counts) are counted there; otherwise they are
        refused.
    delimiter : str
        Of one byte.

    Yields
    ------
    RecordBlock

    Raises
    ------
    InputError
        If the first line does not name the columns.
    """
    chunks = read_chunks(file)
    content = next(chunks, b"")
    while more := b"" if _holds_record(content, delimiter) else next(chunks, b""):
        content += more
    header = _read_header(content, name, ignored, delimiter)
    content, first = content[header.length :], header.lines + 1
    exact = len(content) < BLOCK_BYTES and not takes_arrow(content)
    while True:
        following = next(chunks, None)
        part = _whole_records(content, delimiter, following is None)
        if part.content.strip(b"\r\n"):  # blank lines by the million take no time
            yield header.block(part, first, exact and following is None)
        if part.content:
            first += part.content.count(b"\n")
        if following is None:
            return
        content = content[len(part.content) :] + following


@dataclass(frozen=True)
class _Header:
    """The first line of a CSV file."""

    file: str
    names: list[str]
    delimiter: str
    length: int
    lines: int

    def records(self, content: bytes, first: int) -> Iterator[NumberedRecord]:
        """Iterate over the records of a part of the file that begins with line `first`."""
        lines = _decoded_lines(content, first, self.file)
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        try:
            for cells in reader:
                if not any(cells):  # spreadsheets write empty rows as delimiters alone
                    continue
                number = first - 1 + reader.line_num
                if len(cells) != len(self.names):
                    problem = f"{counted(len(cells), 'field')} under {len(self.names)} column names"
                    held = DELIMITERS[self.delimiter]
                    remedy = f"give every row the same fields, and quote those that hold {held}"
                    raise InputError(problem, remedy, f"{self.file}, line {number}")
                yield number, dict(zip(self.names, cells, strict=True))
        except csv.Error as error:
            raise _not_csv(error, self.file, first - 1 + reader.line_num) from error

    def block(self, part: _Part, first: int, exact: bool) -> RecordBlock:
        """Return the block of a part of the file that begins with line `first`."""
        decides = not exact and part.regular and is_plain_text(part.content)
        columns = self._decode(part) if decides else None
        numbers: range | Integers = range(0)
        if columns is not None:
            rows = len(next(iter(columns.values())))
            numbers = range(first, first + rows)
            if rows != part.content.count(b"\n") + (not part.content.endswith(b"\n")):
                numbers = first + part.last_lines()
                if len(numbers) != rows:
                    columns, numbers = None, range(0)
        return RecordBlock(
            columns, numbers, "line", lambda: self.records(part.content, first), True
        )

    def _decode(self, part: _Part) -> dict[str, Any] | None:
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.csv as pv

        names = [str(number) for number in range(len(self.names))]
        try:
            table = pv.read_csv(
                pa.BufferReader(part.content),
                pv.ReadOptions(
                    use_threads=False,
                    block_size=max(len(part.content), 1 << 16) + 1,
                    column_names=names,
                ),
                pv.ParseOptions(delimiter=self.delimiter, newlines_in_values=len(part.quotes) > 0),
                pv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
        except (pa.ArrowException, OverflowError):
            return None
        columns = {
            name: table.column(number).combine_chunks() for number, name in enumerate(self.names)
        }
        longest = (pc.max(pc.binary_length(column)).as_py() or 0 for column in columns.values())
        return columns if max(longest) < csv.field_size_limit() else None


@dataclass(frozen=True)
class _Part:
    """Whole records of a file, and their quotes.

    Attributes
    ----------
    content : bytes
    quotes : ndarray of int
        The positions of the quotes around fields, and of those repeated within.
    regular : bool
        Whether a delimiter or a line break follows every quote that ends a field.
    """

    content: bytes
    quotes: Integers
    regular: bool

    def last_lines(self) -> Integers:
        """Return the number of the last line of each record, from 0; blank lines are left out."""
        content = self.content if self.content.endswith(b"\n") else self.content + b"\n"
        breaks = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n"))
        lines = np.flatnonzero(np.searchsorted(self.quotes, breaks) % 2 == 0)
        ends = breaks[lines]
        begins = np.append(0, ends[:-1] + 1)
        spans = zip(begins.tolist(), ends.tolist(), strict=True)
        blank = [content[begin:end] in (b"", b"\r") for begin, end in spans]
        found: Integers = lines[~np.array(blank, bool)]
        return found


def _read_header(head: bytes, file: str, ignored: IgnoredInput | None, delimiter: str) -> _Header:
    reader = csv.reader(_decoded_lines(head, 1, file), delimiter=delimiter, strict=True)
    try:
        names = next((cells for cells in reader if any(cells)), [])
    except csv.Error as error:
        raise _not_csv(error, file, reader.line_num) from error
    place = f"{file}, line {reader.line_num or 1}"
    twice = [name for name, times in Counter(names).items() if name and times > 1]
    if twice:
        if ignored is None:
            raise InputError(f"the column {twice[0]!r} appears twice", "keep one", place)
        ignored.counts.update(f"repeated key {name!r}" for name in twice)
    if not names:
        raise InputError("no column names", "name them in the first line", place)
    lines = list(islice(io.BytesIO(head), reader.line_num))
    return _Header(file, names, delimiter, sum(map(len, lines)), len(lines))


def _whole_records(content: bytes, delimiter: str, last: bool) -> _Part:
    """Return the whole records at the beginning of some lines; all of them if they are the last."""
    quotes = np.zeros(0, np.int64)
    if b'"' not in content:
        return _Part(content, quotes, True)
    array = np.frombuffer(content, np.uint8)
    quotes = np.flatnonzero(array == ord('"'))
    regular = _are_regular(array, quotes, ord(delimiter))
    if not regular:
        found = _without_characters(array, quotes, ord(delimiter))
        quotes, regular = (quotes, False) if found is None else (found, True)
    regular = regular and len(content) < _LONGEST_HELD
    if not regular:
        end = len(content) if last else _end_of_records(content, delimiter)
    elif len(quotes) % 2 == 0:
        end = len(content)
    elif last:
        return _Part(content, quotes, False)  # a field that does not end
    else:
        breaks = np.flatnonzero(array == ord("\n"))
        outside = breaks[np.searchsorted(quotes, breaks) % 2 == 0]
        end = int(outside[-1]) + 1 if len(outside) else 0
    return _Part(content[:end], quotes[quotes < end], regular)


def _are_regular(array: NDArray[np.uint8], quotes: Integers, delimiter: int) -> bool:
    """Return whether each quote opens a field, closes one or repeats the quote before it."""
    padded = np.concatenate([_LINE_END, array, _LINE_END])
    before, after = padded[quotes], padded[quotes + 2]
    repeats = np.diff(quotes, prepend=-2) == 1
    opens = repeats | (before == delimiter) | (before == ord("\n"))
    repeated = np.append(repeats[1:], False)
    closes = repeated | (after == delimiter) | (after == ord("\n")) | (after == ord("\r"))
    return bool(opens[::2].all() and closes[1::2].all())


def _without_characters(
    array: NDArray[np.uint8], quotes: Integers, delimiter: int
) -> Integers | None:
    """Return the quotes but those that are characters; None if text follows one at an end."""
    padded = np.concatenate([_LINE_END, array, _LINE_END])
    begins = np.isin(padded[quotes], (delimiter, ord("\n"))).tolist()
    ends = np.isin(padded[quotes + 2], (delimiter, ord("\n"), ord("\r"))).tolist()
    repeated = np.append(np.diff(quotes) == 1, False).tolist()
    kept: list[int] = []
    inside, quote = False, 0
    while quote < len(begins):
        if inside and repeated[quote]:  # a quote within the field, written twice
            kept += (quote, quote + 1)
            quote += 1
        elif inside and not ends[quote]:
            return None
        elif inside or begins[quote]:
            kept.append(quote)
            inside = not inside
        quote += 1
    found: Integers = quotes[kept]
    return found


def _end_of_records(content: bytes, delimiter: str) -> int:
    """Return where the last whole record ends, by the exact reader; the end where it fails."""
    read = end = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for line in io.BytesIO(content):
            read += len(line)
            yield line.decode("utf-8", "replace")

    try:
        for _ in csv.reader(lines(), delimiter=delimiter, strict=True):
            end = read
    except csv.Error:
        return end if read == len(content) and len(content) < _LONGEST_HELD else len(content)
    return end


def _holds_record(content: bytes, delimiter: str) -> bool:
    """Return whether a record of column names ends in some lines, or cannot."""
    lines = (line.decode("utf-8", "replace") for line in io.BytesIO(content))
    try:
        return any(any(cells) for cells in csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return len(content) >= _LONGEST_HELD


def _decoded_lines(content: bytes, first: int, file: str) -> Iterator[str]:
    for number, line in enumerate(io.BytesIO(content), first):
        yield decode_line(line, f"{file}, line {number}")


def _not_csv(error: csv.Error, file: str, line: int) -> InputError:
    return InputError(f"is not CSV ({error})", "check its quotes", f"{file}, line {line}")
