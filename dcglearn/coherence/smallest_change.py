"""Flips: the smallest change of the gains, or of the discounts, that turns a verdict round.

DCG(A) - DCG(B) = w'x is linear in the gains x = g and in the discounts x = c. The nearest tie
is

    min |y - x|   s.t.   w'y = 0,  y_1 = x_1 >= y_2 >= ... >= y_n >= 0

in the Euclidean norm (a projection) or in the largest entry (a linear programme). Only ratios
matter, so the best gain, or the first discount, keeps its value. For gains the worst one is
kept too by default: where both lists fill the same ranks, adding a constant to all gains
changes nothing, and equal gains tie everything.

The projection on the hyperplane and the cone is y(t) = the monotone vector nearest to
x - t w, and w'y(t) does not rise with t (its slope is that of the concave dual), so t is the
root of one function, and y(t) an isotonic regression cut to its bounds.

What ties on the boundary only (two grades merged, say) and never turns round is no flip.
The question is that of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, isotonic_regression, linprog

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Floats
from dcglearn.coherence.advantage import Discounts, as_advantage, given_discounts, given_numbers
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import TIE_TOLERANCE

Norm = Literal["euclidean", "largest"]


@dataclass(frozen=True)
class SmallestChange:
    """The nearest parameters that tie two lists or runs, and some beyond them.

    Parameters
    ----------
    tie : tuple of float
        The gains, or discounts, at which the two are tied.
    distance : float
        Of `tie` from what was given, in the units of what was given.
    beyond : DCG or None
        A little further: the other one is ahead. None where the two were tied to begin with.
    margin : float
        DCG(A) - DCG(B) under `beyond`; 0 where there is none.
    """

    tie: tuple[float, ...]
    distance: float
    beyond: DCG | None
    margin: float


@dataclass(frozen=True)
class _Line:
    """w'x, the first entry of x fixed, perhaps the last, and those of `free` in [low, x_1]."""

    w: Floats
    size: Floats  # the absolute terms of w, added up
    x: Floats
    free: slice
    low: float

    def at(self, inner: Floats) -> Floats:
        """Return the whole vector with these free entries."""
        y = self.x.copy()
        y[self.free] = inner
        return y

    def value(self, y: Floats) -> float:
        """Return w'y, 0 where that is a tie."""
        found = float(self.w @ y)
        return 0.0 if abs(found) <= TIE_TOLERANCE * float(self.size @ np.abs(y)) else found

    def farthest(self) -> Floats:
        """Return the monotone vector with the smallest w'y: the first r entries at the top."""
        w = self.w[self.free]
        high = np.concatenate([[0.0], np.cumsum(w)])  # w'1 over the first r
        sums = self.x[0] * high + self.low * (high[-1] - high)
        return self.at(np.where(np.arange(len(w)) < sums.argmin(), self.x[0], self.low))


def smallest_change_of_gains(
    D: ArrayLike,
    gains: ArrayLike,
    discounts: Discounts,
    norm: Norm = "euclidean",
    keep_worst: bool = True,
) -> SmallestChange | None:
    """Return the nearest compatible gains beyond which the other list, or run, is ahead.

    Parameters
    ----------
    D : array-like, shape (K, L)
        The lead of A over B (see :func:`dcglearn.coherence.advantage.advantage`).
    gains : array-like of float, shape (L,)
        Not rising from grade to grade. The best gain keeps its value.
    discounts : str or array-like of float, shape (K,)
        A rule or any vector; they stay.
    norm : {"euclidean", "largest"}
        How a change is measured: the root of the sum of squares, or the largest entry.
    keep_worst : bool, default True
        The worst gain keeps its value too; otherwise it may be any from 0 on. Two grades
        then leave nothing to change.

    Returns
    -------
    Flip or None
        None where no such gains turn the verdict round. Two that are tied already are at
        distance 0.

    Raises
    ------
    InputError
        If the gains rise, the worst is below 0 and may change, or shapes do not fit.
    SolverError
        If the linear programme was not solved.

    Examples
    --------
    Gains 3, 2, 1/2 and discounts 1.5, .5: the middle gain must fall below 4/3.

    >>> flip = smallest_change_of_gains([[0, 1, 0], [-1, 0, 0]], [3, 2, 0.5], [1.5, 0.5])
    >>> [round(gain, 6) for gain in flip.tie], round(flip.distance, 6), flip.margin < 0
    ([3.0, 1.333333, 0.5], 0.666667, True)
    """
    table = as_advantage(D)
    n_ranks, n_grades = table.shape
    g = _falling(given_numbers(gains, n_grades, "gains", "grade"), "gains", not keep_worst)
    c = given_discounts(discounts, n_ranks)
    net = _counts(table)
    free = slice(1, max(n_grades - 1, 1)) if keep_worst else slice(1, None)
    low = float(g[-1]) if keep_worst else 0.0
    line = _Line(c @ net, np.abs(c) @ np.abs(net), g, free, low)
    cutoff = n_ranks if isinstance(discounts, str) else None
    return _flip(line, norm, lambda y: DCG(y, discounts, cutoff))


