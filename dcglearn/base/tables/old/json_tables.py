"""JSON documents that hold a whole table in one object, as records.

pandas writes a frame by columns (``{"a": {"0": [2, 0]}, ...}``, its default), by rows (``orient=
"index"``), split into columns and data, or with a schema; other programs write a list per column,
or records next to facts about them (``{"version": 1, "data": [{...}]}``).
"""

from __future__ import annotations

from typing import Any

from dcglearn.base.errors import InputError

MAX_DOCUMENT = 2**27
"""A document of more bytes is not read as a whole."""

_REMEDY = "write one object per row: pandas' to_json(orient='records')"


def records_of_document(document: object) -> list[dict[str, Any]] | None:
    """Return the records of a table that a JSON document holds.

    Parameters
    ----------
    document : object
        What the document holds.

    Returns
    -------
    list of dict, or None
        None for a document that is not an object with a table in it.

    Raises
    ------
    InputError
        If its columns differ in length, or it may be by columns or by rows.

    Examples
    --------
    >>> records_of_document({"a": {"0": [2, 0], "1": [1]}, "answer": {"0": "a", "1": "b"}})
    [{'a': [2, 0], 'answer': 'a'}, {'a': [1], 'answer': 'b'}]
    >>> records_of_document({"columns": ["a", "answer"], "data": [[[2, 0], "a"]]})
    [{'a': [2, 0], 'answer': 'a'}]
    >>> records_of_document({"version": 1, "data": [{"a": [2, 0], "answer": "a"}]})
    [{'a': [2, 0], 'answer': 'a'}]
    """
    if not isinstance(document, dict) or not document:
        return None
    values = list(document.values())
    if {"columns", "data"} <= set(document) and _are_lists(document["data"]):
        return _joined(document["columns"], document["data"])
    if all(isinstance(value, dict) for value in values):
        return _by_label(document)
    tables = [value for value in values if _are_objects(value)]
    others = [value for value in values if isinstance(value, list) and value not in tables]
    if len(tables) == 1 and not others:
        return list(tables[0])
    if all(isinstance(value, list) for value in values):
        if len(set(map(len, values))) > 1:
            raise InputError("is a JSON object of lists that differ in length", _REMEDY)
        return _joined(list(document), list(zip(*values, strict=True)))
    return None


def _by_label(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records of an object of objects; the labels of rows are numbers."""
    inner = [*dict.fromkeys(key for value in document.values() for key in value)]
    outer_rows, inner_rows = (all(key.isdigit() for key in keys) for keys in (document, inner))
    if outer_rows == inner_rows:
        problem = "is a JSON object of objects, which may be columns or rows"
        raise InputError(problem, _REMEDY)
    if outer_rows:
        return list(document.values())
    if any(len(value) < len(inner) for value in document.values()):
        raise InputError("is a JSON object of columns that differ in length", _REMEDY)
    return [{name: column[row] for name, column in document.items()} for row in inner]


def _joined(names: Any, rows: Any) -> list[dict[str, Any]]:
    if not isinstance(names, list) or any(len(row) != len(names) for row in rows):
        raise InputError("is a JSON object whose rows do not fit its columns", _REMEDY)
    return [dict(zip(map(str, names), row, strict=True)) for row in rows]


def _are_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _are_lists(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, list) for one in value)
