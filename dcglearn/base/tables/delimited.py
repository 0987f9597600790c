"""Delimited text: the character between columns, the names of the columns, and its records.

A candidate (comma, semicolon, tab, ``|``) must separate the names of columns in the first line. Of
several, the one under which the following rows have as many fields as the header wins, then the one
with more columns, then the earlier in this order. Quotes are those of CSV. Rows of one cell above
the first row of several are a title. Arrow reads the records; Python's ``csv`` finds the line of a
fault.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""The characters that may separate columns, and what messages call them."""

HEAD = 1 << 16
"""Bytes at the beginning of a file from which the layout is found."""

BLOCK = 1 << 21
"""Bytes that are read at a time; a row must fit."""

_ROWS = 50
_DECLARED = re.compile(r"sep=([,;\t|])\r?\n")

_SECOND_HEADERS = ('{"ImportId"', "Open-Ended Response")
"""Cells of the second header line that Qualtrics and SurveyMonkey write."""


class Layout(NamedTuple):
    """The delimiter of delimited text, and the lines above the names of its columns."""

    delimiter: str
    above: int
    notes: list[str]


def find_layout(content: bytes, tabs: bool = False) -> Layout:
    """Find the delimiter and the title from the beginning of a file; `tabs` if its name says so."""
    head = content.decode(errors="ignore")
    declared = _DECLARED.match(head)
    if declared:
        return Layout(declared[1], 1, _separated_by(declared[1]))
    if len(content) >= HEAD and "\n" in head:
        head = head[: head.rindex("\n") + 1]
    delimiter = "\t" if tabs and "\t" in head else _best_delimiter(head)
    titles = _titles(_first_rows(head, delimiter))
    above = titles[-1] if titles else 0
    notes = []
    if above:
        shown = " ".join(" ".join(head.split("\n")[:above]).replace(delimiter, " ").split())
        lines = "line 1 is" if above == 1 else f"lines 1 to {above} are"
        notes.append(f"{lines} above the names of the columns and left out: {shown[:60]!r}")
    return Layout(delimiter, above, notes + ([] if tabs else _separated_by(delimiter)))


def _separated_by(delimiter: str) -> list[str]:
    return [] if delimiter == "," else [f"columns are separated by {DELIMITERS[delimiter]}"]


def _best_delimiter(head: str) -> str:
    found = {one: _first_rows(head, one) for one in DELIMITERS}
    separated = any(_filled(row) > 1 for rows in found.values() for _, row in rows[:1])

    def score(delimiter: str) -> tuple[int, int, int]:
        rows = [row for _, row in found[delimiter]]
        above = 0 if separated else len(_titles(found[delimiter]))
        columns = len(rows[above]) if len(rows) > above else 0
        if columns < 2:
            return -1, 0, 0
        agreeing = sum(len(row) == columns for row in rows[above:])
        return int(agreeing == len(rows) - above), -above, columns

    return max(DELIMITERS, key=score)


def _titles(rows: list[tuple[int, list[str]]]) -> list[int]:
    """Return the last lines of the rows of one cell above the first row of several cells."""
    first = next((place for place, (_, row) in enumerate(rows) if _filled(row) > 1), 0)
    return [line for line, _ in rows[:first]]


def _filled(row: list[str]) -> int:
    return sum(map(bool, row))


def _first_rows(head: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the first rows and their last lines; those before a fault, if the text is not CSV."""
    reader = csv.reader(io.StringIO(head, newline="\n"), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in islice(reader, _ROWS):
            if any(row):
                rows.append((reader.line_num, row))  # noqa: PERF401 - kept if an error follows
    except csv.Error:
        return rows
    return rows


def read_records(file: BinaryIO, layout: Layout, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Read records one by one by Python's ``csv``, with the line that each ends in."""
    lines = (line.decode() for line in islice(file, layout.above, None))
    reader = csv.reader(lines, delimiter=layout.delimiter, strict=True)
    names: list[str] = []
    try:
        for cells in reader:
            line = layout.above + reader.line_num
            if not any(cells):  # spreadsheets write empty rows as delimiters alone
                continue
            if not names:
                names = cells
                continue
            if len(cells) != len(names):
                problem = f"{counted(len(cells), 'field')} under {len(names)} column names"
                held = DELIMITERS[layout.delimiter]
                remedy = f"give every row the same fields, and quote those that hold {held}"
                raise InputError(problem, remedy, f"{name}, line {line}")
            yield line, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        place = f"{name}, line {layout.above + reader.line_num}"
        raise InputError(f"is not CSV ({error})", "check its quotes", place) from error


def read_columns(file: BinaryIO, layout: Layout, name: str, check: Any) -> Iterator[dict[str, Any]]:
    """Read columns of text block by block by Arrow.

    Rows without any content are left out. `check` reads the records by Python's ``csv``, which
    raises the error that names the line, where Arrow fails or a cell holds a line end, as cells do
    into which a stray quote made several rows.
    """
    import pyarrow as pa
    import pyarrow.csv as pv

    names = _read_header(file, layout, name)
    if not file.peek(1):  # type: ignore[attr-defined]  # a BufferedReader
        return
    keys = [str(number) for number in range(len(names))]
    checked = False
    try:
        reader = pv.open_csv(
            file,
            pv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=keys),
            pv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
            pv.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string()), strings_can_be_null=False
            ),
        )
        for batch in reader:
            if not checked and any(map(_holds_line_end, batch.columns)):
                check()
                checked = True
            yield dict(zip(names, _without_empty_rows(batch).columns, strict=True))
    except (pa.ArrowException, OverflowError) as error:
        check()
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"is not CSV ({reason})", "check its quotes", name) from error


def _read_header(file: BinaryIO, layout: Layout, name: str) -> list[str]:
    for _ in range(layout.above):
        file.readline()
    lines = (line.decode() for line in iter(file.readline, b""))
    reader = csv.reader(lines, delimiter=layout.delimiter, strict=True)
    try:
        names = next((cells for cells in reader if any(cells)), [])
    except csv.Error as error:
        raise InputError(f"is not CSV ({error})", "check its quotes", name) from error
    place = f"{name}, line {layout.above + (reader.line_num or 1)}"
    if not names:
        raise InputError("no column names", "name them in the first line", place)
    twice = [one for one, times in Counter(names).items() if one and times > 1]
    if twice:
        raise InputError(f"the column {twice[0]!r} appears twice", "keep one", place)
    return names


def _holds_line_end(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring(column, "\n")).as_py())


def _without_empty_rows(batch: Any) -> Any:
    """Leave out rows all of whose cells are empty, as spreadsheets write them."""
    import pyarrow.compute as pc

    empty = pc.equal(batch.column(0), "")
    if not pc.any(empty).as_py():
        return batch
    for column in batch.columns[1:]:
        empty = pc.and_(empty, pc.equal(column, ""))
    return batch.filter(pc.invert(empty))


def is_second_header(cells: dict[str, Any]) -> bool:
    """Return whether a first record is the second or third header line of a survey's export."""
    return any(
        isinstance(cell, str) and any(mark in cell for mark in _SECOND_HEADERS)
        for cell in cells.values()
    )
