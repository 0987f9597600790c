"""The verdict on two runs by mean nDCG that holds for all gains, with given discounts.

    mean over queries of  nDCG_q(A) - nDCG_q(B),   gains 1 >= g_2 >= ... >= g_L

is a sum of ratios, which finitely many steps of the gains do not determine: even with two grades,
which are coherent by DCG (Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 4), its sign can change.

Positive gains are g = 1, x_1, x_1 x_2, ... with ratios x in [0, 1]. The term of a query is N / D,
both linear in each single ratio, because one ordering of the pool is ideal for all compatible
gains. Divided by the gain of the best grade in the pool, D >= c_1, and N / D is continuous down to
ratios of 0. Where the grades from m on gain exactly 0, queries without a better document count 0,
and the mean jumps: these gains are a face with m - 1 free ratios.

The positive gains and every face are searched by branch and bound: a box of ratios in which the
bounds leave one sign is finished, any other is halved across the ratio with which the mean may
change the most. N / D is monotone in each ratio, so its extremes over a box are at corners. Its
derivative (N' - N / D D') / D is bounded by the extremes of its parts: along a ratio with which the
mean only rises, or only falls, its extremes are on the faces; along the others it differs from its
value in the middle by at most half the width times the largest slope. The tighter bound counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.types import Booleans, Floats, Grades, Integers
from dcglearn.coherence.verdict import WORST_GAINS, Discounts, WorstGain, discount_vector, two_runs
from dcglearn.measures.dcg import DCG, check_pools, counts_by_grade
from dcglearn.measures.scale import checked_grades

MeanWinner = Literal["a", "b", "equal", "depends", "undecided"]

RESOLUTION = 1e-9
"""Boxes of ratios are not halved below this width."""

CORNER_BLOCK = 1_000_000
"""How many values at corners are computed at once, which limits the memory."""


@dataclass(frozen=True)
class MeanVerdict:
    """Who has the higher mean nDCG for all gains.

    Parameters
    ----------
    winner : {"a", "b", "equal", "depends", "undecided"}
        ``"a"``: nowhere behind by more than the tolerance, and somewhere ahead by more.
    witnesses : pair of DCG or None
        Gains under which A is ahead, and under which B is; None where none were found.
    differences : pair of float
        The mean difference under each witness; 0 where there is none.
    bounds : pair of float
        Lower and upper bound of the mean difference over all gains, as tight as the verdict needed.
    tolerance : float
        A bound of the rounding error: differences within it count as ties.
    """

    winner: MeanWinner
    witnesses: tuple[DCG | None, DCG | None]
    differences: tuple[float, float]
    bounds: tuple[float, float]
    tolerance: float


def mean_verdict(
    a: ArrayLike,
    b: ArrayLike,
    pools: ArrayLike,
    discounts: Discounts,
    n_grades: int,
    worst_gain: WorstGain = "zero",
    max_boxes: int = 4096,
) -> MeanVerdict:
    """Decide which of two runs has the higher mean nDCG for all gains.

    Parameters
    ----------
    a, b : array-like of int, shape (Q, K)
        One ranking per query; grade indices, -1 for no document.
    pools : array-like of int, shape (Q, N)
        The grades of all documents of each query, -1 for none. A query whose pool holds only
        documents with a gain of 0 counts 0.
    discounts : str or array-like of float, shape (K,)
        A rule or a vector, 0 or more and not increasing.
    n_grades : int
        L.
    worst_gain : {"zero", "nonnegative"}
        The gain of the worst grade: 0, or any value up to that of the grade above it.
    max_boxes : int, default 4096
        The largest number of boxes to bound, for the positive gains and for each face.

    Returns
    -------
    MeanVerdict

    Examples
    --------
    Gains 1 and x: A is ahead for small x, B for large x.

    >>> pools = [[0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
    >>> mean_verdict([[0, 1, 1], [1, 0, 1]], [[1, 1, 0], [0, 1, 0]], pools, "log2", 2,
    ...              worst_gain="nonnegative").winner
    'depends'
    """
    both, pool = two_runs(a, b, n_grades), checked_grades(pools, n_grades, "pools")
    check_name(worst_gain, "worst gain", WORST_GAINS)
    if both.ndim != 3 or pool.shape[:-1] != both.shape[1:2] or not len(pool):
        raise InputError(
            f"runs of shape {both.shape[1:]}, pools of shape {pool.shape}",
            "give runs (queries, ranks) and pools (queries, documents)",
        )
    for run in both:
        check_pools(run, pool, _grades_that_gain(n_grades, worst_gain))
    counts, n_queries = counts_by_grade(pool, n_grades), np.full(2, len(pool))
    return mean_verdicts(both, counts, discounts, worst_gain, n_queries, [(0, 1)], max_boxes)[0, 1]


def _grades_that_gain(n_grades: int, worst_gain: WorstGain) -> int:
    return checked_count(
        n_grades - (worst_gain == "zero"), "the number of grades that gain something"
    )


def mean_verdicts(
    runs: Grades,
    counts: Integers,
    discounts: Discounts,
    worst_gain: WorstGain,
    n_queries: Integers,
    pairs: Sequence[tuple[int, int]],
    max_boxes: int = 4096,
) -> dict[tuple[int, int], MeanVerdict]:
    """Decide as :func:`mean_verdict` for pairs (i, j) of runs (n, Q, K).

    `counts` (Q, L) has the documents in the pools by grade, `n_queries` (n,) the number of queries
    in the mean of each run.
    """
    checked_count(max_boxes, "`max_boxes`")
    n_grades = counts.shape[1]
    n_gains = _grades_that_gain(n_grades, worst_gain)
    c = discount_vector(discounts, runs.shape[2])
    if c[0] <= 0 or (np.diff(c, append=0.0) > 0).any():
        raise InputError(
            "discounts that increase, fall below 0 or start with 0", "give decreasing discounts"
        )
    first, second = np.transpose(pairs)
    lower, upper = np.full(len(first), np.inf), np.full(len(first), -np.inf)
    largest, gains = np.zeros((2, len(first))), np.zeros((2, len(first), n_grades))
    tolerance = 0.0
    for kept in (n_gains, *range(1, n_gains)):  # the positive gains, and then the faces
        difference = mean_difference(runs, counts[:, :kept], c, (first, second), n_queries)
        tolerance = tolerance or difference.tolerance  # the first one, of the most gains
        least, most, leads, ratios = _search_ratios(difference, len(first), max_boxes)
        lower, upper = np.minimum(lower, least), np.maximum(upper, most)
        new = (largest <= tolerance) & (leads > tolerance)
        largest[new] = leads[new]
        gains[new, 0], gains[new, 1:kept] = 1.0, np.cumprod(ratios[new], axis=1)
    a_leads, b_leads = largest > tolerance
    never_behind, never_ahead = lower >= -tolerance, upper <= tolerance
    cases: dict[MeanWinner, Booleans] = {
        "depends": a_leads & b_leads,
        "equal": never_behind & never_ahead,
        "a": never_behind & a_leads,
        "b": never_ahead & b_leads,
    }
    winners = np.select([*cases.values()], [*cases], "undecided").tolist()
    cutoff = runs.shape[2] if isinstance(discounts, str) else None
    found = {}
    for n, pair in enumerate(pairs):
        a, b = (
            DCG(gains[k, n], discounts, cutoff, "ideal") if leads[n] else None
            for k, leads in enumerate((a_leads, b_leads))
        )
        margins = float(largest[0, n]), 0.0 - float(largest[1, n])
        bounds = float(lower[n]), float(upper[n])
        found[pair] = MeanVerdict(winners[n], (a, b), margins, bounds, tolerance)
    return found


class MeanDifference(NamedTuple):
    """The mean of nDCG(A) - nDCG(B) as a function of gain ratios, for many pairs of runs.

    Queries with the same ideal ranking are a group: N (pairs, groups, M), D (groups, M), and the
    best grade in its pool (groups,).
    """

    numerators: Floats
    ideals: Floats
    best: Integers
    tolerance: float

    def values(self, points: Floats, pairs: Integers) -> Floats:
        """Compute the mean difference at points of shape (n, M - 1)."""
        numerators, ideals = self._sums(_gains(points)[:, None], pairs)
        return np.asarray((numerators / ideals).sum(axis=(1, 2)))

    def _sums(self, gains: Floats, pairs: Integers) -> tuple[Floats, Floats]:
        """Return N and D (n, points, groups) of gains (n, points, M, M)."""
        of_groups = gains[:, :, self.best]
        numerators = np.einsum("ncgm,ngm->ncg", of_groups, self.numerators[pairs])
        return numerators, np.einsum("ncgm,gm->ncg", of_groups, self.ideals)

    def bounds(self, low: Floats, high: Floats, pairs: Integers) -> tuple[Floats, ...]:
        """Bound the mean difference in boxes with these corners, of shape (n, M - 1).

        Return lower and upper bounds (n,), and bounds of the absolute slopes (n, M - 1).
        """
        step = max(1, CORNER_BLOCK // max(1, 2 ** low.shape[1] * self.ideals.size))
        blocks = [
            self._bounds(low[at : at + step], high[at : at + step], pairs[at : at + step])
            for at in range(0, len(low), step)
        ]
        return tuple(map(np.concatenate, zip(*blocks, strict=True)))

    def _bounds(self, low: Floats, high: Floats, pairs: Integers) -> tuple[Floats, ...]:
        d = low.shape[1]
        upper = np.indices((2,) * d, bool).reshape(d, 2**d).T
        corners = np.where(upper, high[:, None], low[:, None])
        numerator, ideal = self._sums(_gains(corners), pairs)
        values = numerator / ideal
        slowest, fastest = np.zeros(low.shape), np.zeros(low.shape)
        for i in range(d):
            change = self._sums(_gains(corners, by=i), pairs)
            slowest[:, i], fastest[:, i] = _slopes(*change, values, ideal)
        rises = slowest >= 0
        falls = (fastest <= 0) & ~rises
        slopes = np.maximum(np.abs(slowest), np.abs(fastest))
        reach = np.where(rises | falls, 0.0, (high - low) / 2 * slopes).sum(axis=1)
        middle = (low + high) / 2

        def bound(sign: float, to_low: Booleans, to_high: Booleans) -> Floats:
            """Bound sign * mean from below; its minimum is on the given faces of the box."""
            off_face = np.any(np.where(upper, to_low[:, None], to_high[:, None]), 2)
            smallest = np.where(off_face[:, :, None], np.inf, sign * values).min(axis=1)
            centre = np.where(to_low, low, np.where(to_high, high, middle))
            at_centre = sign * self.values(centre, pairs) - reach
            tighter: Floats = np.maximum(smallest.sum(axis=1), at_centre)
            return sign * tighter

        return bound(1.0, rises, falls), bound(-1.0, falls, rises), slopes


def mean_difference(
    runs: Grades,
    counts: Integers,
    discounts: Floats,
    pairs: tuple[Integers, Integers],
    n_queries: Integers,
) -> MeanDifference:
    """Build the mean differences of pairs of runs, where grades without a count gain 0."""
    n_ranks, n_gains = runs.shape[2], counts.shape[1]
    ideal_ends, group_of = np.unique(
        np.minimum(counts.cumsum(axis=1), n_ranks), axis=0, return_inverse=True
    )
    by_grade = np.stack([(runs == grade) @ discounts for grade in range(n_gains)], axis=-1)
    grouped = np.zeros((len(runs), len(ideal_ends), n_gains))
    for of_run, total in zip(by_grade, grouped, strict=True):
        np.add.at(total, group_of.reshape(-1), of_run)
    sums = np.append(0.0, discounts.cumsum())
    ideals = np.diff(sums[ideal_ends], axis=1, prepend=0.0)
    shares = grouped / n_queries[:, None, None]
    numerators = shares[pairs[0]] - shares[pairs[1]]
    gain = ideal_ends[:, -1] > 0
    best = (ideal_ends > 0).argmax(axis=1)
    n_operations = 3 * n_ranks * n_gains + len(counts) + 32
    steepest = 1 + 2 * n_gains * float(discounts.sum() / discounts[0])
    tolerance = float(np.finfo(float).eps) * n_operations * steepest
    return MeanDifference(numerators[:, gain], ideals[gain], best[gain], tolerance)


def _gains(points: Floats, by: int | None = None) -> Floats:
    """Return the gains (..., M, M) where the best grade gains 1, or their derivative by a ratio.

    The rows are for each best grade in a pool; better grades, which it lacks, are left at 0.
    """
    size = points.shape[-1] + 1
    found = np.zeros((*points.shape[:-1], size, size))
    ratios = points.copy()
    if by is not None:
        ratios[..., by] = 1.0
    for best in range(size):
        found[..., best, best] = 1.0
        np.cumprod(ratios[..., best:], axis=-1, out=found[..., best, best + 1 :])
    if by is not None:
        found[..., : by + 1] = found[..., by + 1 :, :] = 0.0
    return found


def _slopes(
    numerator_change: Floats, ideal_change: Floats, value: Floats, ideal: Floats
) -> tuple[Floats, Floats]:
    """Bound the derivative (N' - f D') / D of each box by the extremes of its parts at corners."""
    least, most = value.min(axis=1), value.max(axis=1)
    first, last = ideal_change[:, 0], ideal_change[:, -1]
    below = numerator_change.min(axis=1) - np.maximum(most * first, most * last)
    above = numerator_change.max(axis=1) - np.minimum(least * first, least * last)
    near, far = ideal[:, 0], ideal[:, -1]
    slowest = np.where(below >= 0, below / far, below / near)
    fastest = np.where(above >= 0, above / near, above / far)
    return slowest.sum(axis=1), fastest.sum(axis=1)


def _search_ratios(
    difference: MeanDifference, n_pairs: int, max_boxes: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Search the gain ratios of all pairs for the sign of the mean difference.

    Return bounds (pairs,), the largest lead of A and of B (2, pairs), and the ratios there.
    """
    d, tolerance = difference.ideals.shape[1] - 1, difference.tolerance
    low, high, pairs = np.zeros((n_pairs, d)), np.ones((n_pairs, d)), np.arange(n_pairs)
    least, most = np.full(n_pairs, np.inf), np.full(n_pairs, -np.inf)
    leads, ratios = np.full((2, n_pairs), -np.inf), np.empty((2, n_pairs, d))
    n_bounded = np.zeros(n_pairs, np.intp)
    while True:
        lower, upper, slopes = difference.bounds(low, high, pairs)
        middle = (low + high) / 2
        values = difference.values(middle, pairs)
        for largest, at, lead in zip(leads, ratios, (values, -values), strict=True):
            before = largest[pairs]
            np.maximum.at(largest, pairs, lead)
            best = np.flatnonzero((lead > before) & (lead == largest[pairs]))[::-1]
            at[pairs[best]] = middle[best]  # the first of equal ones
        n_bounded += np.bincount(pairs, minlength=n_pairs)
        ended = (lower >= -tolerance) | (upper <= tolerance) | (n_bounded >= max_boxes)[pairs]
        if d > 1:
            ended |= (leads.min(axis=0) > tolerance)[pairs]
        if d:
            axis = ((high - low) * slopes).argmax(axis=1)
            halved = np.arange(d) == axis[:, None]
            ended |= (high - low)[halved] <= RESOLUTION
        np.minimum.at(least, pairs[ended], lower[ended])
        np.maximum.at(most, pairs[ended], upper[ended])
        if ended.all():
            return least, most, leads, ratios
        left_high, right_low = np.where(halved, middle, high), np.where(halved, middle, low)
        low = np.vstack([low[~ended], right_low[~ended]])
        high = np.vstack([left_high[~ended], high[~ended]])
        pairs = np.tile(pairs[~ended], 2)
