"""Judgments of a block as codes: from Arrow's columns, or from records that were read one by one.

Both ways give the same codes up to the order of the distinct values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers
from dcglearn.judgments.meaning.column_names import Column
from dcglearn.judgments.meaning.judgment_fields import (
    LARGEST_WEIGHT,
    LONGEST_LIST,
    REQUIRED_FIELDS,
    parse_answer,
    parse_id,
    parse_labels,
    parse_weight,
)
from dcglearn.judgments.meaning.number_cells import parse_cell
from dcglearn.judgments.reading.blocks import NumberedRecord, RecordBlock, Unit
from dcglearn.judgments.reading.coded_values import (
    CodedColumn,
    CodedLists,
    UndecidedError,
    coded,
    coded_objects,
    coded_ranks,
    list_column_codes,
    merged_values,
)
from dcglearn.judgments.reading.field_columns import FieldColumns
from dcglearn.judgments.reading.list_texts import coded_texts
from dcglearn.measures.scale import Label


@dataclass(frozen=True)
class CodedJudgments:
    """Judgments as codes.

    Attributes
    ----------
    unit : {"line", "record", "row"}
        What `numbers` counts.
    numbers : range or ndarray of int
        The number of each judgment.
    a, b : CodedLists
    answers : CodedColumn
        As they are in the file.
    weights : ndarray of float or None
        None if all are 1.
    queries, judges : CodedColumn or None
        None if no judgment has one.
    """

    unit: Unit
    numbers: range | Integers
    a: CodedLists
    b: CodedLists
    answers: CodedColumn
    weights: Floats | None
    queries: CodedColumn | None
    judges: CodedColumn | None

    def __len__(self) -> int:
        return len(self.numbers)

    def place(self, row: int) -> str:
        """Return the place of a judgment in its file."""
        return f"{self.unit} {self.numbers[row]}"


def code_columns(block: RecordBlock, fields: FieldColumns) -> CodedJudgments:
    """Return the judgments that the columns of a block make.

    Parameters
    ----------
    block : RecordBlock
    fields : FieldColumns
        Which columns they are made of.

    Returns
    -------
    CodedJudgments

    Raises
    ------
    UndecidedError
        If the records must be read one by one.
    InputError
        If several columns could be one field.
    """
    columns, textual = block.columns, block.textual
    if columns is None:
        raise UndecidedError
    found = fields.find_in_block(block)
    if found is None or (found.unknown and not fields.allows_unknown):
        raise UndecidedError
    if not set(REQUIRED_FIELDS) <= set(found.columns):
        if textual:
            fields.check_complete()
        raise UndecidedError
    a, b = (_lists(columns, found.columns[side], textual) for side in "ab")
    for side in (a, b):
        if side.lengths.max(initial=0) > LONGEST_LIST or side.any_empty():
            raise UndecidedError
    arrays = {
        name: columns.get(column)
        for name, column in found.columns.items()
        if isinstance(column, str)
    }
    answer = arrays["answer"]
    if answer is None or (answer.null_count and not fields.empty_answers):
        raise UndecidedError  # a record without the field gives null, too
    weight = arrays.get("weight")
    return CodedJudgments(
        block.unit,
        block.numbers,
        a,
        b,
        _answers(answer),
        None if weight is None else _weights(weight, textual),
        _ids(arrays.get("query"), "query"),
        _ids(arrays.get("judge"), "judge"),
    )


def code_records(
    records: Iterable[NumberedRecord], unit: Unit, path: str
) -> tuple[CodedJudgments, InputError | None]:
    """Return the judgments that records make, up to the first fault.

    Parameters
    ----------
    records : iterable of (int, dict)
        The number of each judgment, and its fields.
    unit : {"line", "record", "row"}
    path : str
        For messages.

    Returns
    -------
    judgments : CodedJudgments
    fault : InputError or None
        Naming the place: a record cannot be read, a list or the answer is missing, or a field is of
        another type.
    """
    numbers: list[int] = []
    lists: tuple[list[Any], list[Any]] = ([], [])
    answers: list[Any] = []
    weights: list[float] = []
    ids: tuple[list[str | None], list[str | None]] = ([], [])
    fault: InputError | None = None
    try:
        for number, record in records:
            with naming_place(f"{path}, {unit} {number}"):
                _check_complete(record)
                a, b = (parse_labels(record[side], side) for side in "ab")
                answer = _hashable_answer(record["answer"])
                weight = 1.0 if record.get("weight") is None else parse_weight(record["weight"])
                query, judge = (parse_id(record.get(name), name) for name in ("query", "judge"))
            for column, value in zip((*lists, *ids), (a, b, query, judge), strict=True):
                column.append(value)
            answers.append(answer)
            weights.append(weight)
            numbers.append(number)
    except InputError as error:
        fault = error
    queries, judges = (coded_objects(texts) if any(texts) else None for texts in ids)
    judgments = CodedJudgments(
        unit,
        np.array(numbers, np.int64),
        _coded_side(lists[0]),
        _coded_side(lists[1]),
        answers=coded_objects(answers),
        weights=None if all(weight == 1 for weight in weights) else np.array(weights),
        queries=queries,
        judges=judges,
    )
    try:
        return judgments, fault
    finally:
        del fault  # whose frames, this one among them, hold temporary files


@contextmanager
def naming_place(place: str) -> Iterator[None]:
    """Name a place in the errors of a block.

    Parameters
    ----------
    place : str
    """
    try:
        yield
    except InputError as error:
        raise error.at(place) from error


def _lists(columns: dict[str, Any], column: Column, textual: bool) -> CodedLists:
    import pyarrow as pa

    if not isinstance(column, str):
        present = [columns[name] for name in column if name in columns]
        if not present:
            raise UndecidedError
        empty = pa.nulls(len(present[0]))
        return coded_ranks([columns.get(name, empty) for name in column], textual)
    array = columns.get(column)
    if array is None:
        raise UndecidedError
    return coded_texts(array) if textual or _is_text(array.type) else list_column_codes(array)


def _is_text(found: Any) -> bool:
    import pyarrow.types as kinds

    value = found.value_type if kinds.is_dictionary(found) else found
    return bool(kinds.is_string(value) or kinds.is_large_string(value))


def _coded_side(lists: list[list[Label | None]]) -> CodedLists:
    column = coded_objects(chain.from_iterable(lists))
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return CodedLists(column.codes, lengths, column.values)


def _check_complete(record: dict[str, Any]) -> None:
    for name in REQUIRED_FIELDS:
        if record.get(name) is None:
            raise InputError(
                f'"{name}" is missing', f"every judgment needs {', '.join(REQUIRED_FIELDS)}"
            )


def _hashable_answer(answer: Any) -> Any:
    """Return an answer that may be one; raise the error about another."""
    return answer if isinstance(answer, str | int | float) else parse_answer(answer)


def _answers(array: Any) -> CodedColumn:
    """Return answers; one that is missing is empty text."""
    column = coded(array)
    if not all(
        isinstance(value, str | int) and not isinstance(value, bool) for value in column.values
    ):
        raise UndecidedError
    if (column.codes >= 0).all():
        return column
    codes = np.where(column.codes < 0, len(column.values), column.codes)
    return CodedColumn(codes, [*column.values, ""])


def _ids(array: Any, name: str) -> CodedColumn | None:
    """Return ids as text; empty text is missing."""
    if array is None:
        return None
    column = coded(array)
    if set(map(type, column.values)) == {str} and "" not in column.values:
        return column
    try:
        ids = [parse_id(value, name) for value in column.values]
    except InputError as error:
        raise UndecidedError from error
    merged = merged_values(column.codes, ids)
    return merged if merged.values else None


def column_ids(array: Any, name: str, n: int) -> list[str | None]:
    """Return the ids of a column, one per record.

    Parameters
    ----------
    array : pyarrow.Array or None
        None if no record has the field.
    name : str
        The field.
    n : int
        The number of records.

    Returns
    -------
    list of str or None

    Raises
    ------
    UndecidedError
        If a value is not an id.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column_ids(pa.array([7, None]), "judge", 2)
    ['7', None]
    """
    column = _ids(array, name)
    if column is None:
        return [None] * n
    found: list[str | None] = np.array([*column.values, None], object)[column.codes].tolist()
    return found


def _weights(array: Any, textual: bool) -> Floats | None:
    import pyarrow as pa
    import pyarrow.types as kinds

    if textual or kinds.is_string(array.type):
        column = coded(array)
        if not textual and "" in column.values:
            raise UndecidedError
        numbers = [1.0 if text == "" else parse_cell(text) for text in column.values]
        weights = np.array([*numbers, 1.0], float)[column.codes]  # -1 where one is missing
    elif kinds.is_null(array.type):
        return None
    elif kinds.is_integer(array.type) or kinds.is_floating(array.type):
        plain = array.cast(pa.float64(), safe=False).fill_null(1.0)
        weights = plain.to_numpy(zero_copy_only=False)
    else:
        raise UndecidedError
    if not ((weights >= 0) & (weights <= LARGEST_WEIGHT)).all():
        raise UndecidedError
    return None if (weights == 1).all() else weights
