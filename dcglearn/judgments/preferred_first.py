"""Pairs of which the preferred list is the first, from lists as they were shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Pairs

_ROWS = 1 << 16
"""Judgments whose sides are swapped at a time."""


def put_preferred_first(lists: Pairs, b_wins: NDArray[np.bool_]) -> None:
    """Swap the lists of judgments that prefer the second, in place.

    Parameters
    ----------
    lists : ndarray of int8, shape (n, 2, K)
    b_wins : ndarray of bool, shape (n,)

    Examples
    --------
    >>> lists = np.array([[[0], [1]], [[0], [1]]], np.int8)
    >>> put_preferred_first(lists, np.array([False, True]))
    >>> lists.tolist()
    [[[0], [1]], [[1], [0]]]
    """
    for row in range(0, len(lists), _ROWS):
        some, swapped = lists[row : row + _ROWS], b_wins[row : row + _ROWS]
        some[swapped] = some[swapped][:, ::-1]
