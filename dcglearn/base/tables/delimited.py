"""Delimited text: the character between columns, the names of the columns, and its records.

The names are the first row of several cells; what is above is a title. The delimiter is the one
with the fewest rows above the names, then the one under which all rows have as many fields, then
the one with more columns. Arrow reads the records; Python's ``csv`` finds the line of a fault.
"""

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.files import guarded, whole_lines
from dcglearn.base.numbers import counted
from dcglearn.base.tables.columns import Block, check_distinct

DELIMITERS = ",;\t|"

HEAD = 1 << 16
"""Bytes from which the layout is found."""

BLOCK = 1 << 21
"""Bytes that are read at a time."""

_ROWS = 50

_SECOND_HEADERS = ('{"ImportId"', "Open-Ended Response")
"""Of Qualtrics and SurveyMonkey."""


class Layout(NamedTuple):
    """The delimiter of delimited text, and the rows above the names of its columns."""

    delimiter: str
    above: int


Row = tuple[int, int, list[str]]
"""The line in which a row ends, its number, both from 1, and its cells."""


def find_layout(content: bytes, name: str, tabs: bool = False) -> Layout:
    """Find the delimiter and the title of a beginning; `tabs` if the name says so."""
    head = content.decode(errors="ignore")
    if len(content) >= HEAD:
        head = head.rpartition("\n")[0] or head
    found = {one: _first_rows(head, one) for one in ("\t" if tabs else DELIMITERS)}
    delimiter = max(found, key=lambda one: _score(*found[one]))
    rows, above = found[delimiter]
    for number, row in enumerate(rows[above + 1 : above + 3], start=above + 2):
        if {*row} == {"", "Response"} or any(m in cell for cell in row for m in _SECOND_HEADERS):
            raise InputError(
                "is a second line of names of columns, as surveys export them",
                "delete it and what is between it and the first, such as by "
                "pandas.read_csv(file, skiprows=[1, 2]).to_csv(...); answers that are columns "
                "become rows by pandas.wide_to_long",
                f"{name}, row {number}",
            )
    title = " ".join(" ".join(chain(*rows[:above])).split())
    if title:
        warn_of_input(f"left out above the names of the columns: {title[:60]!r}")
    return Layout(delimiter, above)


def _first_rows(head: str, delimiter: str) -> tuple[list[list[str]], int]:
    """Return the first rows, and the place of the first of several cells, or of any."""
    reader = csv.reader(io.StringIO(head, newline="\n"), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(islice(reader, _ROWS))
    filled = [sum(map(bool, row)) for row in rows]
    places = (place for least in (2, 1) for place, count in enumerate(filled) if count >= least)
    return rows, next(places, 0)


def _score(rows: list[list[str]], above: int) -> tuple[float, bool, int]:
    columns = len(rows[above]) if rows else 0
    if columns < 2:
        return -_ROWS, False, 0
    return -above, all(len(row) in (0, columns) for row in rows[above:]), columns


def places_of_records(file: BinaryIO, layout: Layout, name: str) -> Iterator[tuple[int, int]]:
    """Yield the line and the row of each record, checked by Python's ``csv``."""
    rows = _rows(file, layout, name)
    names = _names(rows, name)
    for line, number, cells in rows:
        if len(cells) != len(names):
            problem = f"{counted(len(cells), 'field')} under {len(names)} column names"
            remedy = f"give every row the same fields, and quote those with {layout.delimiter!r}"
            raise InputError(problem, remedy, f"{name}, line {line}")
        yield line, number


def read_columns(
    file: BinaryIO, layout: Layout, name: str, check: Callable[[], None]
) -> Iterator[Block]:
    """Read columns of text block by block by Arrow, without empty rows.

    `check` reads by Python's ``csv``, which names the line of a fault, where Arrow fails or a cell
    holds a line end: a stray quote makes one cell of several rows. Arrow gets blocks of bytes, for
    the threads of its own reader of files would ask for bytes while Python ends, which aborts it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pv

    names = _names(_rows(file, layout, name), name)
    checked, held = False, b""
    for block in chain(whole_lines(file, BLOCK), [b""]):
        held += block
        if not held or (block and held.count(b'"') % 2):  # a cell goes on in the next block
            continue
        try:
            with guarded(name, "CSV"):
                table = pv.read_csv(
                    pa.BufferReader(held),
                    pv.ReadOptions(use_threads=False, block_size=len(held) + 1, column_names=names),
                    pv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
                    pv.ConvertOptions(
                        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
                    ),
                )
        except InputError:
            check()
            raise
        held = b""
        for batch in table.to_batches():
            ends = (pc.any(pc.match_substring(column, "\n")).as_py() for column in batch.columns)
            if not checked and any(ends):
                check()
                checked = True
            empty = reduce(pc.and_, (pc.equal(column, "") for column in batch.columns))
            rows = batch.filter(pc.invert(empty)) if pc.any(empty).as_py() else batch
            yield {key: column for key, column in zip(names, rows.columns, strict=True) if key}


def _rows(file: BinaryIO, layout: Layout, name: str) -> Iterator[Row]:
    """Read the rows with content, from the names on."""
    lines = (line.decode() for line in file)
    reader = csv.reader(lines, delimiter=layout.delimiter, strict=True)
    try:
        for number, cells in enumerate(reader, start=1):
            if number > layout.above and any(cells):
                yield reader.line_num, number, cells
    except csv.Error as error:
        place = f"{name}, line {reader.line_num}"
        raise InputError(f"is not CSV ({error})", "check its quotes", place) from error


def _names(rows: Iterator[Row], name: str) -> list[str]:
    line, _, names = next(rows, (1, 1, []))
    names = [one.strip(" \ufeff") for one in names]
    check_distinct(names, f"{name}, line {line}")
    return names
