"""Qrels and runs as JSON records, one per line or in an array, and as tables of Arrow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.files import decode_json
from dcglearn.base.tables.old.arrow_messages import check_arrow_size
from dcglearn.base.tables.old.json_tables import records_of_document
from dcglearn.base.text_lines import numbered_lines
from dcglearn.collections.qrels_tables import (
    DocumentColumns,
    FileKind,
    choose_columns,
    columns_of_table,
)


def columns_of_lines(content: bytes, name: str, kind: FileKind) -> DocumentColumns:
    r"""Read JSON lines.

    Parameters
    ----------
    content : bytes
        UTF-8.
    name : str
        For messages.
    kind : FileKind

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
    >>> line = b'{"query_id": "q1", "doc_id": "d1", "relevance": 2}\n'
    >>> columns_of_lines(line, "qrels.jsonl", QRELS).number
    array([2.])
    """
    records, lines = [], []
    for number, line in numbered_lines(content):
        if line.strip():
            try:
                records.append(_checked(decode_json(line, "give one JSON object per line")))
            except InputError as error:
                place = f"{name}, line {number}"
                raise InputError(error.problem, error.remedy, place) from error
            lines.append(number)
    return _of_records(records, name, kind, lambda row: f"{name}, line {lines[row]}")


def records_in(document: object, kind: FileKind) -> list[dict[str, Any]] | None:
    """Return the records of a JSON document, None if it may be ``{query: {document: number}}``.

    Parameters
    ----------
    document : object
    kind : FileKind

    Returns
    -------
    list of dict or None

    Raises
    ------
    InputError
        If a record of an array is not an object.
    """
    if isinstance(document, list):
        return [_checked(record) for record in document]
    if isinstance(document, dict) and all(isinstance(one, dict) for one in document.values()):
        try:
            choose_columns(list(document), "", kind)
        except InputError:
            return None
    return records_of_document(document)


def columns_of_records(records: list[dict[str, Any]], name: str, kind: FileKind) -> DocumentColumns:
    """Return the columns of JSON records.

    Parameters
    ----------
    records : list of dict
    name : str
        For messages.
    kind : FileKind

    Returns
    -------
    DocumentColumns

    Raises
    ------
    InputError
        Naming the record.
    """
    return _of_records(records, name, kind, lambda row: f"{name}, record {row + 1}")


def columns_of_arrow(path: Path, name: str, kind: FileKind) -> DocumentColumns:
    """Read a file in one of Arrow's IPC formats.

    Parameters
    ----------
    path : pathlib.Path
    name : str
        For messages.
    kind : FileKind

    Returns
    -------
    DocumentColumns

    Raises
    ------
    InputError
        Naming the file, and the row or column.
    """
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as content:
            check_arrow_size(content, name)
            content.seek(0)
            try:
                table = pa.ipc.open_file(content).read_all()
            except pa.ArrowInvalid:
                content.seek(0)
                table = pa.ipc.open_stream(content).read_all()
            table = table.select(choose_columns(table.column_names, name, kind))
            table.validate(full=True)
            return columns_of_table(table, name, kind)
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:100]
        problem = f"is not a readable Arrow file ({reason})"
        raise InputError(problem, "write it again", name) from error


def _checked(record: object) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise InputError("is not a JSON object", 'write {"field": value, ...}')
    return record


def _of_records(
    records: list[dict[str, Any]], name: str, kind: FileKind, place: Callable[[int], str]
) -> DocumentColumns:
    import pyarrow as pa

    if not records:
        raise InputError("is empty", f"give {kind.article} of at least one document", name)
    names = dict.fromkeys(key for record in records for key in record)
    chosen = choose_columns(list(names), name, kind)
    columns = {one: [record.get(one) for record in records] for one in chosen}
    for one, values in columns.items():
        kinds = {type(value) for value in values} - {type(None)}
        wrong = kinds - {str, int, float}
        if wrong or len(kinds - {float}) > 1 or {str, float} <= kinds:
            first = type(next(value for value in values if value is not None))
            row = next(
                row
                for row, value in enumerate(values)
                if value is not None and (type(value) is not first or type(value) in wrong)
            )
            problem = f"{one!r} is {values[row]!r:.40}"
            raise InputError(problem, "write text, or numbers, in every record", place(row))
    try:
        return columns_of_table(pa.table(columns), name, kind, place)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
        problem = "holds numbers that are too large, or text that is not valid"
        raise InputError(problem, "correct it", name) from error
