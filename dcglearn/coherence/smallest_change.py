"""The smallest change of the gains, or of the discounts, that reverses a verdict.

DCG(A) - DCG(B) = w'x is linear in the gains x = g and in the discounts x = c. The nearest tie is

    min |y - x|   s.t.   w'y = 0,  y_1 = x_1 >= y_2 >= ... >= y_n >= 0

As only ratios matter, the best gain, or the first discount, keeps its value, and by default the
worst gain too. The projection on the hyperplane and the cone is y(t), the non-increasing vector
nearest to x - t w, clipped to its bounds; w'y(t) does not increase with t, which is its root. A tie
on the boundary, with no reversal beyond it, does not count (the question is that of Zhou, Zha, Xue
& Yu, arXiv 1212.5650, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class _LinearDifference:
    """w'y over vectors y that agree with x outside `free` and lie in [low, x_1] inside it."""

    w: Floats
    size: Floats  # the sums of the absolute terms of w, which scale its rounding errors
    x: Floats
    free: slice
    low: float

    def with_free(self, entries: Floats) -> Floats:
        """Return x with other free entries."""
        y = self.x.copy()
        y[self.free] = entries
        return y

    def value(self, y: Floats) -> float:
        """Return w'y, exactly 0 where it is within rounding of 0."""
        found = float(self.w @ y)
        return 0.0 if abs(found) <= TIE_TOLERANCE * float(self.size @ np.abs(y)) else found

    def minimiser(self) -> Floats:
        """Return the non-increasing vector with the smallest w'y."""
        w = self.w[self.free]
        high = np.concatenate([[0.0], np.cumsum(w)])  # w'1 over the first r
        values = self.x[0] * high + self.low * (high[-1] - high)
        return self.with_free(np.where(np.arange(len(w)) < values.argmin(), self.x[0], self.low))


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
    fixed = worst_gain != "nonnegative"
    net = _net_counts(table)
    free = slice(1, max(n_grades - 1, 1)) if fixed else slice(1, None)
    low = float(g[-1]) if fixed else 0.0
    difference = _LinearDifference(c @ net, np.abs(c) @ np.abs(net), g, free, low)
    cutoff = n_ranks if isinstance(discounts, str) else None
    return _smallest_change(difference, lambda y: DCG(y, discounts, cutoff))


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
    difference = _LinearDifference(net @ g, np.abs(net) @ np.abs(g), c, slice(1, None), 0.0)
    return _smallest_change(difference, lambda y: DCG(g, y))


def _net_counts(table: Floats) -> Floats:
    """Return the documents of each grade at each rank, those of A minus those of B."""
    return np.diff(np.diff(table, axis=0, prepend=0.0), axis=1, prepend=0.0)


def _check_falling(values: Floats, name: str, worst: WorstGain | None = None) -> None:
    check_name(worst, "worst gain", (None, *WORST_GAINS))
    ends = {None: True, "nonnegative": values[-1] >= 0, "zero": values[-1] == 0}[worst]
    if (np.diff(values) > 0).any() or not ends:
        least = {None: "", "nonnegative": " and are 0 or more", "zero": " and end with 0"}[worst]
        raise InputError(f"{name} are {values.tolist()}", f"give {name} that never increase{least}")


def _smallest_change(
    difference: _LinearDifference, measure: Callable[[Floats], DCG]
) -> SmallestChange | None:
    before = difference.value(difference.x)
    if before == 0:
        return SmallestChange(tuple(difference.x.tolist()), 0.0, None, 0.0)
    sign = float(np.sign(before))
    positive = replace(difference, w=sign * difference.w)  # A is ahead at x
    far = positive.minimiser()
    if positive.value(far) >= 0:
        return None
    tie = _onto_tie(positive, _nearest(positive), far)
    distance = float(np.linalg.norm(tie - positive.x))
    step = 2.0**-10
    while positive.value(tie + step * (far - tie)) >= 0:
        step *= 2
    beyond = tie + step * (far - tie)
    lead = sign * positive.value(beyond)
    return SmallestChange(tuple(tie.tolist()), distance, measure(beyond), lead)


def _nearest(difference: _LinearDifference) -> Floats:
    """Return the nearest tie, x - t w made non-increasing for some t."""
    from scipy.optimize import brentq, isotonic_regression  # slow to load

    w, start = difference.w[difference.free], difference.x[difference.free]

    def projected(t: float) -> Floats:
        fitted = isotonic_regression(start - t * w, increasing=False).x
        return difference.with_free(np.clip(fitted, difference.low, difference.x[0]))

    def value(t: float) -> float:
        return float(difference.w @ projected(t))

    upper = value(0.0) / float(w @ w)
    while value(upper) > 0:  # ends, because the minimiser is reached at a finite t
        upper *= 2
    return projected(brentq(value, 0.0, upper, xtol=1e-16 * upper, rtol=1e-15))


def _onto_tie(difference: _LinearDifference, near: Floats, far: Floats) -> Floats:
    """Move a solver's answer, a tie up to its tolerance, to w'y = 0."""
    value = float(difference.w @ near)
    other = far if value > 0 else difference.x
    return near + value / (value - float(difference.w @ other)) * (other - near)
