"""The verdict on two runs by mean nDCG that holds for all gains, with given discounts.

    mean over queries of  nDCG_q(A) - nDCG_q(B),   gains 1 >= g_2 >= ... >= g_L

is a sum of ratios. Unlike DCG, it is not determined by finitely many steps of the gains, and two
grades are not enough for coherence: with discounts 1/log2(2..4) the rankings [0,1,1], [1,0,1]
against [1,1,0], [0,1,0], with 1 and 3 good documents out of 6, differ by +.046082 with gains 1, 0
and by -.022111 with gains 1, .5. (Two grades are enough for DCG: Zhou, Zha, Xue & Yu, arXiv
1212.5650, section 4.)

Positive gains are g = 1, x_1, x_1 x_2, ... with ratios x in [0, 1]. The term of a query is N / D,
where N and D are linear in each single ratio, because one ordering of the pool is ideal for all
compatible gains. Both are divided by the gain of the best grade in the query's pool; then
D >= c_1, and N / D is continuous down to ratios of 0.

Gains of exactly 0 are different: where the grades from m on gain 0, queries without a better
document count 0, and the mean jumps. These gains are a face of all gains, with m - 1 free ratios.
The positive gains and every face are searched alike, by branch and bound: a box of ratios in which
the bounds leave one sign is finished, any other is halved across the ratio with which the mean may
change the most. Gains of opposite sign prove that the verdict depends on the gains.

Bounds: N / D is monotone in each single ratio, so its extremes over a box are at corners, and their
sums bound the mean. Its derivative by a ratio is (N' - N / D D') / D, which is bounded by the
extremes of its parts. If the mean only increases, or only decreases, with a ratio, its extremes are
on the faces of that ratio; along the other ratios it differs from its value in the middle by no
more than half the width times the largest slope. The tighter of the two bounds is taken, so the
uncertainty shrinks with the square of the width of the box.

Rounding: DCG and ideal are sums of positive terms, accurate to K units in the last place, and no
DCG exceeds its ideal. The `tolerance` bounds the total rounding error of these terms, the sum over
queries and the slopes; a mean within it of 0 counts as tied.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.types import Floats, Grades, Integers
from dcglearn.coherence.advantage import (
    WORST_GAINS,
    Discounts,
    WorstGain,
    discount_vector,
    two_runs,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.grade_indices import checked_grades
from dcglearn.measures.ideal import check_pools
from dcglearn.measures.scale import MAX_GRADES

MeanWinner = Literal["a", "b", "equal", "depends", "undecided"]
"""Who has the higher mean nDCG for all gains."""

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
        ``"equal"``: nowhere further apart than the tolerance.
    witnesses : pair of DCG or None
        Gains under which A is ahead, and others under which B is; None where none were found.
        They decrease strictly, or down to gains of exactly 0.
    differences : pair of float
        The mean difference under each witness; 0 where there is none.
    bounds : pair of float
        Lower and upper bound of the mean difference over all gains, up to the tolerance. They
        are no tighter than the verdict needed.
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
        The grades of all documents of each query, -1 for none. The ideal is the best
        ordering of the pool, cut at K. Worst documents may be missing from the pool where
        their gain is 0. A query whose pool holds only documents with a gain of 0 counts 0.
    discounts : str or array-like of float, shape (K,)
        A rule or a vector, 0 or more and not increasing.
    n_grades : int
        L.
    worst_gain : {"zero", "nonnegative"}
        The gain of the worst grade: 0, or any value up to that of the grade above it. The
        best gain is 1, so L - 2 or L - 1 ratios of neighbouring gains are free.
    max_boxes : int, default 4096
        The largest number of boxes of ratios to bound, for the positive gains and for each of
        the faces where more gains are 0.

    Returns
    -------
    MeanVerdict

    Raises
    ------
    InputError
        If shapes do not fit, a ranking holds documents that its pool does not, the discounts
        increase or start with 0, or a limit is not above 0.

    Examples
    --------
    Gains 1 and x: A is ahead for small x, B for large x.

    >>> pools = [[0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
    >>> found = mean_verdict([[0, 1, 1], [1, 0, 1]], [[1, 1, 0], [0, 1, 0]], pools, "log2", 2,
    ...                      worst_gain="nonnegative")
    >>> found.winner, [witness.gains[1] < 0.1998201 for witness in found.witnesses]
    ('depends', [True, False])
    """
    both = two_runs(a, b, n_grades)
    return mean_verdicts(both, pools, discounts, n_grades, worst_gain, max_boxes)[0, 1]


