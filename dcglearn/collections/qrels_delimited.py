"""Qrels and runs as delimited text whose first line names the columns: CSV, or with tabs."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.text_lines import BYTE_ORDER_MARK
from dcglearn.collections.qrels_tables import (
    DocumentColumns,
    FileKind,
    choose_columns,
    columns_of_table,
)


def names_columns(content: bytes, kind: FileKind) -> bool:
    r"""Return whether the first line names the columns, with tabs between them.

    Parameters
    ----------
    content : bytes
    kind : FileKind

    Returns
    -------
    bool

    Examples
    --------
    >>> from dcglearn.collections.qrels_tables import QRELS
    >>> names_columns(b"query-id\tcorpus-id\tscore\n1\td1\t2\n", QRELS)
    True
    """
    line = content[:10_000].removeprefix(BYTE_ORDER_MARK).partition(b"\n")[0]
    names = line.decode(errors="replace").strip("\r").split("\t")
    try:
        choose_columns(names, "", kind)
    except InputError:
        return False
    return True


def columns_of_delimited(
    content: bytes, name: str, kind: FileKind, delimiter: str
) -> DocumentColumns:
    r"""Read the columns of delimited text.

    Parameters
    ----------
    content : bytes
        UTF-8; the first line names the columns.
    name : str
        For messages.
    kind : FileKind
    delimiter : str

    Returns
    -------
    DocumentColumns

    Raises
    ------
    InputError
        Naming the line.

    Examples
    --------
    >>> from dcglearn.collections.qrels_tables import QRELS
    >>> text = b"query,document,grade\nnew york,d1,good\n"
    >>> columns = columns_of_delimited(text, "qrels.csv", QRELS, ",")
    >>> columns.query.to_pylist(), columns.names
    (['new york'], ('good',))
    """
    import pyarrow as pa
    import pyarrow.csv as pv

    header = content.partition(b"\n")[0].rstrip(b"\r")
    if b'"' in content or not header or b"\n\n" in content or b"\n\r\n" in content:
        return _read_exactly(content, name, kind, delimiter)
    names = header.decode().split(delimiter)
    chosen = choose_columns(names, name, kind)
    try:
        table = pv.read_csv(
            pa.BufferReader(content),
            pv.ReadOptions(block_size=1 << 24),
            pv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False),
            pv.ConvertOptions(
                column_types=dict.fromkeys(chosen, pa.dictionary(pa.int32(), pa.string())),
                include_columns=chosen,
            ),
        )
    except pa.ArrowException:
        return _read_exactly(content, name, kind, delimiter)
    return _columns(table, name, kind, lambda row: f"{name}, line {row + 2}")


def _read_exactly(content: bytes, name: str, kind: FileKind, delimiter: str) -> DocumentColumns:
    """Read line by line, as Python does: slowly, and naming the line that cannot be read."""
    import pyarrow as pa

    reader = csv.reader(io.StringIO(content.decode(), ""), delimiter=delimiter, strict=True)
    rows, lines = [], []
    try:
        header = next((row for row in reader if row), [])
        chosen = [header.index(one) for one in choose_columns(header, name, kind)]
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                problem = f"{counted(len(row), 'field')} under {len(header)} column names"
                remedy = "give every row the same fields, and quote those that hold the delimiter"
                raise InputError(problem, remedy, f"{name}, line {reader.line_num}")
            rows.append([row[column] for column in chosen])
            lines.append(reader.line_num)
    except csv.Error as error:
        place = f"{name}, line {reader.line_num}"
        raise InputError(f"is not CSV ({error})", "check its quotes", place) from error
    cells = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(
        {
            header[place]: pa.array(column, pa.string())
            for place, column in zip(chosen, cells, strict=True)
        }
    )
    return _columns(table, name, kind, lambda row: f"{name}, line {lines[row]}")


def _columns(table: Any, name: str, kind: FileKind, place: Callable[[int], str]) -> DocumentColumns:
    """Return the columns of a table of text, whose empty cells are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in table.columns:
        texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
        columns.append(pc.if_else(pc.equal(texts, ""), None, texts))
    return columns_of_table(pa.table(columns, table.column_names), name, kind, place)
