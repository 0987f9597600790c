"""Rows of grades and ids as whole numbers, so that equal ones can be counted.

A row is a number in base L + 1, its digits the grades; where that would be too large, the numbers
of the ranks so far are replaced by their positions among the distinct ones, which keeps the order.
"""

from __future__ import annotations

import numpy as np

from dcglearn.base.types import Grades, Ids, Integers

_LARGEST = 2**62


def row_codes(rows: Grades) -> Integers:
    """Return a number for each row: equal for equal rows, and in their lexical order.

    Parameters
    ----------
    rows : ndarray of int, shape (n, K)
        Grade indices, -1 for no document.

    Returns
    -------
    ndarray of int, shape (n,)
        0 or more.

    Examples
    --------
    >>> row_codes(np.array([[1, 0], [0, 2], [1, 0], [0, -1]]))
    array([9, 7, 9, 4])
    """
    base = int(rows.max(initial=0)) + 2
    codes, largest = np.zeros(len(rows), np.int64), 1
    for column in rows.T:
        if largest * base > _LARGEST:
            codes = _dense(codes)
            largest = len(rows)
        codes *= base
        codes += column
        codes += 1
        largest *= base
    return codes


def id_codes(ids: Ids) -> tuple[Integers, list[str]]:
    """Return a number for each id, in the order in which ids first occur.

    Parameters
    ----------
    ids : ndarray of object, shape (n,)
        Text, None where unknown.

    Returns
    -------
    codes : ndarray of int, shape (n,)
        -1 where the id is unknown.
    names : list of str
        The ids by number.

    Examples
    --------
    >>> id_codes(np.array(["q", None, "p", "q"], object))
    (array([ 0, -1,  1,  0]), ['q', 'p'])
    """
    values = ids.tolist()
    names = [name for name in dict.fromkeys(values) if name is not None]
    numbers = {None: -1} | {name: number for number, name in enumerate(names)}
    return np.fromiter(map(numbers.__getitem__, values), np.int64, len(values)), names


def joint_codes(first: Integers, second: Integers) -> Integers:
    """Return a number for each distinct pair of two whole numbers.

    Parameters
    ----------
    first, second : ndarray of int, shape (n,)
        0 or more.

    Returns
    -------
    ndarray of int, shape (n,)
        0, 1, ... in lexical order.

    Examples
    --------
    >>> joint_codes(np.array([5, 0, 5]), np.array([1, 7, 1]))
    array([1, 0, 1])
    """
    width = int(second.max(initial=0)) + 1
    if (int(first.max(initial=0)) + 1) * width > _LARGEST:
        first, second = _dense(first), _dense(second)
        width = len(second)
    return _dense(first * width + second)


def _dense(codes: Integers) -> Integers:
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64, copy=False)