def mean_verdicts(
    runs: ArrayLike,
    pools: ArrayLike,
    discounts: Discounts,
    n_grades: int,
    worst_gain: WorstGain = "zero",
    max_boxes: int = 4096,
    counted: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
) -> dict[tuple[int, int], MeanVerdict]:
    """Decide as :func:`mean_verdict` for pairs (i, j) of runs, by default all with i < j.

    `runs` has shape (n, Q, K), `pairs` (m, 2). `counted`, shape (n,), is the number of queries in
    the mean of each run where queries that it does not hold are left out, by default Q.

    >>> runs = [[[0, 1, 2]], [[1, 0, 2]], [[2, 2, 1]]]
    >>> found = mean_verdicts(runs, [[0, 1, 2, 2]], "log2", 3)
    >>> [(pair, verdict.winner) for pair, verdict in found.items()]
    [((0, 1), 'a'), ((0, 2), 'a'), ((1, 2), 'a')]
    """
    checked_count(max_boxes, "`max_boxes`", high=10**12)
    rows, pool, c = _checked(runs, pools, discounts, n_grades, worst_gain)
    n_gains = n_grades - (worst_gain == "zero")
    first, second = np.triu_indices(len(rows), 1) if pairs is None else np.transpose(pairs)
    numbers = None if counted is None else np.asarray(counted)
    differences = [
        mean_difference(rows, pool, c, kept, (first, second), numbers)
        for kept in (n_gains, *range(1, n_gains))
    ]
    faces = [search_ratios(difference, len(first), max_boxes) for difference in differences]
    tolerance = differences[0].tolerance  # the largest, because the most gains are summed

    def measure(ratios: Floats) -> DCG:
        zeros = [0.0] * (n_grades - 1 - len(ratios))
        cutoff = rows.shape[2] if isinstance(discounts, str) else None
        return DCG([1.0, *np.cumprod(ratios), *zeros], discounts, cutoff, "ideal")

    def verdict(pair: int) -> MeanVerdict:
        for_a, for_b = (
            next((face for face in faces if face.largest[which, pair] > tolerance), None)
            for which in (0, 1)
        )
        lower = min(float(face.lower[pair]) for face in faces)
        upper = max(float(face.upper[pair]) for face in faces)
        never_behind, never_ahead = lower >= -tolerance, upper <= tolerance
        winner: MeanWinner = "undecided"
        if for_a and for_b:
            winner = "depends"
        elif never_behind and never_ahead:
            winner = "equal"
        elif for_a and never_behind:
            winner = "a"
        elif for_b and never_ahead:
            winner = "b"
        return MeanVerdict(
            winner,
            (
                measure(for_a.at[0, pair]) if for_a else None,
                measure(for_b.at[1, pair]) if for_b else None,
            ),
            (
                float(for_a.largest[0, pair]) if for_a else 0.0,
                -float(for_b.largest[1, pair]) if for_b else 0.0,
            ),
            (lower, upper),
            tolerance,
        )

    return {
        (int(i), int(j)): verdict(pair)
        for pair, (i, j) in enumerate(zip(first, second, strict=True))
    }


def _checked(
    runs: ArrayLike, pools: ArrayLike, discounts: Discounts, n_grades: int, worst_gain: WorstGain
) -> tuple[Grades, Grades, Floats]:
    """Return runs, pools and discounts."""
    n_grades = checked_count(n_grades, "`n_grades`", high=MAX_GRADES)
    rows, pool = checked_grades(runs, n_grades, "runs"), checked_grades(pools, n_grades, "pools")
    if (
        rows.ndim != 3
        or pool.ndim != 2
        or rows.shape[1] != len(pool)
        or 0 in pool.shape
        or len(rows) < 2
    ):
        raise InputError(
            f"runs of shape {rows.shape}, pools of shape {pool.shape}",
            "give at least two runs, (runs, queries, ranks), and pools (queries, documents)",
        )
    if not is_one_of(worst_gain, WORST_GAINS):
        raise unknown_name("worst gain", worst_gain, WORST_GAINS)
    c = discount_vector(discounts, rows.shape[2])
    if c[0] <= 0 or c[-1] < 0 or (np.diff(c) > 0).any():
        raise InputError(
            "discounts that increase, fall below 0 or start with 0", "give decreasing discounts"
        )
    n_gains = n_grades - (worst_gain == "zero")
    if n_gains < 1:
        raise InputError(
            "a single grade with a gain of 0", "give two grades, or `worst_gain` nonnegative"
        )
    for run in rows:
        check_pools(run, pool, n_gains)
    return rows, pool, c


@dataclass(frozen=True)
class QueryClass:
    """The queries whose pools have the same best grade, grouped by their ideal ranking.

    `numerators`, shape (pairs, groups, M - best), holds N of each group: discounted counts of each
    grade from `best` on, those of A minus those of B, summed over the group's queries and divided
    by Q. `ideals`, shape (groups, M - best), holds D: the same counts in the ideal ranking.
    """

    best: int
    numerators: Floats
    ideals: Floats


class BoxBounds(NamedTuple):
    """Bounds of the mean difference in n boxes, (n,), and of its absolute slopes, (n, M - 1)."""

    lower: Floats
    upper: Floats
    slopes: Floats