def smallest_change_of_discounts(
    D: ArrayLike, gains: ArrayLike, discounts: Discounts, norm: Norm = "euclidean"
) -> SmallestChange | None:
    """Return the nearest falling discounts beyond which the other list, or run, is ahead.

    Parameters
    ----------
    D : array-like, shape (K, L)
        The lead of A over B (see :func:`dcglearn.coherence.advantage.advantage`).
    gains : array-like of float, shape (L,)
        In any order and of any sign; they stay.
    discounts : str or array-like of float, shape (K,)
        A rule or a vector, not rising and 0 or more. The first discount keeps its value.
    norm : {"euclidean", "largest"}
        How a change is measured: the root of the sum of squares, or the largest entry.

    Returns
    -------
    Flip or None
        None where no such discounts turn the verdict round. Two that are tied already are
        at distance 0.

    Raises
    ------
    InputError
        If the discounts rise or fall below 0, or shapes do not fit.
    SolverError
        If the linear programme was not solved.

    Examples
    --------
    Gains 3, 2, 1/2 and discounts 1.5, .5: the second discount must exceed .9.

    >>> flip = smallest_change_of_discounts([[0, 1, 0], [-1, 0, 0]], [3, 2, 0.5], [1.5, 0.5])
    >>> [round(discount, 6) for discount in flip.tie], round(flip.distance, 6)
    ([1.5, 0.9], 0.4)
    """
    table = as_advantage(D)
    n_ranks, n_grades = table.shape
    g = given_numbers(gains, n_grades, "gains", "grade")
    c = _falling(given_discounts(discounts, n_ranks), "discounts", True)
    net = _counts(table)
    line = _Line(net @ g, np.abs(net) @ np.abs(g), c, slice(1, None), 0.0)
    return _flip(line, norm, lambda y: DCG(g, y))


def _counts(table: Floats) -> Floats:
    """Return the documents of each grade at each rank, A less B."""
    return np.diff(np.diff(table, axis=0, prepend=0.0), axis=1, prepend=0.0)


def _falling(values: Floats, name: str, from_zero: bool) -> Floats:
    """Refuse what rises, or falls below 0 where it may not."""
    rises = np.flatnonzero(np.diff(values) > 0)
    if len(rises):
        at = int(rises[0])
        raise InputError(
            f"{name} rise from {values[at]:g} to {values[at + 1]:g}",
            f"give {name} that do not rise",
            f"entry {at + 2}",
        )
    if from_zero and values[-1] < 0:
        raise InputError(f"{name} end with {values[-1]:g}", f"give {name} of 0 or more")
    return values


def _flip(line: _Line, norm: Norm, measure: Callable[[Floats], DCG]) -> SmallestChange | None:
    if norm not in ("euclidean", "largest"):
        raise unknown_name("norm", norm, ["euclidean", "largest"])
    lead = line.value(line.x)
    if lead == 0:
        return SmallestChange(tuple(line.x.tolist()), 0.0, None, 0.0)
    sign = float(np.sign(lead))
    line = replace(line, w=sign * line.w)
    far = line.farthest()
    if line.value(far) >= 0:
        return None
    near = _projected(line) if norm == "euclidean" else _least_largest(line)
    tie = _onto_tie(line, near, far)
    distance = float(np.linalg.norm(tie - line.x, 2 if norm == "euclidean" else np.inf))
    step = 2.0**-10
    while line.value(tie + step * (far - tie)) >= 0:
        step *= 2
    beyond = tie + step * (far - tie)
    return SmallestChange(tuple(tie.tolist()), distance, measure(beyond), sign * line.value(beyond))


def _projected(line: _Line) -> Floats:
    """Return the nearest tie in the Euclidean norm: x - t w made monotone, at the right t."""
    w, start = line.w[line.free], line.x[line.free]

    def nearest(t: float) -> Floats:
        fitted = isotonic_regression(start - t * w, increasing=False).x
        return line.at(np.clip(fitted, line.low, line.x[0]))

    def value(t: float) -> float:
        return float(line.w @ nearest(t))

    most = value(0.0) / float(w @ w)
    while value(most) > 0:  # ends: the farthest vector is reached at a finite t
        most *= 2
    return nearest(brentq(value, 0.0, most, xtol=1e-16 * most, rtol=1e-15))


def _least_largest(line: _Line) -> Floats:
    """Return a nearest tie in the largest entry: min s, |y - x| <= s, y monotone, w'y = 0."""
    w, start = line.w[line.free], line.x[line.free]
    n = len(w)
    one, s = np.eye(n), np.ones((n, 1))
    falls = np.hstack([np.diff(one, axis=0), np.zeros((n - 1, 1))])
    scale = np.abs(w).max()
    found = linprog(
        np.concatenate([np.zeros(n), [1.0]]),
        A_ub=np.vstack([np.hstack([one, -s]), np.hstack([-one, -s]), falls]),
        b_ub=np.concatenate([start, -start, np.zeros(n - 1)]),
        A_eq=np.concatenate([w / scale, [0.0]])[None, :],
        b_eq=[-float(line.w @ line.at(np.zeros(n))) / scale],
        bounds=[(line.low, float(line.x[0]))] * n + [(0.0, None)],
        method="highs",
    )
    if found.status != 0 or found.x is None:
        raise SolverError(f"the smallest change was not found: {found.message}")
    return line.at(np.minimum.accumulate(np.clip(found.x[:n], line.low, line.x[0])))


def _onto_tie(line: _Line, near: Floats, far: Floats) -> Floats:
    """Move what a solver found, a tie but for its tolerance, until w'y = 0."""
    lead = float(line.w @ near)
    other = far if lead > 0 else line.x
    return near + lead / (lead - float(line.w @ other)) * (other - near)
