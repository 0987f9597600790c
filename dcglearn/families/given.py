"""Families by name, or given by numbers of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.families.vectors import (
    Family,
    discount_family,
    gain_family,
    given_discounts,
    given_gains,
)

FamilyLike = str | Sequence[float]
"""The name of a family, or the numbers themselves."""

GIVEN = "given"
"""The name of a family that is given by its numbers."""


def gains_like(gains: FamilyLike, values: Floats) -> Family:
    """Return a family of gains by its name, or that of given gains.

    Parameters
    ----------
    gains : str or sequence of float
        As :func:`~dcglearn.families.vectors.gain_family` takes it; or numbers, the best first.
    values : ndarray of float, shape (L,)
        The values of the grades, strictly decreasing.

    Returns
    -------
    Family

    Raises
    ------
    InputError
        If the name is unknown, or numbers are not those of gains.

    Examples
    --------
    >>> gains_like([3, 2, 0], np.array([2.0, 1.0, 0.0])).at(np.zeros(0)).values.round(3)
    array([1.   , 0.667, 0.   ])
    """
    if isinstance(gains, str):
        return gain_family(gains, values)
    n_grades = len(values)
    numbers = finite_array(
        gains, "gains", (n_grades,), f"give {counted(n_grades, 'number')}, the best first"
    )
    if (np.diff(numbers) > 0).any() or numbers[0] == numbers[-1]:
        raise InputError(
            f"the given gains {numbers.tolist()} are not those of grades, best first",
            "give non-increasing `gains`, the first above the last",
        )
    return given_gains(numbers, GIVEN)


def discounts_like(discounts: FamilyLike, n_ranks: int) -> Family:
    """Return a family of discounts by its name, or that of given discounts.

    Parameters
    ----------
    discounts : str or sequence of float
        As :func:`~dcglearn.families.vectors.discount_family` takes it; or a number per rank.
    n_ranks : int

    Returns
    -------
    Family

    Raises
    ------
    InputError
        If the name is unknown, or numbers are not those of discounts.

    Examples
    --------
    >>> discounts_like([2, 1], 2).at(np.ones(1)).values
    array([1. , 0.5])
    """
    if isinstance(discounts, str):
        return discount_family(discounts, n_ranks)
    wanted = f"give {counted(n_ranks, 'number')}, one per rank"
    numbers = finite_array(discounts, "discounts", (n_ranks,), wanted)
    if (numbers < 0).any() or not numbers[0]:
        raise InputError(
            f"the given discounts {numbers.tolist()} are not those of ranks",
            "give `discounts` of 0 or more, the first above 0",
        )
    return given_discounts(numbers, GIVEN)
