"""The columns of packed files, from and to arrays.

``better`` and ``worse`` hold the lists, K bytes each: grade indices as int8, 0 the best, -1 for no
document (Parquet's own lists are many times slower to read). A column ``answer``, an index into
:data:`~dcglearn.judgments.meaning.judgment_fields.ANSWERS`, says how they were shown: list b is the better one
if the answer is b; otherwise list a is in ``better``, as it is for ties. Without that column all
judgments are strict and their sides are unknown. ``weight`` is a number, ``query`` and ``judge``
are text; each of them may be missing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.tables.old.parquet import MAX_TEXT
from dcglearn.base.types import Floats, Ids, Pairs
from dcglearn.correlation.agreement import one_per_pair
from dcglearn.judgments.meaning.judgment_fields import ANSWERS
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.preferred_first import put_preferred_first
from dcglearn.measures.scale import NO_DOCUMENT

LIST_COLUMNS = ("better", "worse")
ID_COLUMNS = ("query", "judge")
PACKED_COLUMNS = (*LIST_COLUMNS, "answer", "weight", *ID_COLUMNS)

_B = ANSWERS.index("b")


class PackedPlace(NamedTuple):
    """Where rows are, for messages.

    Attributes
    ----------
    path : str
    first : int
        The number of rows of the file before them.
    """

    path: str
    first: int

    def check(self, wrong: NDArray[np.bool_], problem: str) -> None:
        """Refuse rows; the first of them is named."""
        rows = wrong.any(axis=tuple(range(1, wrong.ndim)))
        if rows.any():
            row = self.first + int(np.argmax(rows)) + 1
            raise self.error(f"row {row} {problem}")

    def error(self, problem: str) -> InputError:
        """Return an error about the file."""
        return InputError(problem, "pack the judgments again", self.path)


def table_of_pairs(pairs: NDArray[np.integer], weights: ArrayLike | None) -> Any:
    """Return a table of strict pairs whose sides are unknown.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2, K)
        Grade indices, the preferred list first.
    weights : array-like of float, shape (n,), or None
        If None, there is no such column.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow as pa

    columns = _list_columns(pairs)
    if weights is not None:
        columns["weight"] = pa.array(one_per_pair(weights, len(pairs), "weights", 0.0))
    return pa.table(columns)


def table_of_judgments(judgments: Preferences) -> Any:
    """Return a table of judgments, with all columns.

    Parameters
    ----------
    judgments : Preferences

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InputError
        If an id is too long or is not valid text.
    """
    import pyarrow as pa

    ordered = judgments.lists.copy()
    put_preferred_first(ordered, judgments.answers == _B)
    columns = _list_columns(ordered)
    columns["answer"] = pa.array(judgments.answers)
    columns["weight"] = pa.array(judgments.weights)
    columns["query"] = _id_column(judgments.queries, "query")
    columns["judge"] = _id_column(judgments.judges, "judge")
    return pa.table(columns)


def strict_pairs_of_table(
    table: Any, n_grades: int, place: PackedPlace
) -> tuple[Pairs, Floats | None]:
    """Return the strict judgments of a table, the preferred list first.

    Parameters
    ----------
    table : pyarrow.Table
    n_grades : int
        L; grade indices are below it.
    place : PackedPlace

    Returns
    -------
    pairs : ndarray of int8, shape (n, 2, K)
    weights : ndarray of float, shape (n,), or None
        None if each judgment counts 1.
    """
    better, worse = _ordered_lists(table, n_grades, place)
    weights = weights_of_table(table, place)
    answers = answers_of_table(table, place)
    if answers is not None and (answers > _B).any():
        strict = np.flatnonzero(answers <= _B)
        better, worse = better[strict], worse[strict]
        weights = None if weights is None else weights[strict]
    return _paired(better, worse), weights


def lists_of_table(
    table: Any, n_grades: int, place: PackedPlace
) -> tuple[Pairs, NDArray[np.int8] | None]:
    """Return the lists of judgments as they were shown, and the answers.

    Parameters
    ----------
    table : pyarrow.Table
    n_grades : int
    place : PackedPlace

    Returns
    -------
    lists : ndarray of int8, shape (n, 2, K)
        List a first; the preferred one where the sides are unknown.
    answers : ndarray of int8, shape (n,), or None
    """
    first, second = _ordered_lists(table, n_grades, place)
    answers = answers_of_table(table, place)
    if answers is not None:
        swapped = np.flatnonzero(answers == _B)
        first, second = first.copy(), second.copy()
        first[swapped], second[swapped] = second[swapped], first[swapped]
    return _paired(first, second), answers


def answers_of_table(table: Any, place: PackedPlace) -> NDArray[np.int8] | None:
    """Return the answers of a table, None if it has none."""
    if "answer" not in table.column_names:
        return None
    column = table.column("answer")
    if column.null_count:
        raise place.error("the column 'answer' has missing values")
    answers = column.to_numpy()
    place.check((answers < 0) | (answers >= len(ANSWERS)), "holds an unknown answer")
    return np.asarray(answers.astype(np.int8))


