"""Pairs of items that two score vectors order alike, counted without comparing all pairs.

For each item, how many items are above it in both orders (with the second order turned
round: above it in one and below it in the other). Two numbers differ first at one highest
binary digit; so sort by the first order, and for each digit of the ranks in the second count,
among the items whose higher digits are equal, the ones that come before a zero. That is a
merge sort from the top down, N log N steps in all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.types import Integers


def paired_ranks(truth: ArrayLike, estimate: ArrayLike) -> tuple[Integers, Integers]:
    """Turn two score vectors of the same items into ranks, equal scores sharing one.

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
    """Return dense ranks of finite scores; whole numbers are compared as such."""
    try:
        values = np.asarray(scores)
    except ValueError as error:  # rows of different lengths
        raise InputError("no vector of scores", "give one number an item", name) from error
    if values.ndim != 1 or (values.dtype.kind not in "biuf" and len(values)):
        raise InputError(
            f"scores of shape {values.shape} and type {values.dtype}",
            "give one number an item",
            name,
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"the score is {values[row]}", "use finite numbers", f"{name}, item {row}")
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def count_above(ranks: Integers) -> Integers:
    """Return for each item how many items are strictly above it.

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
    """Return for each item how many items are strictly above it in both orders.

    Parameters
    ----------
    first, second : ndarray of int, shape (N,)
        Ranks, higher is better, of any sign: ``-second`` counts the items above in the
        first and below in the second.

    Returns
    -------
    ndarray of int, shape (N,)

    Examples
    --------
    >>> count_above_in_both(np.array([3, 2, 1, 0]), np.array([2, 3, 1, 0]))
    array([0, 0, 2, 3])
    """
    order = np.lexsort((second, -first))  # ties of the first ascend, so that none counts another
    found = np.empty(len(order), np.int64)
    found[order] = _larger_before((second - second.min())[order])
    return found


def _larger_before(numbers: Integers) -> Integers:
    """Return for each entry of a vector of numbers >= 0 how many larger ones stand before it.

    >>> _larger_before(np.array([2, 3, 1, 3, 0]))
    array([0, 0, 2, 0, 4])
    """
    found = np.zeros(len(numbers), np.int64)
    for digit in range(int(numbers.max()).bit_length()):
        order = np.argsort(numbers >> (digit + 1), kind="stable")
        family = numbers[order] >> (digit + 1)  # equal in all higher digits
        one = numbers[order] >> digit & 1
        ones_before = np.cumsum(one) - one
        within = ones_before - ones_before[np.searchsorted(family, family)]
        found[order] += np.where(one == 0, within, 0)
    return found
