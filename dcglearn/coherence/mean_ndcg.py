"""The verdict on two runs by mean nDCG that holds for all gains, with given discounts.

    mean over queries of  nDCG_q(A) - nDCG_q(B),   gains 1 >= g_2 >= ... >= g_L

is a sum of ratios. Unlike DCG, it is not determined by finitely many steps of the gains, and two
grades are not enough for coherence: with discounts 1/log2(2..4) the rankings [0,1,1], [1,0,1]
against [1,1,0], [0,1,0], with 1 and 3 good documents out of 6, differ by +.046082 with gains 1, 0
and by -.022111 with gains 1, .5. (Two grades are enough for DCG: Zhou, Zha, Xue & Yu, arXiv
1212.5650, section 4.)

So the ratios of neighbouring gains are searched by branch and bound: a box of ratios in which the
bounds (:mod:`dcglearn.coherence.mean_ndcg_bounds`) leave one sign is finished, any other is
halved. Two points of opposite sign prove that the verdict depends on the gains. With one ratio the
whole line is searched, and the result includes the regions of each sign, up to the resolution.
With more ratios the search ends with the verdict, or at its limit with "undecided".

The gains of all grades but the worst are above 0 here. Where the gains of better grades are
exactly 0, queries without still better documents stop counting and the mean jumps: see
:mod:`dcglearn.coherence.mean_ndcg_faces`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count, checked_number
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.overflow import usual_size
from dcglearn.base.types import Floats
from dcglearn.coherence.advantage import (
    Discounts,
    WorstGain,
    discount_vector,
    two_runs,
)
from dcglearn.coherence.branch_and_bound import (
    EQUAL,
    FOR_A,
    FOR_B,
    UNDECIDED,
    ExtremePoints,
    Leaves,
    search_ratios,
)
from dcglearn.coherence.mean_ndcg_bounds import mean_difference
from dcglearn.measures.dcg import DCG
from dcglearn.measures.grade_indices import checked_grades
from dcglearn.measures.ideal import check_pools
from dcglearn.measures.scale import MAX_GRADES

MeanWinner = Literal["a", "b", "equal", "depends", "undecided"]
"""Who has the higher mean nDCG for all gains."""

RegionWinner = Literal["a", "b", "equal", "change", "undecided"]
"""Who has the higher mean nDCG in a region of gain ratios."""

_REGION_WINNERS: dict[int, RegionWinner] = {
    FOR_A: "a",
    FOR_B: "b",
    EQUAL: "equal",
    UNDECIDED: "undecided",
}


@dataclass(frozen=True)
class Region:
    """An interval of the one free gain ratio.

    Parameters
    ----------
    low, high : float
        The ends of the interval.
    winner : {"a", "b", "equal", "change", "undecided"}
        ``"a"``: B is nowhere in it ahead by more than the tolerance. ``"change"``: one run is
        ahead before it, the other after it; of width 0 where only rounding is in doubt.
    """

    low: float
    high: float
    winner: RegionWinner


@dataclass(frozen=True)
class MeanVerdict:
    """Who has the higher mean nDCG for all gains.

    Parameters
    ----------
    winner : {"a", "b", "equal", "depends", "undecided"}
        ``"a"``: nowhere behind by more than the tolerance, and somewhere ahead by more.
        ``"equal"``: nowhere further apart than the tolerance.
    witnesses : pair of DCG or None
        Strictly decreasing gains under which A is ahead, and others under which B is; None
        where none were found.
    differences : pair of float
        The mean difference under each witness; 0 where there is none.
    bounds : pair of float
        Lower and upper bound of the mean difference over all gains, up to the tolerance. They
        are no tighter than the verdict needed.
    regions : tuple of Region
        From ratio 0 to ratio 1 where one ratio is free, otherwise empty.
    undecided_share : float
        The volume of gain ratios in [0, 1]^d that was undecided when the search ended, at its
        limits or because both witnesses were found.
    tolerance : float
        A bound of the rounding error: differences within it count as ties.
    """

    winner: MeanWinner
    witnesses: tuple[DCG | None, DCG | None]
    differences: tuple[float, float]
    bounds: tuple[float, float]
    regions: tuple[Region, ...]
    undecided_share: float
    tolerance: float


def mean_verdict(
    a: ArrayLike,
    b: ArrayLike,
    pools: ArrayLike,
    discounts: Discounts,
    n_grades: int,
    worst_gain: WorstGain = "zero",
    resolution: float = 1e-9,
    max_boxes: int = 4096,
) -> MeanVerdict:
    """Decide which of two runs has the higher mean nDCG for all gains.

    Parameters
    ----------
    a, b : array-like of int, shape (Q, K)
        One ranking per query; grade indices, -1 for no document.
    pools : array-like of int, shape (Q, N)
        The grades of all documents of each query, from which the ideal is taken.
    discounts, n_grades, worst_gain, resolution, max_boxes
        As in :func:`mean_verdicts`.

    Returns
    -------
    MeanVerdict

    Raises
    ------
    InputError
        As in :func:`mean_verdicts`.

    Examples
    --------
    Gains 1 and x: A is ahead for small x, B for large x.

    >>> pools = [[0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
    >>> found = mean_verdict([[0, 1, 1], [1, 0, 1]], [[1, 1, 0], [0, 1, 0]], pools, "log2", 2,
    ...                      worst_gain="nonnegative")
    >>> found.winner, [region.winner for region in found.regions]
    ('depends', ['a', 'change', 'b'])
    >>> round(found.regions[1].low, 7)
    0.1998201
    """
    both = two_runs(a, b, n_grades)
    return mean_verdicts(both, pools, discounts, n_grades, worst_gain, resolution, max_boxes)[0, 1]


def mean_verdicts(
    runs: ArrayLike,
    pools: ArrayLike,
    discounts: Discounts,
    n_grades: int,
    worst_gain: WorstGain = "zero",
    resolution: float = 1e-9,
    max_boxes: int = 4096,
    counted: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
) -> dict[tuple[int, int], MeanVerdict]:
    """Decide for pairs of runs which has the higher mean nDCG for all gains.

    Parameters
    ----------
    runs : array-like of int, shape (n, Q, K)
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
        best gain is 1, so L - 2 or L - 1 ratios of neighbouring gains are free. ``"free"`` is
        refused: the ideal may be 0 or negative where gains are.
    resolution : float, default 1e-9
        Boxes of ratios are not halved below this width.
    max_boxes : int, default 4096
        The largest number of boxes to bound for each pair.
    counted : array-like of int, shape (n,), optional
        The number of queries in the mean of each run, where queries that it does not hold are
        left out; by default Q.
    pairs : array-like of int, shape (m, 2), optional
        Which runs to compare, i and j of each pair; by default all, i < j.

    Returns
    -------
    dict from (i, j) to MeanVerdict
        Run i is A, run j is B.

    Raises
    ------
    InputError
        If shapes do not fit, a ranking holds documents that its pool does not, the discounts
        increase or start with 0, or a limit is not above 0.

    Examples
    --------
    >>> runs = [[[0, 1, 2]], [[1, 0, 2]], [[2, 2, 1]]]
    >>> found = mean_verdicts(runs, [[0, 1, 2, 2]], "log2", 3)
    >>> [(pair, verdict.winner) for pair, verdict in found.items()]
    [((0, 1), 'a'), ((0, 2), 'a'), ((1, 2), 'a')]
    """
    n_grades = checked_count(n_grades, "`n_grades`", high=MAX_GRADES)
    checked_count(max_boxes, "`max_boxes`", high=10**12)
    checked_number(resolution, "`resolution`", 0, above=True)
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
    if not is_one_of(worst_gain, ("zero", "nonnegative")):
        raise unknown_name("worst gain", worst_gain, ["zero", "nonnegative"])
    c, _ = usual_size(discount_vector(discounts, rows.shape[2]))
    if c[0] <= 0 or c[-1] < 0 or (np.diff(c) > 0).any():
        raise InputError(
            "discounts that increase, fall below 0 or start with 0", "give decreasing discounts"
        )
    n_gains = n_grades - 1 if worst_gain == "zero" else n_grades
    if n_gains < 1:
        raise InputError(
            "a single grade with a gain of 0", "give two grades, or `worst_gain` nonnegative"
        )
    for run in rows:
        check_pools(run, pool, n_gains)
    first, second = np.triu_indices(len(rows), 1) if pairs is None else _pairs(pairs, len(rows))
    numbers = None if counted is None else np.asarray(counted)
    least = np.maximum((rows >= 0).any(axis=2).sum(axis=1), 1)
    if numbers is not None and (numbers.shape != least.shape or (numbers < least).any()):
        raise InputError(
            f"`counted` is {numbers.tolist()}, for runs that hold {least.tolist()} queries",
            "give the number of queries of each run that count",
        )
    difference = mean_difference(rows, pool, c, n_gains, (first, second), numbers)
    found = search_ratios(difference, len(first), resolution, max_boxes)
    fixed = [0.0] * (n_grades - n_gains)
    cutoff = rows.shape[2] if isinstance(discounts, str) else None

    def measure(ratios: Floats) -> DCG:
        return DCG([1.0, *np.cumprod(ratios), *fixed], discounts, cutoff, "ideal")

    return {
        (int(i), int(j)): _verdict(
            found.leaves.select(found.leaves.pairs == at),
            found.extremes,
            at,
            difference.tolerance,
            measure,
        )
        for at, (i, j) in enumerate(zip(first, second, strict=True))
    }


def _pairs(pairs: ArrayLike, n_runs: int) -> NDArray[np.intp]:
    """Return the first and the second run of each pair, shape (2, m)."""
    given = np.asarray(pairs)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu" or not len(given):
        raise InputError(f"pairs of shape {given.shape}", "give the numbers of two runs per pair")
    if given.min() < 0 or given.max() >= n_runs:
        raise InputError(f"pairs of {n_runs} runs name run {given.max()}", "count runs from 0")
    return given.T.astype(np.intp)


def _verdict(
    leaves: Leaves,
    extremes: ExtremePoints,
    pair: int,
    tolerance: float,
    measure: Callable[[Floats], DCG],
) -> MeanVerdict:
    largest, smallest = float(extremes.largest[pair]), float(extremes.smallest[pair])
    a_ahead, b_ahead = largest > tolerance, smallest < -tolerance
    labels = set(leaves.labels.tolist())
    winner: MeanWinner
    if a_ahead and b_ahead:
        winner = "depends"
    elif labels <= {EQUAL}:
        winner = "equal"
    elif a_ahead and labels <= {FOR_A, EQUAL}:
        winner = "a"
    elif b_ahead and labels <= {FOR_B, EQUAL}:
        winner = "b"
    else:
        winner = "undecided"
    volumes = (leaves.high - leaves.low).prod(axis=1)
    return MeanVerdict(
        winner,
        witnesses=(
            measure(extremes.at_largest[pair]) if a_ahead else None,
            measure(extremes.at_smallest[pair]) if b_ahead else None,
        ),
        differences=(largest if a_ahead else 0.0, smallest if b_ahead else 0.0),
        bounds=(float(leaves.lower.min()), float(leaves.upper.max())),
        regions=_regions(leaves) if leaves.low.shape[1] == 1 else (),
        undecided_share=float(volumes[leaves.labels == UNDECIDED].sum()),
        tolerance=tolerance,
    )


def _regions(leaves: Leaves) -> tuple[Region, ...]:
    """Join neighbouring boxes of a line with the same run ahead, and those with neither."""
    order = leaves.low[:, 0].argsort()
    low, high, labels = leaves.low[order, 0], leaves.high[order, 0], leaves.labels[order]
    ahead = np.where(labels == EQUAL, UNDECIDED, labels)
    starts = np.append(0, np.flatnonzero(np.diff(ahead)) + 1)
    ends = np.append(starts[1:], len(labels))
    regions: list[Region] = []
    for start, end in zip(starts, ends, strict=True):
        if regions and UNDECIDED not in ahead[start - 1 : start + 1]:  # one run, then the other
            regions.append(Region(float(low[start]), float(low[start]), "change"))
        around = {*ahead[max(start - 1, 0) : start].tolist(), *ahead[end : end + 1].tolist()}
        winner: RegionWinner = _REGION_WINNERS[int(labels[start:end].min())]
        if ahead[start] == UNDECIDED and around == {FOR_A, FOR_B}:
            winner = "change"
        regions.append(Region(float(low[start]), float(high[end - 1]), winner))
    return tuple(regions)