def weights_of_table(table: Any, place: PackedPlace) -> Floats | None:
    """Return the weights of a table, None if all are 1."""
    if "weight" not in table.column_names:
        return None
    weights: Floats = table.column("weight").to_numpy().astype(float)
    place.check(
        ~(np.isfinite(weights) & (weights >= 0)),
        "holds a weight that is not a finite number of 0 or more",
    )
    return None if (weights == 1).all() else weights


def ids_of_table(
    table: Any, name: str, place: PackedPlace
) -> tuple[NDArray[np.integer], list[str]] | None:
    """Return the ids of a table as numbers and names.

    Parameters
    ----------
    table : pyarrow.Table
    name : {"query", "judge"}
    place : PackedPlace

    Returns
    -------
    tuple of ndarray of int, shape (n,), and list of str, or None
        A number is an index into the names, -1 where an id is missing; None if all are.
    """
    import pyarrow.compute as pc

    if name not in table.column_names or table.column(name).null_count == len(table):
        return None
    column = pc.dictionary_encode(table.column(name)).combine_chunks()
    if hasattr(column, "chunks"):  # as earlier versions of pyarrow return it
        column = column.chunk(0)
    if (pc.max(pc.binary_length(column.dictionary)).as_py() or 0) > MAX_TEXT:
        raise place.error(f"the column {name!r} holds a text of more than {MAX_TEXT:,} bytes")
    return column.indices.fill_null(-1).to_numpy(), column.dictionary.to_pylist()


def check_columns(schema: Any, path: str) -> int:
    """Check the types of the columns of a file.

    Parameters
    ----------
    schema : pyarrow.Schema
    path : str
        For the message.

    Returns
    -------
    int
        K.

    Raises
    ------
    InputError
        If a column is missing, appears twice or holds something else.
    """
    import pyarrow.types as types

    def refuse(problem: str) -> InputError:
        return PackedPlace(path, 0).error(problem)

    for name in PACKED_COLUMNS:
        if schema.names.count(name) != 1 and (name in LIST_COLUMNS or name in schema.names):
            raise refuse(f"the column {name!r} appears {schema.names.count(name)} times")
    better, worse = (schema.field(name).type for name in LIST_COLUMNS)
    if not types.is_fixed_size_binary(better) or better != worse or not better.byte_width:
        raise refuse(f"the columns 'better' and 'worse' hold {better!s:.40} and {worse!s:.40}")
    holds = {
        "answer": types.is_integer,
        "weight": lambda kind: types.is_integer(kind) or types.is_floating(kind),
        "query": _is_text,
        "judge": _is_text,
    }
    for name, is_right in holds.items():
        if name in schema.names and not is_right(schema.field(name).type):
            raise refuse(f"the column {name!r} holds {schema.field(name).type!s:.40}")
    return int(better.byte_width)


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _list_columns(pairs: NDArray[np.integer]) -> dict[str, Any]:
    import pyarrow as pa

    K, columns = pairs.shape[2], {}
    for side, name in enumerate(LIST_COLUMNS):
        content = pa.py_buffer(np.ascontiguousarray(pairs[:, side], np.int8))
        columns[name] = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(K), len(pairs), [None, content]
        )
    return columns


def _id_column(ids: Ids, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        column = pa.array(ids, pa.string())
    except (UnicodeEncodeError, pa.ArrowException) as error:
        raise InputError(f"a {name} is not valid text", "correct it") from error
    longest = pc.max(pc.binary_length(column)).as_py() or 0
    if longest > MAX_TEXT:
        raise InputError(f"a {name} of {longest:,} bytes", f"use at most {MAX_TEXT:,}")
    return column


def _ordered_lists(table: Any, n_grades: int, place: PackedPlace) -> list[Any]:
    """Return the two lists of each row, the better one first; each is one item of K bytes."""
    better, worse = (_grades(table, name, place) for name in LIST_COLUMNS)
    wrong = [
        (side < NO_DOCUMENT) | (side >= n_grades)
        for side in (better, worse)
        if side.min(initial=0) < NO_DOCUMENT or side.max(initial=0) >= n_grades
    ]
    if wrong:
        place.check(np.any(wrong, axis=0), "holds a grade index out of range")
    return [side.view(f"V{side.shape[1]}")[:, 0] for side in (better, worse)]


def _paired(first: Any, second: Any) -> Pairs:
    """Return lists of K bytes as grades, shape (n, 2, K)."""
    pairs = np.empty((len(first), 2), first.dtype)
    pairs[:, 0], pairs[:, 1] = first, second
    return pairs.view(np.int8).reshape(len(first), 2, first.dtype.itemsize)


def _grades(table: Any, name: str, place: PackedPlace) -> NDArray[np.int8]:
    column = table.column(name).combine_chunks()
    if column.null_count:
        raise place.error(f"the column {name!r} has missing values")
    K, start = column.type.byte_width, column.offset
    content = np.frombuffer(column.buffers()[1], np.int8)[start * K :]
    return content[: len(column) * K].reshape(len(column), K)
