"""Columns as codes: each value is the number of one of a few distinct values.

10^6 lists of 10 grades hold 10^7 labels and perhaps five distinct ones. Arrow numbers them, and
only the distinct ones become Python objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Grades, Integers
from dcglearn.judgments.meaning.number_cells import with_point
from dcglearn.measures.scale import Label, canonical_label

_FEW_NUMBERS = 1 << 7
"""Numbers below it are numbered without a search."""


class UndecidedError(Exception):
    """Columns that must be read record by record."""


@dataclass(frozen=True)
class CodedColumn:
    """A column as codes.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        Which of the values; -1 where one is missing.
    values : list
        The distinct values.
    """

    codes: Grades
    values: list[Any]


@dataclass(frozen=True)
class CodedLists:
    """A column of lists as codes.

    Attributes
    ----------
    codes : ndarray of int, shape (m,)
        Which of the labels, list after list; -1 where a rank is empty.
    lengths : ndarray of int, shape (n,)
        The number of ranks of each list.
    labels : list
        The distinct labels, in their canonical form.
    """

    codes: Grades
    lengths: Integers
    labels: list[Label]

    def any_empty(self) -> bool:
        """Return whether some list has no label."""
        filled = self.codes >= 0
        if filled.all():
            return bool((self.lengths == 0).any())
        before = np.append(0, np.cumsum(filled))
        ends = np.cumsum(self.lengths)
        return bool((before[ends] == before[ends - self.lengths]).any())

    def position(self, entry: int) -> tuple[int, int]:
        """Return the row and the rank, from 0, of an entry of `codes`."""
        ends = np.cumsum(self.lengths)
        row = int(np.searchsorted(ends, entry, side="right"))
        return row, entry - int(ends[row] - self.lengths[row])


def coded(array: Any) -> CodedColumn:
    """Return an Arrow array as codes.

    Parameters
    ----------
    array : pyarrow.Array
        Not nested.

    Returns
    -------
    CodedColumn

    Raises
    ------
    UndecidedError
        If Arrow cannot number its values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = coded(pa.array(["x", None, "y", "x"]))
    >>> column.codes.tolist(), column.values
    ([0, -1, 1, 0], ['x', 'y'])
    """
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_null(array.type):
        return CodedColumn(np.full(len(array), -1, np.int32), [])
    if kinds.is_integer(array.type) and (few := _coded_integers(array)) is not None:
        return few
    if not kinds.is_dictionary(array.type):
        try:
            array = array.dictionary_encode()
        except pa.ArrowException as error:
            raise UndecidedError from error
        return CodedColumn(_indices(array), array.dictionary.to_pylist())
    used, codes = _numbered(_indices(array), len(array.dictionary))
    values = array.dictionary.take(pa.array(used)).to_pylist()
    if len(set(values)) < len(values):  # a dictionary may repeat a value
        return merged_values(codes, values)
    return CodedColumn(codes, values)


def list_column_codes(array: Any) -> CodedLists:
    """Return an Arrow array of lists of grades as codes.

    Parameters
    ----------
    array : pyarrow.Array
        Lists of numbers or text.

    Returns
    -------
    CodedLists

    Raises
    ------
    UndecidedError
        If a list is missing, or a label is not one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> lists = list_column_codes(pa.array([["2", None, "0"], ["0"]]))
    >>> lists.codes.tolist(), lists.labels
    ([0, -1, 1, 1], [2, 0])
    """
    import pyarrow.types as kinds

    nested = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list)
    if array.null_count or not any(test(array.type) for test in nested):
        raise UndecidedError
    lengths = array.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    flat = array.flatten()
    if _is_no_label(flat.type):
        raise UndecidedError
    column = with_canonical_labels(coded(flat))
    return CodedLists(column.codes, lengths, column.values)


def coded_ranks(arrays: Sequence[Any], textual: bool) -> CodedLists:
    """Return lists whose ranks are columns of their own as codes.

    Parameters
    ----------
    arrays : sequence of pyarrow.Array
        The grades at each rank, from the first down.
    textual : bool
        Whether cells are text; empty text and a dash then are empty ranks.

    Returns
    -------
    CodedLists

    Raises
    ------
    UndecidedError
        If a value is not a label.

    Examples
    --------
    >>> import pyarrow as pa
    >>> lists = coded_ranks([pa.array([2, 0]), pa.array([None, 2])], False)
    >>> lists.codes.tolist(), lists.labels
    ([1, -1, 0, 1], [0, 2])
    """
    values: list[Any] = []
    tables = []
    for array in arrays:
        if _is_no_label(array.type):
            raise UndecidedError
        column = coded(array)
        found = column.values
        if textual:
            found = [None if one in ("", "-") else with_point(one) for one in column.values]
        tables.append(np.where(column.codes < 0, -1, column.codes + len(values)))
        values += found
    labels = with_canonical_labels(CodedColumn(np.stack(tables, axis=1).ravel(), values))
    rows = len(tables[0])
    return CodedLists(labels.codes, np.full(rows, len(arrays), np.int64), labels.values)


def with_canonical_labels(column: CodedColumn) -> CodedColumn:
    """Return a column of labels with their canonical forms.

    Parameters
    ----------
    column : CodedColumn

    Returns
    -------
    CodedColumn

    Raises
    ------
    UndecidedError
        If a value is not a label.
    """
    try:
        labels = [None if value is None else canonical_label(value) for value in column.values]
    except (TypeError, ValueError) as error:
        raise UndecidedError from error
    return merged_values(column.codes, labels)


def coded_objects(values: Iterable[Any]) -> CodedColumn:
    """Return Python objects as codes; None is missing, and 1 differs from True.

    Parameters
    ----------
    values : iterable of hashable

    Returns
    -------
    CodedColumn

    Examples
    --------
    >>> coded_objects(["x", None, "y", "x"]).codes.tolist()
    [0, -1, 1, 0]
    """
    numbers: dict[tuple[type, Any], int] = {(type(None), None): -1}
    codes = [numbers.setdefault((type(one), one), len(numbers) - 1) for one in values]
    return CodedColumn(np.array(codes, np.int32), [value for _, value in numbers][1:])


def merged_values(codes: Grades, values: Sequence[Any]) -> CodedColumn:
    """Return codes of distinct values for those of values that repeat or are None.

    Parameters
    ----------
    codes : ndarray of int
        Which of the values; -1 where one is missing.
    values : sequence of hashable

    Returns
    -------
    CodedColumn

    Examples
    --------
    >>> merged_values(np.array([0, 1, 2, -1]), ["x", None, "x"]).codes.tolist()
    [0, -1, 0, -1]
    """
    distinct = coded_objects(values)
    if len(distinct.values) == len(values):
        return CodedColumn(codes, list(values))
    return CodedColumn(np.append(distinct.codes, np.int32(-1))[codes], distinct.values)


def _is_no_label(found: Any) -> bool:
    """Return whether values of an Arrow type cannot be labels."""
    import pyarrow.types as kinds

    value = found.value_type if kinds.is_dictionary(found) else found
    return bool(kinds.is_boolean(value) or kinds.is_nested(value))


def _coded_integers(array: Any) -> CodedColumn | None:
    """Return small numbers as codes, such as grades; None for others, or with missing ones."""
    if array.null_count or not len(array):
        return None
    numbers = array.to_numpy()
    low, high = int(numbers.min()), int(numbers.max())
    if not 0 <= low <= high < _FEW_NUMBERS:
        return None
    occurs = np.bincount(numbers) > 0
    codes = (np.cumsum(occurs) - 1).astype(np.int32)
    return CodedColumn(codes[numbers], np.flatnonzero(occurs).tolist())


def _numbered(indices: NDArray[np.int32], size: int) -> tuple[Grades, Grades]:
    """Return which of the first integers occur, and their numbers; -1 stays -1."""
    if size > len(indices):  # such as a million ids of which a block has a few
        used, codes = np.unique(indices, return_inverse=True)
        missing = int(used[:1].sum() < 0)
        return used[missing:], codes.astype(np.int32) - np.int32(missing)
    occurs = np.zeros(size + 1, bool)
    occurs[indices] = True  # the last for those that are missing
    held = np.flatnonzero(occurs[:-1])
    numbers = np.full(size + 1, -1, np.int32)
    numbers[held] = np.arange(len(held), dtype=np.int32)
    return held, numbers[indices]


def _indices(array: Any) -> NDArray[np.int32]:
    found: NDArray[np.int32] = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return found.astype(np.int32, copy=False)