@dataclass(frozen=True)
class MeanDifference:
    """The mean of nDCG(A) - nDCG(B) as a function of gain ratios, for many pairs of runs.

    M gains are not fixed at 0, so there are M - 1 ratios. A `pairs` of shape (n,) names the pair of
    runs at each of n points, or in each of n boxes.
    """

    classes: tuple[QueryClass, ...]
    n_ratios: int
    tolerance: float

    def values(self, points: Floats, pairs: NDArray[np.intp]) -> Floats:
        """Compute the mean difference at points of shape (n, M - 1)."""
        total = np.zeros(len(points))
        for group in self.classes:
            gains = _gains(points, group.best)
            numerator = np.einsum("nm,ngm->ng", gains, group.numerators[pairs])
            total += (numerator / (gains @ group.ideals.T)).sum(axis=1)
        return total

    def bounds(self, low: Floats, high: Floats, pairs: NDArray[np.intp]) -> BoxBounds:
        """Bound the mean difference in boxes with these corners, of shape (n, M - 1)."""
        n_corners = 2**self.n_ratios * max(1, sum(len(group.ideals) for group in self.classes))
        step = max(1, CORNER_BLOCK // n_corners)
        blocks = [
            self._bounds(low[at : at + step], high[at : at + step], pairs[at : at + step])
            for at in range(0, len(low), step)
        ]
        return BoxBounds(*map(np.concatenate, zip(*blocks, strict=True)))

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
    """Build the mean differences of pairs of runs, where grades from `n_gains` on gain 0.

    The arguments are those of :func:`mean_verdicts`, checked. Queries whose pools hold only
    documents with a gain of 0 count 0.
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


@dataclass(frozen=True)
class Extremes:
    """Bounds of the mean difference of each pair, and the extremes that were evaluated.

    `lower` and `upper` have shape (pairs,). `largest`, shape (2, pairs), is the largest difference
    in favour of A and that in favour of B, and `at`, shape (2, pairs, ratios), the ratios there,
    all strictly between 0 and 1.
    """

    lower: Floats
    upper: Floats
    largest: Floats
    at: Floats


def search_ratios(difference: MeanDifference, n_pairs: int, max_boxes: int) -> Extremes:
    """Search the gain ratios of all pairs for the sign of the mean difference.

    The mean is evaluated in the middle of every box. Both signs end the search of a pair, except
    with a single ratio, whose line is searched to the end for the clearest gains of either sign.
    """
    d, tolerance = difference.n_ratios, difference.tolerance
    low, high, pairs = np.zeros((n_pairs, d)), np.ones((n_pairs, d)), np.arange(n_pairs)
    found = Extremes(
        np.full(n_pairs, np.inf),
        np.full(n_pairs, -np.inf),
        np.full((2, n_pairs), -np.inf),
        np.empty((2, n_pairs, d)),
    )
    n_bounded = np.zeros(n_pairs, np.intp)
    while len(pairs):
        lower, upper, slopes = difference.bounds(low, high, pairs)
        _update_extremes(found, difference, (low + high) / 2, pairs)
        n_bounded += np.bincount(pairs, minlength=n_pairs)
        ended = (lower >= -tolerance) | (upper <= tolerance) | (n_bounded >= max_boxes)[pairs]
        if d > 1:
            ended |= (found.largest.min(axis=0) > tolerance)[pairs]
        if d:
            axis = ((high - low) * slopes).argmax(axis=1)
            ended |= (high - low)[np.arange(len(low)), axis] <= RESOLUTION
        np.minimum.at(found.lower, pairs[ended], lower[ended])
        np.maximum.at(found.upper, pairs[ended], upper[ended])
        if ended.all():
            break
        low, high, pairs = low[~ended], high[~ended], np.tile(pairs[~ended], 2)
        rows, axis = np.arange(len(low)), axis[~ended]
        left_high, right_low = high.copy(), low.copy()
        left_high[rows, axis] = right_low[rows, axis] = (low[rows, axis] + high[rows, axis]) / 2
        low, high = np.vstack([low, right_low]), np.vstack([left_high, high])
    return found


def _update_extremes(
    found: Extremes, difference: MeanDifference, points: Floats, pairs: NDArray[np.intp]
) -> None:
    """Evaluate the mean difference at points, and keep the best of each pair for A and for B."""
    values = difference.values(points, pairs)
    order = np.lexsort((values, pairs))
    last = np.append(np.flatnonzero(np.diff(pairs[order])), len(order) - 1)
    ends = order[last], order[np.append(0, last[:-1] + 1)]  # the largest, and the smallest
    for which, (at, lead) in enumerate(zip(ends, (values, -values), strict=True)):
        better = at[lead[at] > found.largest[which, pairs[at]]]
        found.largest[which, pairs[better]] = lead[better]
        found.at[which, pairs[better]] = points[better]
