"""Concordant and discordant pairs of two orders, counted without comparing all pairs.

For each item, the number of items above it in both orders; with the second order reversed, the
number above it in one and below it in the other. Of two different numbers, the larger has a 1 at
the highest binary digit in which they differ. So the items are sorted by the first order, and for
each digit of their ranks in the second order, the ones before each zero are counted among the
items whose higher digits are equal. This is a merge sort from the top down with O(N log N) steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.types import Integers


def paired_ranks(truth: ArrayLike, estimate: ArrayLike) -> tuple[Integers, Integers]:
    """Convert two score vectors of the same items to ranks; equal scores share a rank.

    Parameters
    ----------
    truth, estimate : array-like of real numbers, shape (N,)
        Higher is better; item i is entry i of both.

    Returns
    -------
    tuple of two ndarrays of int, shape (N,)
        0 for the lowest score, 1 for the next higher one, and so on.

    Raises
    ------
    InputError
        If there are fewer than two items, the lengths differ, or a score is not finite.

    Examples
    --------
    >>> paired_ranks([0.5, 0.1, 0.5], [3, 9, -2])
    (array([1, 0, 1]), array([1, 2, 0]))
    """
    first, second = _ranks(truth, "truth"), _ranks(estimate, "estimate")
    if len(first) != len(second):
        raise InputError(
            f"{len(first)} items in the truth, {len(second)} in the estimate",
            "score the same items in both",
        )
    if len(first) < 2:
        raise InputError(f"{len(first)} items to order", "give at least two")
    return first, second


def _ranks(scores: ArrayLike, name: str) -> Integers:
    """Return dense ranks of finite scores; integers are compared exactly."""
    try:
        values = np.asarray(scores)
    except ValueError as error:  # rows of different lengths
        raise InputError(
            "scores that are not a vector", "give one number per item", name
        ) from error
    if values.ndim != 1 or (values.dtype.kind not in "biuf" and len(values)):
        raise InputError(
            f"scores of shape {values.shape} and type {values.dtype}",
            "give one number per item",
            name,
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"the score is {values[row]}", "use finite numbers", f"{name}, item {row}")
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def count_above(ranks: Integers) -> Integers:
    """Count for each item the items strictly above it.

    Parameters
    ----------
    ranks : ndarray of int, shape (N,)
        Higher is better.

    Returns
    -------
    ndarray of int, shape (N,)

    Examples
    --------
    >>> count_above(np.array([1, 0, 1, 2]))
    array([1, 3, 1, 0])
    """
    found: Integers = len(ranks) - np.searchsorted(np.sort(ranks), ranks, side="right")
    return found


def count_above_in_both(first: Integers, second: Integers) -> Integers:
    """Count for each item the items strictly above it in both orders.

    Parameters
    ----------
    first, second : ndarray of int, shape (N,)
        Ranks of any sign, higher is better. ``-second`` counts the items above in the first
        order and below in the second.

    Returns
    -------
    ndarray of int, shape (N,)

    Examples
    --------
    >>> count_above_in_both(np.array([3, 2, 1, 0]), np.array([2, 3, 1, 0]))
    array([0, 0, 2, 3])
    """
    order = np.lexsort((second, -first))  # ties ascend: none counts another
    found = np.empty(len(order), np.int64)
    found[order] = _larger_before((second - second.min())[order])
    return found


def _larger_before(numbers: Integers) -> Integers:
    """Count for each entry of a vector of numbers >= 0 the larger ones before it.

    >>> _larger_before(np.array([2, 3, 1, 3, 0]))
    array([0, 0, 2, 0, 4])
    """
    found = np.zeros(len(numbers), np.int64)
    for digit in range(int(numbers.max()).bit_length()):
        order = np.argsort(numbers >> (digit + 1), kind="stable")
        prefix = numbers[order] >> (digit + 1)
        bit = numbers[order] >> digit & 1
        ones_before = np.cumsum(bit) - bit
        with_prefix = ones_before - ones_before[np.searchsorted(prefix, prefix)]
        found[order] += np.where(bit == 0, with_prefix, 0)
    return found
