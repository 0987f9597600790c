"""Blocks of tables: Parquet, and Arrow's IPC formats.

The schema says what a column holds, so types are checked once, before anything is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.arrow_messages import check_arrow_size
from dcglearn.base.tables.parquet import check_size, check_texts, open_parquet, python_values
from dcglearn.judgments.packed import PACKED
from dcglearn.judgments.reading.blocks import (
    ChooseColumns,
    FieldKind,
    FieldKinds,
    NumberedRecord,
    RecordBlock,
)

_BLOCK_ROWS = 1 << 14


def read_parquet_blocks(
    path: Path, name: str, choose: ChooseColumns, advance: Advance = silent
) -> Iterator[RecordBlock]:
    """Read a Parquet file block by block.

    Parameters
    ----------
    path : pathlib.Path
    name : str
        For messages.
    choose : callable
        Says what the columns that are used hold. The values of others are not read: they are True.
    advance : callable, optional
        Called with (rows read, rows).

    Yields
    ------
    RecordBlock

    Raises
    ------
    InputError
        If the file cannot be read, a column appears twice, holds another type or a text that is
        too long, or the file holds packed pairs.
    """
    try:
        with open_parquet(path, dictionaries=True) as file:
            kinds, unused = _chosen(file.schema_arrow, choose, name)
            check_size(file.metadata, list(kinds), path)
            total = file.metadata.num_rows
            if not kinds:
                yield from _empty_blocks(unused, total)
                return
            done = 0
            for batch in file.iter_batches(_BLOCK_ROWS, columns=list(kinds), use_threads=False):
                yield _block(batch, list(kinds), unused, done, name)
                done += len(batch)
                advance(done, total)
    except InputError as error:
        raise InputError(
            error.problem, error.remedy, error.place.replace(str(path), name)
        ) from error


def read_arrow_blocks(path: Path, name: str, choose: ChooseColumns) -> Iterator[RecordBlock]:
    """Read a file in one of Arrow's IPC formats block by block.

    Parameters
    ----------
    path : pathlib.Path
    name, choose
        As for :func:`read_parquet_blocks`.

    Yields
    ------
    RecordBlock

    Raises
    ------
    InputError
        As :func:`read_parquet_blocks`.
    """
    import pyarrow as pa

    done = 0
    try:
        with pa.memory_map(str(path)) as content:
            check_arrow_size(content, name)
            content.seek(0)
            for batch in _ipc_batches(content):
                kinds, unused = _chosen(batch.schema, choose, name)
                for start in range(0, len(batch), _BLOCK_ROWS):
                    part = batch.slice(start, _BLOCK_ROWS)
                    yield _block(part, list(kinds), unused, done + start, name)
                done += len(batch)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:100]
        problem = f"is not a readable Arrow file ({reason})"
        raise InputError(problem, "write it again", name) from error


def _ipc_batches(content: Any) -> Iterator[Any]:
    """Iterate over batches, each of them checked: Arrow trusts what it reads from IPC."""
    import pyarrow as pa

    try:
        file = pa.ipc.open_file(content)
    except pa.ArrowInvalid:
        content.seek(0)
        batches = iter(pa.ipc.open_stream(content))
    else:
        batches = map(file.get_batch, range(file.num_record_batches))
    for batch in batches:
        batch.validate(full=True)
        yield batch


def _chosen(schema: Any, choose: ChooseColumns, name: str) -> tuple[FieldKinds, list[str]]:
    """Return the columns that are used, checked, and the names of the others."""
    if PACKED in (schema.metadata or {}):
        raise InputError("holds packed pairs", "name it alone, or a folder of nothing else", name)
    chosen = choose(schema.names)
    kinds = {column: kind for column, kind in chosen.items() if column in schema.names}
    for column, kind in kinds.items():
        _check_column(schema, column, kind, name)
    return kinds, [column for column in schema.names if column not in kinds]


def _empty_blocks(unused: list[str], total: int) -> Iterator[RecordBlock]:
    import pyarrow as pa

    for done in range(0, total, _BLOCK_ROWS):
        rows = min(_BLOCK_ROWS, total - done)
        batch = pa.record_batch({"": pa.nulls(rows)})
        yield _block(batch, [], unused, done, "")


def _block(batch: Any, names: list[str], unused: list[str], done: int, place: str) -> RecordBlock:
    import pyarrow as pa

    columns = {name: _usual(batch.column(name)) for name in names}
    try:
        for column in columns.values():
            check_texts(column)
    except InputError as error:
        raise error.at(place) from error
    rows = len(batch)

    def read() -> Iterator[NumberedRecord]:
        values = [python_values(columns[name]) for name in names]
        others = dict.fromkeys(unused, True)
        for row in range(rows):
            record = {name: column[row] for name, column in zip(names, values, strict=True)}
            yield done + row + 1, record | others

    present = {name: pa.repeat(True, rows) for name in unused}
    return RecordBlock(columns | present, range(done + 1, done + rows + 1), "row", read)


def _usual(column: Any) -> Any:
    """Return a column with a type that all functions of Arrow know."""
    wanted = _usual_type(column.type)
    return column if wanted == column.type else column.cast(wanted)


def _usual_type(found: Any) -> Any:
    """Return the type for one that polars, DuckDB or a warehouse writes: decimals are numbers."""
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_string_view(found):
        return pa.large_string()
    if kinds.is_decimal(found):
        return pa.float64() if found.scale else pa.int64()
    if not (_is_list(found) or kinds.is_dictionary(found)):
        return found
    value = _usual_type(found.value_type)
    if kinds.is_dictionary(found):
        return found if value == found.value_type else pa.dictionary(pa.int32(), value)
    is_view = kinds.is_list_view(found) or kinds.is_large_list_view(found)
    return pa.large_list(value) if is_view or value != found.value_type else found


def _is_list(found: Any) -> bool:
    import pyarrow.types as kinds

    tests = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(kinds, f"is_{test}")(found) for test in tests)


def _check_column(schema: Any, name: str, kind: FieldKind, place: str) -> None:
    """Check that a column appears once and has a type that its kind allows."""
    import pyarrow.types as types

    def is_one(column: Any, wanted: tuple[str, ...]) -> bool:  # pyarrow has no type hints
        value = column.value_type if types.is_dictionary(column) else column
        return any(getattr(types, f"is_{one}")(value) for one in ("null", *wanted))

    if schema.names.count(name) > 1:
        raise InputError(f"the column {name!r} appears twice", "keep one", place)
    found, wanted = _usual_type(schema.field(name).type), _TYPES[kind][0]
    if kind == "labels" and not is_one(found, _TEXT):
        fits = _is_list(found) and is_one(found.value_type, wanted)
    else:
        fits = is_one(found, wanted)
    if not fits:
        plain = re.sub(r"dictionary<values=(\w+)[^>]*>", r"\1", str(found))
        problem = f'the column "{name}" holds {plain:.60}'
        raise InputError(problem, f"it must hold {_TYPES[kind][1]}", place)


_TEXT = ("string", "large_string")
_NUMBERS = ("integer", "floating")
_TYPES: dict[FieldKind, tuple[tuple[str, ...], str]] = {
    "labels": ((*_NUMBERS, *_TEXT), "lists of numbers or text"),
    "label": ((*_NUMBERS, *_TEXT), "numbers or text"),
    "answer": ((*_NUMBERS, *_TEXT), "text or numbers"),
    "number": (_NUMBERS, "numbers"),
    "id": ((*_NUMBERS, *_TEXT), "text or whole numbers"),
}
"""The Arrow types of each kind, and what a message calls them."""
