"""Distinct values, numbered as they occur, and where each of them occurs first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dcglearn.base.types import Grades, Integers

_FEW = 16
"""More values than this are looked for together, by sorting."""


class ValueNumbers:
    """The distinct values of a column, numbered in the order in which they occur.

    Examples
    --------
    >>> values = ValueNumbers()
    >>> values.add(["x", "y"]).tolist(), values.add(["z", "y"]).tolist(), list(values)
    ([0, 1, -1], [2, 1, -1], ['x', 'y', 'z'])
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, value: Any) -> bool:
        return _key(value) in self._numbers

    def __iter__(self) -> Iterator[Any]:
        return (key if isinstance(key, str) else key[1] for key in self._numbers)

    def add(self, values: list[Any]) -> Grades:
        """Return the numbers of values, and -1 at the end for a missing one."""
        numbers = self._numbers
        keys = values if set(map(type, values)) == {str} else [_key(one) for one in values]
        found = [numbers.setdefault(key, len(numbers)) for key in keys]
        bits = 8 if len(numbers) <= 2**7 else 16 if len(numbers) <= 2**15 else 32
        return np.array([*found, -1], np.dtype(f"int{bits}"))


def _key(value: Any) -> Any:
    """Return text itself, and other values with their type: 1 differs from True."""
    return value if isinstance(value, str) else (type(value), value)


def first_entries(codes: Grades, wanted: Integers) -> Iterator[tuple[int, int]]:
    """Iterate over codes and where each of them occurs first, if it does.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
    wanted : ndarray of int

    Yields
    ------
    code, entry : int

    Examples
    --------
    >>> list(first_entries(np.array([2, 0, 2]), np.array([0, 1, 2])))
    [(0, 1), (2, 0)]
    """
    if len(wanted) > _FEW:
        found, entries = np.unique(codes, return_index=True)
        first = dict(zip(found.tolist(), entries.tolist(), strict=True))
        yield from ((code, first[code]) for code in wanted.tolist() if code in first)
        return
    for code in wanted.tolist():
        entry = int(np.argmax(codes == code))
        if len(codes) and codes[entry] == code:
            yield code, entry
