"""Numbers for distinct values, which arrays can count."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def count_true(found: NDArray[np.bool_]) -> int:
    """Return how many are true, as a number that JSON can hold."""
    return int(found.sum())
