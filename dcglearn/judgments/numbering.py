"""Numbers for distinct values, which arrays can count."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.tables.columns import Column
from dcglearn.base.types import Grades, Integers


def id_numbers(ids: Iterable[Any]) -> tuple[Integers, list[Any]]:
    """Return a number for each of n ids, -1 for None and NaN, and the ids as they first occur."""
    values = list(ids)
    names = [name for name in dict.fromkeys(values) if name is not None and name == name]
    numbers = {name: number for number, name in enumerate(names)}
    codes = map(numbers.get, values, repeat(-1))
    return np.fromiter(codes, np.int64, len(values)), names


def row_numbers(columns: Iterable[Grades]) -> Integers:
    """Return numbers for the distinct rows of whole numbers from -1 on, in lexical order."""
    codes, size = np.zeros((), np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 2
        if size * width > 2**62:  # a row is a number whose digits are its columns
            codes = np.unique(codes, return_inverse=True)[1]
            size = int(codes.max(initial=0)) + 1
        codes = codes * width + column + 1
        size *= width
    return np.unique(codes, return_inverse=True)[1].astype(np.int64, copy=False)


class GatheredColumn:
    """A column that is gathered block by block, as numbers of the values of the whole input.

    Its blocks have the shape (n,), or (n, ..., K) if a row holds lists.
    """

    def __init__(self) -> None:
        self.parts: list[Grades] = []
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def add(self, column: Column) -> None:
        """Add the values of some rows; numbers take few bytes."""
        found = []
        for value in column.values:
            key = value if type(value) is str else (type(value), repr(value))
            found.append(self._numbers.setdefault(key, len(self._numbers)))
            if len(self._numbers) > len(self.values):
                self.values.append(value)
        size = len(self.values)
        bits = 8 if size <= 2**7 else 16 if size <= 2**15 else 32
        self.parts.append(np.array([*found, -1], np.dtype(f"int{bits}"))[column.codes])

    def column(self, which: slice = slice(None)) -> Column:
        """Return the column of some blocks."""
        return Column(np.concatenate(_padded(self.parts[which])), self.values)


def stacked(columns: Iterable[Column]) -> Column:
    """Return columns of n rows as one of shape (n, columns) or (n, columns, K)."""
    gathered = GatheredColumn()
    for column in columns:
        gathered.add(column)
    return Column(np.stack(_padded(gathered.parts), axis=1), gathered.values)


def _padded(parts: list[Grades]) -> list[Grades]:
    """Fill lists up with -1 to the length of the longest."""
    if not parts or parts[0].ndim == 1:
        return parts or [np.zeros(0, np.int8)]
    K = max(part.shape[-1] for part in parts)
    below = [[(0, 0)] * (part.ndim - 1) + [(0, K - part.shape[-1])] for part in parts]
    return [np.pad(part, each, constant_values=-1) for part, each in zip(parts, below, strict=True)]


def count_true(found: NDArray[np.bool_]) -> int:
    """Return how many are true, as a number that JSON can hold."""
    return int(found.sum())
