"""The smallest change of the gains, or of the discounts, that reverses a verdict.

DCG(A) - DCG(B) = w'x is linear in the gains x = g and in the discounts x = c. The nearest tie is

    min |y - x|   s.t.   w'y = 0,  y_1 = x_1 >= y_2 >= ... >= y_n >= 0

As only ratios matter, the best gain, or the first discount, keeps its value. The projection on the
hyperplane and the cone is y(t), the non-increasing vector nearest to x - t w, clipped to its
bounds; w'y(t) does not increase with t, which is its root. A tie on the boundary, with no reversal
beyond it, does not count (the question is that of Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, check_name
from dcglearn.base.types import Floats
from dcglearn.coherence.verdict import (
    WORST_GAINS,
    Discounts,
    WorstGain,
    checked_advantage,
    discount_vector,
    gain_vector,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import TIE_TOLERANCE


@dataclass(frozen=True)
class SmallestChange:
    """The nearest parameters that tie two lists or runs, and parameters just beyond them."""

    tie: tuple[float, ...]
    distance: float
    beyond: DCG | None
    difference: float


def smallest_change_of_gains(
    D: ArrayLike,
    gains: ArrayLike,
    discounts: Discounts,
    worst_gain: WorstGain | None = None,
) -> SmallestChange | None:
    """Find the nearest compatible gains beyond which the other list, or run, is ahead.

    Parameters
    ----------
    D : array-like, shape (K, L)
        Advantage of A over B (see :func:`~dcglearn.coherence.verdict.advantage`).
    gains : array-like of float, shape (L,)
        Not increasing from grade to grade. The best gain keeps its value.
    discounts : str or array-like of float, shape (K,)
        A rule or any vector; they stay.
    worst_gain : {None, "zero", "nonnegative"}, default None
        The worst gain keeps its value; is 0 and stays 0; or may be anything from 0 on.

    Returns
    -------
    SmallestChange or None
        None where no such gains reverse the verdict; a distance of 0 where the two are tied.

    Examples
    --------
    Gains 3, 2, 1/2 and discounts 1.5, .5: the middle gain must fall below 4/3.

    >>> change = smallest_change_of_gains([[0, 1, 0], [-1, 0, 0]], [3, 2, 0.5], [1.5, 0.5])
    >>> [round(gain, 6) for gain in change.tie], round(change.distance, 6), change.difference < 0
    ([3.0, 1.333333, 0.5], 0.666667, True)
    """
    table = checked_advantage(D)
    n_ranks, n_grades = table.shape
    g, c = gain_vector(gains, n_grades), discount_vector(discounts, n_ranks)
    _check_falling(g, "gains", worst_gain)
    net = _net_counts(table)
    terms = c @ net, np.abs(c) @ np.abs(net)
    cutoff = n_ranks if isinstance(discounts, str) else None
    free, low = slice(1, max(n_grades - 1, 1)), float(g[-1])
    if worst_gain == "nonnegative":
        free, low = slice(1, None), 0.0
    return _smallest_change(*terms, g, free, low, lambda y: DCG(y, discounts, cutoff))


def smallest_change_of_discounts(
    D: ArrayLike, gains: ArrayLike, discounts: Discounts
) -> SmallestChange | None:
    """Find the nearest decreasing discounts beyond which the other list, or run, is ahead.

    Parameters
    ----------
    D : array-like, shape (K, L)
        Advantage of A over B (see :func:`~dcglearn.coherence.verdict.advantage`).
    gains : array-like of float, shape (L,)
        In any order and of any sign; they stay.
    discounts : str or array-like of float, shape (K,)
        A rule or a vector, 0 or more and not increasing. The first discount keeps its value.

    Returns
    -------
    SmallestChange or None
        As of :func:`smallest_change_of_gains`.

    Examples
    --------
    >>> change = smallest_change_of_discounts([[0, 1, 0], [-1, 0, 0]], [3, 2, 0.5], [1.5, 0.5])
    >>> [round(discount, 6) for discount in change.tie], round(change.distance, 6)
    ([1.5, 0.9], 0.4)
    """
    table = checked_advantage(D)
    n_ranks, n_grades = table.shape
    g, c = gain_vector(gains, n_grades), discount_vector(discounts, n_ranks)
    _check_falling(c, "discounts", "nonnegative")
    net = _net_counts(table)
    terms = net @ g, np.abs(net) @ np.abs(g)
    return _smallest_change(*terms, c, slice(1, None), 0.0, lambda y: DCG(g, y))


def _net_counts(table: Floats) -> Floats:
    """Return the documents of each grade at each rank, those of A minus those of B."""
    return np.diff(np.diff(table, axis=0, prepend=0.0), axis=1, prepend=0.0)


def _check_falling(values: Floats, name: str, worst: WorstGain | None) -> None:
    check_name(worst, "worst gain", (None, *WORST_GAINS))
    ends, least = {
        None: (True, ""),
        "nonnegative": (values[-1] >= 0, " and are 0 or more"),
        "zero": (values[-1] == 0, " and end with 0"),
    }[worst]
    if (np.diff(values) > 0).any() or not ends:
        raise InputError(f"{name} are {values.tolist()}", f"give {name} that never increase{least}")


def _smallest_change(
    w: Floats, size: Floats, x: Floats, free: slice, low: float, measure: Callable[[Floats], DCG]
) -> SmallestChange | None:
    """Change the free entries of x, within [low, x_1], until w'y has the other sign.

    `size` has the sums of the absolute terms of w, which scale its rounding errors.
    """

    def value(y: Floats) -> float:
        found = float(w @ y)
        return 0.0 if abs(found) <= TIE_TOLERANCE * float(size @ np.abs(y)) else found

    def changed(entries: Floats) -> Floats:
        y = x.copy()
        y[free] = entries
        return y

    lead = value(x)
    if lead == 0:
        return SmallestChange(tuple(x.tolist()), 0.0, None, 0.0)
    sign = float(np.sign(lead))
    w = sign * w  # A is ahead at x
    # The smallest w'y of all non-increasing y: x_1 in the first free entries, then the lowest.
    sums = np.concatenate([[0.0], np.cumsum(w[free])])
    at = (x[0] * sums + low * (sums[-1] - sums)).argmin()
    far = changed(np.where(np.arange(len(sums) - 1) < at, x[0], low))
    if value(far) >= 0:
        return None

    from scipy.optimize import brentq, isotonic_regression

    def projected(t: float) -> Floats:
        fitted = isotonic_regression((x - t * w)[free], increasing=False).x
        return changed(np.clip(fitted, low, x[0]))

    def remaining(t: float) -> float:
        return float(w @ projected(t))

    upper = remaining(0.0) / float(w[free] @ w[free])
    while remaining(upper) > 0:  # ends, because `far` is reached at a finite t
        upper *= 2
    near = projected(brentq(remaining, 0.0, upper, xtol=1e-16 * upper, rtol=1e-15))
    rest = float(w @ near)  # within the solver's tolerance of 0
    other = far if rest > 0 else x
    tie = near + rest / (rest - float(w @ other)) * (other - near)
    step = 2.0**-10
    while value(tie + step * (far - tie)) >= 0:
        step *= 2
    beyond = tie + step * (far - tie)
    distance = float(np.linalg.norm(tie - x))
    return SmallestChange(tuple(tie.tolist()), distance, measure(beyond), sign * value(beyond))
