"""Numbers for distinct values, which arrays can count, and folds that keep a query whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import Column
from dcglearn.base.types import Grades, Ids, Integers


def distinct_rows(columns: Iterable[Grades]) -> tuple[Integers, Integers]:
    """Return the first of each of the distinct rows, in lexical order, and the number of each row.

    The columns hold whole numbers from -1 on.
    """
    codes, size = np.zeros((), np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 2
        if size * width > 2**62:  # a row is a number whose digits are its columns
            codes = np.unique(codes, return_inverse=True)[1]
            size = int(codes.max(initial=0)) + 1
        codes = codes * width + column + 1
        size *= width
    codes = codes.astype(np.min_scalar_type(size))  # short ones are sorted in linear time
    _, first, numbers = np.unique(codes, return_index=True, return_inverse=True)
    return first, numbers.astype(np.int64, copy=False)


def row_numbers(columns: Iterable[Grades]) -> Integers:
    """Return numbers for the distinct rows of whole numbers from -1 on, in lexical order."""
    return distinct_rows(columns)[1]


class GatheredColumn:
    """A column that is gathered block by block; codes take few bytes, (n,) or (n, K) of lists."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._parts: list[tuple[int, Grades]] = []

    def add(self, column: Column, first: int) -> None:
        """Add the values of some rows, from row `first` on."""
        found = []
        for value in column.values:
            key = value if type(value) is str else (type(value), repr(value))
            found.append(self._numbers.setdefault(key, len(self._numbers)))
            if len(self._numbers) > len(self._values):
                self._values.append(value)
        codes = np.array([*found, -1], np.min_scalar_type(-max(1, len(self._values))))
        self._parts.append((first, codes[column.codes]))

    def column(self, rows: int) -> Column:
        """Return the column, which lacks the values of rows that were not added."""
        shape = max(part.shape[1:] for _, part in self._parts)
        codes = np.full((rows, *shape), -1, np.result_type(*(part for _, part in self._parts)))
        for first, part in self._parts:
            codes[(slice(first, first + len(part)), *map(slice, part.shape[1:]))] = part
        return Column(codes, self._values)


def count_true(found: NDArray[np.bool_]) -> int:
    """Return how many are true, as a number that JSON can hold."""
    return int(found.sum())


def group_numbers(groups: ArrayLike) -> Integers:
    """Return numbers (n,) of groups, by first appearance; None or NaN is a group of its own."""
    numbers: dict[Any, int] = {}
    values = np.asarray(groups).ravel().tolist()
    keys = (object() if one is None or one != one else one for one in values)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def query_counts(queries: Ids) -> tuple[int, int]:
    """Return the number of queries, and of judgments without one."""
    ids = queries.tolist()
    return len(set(ids) - {None}), ids.count(None)


def query_folds(
    groups: NDArray[np.integer], n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split judgments into folds that keep a query whole, as ``GroupKFold(shuffle=True)`` does.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        The query of each judgment.
    n_folds : int
        At least 2, at most the number of queries.
    rng : numpy.random.Generator
        Shuffles the queries.

    Yields
    ------
    train, test : ndarrays of int
        Row numbers, ascending.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> for train, test in query_folds(np.array([0, 0, 1, 1]), 2, rng):
    ...     print(train, test)
    [0 1] [2 3]
    [2 3] [0 1]
    """
    queries = np.unique(groups)
    if len(queries) < 2:
        problem = "judgments of one query cannot be divided into folds"
        raise InputError(problem, "judge more than one query")
    checked_count(n_folds, "`n_folds`", 2, len(queries))
    shuffler = np.random.RandomState(int(rng.integers(2**31)))
    for held_out in np.array_split(shuffler.permutation(queries), n_folds):
        in_test = np.isin(groups, held_out)
        yield np.flatnonzero(~in_test), np.flatnonzero(in_test)
