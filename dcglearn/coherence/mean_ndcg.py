"""Mean coherence: who is ahead by mean nDCG whatever the gains are, for given discounts.

    mean over queries of  nDCG_q(A) - nDCG_q(B),   gains 1 >= g_2 >= ... >= g_L

is a sum of ratios. Unlike DCG it is not settled by finitely many steps, and even two grades
are not safe: with discounts 1/log2(2..4) the rankings [0,1,1], [1,0,1] against [1,1,0],
[0,1,0], 1 and 3 documents of 6 good, differ by +.046082 with gains 1, 0 and by -.022111 with
gains 1, .5. (Two grades do settle DCG: Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 4.)

So the ratios of neighbouring gains are searched by branch and bound: a box of ratios in which
the bounds (:mod:`dcglearn.coherence.mean_ndcg_bounds`) leave one sign is done, any other is cut in
two. Two points of opposite sign prove that it depends. With one ratio the line is searched to
the end, and what is found are its pieces and where the sign changes, to the resolution. With
more ratios the search ends with the verdict, or at its limit, and says so: "undecided".

Every grade but the worst gains more than 0, however little. Where better grades gain nothing at
all, queries that hold no others stop counting, and the mean jumps: that is another problem, of
fewer grades.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Floats
from dcglearn.coherence.advantage import Discounts, given_discounts
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
from dcglearn.measures.ideal import check_pools
from dcglearn.measures.scale import checked_grades

MeanWinner = Literal["a", "b", "equal", "depends", "undecided"]
RegionWinner = Literal["a", "b", "equal", "change", "undecided"]
_NAMES: dict[int, RegionWinner] = {FOR_A: "a", FOR_B: "b", EQUAL: "equal", UNDECIDED: "undecided"}


@dataclass(frozen=True)
class Region:
    """A part of the line of the one free ratio.

    Parameters
    ----------
    low, high : float
        From which ratio to which.
    winner : {"a", "b", "equal", "change", "undecided"}
        Who is certainly not behind by more than the slack there. ``"change"``: one before
        it, the other after it; of no width where only rounding is in doubt.
    """

    low: float
    high: float
    winner: RegionWinner


@dataclass(frozen=True)
class MeanVerdict:
    """Who is ahead by mean nDCG whatever the gains are.

    Parameters
    ----------
    winner : {"a", "b", "equal", "depends", "undecided"}
        ``"a"``: nowhere behind by more than the slack, and somewhere ahead by more.
        ``"equal"``: nowhere apart by more than the slack.
    witnesses : pair of DCG or None
        Strictly falling gains under which A is ahead, and some under which B is; None where
        none were seen.
    margins : pair of float
        The mean difference under each; 0 where there is none.
    bounds : pair of float
        Between which the mean difference is whatever the gains are: certain, give or take
        the slack, but no tighter than the verdict needed.
    pieces : tuple of Region
        From ratio 0 to 1, where one ratio is free; else empty.
    open_share : float
        The share of the box of ratios that was not settled when the search ended: at its
        limits, or because the witnesses were found.
    slack : float
        What rounding can come to: nearer to 0 is a tie.
    """

    winner: MeanWinner
    witnesses: tuple[DCG | None, DCG | None]
    margins: tuple[float, float]
    bounds: tuple[float, float]
    pieces: tuple[Region, ...]
    open_share: float
    slack: float


def mean_verdict(
    a: ArrayLike,
    b: ArrayLike,
    pools: ArrayLike,
    discounts: Discounts,
    n_grades: int,
    worst_gain: Literal["zero", "nonnegative"] = "zero",
    resolution: float = 1e-9,
    max_boxes: int = 4096,
) -> MeanVerdict:
    """Return which of two runs is ahead by mean nDCG whatever the gains are.

    Parameters
    ----------
    a, b : array-like of int, shape (Q, K)
        One ranking a query; grade indices, -1 for no document.
    pools : array-like of int, shape (Q, N)
        The grades of all documents of each query, from which the ideal is taken.
    discounts, n_grades, worst_gain, resolution, max_boxes
        As of :func:`mean_verdicts`.

    Returns
    -------
    MeanVerdict

    Raises
    ------
    InputError
        As :func:`mean_verdicts`.

    Examples
    --------
    Gains 1 and x: A is ahead for small x, B for large x.

    >>> pools = [[0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
    >>> found = mean_verdict([[0, 1, 1], [1, 0, 1]], [[1, 1, 0], [0, 1, 0]], pools, "log2", 2,
    ...                      worst_gain="nonnegative")
    >>> found.winner, [piece.winner for piece in found.pieces]
    ('depends', ['a', 'change', 'b'])
    >>> round(found.pieces[1].low, 7)
    0.1998201
    """
    first, second = (
        checked_grades(a, n_grades, "rankings a"),
        checked_grades(b, n_grades, "rankings b"),
    )
    if first.shape != second.shape:
        raise InputError(
            f"rankings of shape {first.shape} against {second.shape}",
            "give the same queries and ranks, short lists filled up with -1",
        )
    both = np.stack([first, second])
    return mean_verdicts(both, pools, discounts, n_grades, worst_gain, resolution, max_boxes)[0, 1]


def mean_verdicts(
    runs: ArrayLike,
    pools: ArrayLike,
    discounts: Discounts,
    n_grades: int,
    worst_gain: Literal["zero", "nonnegative"] = "zero",
    resolution: float = 1e-9,
    max_boxes: int = 4096,
) -> dict[tuple[int, int], MeanVerdict]:
    """Return for all pairs of runs which is ahead by mean nDCG whatever the gains are.

    Parameters
    ----------
    runs : array-like of int, shape (n, Q, K)
        One ranking a query; grade indices, -1 for no document.
    pools : array-like of int, shape (Q, N)
        The grades of all documents of each query, -1 for none. The ideal is the best
        ordering of the pool, cut at K. Worst documents may be missing from it where they
        are worth 0. A query without a document that is worth anything counts 0.
    discounts : str or array-like of float, shape (K,)
        A rule or a vector, not rising and 0 or more.
    n_grades : int
        L.
    worst_gain : {"zero", "nonnegative"}
        What the worst grade is worth: 0, or anything up to the grade above it. The best
        gain is 1; so L - 2 or L - 1 ratios of neighbouring gains are free.
    resolution : float, default 1e-9
        Boxes of ratios are not cut below this width.
    max_boxes : int, default 4096
        How many boxes are looked at for a pair.

    Returns
    -------
    dict from (i, j), i < j, to MeanVerdict
        Run i is A, run j is B.

    Raises
    ------
    InputError
        If shapes do not fit, a ranking holds what its pool does not, the discounts rise or
        start with 0, or a limit is not above 0.

    Examples
    --------
    >>> runs = [[[0, 1, 2]], [[1, 0, 2]], [[2, 2, 1]]]
    >>> found = mean_verdicts(runs, [[0, 1, 2, 2]], "log2", 3)
    >>> [(pair, verdict.winner) for pair, verdict in found.items()]
    [((0, 1), 'a'), ((0, 2), 'a'), ((1, 2), 'a')]
    """
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
            "give two runs or more, (runs, queries, ranks), and (queries, documents)",
        )
    if worst_gain not in ("zero", "nonnegative"):
        raise unknown_name("worst gain", worst_gain, ["zero", "nonnegative"])
    if not (resolution > 0 and max_boxes > 0):
        raise InputError(f"resolution {resolution}, boxes {max_boxes}", "give both above 0")
    c = given_discounts(discounts, rows.shape[2])
    if c[0] <= 0 or c[-1] < 0 or (np.diff(c) > 0).any():
        raise InputError("discounts that rise, fall below 0 or start with 0", "give falling ones")
    n_gains = n_grades - 1 if worst_gain == "zero" else n_grades
    if n_gains < 1:
        raise InputError("one grade, worth 0", "give two grades, or a worst gain above 0")
    for run in rows:
        check_pools(run, pool, n_gains)
    first, second = np.triu_indices(len(rows), 1)
    difference = mean_difference(rows, pool, c, n_gains, (first, second))
    leaves, seen = search_ratios(difference, len(first), resolution, max_boxes)
    fixed = [0.0] * (n_grades - n_gains)
    cutoff = rows.shape[2] if isinstance(discounts, str) else None

    def measure(ratios: Floats) -> DCG:
        return DCG([1.0, *np.cumprod(ratios), *fixed], discounts, cutoff, "ideal")

    return {
        (int(i), int(j)): _verdict(
            leaves.chosen(leaves.pairs == at), seen, at, difference.slack, measure
        )
        for at, (i, j) in enumerate(zip(first, second, strict=True))
    }


def _verdict(
    leaves: Leaves, seen: ExtremePoints, pair: int, slack: float, measure: Callable[[Floats], DCG]
) -> MeanVerdict:
    most, least = float(seen.most[pair]), float(seen.least[pair])
    ahead, behind = most > slack, least < -slack
    labels = set(leaves.labels.tolist())
    winner: MeanWinner
    if ahead and behind:
        winner = "depends"
    elif labels <= {EQUAL}:
        winner = "equal"
    elif ahead and labels <= {FOR_A, EQUAL}:
        winner = "a"
    elif behind and labels <= {FOR_B, EQUAL}:
        winner = "b"
    else:
        winner = "undecided"
    volumes = (leaves.high - leaves.low).prod(axis=1)
    return MeanVerdict(
        winner,
        (
            measure(seen.at_most[pair]) if ahead else None,
            measure(seen.at_least[pair]) if behind else None,
        ),
        (most if ahead else 0.0, least if behind else 0.0),
        (float(leaves.least.min()), float(leaves.most.max())),
        _pieces(leaves) if leaves.low.shape[1] == 1 else (),
        float(volumes[leaves.labels == UNDECIDED].sum()),
        slack,
    )


def _pieces(leaves: Leaves) -> tuple[Region, ...]:
    """Join the neighbouring boxes of a line where one is ahead, and those where neither is."""
    order = leaves.low[:, 0].argsort()
    low, high, labels = leaves.low[order, 0], leaves.high[order, 0], leaves.labels[order]
    ahead = np.where(labels == EQUAL, UNDECIDED, labels)
    starts = np.append(0, np.flatnonzero(np.diff(ahead)) + 1)
    ends = np.append(starts[1:], len(labels))
    pieces: list[Region] = []
    for start, end in zip(starts, ends, strict=True):
        if pieces and UNDECIDED not in ahead[start - 1 : start + 1]:  # one, then the other
            pieces.append(Region(float(low[start]), float(low[start]), "change"))
        around = {*ahead[max(start - 1, 0) : start].tolist(), *ahead[end : end + 1].tolist()}
        name: RegionWinner = _NAMES[int(labels[start:end].min())]
        if ahead[start] == UNDECIDED and around == {FOR_A, FOR_B}:
            name = "change"
        pieces.append(Region(float(low[start]), float(high[end - 1]), name))
    return tuple(pieces)
