"""What documents without a judgment leave open: how many they are, and bounds of a value.

Which grades the u unjudged documents of a query have, decides numerator and ideal of its nDCG.
With gains g_1 > ... > g_L >= 0, P_j judged documents of the best j grades and m_j unjudged
ones that would be of them, 0 <= m_1 <= ... <= m_L = u,

    N = judged part + sum_j (g_j - g_j+1) S(m_j)        g_L+1 = 0
    D = sum_j (g_j - g_j+1) C(P_j + m_j)

where C adds up the largest discounts, and S the largest discounts at which unjudged documents
stand for the largest N, the smallest for the least. N - t D is a sum of functions of one m_j
each, so its best assignment is found rank by rank, and the best N / D by Dinkelbach's method
("On nonlinear fractional programming", Management Science 13, 1967): t = N / D of the best
assignment for the last t, until it stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers
from dcglearn.evaluation.ranked import Ranked, rank_discounts, score_runs, shares
from dcglearn.measures.dcg import DCG

BLOCK = 2**18
"""Numbers of assignments that are held at a time."""


def unjudged_bounds(measure: DCG, ranked: Ranked, worthless: float = 0.0) -> tuple[Floats, Floats]:
    """Return what each query's value may be, whatever the grades of unjudged documents are.

    Parameters
    ----------
    measure : DCG
        With discounts of 0 or more; if normalised, by the ideal, with gains of 0 or more.
    ranked : Ranked
    worthless : float, default 0
        The value of a query whose ideal is 0; nan leaves it out.

    Returns
    -------
    low, high : ndarrays of float, shape (Q,)
        Both are reached.

    Raises
    ------
    InputError
        If the measure is another.

    Examples
    --------
    The document at rank 1 is not judged; the one at rank 2 is of the better of two grades:

    >>> ranked = Ranked(np.array([0, 2]), np.array([2, 0]), np.array([[1, 0]]))
    >>> low, high = unjudged_bounds(DCG([1, 0], "zipf", normalise="ideal"), ranked)
    >>> float(low[0]), float(high[0])
    (0.5, 1.0)
    """
    if (rank_discounts(measure, ranked) < 0).any():
        raise InputError("bounds for discounts below 0", "ask for another rule for the unjudged")
    if measure.normalise is None:
        low, high = (score_runs(measure, ranked, of(measure.gains)) for of in (min, max))
        return low, high
    if measure.normalise == "minmax" or min(measure.gains) < 0:
        raise InputError(
            "bounds for gains below 0 or a minmaxDCG", "ask for another rule for the unjudged"
        )
    rows = max(1, BLOCK // (int(ranked.unjudged.max(initial=0)) + 1))
    found = np.zeros((2, len(ranked.unjudged)))
    for begin in range(0, found.shape[1], rows):
        block = slice(begin, begin + rows)
        found[:, block] = _of_queries(measure, ranked.part(block), worthless)
    return found[0], found[1]


def judged_share(ranked: Ranked, cutoff: int | None = None) -> Floats:
    """Return the share of judged documents among the first ones of each query, as expected.

    Parameters
    ----------
    ranked : Ranked
    cutoff : int, optional
        All documents by default.

    Returns
    -------
    ndarray of float, shape (Q,)
        nan for a query without a document.
    """
    counted = (ranked.ranks < (cutoff or len(ranked.grades))).astype(float)
    known = counted * ranked.expected((ranked.grades < ranked.n_grades).astype(float))
    return shares(ranked.by_query(known), ranked.by_query(counted), np.nan)


@dataclass(frozen=True)
class _Choices:
    """What assignments of Q queries are made of; m runs over 0 ... M, the most unjudged.

    known (Q,) is the judged part of N, u (Q,) counts unjudged documents, steps (L,) holds
    g_j - g_j+1, highest and lowest (Q, M + 1) are S, ideals (L, Q, M + 1) are C(P_j + m).
    """

    known: Floats
    u: Integers
    steps: Floats
    highest: Floats
    lowest: Floats
    ideals: Floats


def _of_queries(measure: DCG, ranked: Ranked, worthless: float) -> tuple[Floats, Floats]:
    choices = _choices(measure, ranked)
    queries, u = np.arange(len(choices.u)), choices.u
    most = choices.steps @ choices.ideals[:, queries, u]
    least = choices.steps[:-1] @ choices.ideals[:-1, :, 0]
    least += choices.steps[-1] * choices.ideals[-1, queries, u]
    low = np.where(most > 0, _extreme_ratio(choices, choices.lowest, 1.0, -1), worthless)
    high = np.where(most > 0, _extreme_ratio(choices, choices.highest, 0.0, 1), worthless)
    if_worthless = np.where(least > 0, np.nan, worthless)
    return np.fmin(low, if_worthless), np.fmax(high, if_worthless)


def _choices(measure: DCG, ranked: Ranked) -> _Choices:
    gains, u = np.array(measure.gains), ranked.unjudged
    order = np.argsort(-gains, kind="stable")
    m = np.arange(int(u.max(initial=0)) + 1)
    discounts = ranked.expected(rank_discounts(measure, ranked)[ranked.ranks])
    unjudged = ranked.grades == ranked.n_grades
    query, stand = np.repeat(np.arange(len(u)), ranked.lengths)[unjudged], discounts[unjudged]
    place = np.arange(len(query)) - (np.cumsum(u) - u)[query]
    highest = np.zeros((len(u), len(m)))
    highest[query, place + 1] = stand[np.lexsort((-stand, query))]
    highest = np.cumsum(highest, axis=1)
    rest = np.take_along_axis(highest, np.maximum(u[:, None] - m, 0), axis=1)
    upto = np.cumsum(ranked.pools[:, order], axis=1)
    n_ranks = measure.n_ranks or int(upto.max(initial=0)) + len(m)
    largest = np.sort(measure.discounts_for(n_ranks))[::-1]
    total = np.concatenate([[0.0], np.cumsum(largest)])
    return _Choices(
        known=ranked.by_query(np.append(gains, 0.0)[ranked.grades] * discounts),
        u=u,
        steps=-np.diff(gains[order], append=0.0),
        highest=highest,
        lowest=highest[:, -1:] - rest,
        ideals=total[np.minimum(upto.T[:, :, None] + m, n_ranks)],
    )


def _extreme_ratio(choices: _Choices, worth: Floats, start: float, sign: int) -> Floats:
    """Return the largest N / D (sign 1) or the least (-1), by Dinkelbach's steps."""
    ratio = np.full(len(choices.u), start)
    while True:
        N, D = _assignment(choices, worth, ratio, sign)
        found = shares(N, D, start)
        better = sign * (found - ratio) > 0
        if not better.any():
            return ratio
        ratio = np.where(better, found, ratio)


def _assignment(
    choices: _Choices, worth: Floats, ratio: Floats, sign: int
) -> tuple[Floats, Floats]:
    """Return N and D of the assignment with the largest sign * (N - ratio D), each query."""
    m = np.arange(worth.shape[1])
    possible = m <= choices.u[:, None]
    N, D = np.zeros_like(worth), np.zeros_like(worth)
    for step, ideal in zip(choices.steps, choices.ideals, strict=True):
        value = np.where(possible, sign * (N - ratio[:, None] * D), -np.inf)
        best = np.maximum.accumulate(value, axis=1)
        at = np.maximum.accumulate(np.where(value == best, m, 0), axis=1)
        N = np.take_along_axis(N, at, axis=1) + step * worth
        D = np.take_along_axis(D, at, axis=1) + step * ideal
    queries = np.arange(len(choices.u))
    return choices.known + N[queries, choices.u], D[queries, choices.u]
