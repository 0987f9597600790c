r"""JSON lines, arrays of objects, and tables in one object, as columns.

Arrow decodes blocks of lines. What it cannot hold (text next to numbers in a column), or would read
otherwise than Python (whole numbers beyond 2^53, NaN), Python decodes, which names the line of a
fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.json_text import decode_json
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.base.tables.text import whole_lines

ROWS = 1 << 14
"""Records of a document that are given at a time."""

_BLANKS = b" \t\r\n"
_REMEDY = "write one object per row: pandas' to_json(orient='records')"


def read_lines(file: BinaryIO, name: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Read JSON lines; yield columns (Arrow arrays, or lists of values) and their rows."""
    decoder = _Decoder()
    first = 1
    for chunk in whole_lines(file):
        text = chunk
        if b"\n\n" in text or b"\n\r\n" in text or text[:1] in b"\r\n":
            text = b"".join(line for line in text.splitlines(keepends=True) if line.strip(_BLANKS))
        rows = text.count(b"\n") + (not text.endswith(b"\n"))
        columns = decoder.decode(text, rows) if text else {}
        if columns is None:
            records = [record for _, record in read_records([chunk], name, first)]
            columns, rows = columns_of(records), len(records)
        if text and rows:
            yield columns, rows
        first += chunk.count(b"\n")


def read_records(chunks: Any, name: str, first: int = 1) -> Iterator[tuple[int, dict[str, Any]]]:
    """Decode lines one by one by Python; yield the number of each line and its record."""
    number = first - 1
    for chunk in chunks:
        for line in chunk.split(b"\n")[: chunk.count(b"\n") + (not chunk.endswith(b"\n"))]:
            number += 1
            if line.strip(_BLANKS):
                yield number, _record(line, f"{name}, line {number}")


def _record(line: bytes, place: str) -> dict[str, Any]:
    try:
        record = decode_json(line, "give one JSON object per line")
    except InputError as error:
        raise InputError(error.problem, error.remedy, place) from error
    if not isinstance(record, dict):
        raise InputError("is not a JSON object", 'write {"field": value, ...}', place)
    return record


def is_document(head: bytes, lines: bool = False) -> bool:
    """Return whether a beginning is that of one JSON document; `lines` if a name says otherwise."""
    line, end, rest = head.lstrip(_BLANKS).partition(b"\n")
    if not line.startswith(b"{"):
        return bool(line)
    whole = line.rstrip(_BLANKS).endswith(b"}")
    return not (whole and rest.strip(_BLANKS)) if not lines else not whole and bool(end)


def read_document(file: BinaryIO, name: str) -> list[dict[str, Any]]:
    """Return the records of an array of objects, or of a table in one object."""
    try:
        document = decode_json(file.read(), "write an array of objects, or an object per line")
        records = document if isinstance(document, list) else records_of_table(document)
        if not records:
            raise InputError("is empty", "give at least one record")
    except InputError as error:
        raise error.at(name) from error
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            remedy = 'write {"field": value, ...}'
            raise InputError("is not a JSON object", remedy, f"{name}, record {number}")
    return records


def records_of_table(document: object) -> list[dict[str, Any]]:
    """Return the rows of a table as pandas' ``to_json`` writes it, or of one record.

    By columns or by rows with numbers as labels, ``orient="split"``, or a list per column.
    """
    if not isinstance(document, dict):
        raise InputError("is not an object or array of JSON", _REMEDY)
    values = list(document.values())
    if {"columns", "data"} <= set(document):
        return _joined(document["columns"], document["data"])
    if values and all(isinstance(value, dict) for value in values):
        return _by_label(document)
    lengths = {len(value) if isinstance(value, list) else -1 for value in values}
    if any(isinstance(value, list) and value and isinstance(value[0], dict) for value in values):
        if len(values) == 1:
            return list(values[0])
        raise InputError("holds records next to other facts", "write the array of records alone")
    if len(lengths) == 1 and -1 not in lengths and len(values) > 1:
        return _joined(list(document), list(zip(*values, strict=True)))
    return [document]


def _by_label(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records of an object of objects; the labels of rows are numbers."""
    inner = [*dict.fromkeys(key for value in document.values() for key in value)]
    outer_rows, inner_rows = (all(key.isdigit() for key in keys) for keys in (document, inner))
    if outer_rows == inner_rows:
        raise InputError("is a JSON object of objects, which may be columns or rows", _REMEDY)
    if outer_rows:
        return list(document.values())
    return [{name: column.get(row) for name, column in document.items()} for row in inner]


def _joined(names: Any, rows: Any) -> list[dict[str, Any]]:
    fits = isinstance(names, list) and isinstance(rows, list)
    if not fits or any(not isinstance(row, list | tuple) or len(row) != len(names) for row in rows):
        raise InputError("is a JSON object whose rows do not fit its columns", _REMEDY)
    return [dict(zip(map(str, names), row, strict=True)) for row in rows]


def columns_of(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return records as columns, None where a record lacks a field."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


class _Decoder:
    """Decodes lines by Arrow; remembers which columns hold text that looks like times."""

    def __init__(self) -> None:
        self._texts: dict[str, Any] = {}

    def decode(self, text: bytes, rows: int) -> dict[str, Any] | None:
        """Return the columns of lines, None where Python must decode them."""
        table = self._read(text)
        if table is None or len(table) != rows or any(c.num_chunks != 1 for c in table.columns):
            return None
        columns = {name: table.column(name).chunk(0) for name in table.column_names}
        absent = [one for one in self._texts if columns[one].null_count == rows]
        if not all(_is_exact(column) for column in columns.values()):
            return None
        return {name: column for name, column in columns.items() if name not in absent}

    def _read(self, text: bytes) -> Any:
        import pyarrow as pa
        import pyarrow.json as pj

        options = pj.ReadOptions(use_threads=False, block_size=max(len(text), 1 << 16) + 1)
        for _ in range(2):
            schema = pa.schema(self._texts) if self._texts else None
            try:
                table = pj.read_json(
                    pa.BufferReader(text), options, pj.ParseOptions(explicit_schema=schema)
                )
            except (pa.ArrowException, UnicodeDecodeError, OverflowError):
                return None
            times = {one.name: _as_text(one.type) for one in table.schema if _as_text(one.type)}
            if not times:
                return table
            self._texts |= times
        return None


def _as_text(found: Any) -> Any:
    """Return the type of text for a type of times, or of lists of them; None for others."""
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_list(found) and kinds.is_timestamp(found.value_type):
        return pa.list_(pa.string())
    return pa.string() if kinds.is_timestamp(found) else None


def _is_exact(column: Any) -> bool:
    """Return whether floats are finite, and no whole number was rounded to one."""
    import pyarrow as pa
    import pyarrow.types as kinds

    try:
        column.validate()  # Arrow makes lists that do not fit their entries where some are null
    except pa.ArrowException:
        return False
    if kinds.is_list(column.type):
        return _is_exact(column.flatten())
    if not kinds.is_floating(column.type):
        return not kinds.is_struct(column.type) or all(map(_is_exact, column.flatten()))
    numbers = column.drop_null().to_numpy(zero_copy_only=False)
    return bool((np.abs(numbers) < MAX_EXACT).all())
