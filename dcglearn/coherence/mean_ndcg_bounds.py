"""Bounds of a difference of mean nDCG over boxes of gain ratios.

Compatible gains with the best one 1 are g = 1, x_1, x_1 x_2, ... with ratios x in [0, 1]. A
query's part of nDCG(A) - nDCG(B) is N / D, where N and D are linear in each ratio by itself,
because one ordering is ideal for all compatible gains. Both are divided by the gain of the
best grade in the query's pool; then D >= c_1, and N / D is continuous up to ratios of 0.

N / D is monotone in each ratio by itself, so its extremes over a box are at corners, and their
sums bound the mean. Its slope by a ratio is (N' - N / D D') / D, bounded by the extremes of
its parts. Where the mean only rises, or only falls, its extremes lie on that face; from the
middle it moves by no more than half the width times the slope. The tighter bound is taken, so
what is uncertain shrinks with the square of the box.

Rounding: DCG and ideal are sums of positive terms, right to K units in the last place, and no
DCG exceeds its ideal. The `slack` bounds what this, the sum over queries and the slopes can
come to together; a mean within it of 0 counts as tied.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Grades

CHUNK = 1_000_000
"""How many corner values are worked on at once."""


@dataclass(frozen=True)
class QueryClass:
    """The queries whose pools have the same best grade; those with one ideal are added up.

    Parameters
    ----------
    best : int
        The best grade index in these pools.
    leads : ndarray of float, shape (n_pairs, n, M - best)
        Discounted counts of each grade from `best` on, A less B, divided by Q.
    ideals : ndarray of float, shape (n, M - best)
        Discounted counts in the ideal rankings.
    """

    best: int
    leads: Floats
    ideals: Floats


@dataclass(frozen=True)
class BoxBounds:
    """What is certain of n boxes, give or take the slack.

    Parameters
    ----------
    low, high : ndarray of float, shape (n,)
        The mean difference lies between them.
    slopes : ndarray of float, shape (n, d)
        It moves with no ratio faster than this.
    """

    low: Floats
    high: Floats
    slopes: Floats


@dataclass(frozen=True)
class MeanDifference:
    """The mean of nDCG(A) - nDCG(B) over Q queries, for many pairs, as a function of ratios.

    Parameters
    ----------
    classes : tuple of QueryClass
    n_ratios : int
        d = M - 1, where M gains are not fixed at 0.
    slack : float
        What rounding can come to.
    """

    classes: tuple[QueryClass, ...]
    n_ratios: int
    slack: float

    def values(self, points: Floats, pairs: NDArray[np.intp]) -> Floats:
        """Return the mean difference of a pair of runs at each point.

        Parameters
        ----------
        points : ndarray of float, shape (n, d)
        pairs : ndarray of int, shape (n,)
            Which pair of runs.

        Returns
        -------
        ndarray of float, shape (n,)
        """
        found = np.zeros(len(points))
        for part in self.classes:
            gains = _gains(points, part.best)
            lead = np.einsum("nm,ngm->ng", gains, part.leads[pairs])
            found += (lead / (gains @ part.ideals.T)).sum(axis=1)
        return found

    def bounds(self, low: Floats, high: Floats, pairs: NDArray[np.intp]) -> BoxBounds:
        """Bound the mean difference of a pair of runs over each box.

        Parameters
        ----------
        low, high : ndarray of float, shape (n, d)
            The corners of the boxes.
        pairs : ndarray of int, shape (n,)

        Returns
        -------
        BoxBounds
        """
        corners = 2**self.n_ratios * max(1, sum(len(part.ideals) for part in self.classes))
        step = max(1, CHUNK // corners)
        found = [
            self._bounds(low[at : at + step], high[at : at + step], pairs[at : at + step])
            for at in range(0, len(low), step)
        ]
        return BoxBounds(
            np.concatenate([part.low for part in found]),
            np.concatenate([part.high for part in found]),
            np.concatenate([part.slopes for part in found]),
        )

    def _bounds(self, low: Floats, high: Floats, pairs: NDArray[np.intp]) -> BoxBounds:
        d = self.n_ratios
        up = np.array(list(product((False, True), repeat=d)), bool).reshape(2**d, d)
        corners = np.where(up, high[:, None], low[:, None])
        slowest, fastest = np.zeros(low.shape), np.zeros(low.shape)
        values = []
        for part in self.classes:
            leads = part.leads[pairs].transpose(0, 2, 1)
            gains = _gains(corners, part.best)
            ideal = gains @ part.ideals.T
            value = gains @ leads / ideal
            values.append(value)
            for i in range(part.best, d):
                change = _gains(corners, part.best, i)
                moves = change @ leads, change @ part.ideals.T
                least, most = _slopes(*moves, value, ideal)
                slowest[:, i] += least
                fastest[:, i] += most
        rises = slowest >= 0
        falls = (fastest <= 0) & ~rises
        slopes = np.maximum(np.abs(slowest), np.abs(fastest))
        reach = np.where(rises | falls, 0.0, (high - low) / 2 * slopes).sum(axis=1)
        middle = (low + high) / 2

        def extreme(sign: float, to_low: NDArray[np.bool_], to_high: NDArray[np.bool_]) -> Floats:
            left_out: NDArray[np.bool_] = np.any(np.where(up, to_low[:, None], to_high[:, None]), 2)
            corner = np.zeros(len(low))
            for value in values:
                corner += np.where(left_out[:, :, None], np.inf, sign * value).min(axis=1).sum(-1)
            at = np.where(to_low, low, np.where(to_high, high, middle))
            bound: Floats = np.maximum(corner, sign * self.values(at, pairs) - reach)
            return sign * bound

        return BoxBounds(extreme(1.0, rises, falls), extreme(-1.0, falls, rises), slopes)


def mean_difference(
    runs: Grades,
    pools: Grades,
    discounts: Floats,
    n_gains: int,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> MeanDifference:
    """Set up the mean differences of pairs of runs.

    Parameters
    ----------
    runs : ndarray of int, shape (n_runs, Q, K)
        Grade indices, -1 for no document.
    pools : ndarray of int, shape (Q, N)
        The grades of all documents of each query, -1 for none.
    discounts : ndarray of float, shape (K,)
        Not rising, 0 or more, the first above 0.
    n_gains : int
        M: grades from this index on are worth 0.
    pairs : pair of ndarray of int, shape (n_pairs,)
        A and B of each pair.

    Returns
    -------
    MeanDifference
        Queries without a document that is worth anything count 0.
    """
    n_queries, n_ranks = runs.shape[1:]
    counts = np.stack([(pools == grade).sum(axis=1) for grade in range(n_gains)], axis=1)
    filled, alike = np.unique(
        np.minimum(counts.cumsum(axis=1), n_ranks), axis=0, return_inverse=True
    )
    grouped = np.zeros((len(runs), len(filled), n_gains))
    for grade in range(n_gains):
        for run, total in zip(runs, grouped, strict=True):
            total[:, grade] = np.bincount(
                alike.reshape(-1), (run == grade) @ discounts, len(filled)
            )
    sums = np.concatenate([[0.0], discounts.cumsum()])
    ideals = np.diff(sums[filled], axis=1, prepend=0.0)
    leads = (grouped[pairs[0]] - grouped[pairs[1]]) / n_queries
    classes = []
    for best in range(n_gains):
        chosen = (filled[:, best] > 0) & (filled[:, :best] == 0).all(axis=1)
        if chosen.any():
            classes.append(QueryClass(best, leads[:, chosen, best:], ideals[chosen, best:]))
    terms = 3 * n_ranks * n_gains + n_queries + 32
    steepest = 1 + 2 * n_gains * float(discounts.sum() / discounts[0])
    slack = float(np.finfo(float).eps) * terms * steepest
    return MeanDifference(tuple(classes), n_gains - 1, slack)


def _gains(points: Floats, best: int, by: int | None = None) -> Floats:
    """Return the gains from grade `best` on, which is worth 1; or their change by one ratio."""
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
    lead: Floats, ideal_change: Floats, value: Floats, ideal: Floats
) -> tuple[Floats, Floats]:
    """Bound (N' - f D') / D of each box by the extremes of its parts at the corners.

    All are of shape (boxes, corners, queries): `lead` N', `ideal_change` D' >= 0, `value` f,
    `ideal` D. D and D' rise with every ratio: the first corner has their least, the last
    their largest.
    """
    least, most = value.min(axis=1), value.max(axis=1)
    first, last = ideal_change[:, 0], ideal_change[:, -1]
    below = lead.min(axis=1) - np.maximum(most * first, most * last)
    above = lead.max(axis=1) - np.minimum(least * first, least * last)
    near, far = ideal[:, 0], ideal[:, -1]
    slowest = np.where(below >= 0, below / far, below / near)
    fastest = np.where(above >= 0, above / near, above / far)
    return slowest.sum(axis=1), fastest.sum(axis=1)
