"""Bounds of a difference of mean nDCG over boxes of gain ratios.

Compatible gains with a best gain of 1 are g = 1, x_1, x_1 x_2, ... with ratios x in [0, 1]. The
term of a query in the mean of nDCG(A) - nDCG(B) is N / D, where N and D are linear in each single
ratio, because one ordering of the pool is ideal for all compatible gains. Both are divided by the
gain of the best grade in the query's pool; then D >= c_1, and N / D is continuous down to ratios
of 0.

N / D is monotone in each single ratio, so its extremes over a box are at corners, and their sums
bound the mean. Its derivative by a ratio is (N' - N / D D') / D, which is bounded by the extremes
of its parts. If the bounds show that the mean increases, or decreases, with a ratio, its extremes
are on the faces of that ratio; along the other ratios it differs from its value in the middle by
no more than half the width times the largest slope. The tighter of the two bounds is taken, so the
uncertainty shrinks with the square of the width of the box.

Rounding: DCG and ideal are sums of positive terms, accurate to K units in the last place, and no
DCG exceeds its ideal. The `tolerance` bounds the total rounding error of these terms, the sum over
queries and the slopes; a mean within it of 0 counts as tied.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Grades, Integers

CORNER_BLOCK = 1_000_000
"""How many values at corners are computed at once, which limits the memory."""


@dataclass(frozen=True)
class QueryClass:
    """The queries whose pools have the same best grade, grouped by their ideal ranking.

    Parameters
    ----------
    best : int
        The best grade index in these pools.
    numerators : ndarray of float, shape (n_pairs, n, M - best)
        N of each group: discounted counts of each grade from `best` on, those of A minus
        those of B, summed over the queries of the group and divided by Q.
    ideals : ndarray of float, shape (n, M - best)
        D of each group: discounted counts of each grade in the ideal ranking.
    """

    best: int
    numerators: Floats
    ideals: Floats


@dataclass(frozen=True)
class BoxBounds:
    """Bounds of the mean difference over n boxes, up to the tolerance.

    Parameters
    ----------
    lower, upper : ndarray of float, shape (n,)
        Bounds of the mean difference.
    slopes : ndarray of float, shape (n, d)
        Bounds of the absolute value of its derivative by each ratio.
    """

    lower: Floats
    upper: Floats
    slopes: Floats


@dataclass(frozen=True)
class MeanDifference:
    """The mean of nDCG(A) - nDCG(B) over Q queries as a function of gain ratios, for many pairs.

    Parameters
    ----------
    classes : tuple of QueryClass
    n_ratios : int
        d = M - 1, where M gains are not fixed at 0.
    tolerance : float
        A bound of the rounding error of a mean difference.
    """

    classes: tuple[QueryClass, ...]
    n_ratios: int
    tolerance: float

    def values(self, points: Floats, pairs: NDArray[np.intp]) -> Floats:
        """Compute the mean difference of a pair of runs at each point.

        Parameters
        ----------
        points : ndarray of float, shape (n, d)
        pairs : ndarray of int, shape (n,)
            The index of the pair of runs at each point.

        Returns
        -------
        ndarray of float, shape (n,)
        """
        total = np.zeros(len(points))
        for group in self.classes:
            gains = _gains(points, group.best)
            numerator = np.einsum("nm,ngm->ng", gains, group.numerators[pairs])
            total += (numerator / (gains @ group.ideals.T)).sum(axis=1)
        return total

    def bounds(self, low: Floats, high: Floats, pairs: NDArray[np.intp]) -> BoxBounds:
        """Bound the mean difference of a pair of runs over each box.

        Parameters
        ----------
        low, high : ndarray of float, shape (n, d)
            The corners of the boxes.
        pairs : ndarray of int, shape (n,)
            The index of the pair of runs of each box.

        Returns
        -------
        BoxBounds
        """
        n_corners = 2**self.n_ratios * max(1, sum(len(group.ideals) for group in self.classes))
        step = max(1, CORNER_BLOCK // n_corners)
        blocks = [
            self._bounds(low[at : at + step], high[at : at + step], pairs[at : at + step])
            for at in range(0, len(low), step)
        ]
        return BoxBounds(
            np.concatenate([block.lower for block in blocks]),
            np.concatenate([block.upper for block in blocks]),
            np.concatenate([block.slopes for block in blocks]),
        )

    def _bounds(self, low: Floats, high: Floats, pairs: NDArray[np.intp]) -> BoxBounds:
        d = self.n_ratios
        upper = np.array(list(product((False, True), repeat=d)), bool).reshape(2**d, d)
        corners = np.where(upper, high[:, None], low[:, None])
        slowest, fastest = np.zeros(low.shape), np.zeros(low.shape)
        values = []
        for group in self.classes:
            numerators = group.numerators[pairs].transpose(0, 2, 1)
            gains = _gains(corners, group.best)
            ideal = gains @ group.ideals.T
            value = gains @ numerators / ideal
            values.append(value)
            for i in range(group.best, d):
                change = _gains(corners, group.best, i)
                least, most = _slopes(change @ numerators, change @ group.ideals.T, value, ideal)
                slowest[:, i] += least
                fastest[:, i] += most
        rises = slowest >= 0
        falls = (fastest <= 0) & ~rises
        slopes = np.maximum(np.abs(slowest), np.abs(fastest))
        reach = np.where(rises | falls, 0.0, (high - low) / 2 * slopes).sum(axis=1)
        middle = (low + high) / 2

        def bound(sign: float, to_low: NDArray[np.bool_], to_high: NDArray[np.bool_]) -> Floats:
            """Bound sign * mean from below; its minimum is on the given faces of the box."""
            off_face: NDArray[np.bool_] = np.any(
                np.where(upper, to_low[:, None], to_high[:, None]), 2
            )
            at_corners = np.zeros(len(low))
            for value in values:
                smallest = np.where(off_face[:, :, None], np.inf, sign * value).min(axis=1)
                at_corners += smallest.sum(-1)
            centre = np.where(to_low, low, np.where(to_high, high, middle))
            tighter: Floats = np.maximum(at_corners, sign * self.values(centre, pairs) - reach)
            return sign * tighter

        return BoxBounds(bound(1.0, rises, falls), bound(-1.0, falls, rises), slopes)


def mean_difference(
    runs: Grades,
    pools: Grades,
    discounts: Floats,
    n_gains: int,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    counted: Integers | None = None,
) -> MeanDifference:
    """Build the mean differences of pairs of runs.

    Parameters
    ----------
    runs : ndarray of int, shape (n_runs, Q, K)
        Grade indices, -1 for no document.
    pools : ndarray of int, shape (Q, N)
        The grades of all documents of each query, -1 for none.
    discounts : ndarray of float, shape (K,)
        Not increasing, 0 or more, the first above 0.
    n_gains : int
        M: grades from this index on have a gain of 0.
    pairs : pair of ndarray of int, shape (n_pairs,)
        The runs A and B of each pair.
    counted : ndarray of int, shape (n_runs,), optional
        By how many queries the sum of each run is divided; by default Q. It is at least the number
        of queries for which the run holds a document.

    Returns
    -------
    MeanDifference
        Queries whose pools hold only documents with a gain of 0 count 0.
    """
    n_queries, n_ranks = runs.shape[1:]
    counts = np.stack([(pools == grade).sum(axis=1) for grade in range(n_gains)], axis=1)
    ideal_ends, group_of = np.unique(
        np.minimum(counts.cumsum(axis=1), n_ranks), axis=0, return_inverse=True
    )
    grouped = np.zeros((len(runs), len(ideal_ends), n_gains))
    for grade in range(n_gains):
        for run, total in zip(runs, grouped, strict=True):
            total[:, grade] = np.bincount(
                group_of.reshape(-1), (run == grade) @ discounts, len(ideal_ends)
            )
    sums = np.concatenate([[0.0], discounts.cumsum()])
    ideals = np.diff(sums[ideal_ends], axis=1, prepend=0.0)
    if counted is None:
        numerators = (grouped[pairs[0]] - grouped[pairs[1]]) / n_queries
    else:
        shares = grouped / counted[:, None, None]
        numerators = shares[pairs[0]] - shares[pairs[1]]
    classes = []
    for best in range(n_gains):
        chosen = (ideal_ends[:, best] > 0) & (ideal_ends[:, :best] == 0).all(axis=1)
        if chosen.any():
            classes.append(QueryClass(best, numerators[:, chosen, best:], ideals[chosen, best:]))
    n_operations = 3 * n_ranks * n_gains + n_queries + 32
    steepest = 1 + 2 * n_gains * float(discounts.sum() / discounts[0])
    tolerance = float(np.finfo(float).eps) * n_operations * steepest
    return MeanDifference(tuple(classes), n_gains - 1, tolerance)


def _gains(points: Floats, best: int, by: int | None = None) -> Floats:
    """Return the gains from grade `best` on, whose gain is 1, or their derivative by one ratio."""
    ratios = points[..., best:]
    if by is not None:
        ratios = ratios.copy()
        ratios[..., by - best] = 1.0
    found = np.ones((*points.shape[:-1], ratios.shape[-1] + 1))
    np.cumprod(ratios, axis=-1, out=found[..., 1:])
    if by is not None:
        found[..., : by - best + 1] = 0.0
    return found


def _slopes(
    numerator_change: Floats, ideal_change: Floats, value: Floats, ideal: Floats
) -> tuple[Floats, Floats]:
    """Bound the derivative (N' - f D') / D of each box by the extremes of its parts at corners.

    All arguments are of shape (boxes, corners, groups): `numerator_change` N', `ideal_change`
    D' >= 0, `value` f = N / D, `ideal` D. D and D' increase with every ratio, so they are smallest
    at the first corner and largest at the last.
    """
    least, most = value.min(axis=1), value.max(axis=1)
    first, last = ideal_change[:, 0], ideal_change[:, -1]
    below = numerator_change.min(axis=1) - np.maximum(most * first, most * last)
    above = numerator_change.max(axis=1) - np.minimum(least * first, least * last)
    near, far = ideal[:, 0], ideal[:, -1]
    slowest = np.where(below >= 0, below / far, below / near)
    fastest = np.where(above >= 0, above / near, above / far)
    return slowest.sum(axis=1), fastest.sum(axis=1)
