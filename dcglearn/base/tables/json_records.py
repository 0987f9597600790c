"""JSON lines, arrays of objects, and tables in one object, as columns.

Arrow decodes blocks of lines. Python decodes what Arrow cannot hold (text next to numbers) or reads
otherwise (whole numbers beyond 2^53, NaN), and names the line of a fault.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from dcglearn.base.errors import InputError, errors_at
from dcglearn.base.files import decode_json, numbered_lines, whole_lines
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.base.tables.columns import Block

_REMEDY = "write one object per row: pandas' to_json(orient='records')"


def read_lines(file: BinaryIO, name: str) -> Iterator[Block]:
    """Read JSON lines block by block."""
    first = 1
    for chunk in whole_lines(file):
        yield _decode(chunk) or columns_of(
            [record for _, record in read_records(chunk.splitlines(), name, first)]
        )
        first += chunk.count(b"\n")


def read_records(
    lines: Iterable[bytes], name: str, first: int = 1
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Decode lines by Python, with their numbers."""
    for number, line in numbered_lines(lines, first):
        place = f"{name}, line {number}"
        try:
            record = decode_json(line, "give one JSON object per line")
        except InputError as error:
            raise InputError(error.problem, error.remedy, place) from error
        yield number, _checked(record, place)


def _checked(record: object, place: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise InputError("is not a JSON object", 'write {"field": value, ...}', place)
    return record


def read_document(file: BinaryIO, name: str) -> Iterator[Block]:
    """Read an array of objects, or a table in one object, as one block."""
    content = file.read()
    with errors_at(name):
        document = decode_json(content, "write an array of objects, or an object per line")
        records = document if isinstance(document, list) else _rows(_checked(document, ""))
    for number, record in enumerate(records, start=1):
        _checked(record, f"{name}, record {number}")
    yield columns_of(records)


def _rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table: columns as pandas' ``to_json`` writes them, or lists."""
    names, columns = list(document), list(document.values())
    if {"columns", "data"} <= set(document):
        return _joined(document["columns"], document["data"])
    if columns and all(isinstance(column, dict) for column in columns):
        if all(map(str.isdigit, names)):
            return columns
        rows = dict.fromkeys(key for column in columns for key in column)
        return _joined(names, [[column.get(row) for column in columns] for row in rows])
    if not columns or not all(isinstance(column, list) for column in columns):
        return [document]
    return list(columns[0]) if len(columns) == 1 else _joined(names, zip(*columns, strict=True))


def _joined(names: Any, rows: Any) -> list[dict[str, Any]]:
    try:
        return [dict(zip(map(str, names), row, strict=True)) for row in rows]
    except (TypeError, ValueError) as error:
        raise InputError("is a JSON object whose rows do not fit its columns", _REMEDY) from error


def columns_of(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return records as columns, None where a record lacks a field."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _decode(lines: bytes) -> Block | None:
    """Return the columns of lines as Arrow reads them, None where Python must decode them."""
    import pyarrow as pa
    import pyarrow.json as pj

    options = pj.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    try:
        [batch] = pj.read_json(pa.BufferReader(lines), options).to_batches()
    except (pa.ArrowException, ValueError, OverflowError):
        return None
    rows = lines.count(b"\n") + (not lines.endswith(b"\n"))
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    return columns if len(batch) == rows and all(map(_is_exact, batch.columns)) else None


def _is_exact(column: Any) -> bool:
    """Return whether Arrow read what Python reads: no large number rounded, no text as a time."""
    import pyarrow as pa
    import pyarrow.types as kinds

    try:
        column.validate()  # Arrow makes lists that do not fit their entries where some are null
    except pa.ArrowException:
        return False
    if kinds.is_list(column.type):
        return _is_exact(column.flatten())
    if kinds.is_floating(column.type):
        numbers = column.drop_null().to_numpy(zero_copy_only=False)
        return bool((np.abs(numbers) < MAX_EXACT).all())
    return not kinds.is_timestamp(column.type)
