"""Numbers for distinct values: equal values get equal numbers, so that arrays can count them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np

from dcglearn.base.types import Grades, Integers

_LARGEST = 2**62


def id_numbers(ids: Iterable[Any]) -> tuple[Integers, list[Any]]:
    """Return a number for each of n ids, and the ids by number, in order of first occurrence.

    None and NaN are each an id of its own, numbered after all others.
    """
    values = list(ids)
    names = [name for name in dict.fromkeys(values) if name is not None and name == name]
    if not names:
        return np.arange(len(values)), names
    numbers = dict(zip(names, range(len(names)), strict=True))
    codes = np.fromiter(map(numbers.get, values, repeat(-1)), np.int64, len(values))
    missing = codes < 0
    codes[missing] = len(names) + np.arange(np.count_nonzero(missing))
    return codes, names


def row_numbers(columns: Iterable[Grades]) -> Integers:
    """Return 0, 1, ... for the distinct rows of whole numbers from -1 on, in lexical order.

    A row is a number whose digits are its columns; before it grows too large, it is replaced by
    its position among the distinct ones.
    """
    codes, size = np.zeros((), np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 2
        if size * width > _LARGEST:
            codes = _positions(codes)
            size = int(codes.max(initial=0)) + 1
        codes = codes * width + column + 1
        size *= width
    return _positions(codes)


def _positions(codes: Integers) -> Integers:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64, copy=False)
