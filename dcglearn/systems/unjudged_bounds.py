"""Documents without a judgment: how many there are, and bounds of a query's value.

Take gains g_1 > ... > g_L >= 0, P_j judged documents of the best j grades, and m_j unjudged
documents with one of these grades, 0 <= m_1 <= ... <= m_L = u. Then nDCG = N / D with

    N = judged part + sum_j (g_j - g_j+1) S(m_j)        g_L+1 = 0
    D = sum_j (g_j - g_j+1) C(P_j + m_j)

C(m) is the sum of the m largest discounts, S(m) that of the m largest (for the smallest N, the m
smallest) discounts at the ranks of unjudged documents. N - t D is a sum of functions of one m_j
each, so one pass over the grades finds its best assignment, and Dinkelbach's method (Management
Science 13, 1967) the best N / D: set t to N / D of the best assignment until it stays. Unjudged
documents that only other runs hold change D only: it is smallest if all have the worst grade.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG, ratio
from dcglearn.systems.ranked import Ranked, rank_discounts

_OTHER_RULE = 'choose another rule, such as `unjudged="worst"`'


def unjudged_bounds(measure: DCG, ranked: Ranked, worthless: float) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value (Q,) over all grades of unjudged documents."""
    discounts = rank_discounts(measure, ranked)
    if (discounts < 0).any():
        raise InputError("bounds for discounts below 0", _OTHER_RULE)
    if measure.normalise is None:
        ends = [np.append(measure.gains, of(measure.gains)) for of in (min, max)]
        expected = (ranked.mean_over_ties(gains[ranked.grades]) for gains in ends)
        weights = discounts[ranked.ranks]
        low, high = (ranked.sum_by_query(gains * weights) for gains in expected)
        return low, high
    if min(measure.gains) < 0:
        raise InputError("bounds for gains below 0", _OTHER_RULE)
    if ranked.pooled is None:
        return _bounds_of_ratios(measure, ranked, worthless)
    others = np.maximum(ranked.pooled - ranked.unjudged, 0)
    bounds = []
    for grade in (np.argmin(measure.gains), np.argmax(measure.gains)):
        pools = ranked.pools.copy()
        pools[:, grade] += others
        bounds.append(_bounds_of_ratios(measure, replace(ranked, pools=pools), worthless))
    lows, highs = zip(*bounds, strict=True)
    return np.fmin(*lows), np.fmax(*highs)


def judged_share(ranked: Ranked, cutoff: int | None = None) -> Floats:
    """Return the share of judged documents among the first `cutoff` of each query."""
    first = ranked.first(cutoff)
    counted = first.ranks < (cutoff or len(first.grades))
    judged = counted * first.mean_over_ties(first.grades < first.n_grades)
    return ratio(first.sum_by_query(judged), first.sum_by_query(counted), np.nan)


def _bounds_of_ratios(measure: DCG, ranked: Ranked, worthless: float) -> tuple[Floats, Floats]:
    gains, u = np.array(measure.gains), ranked.unjudged
    order = np.argsort(-gains, kind="stable")
    steps = -np.diff(gains[order], append=0.0)
    m = np.arange(int(u.max(initial=0)) + 1)
    discounts = ranked.mean_over_ties(rank_discounts(measure, ranked)[ranked.ranks])
    unjudged = ranked.grades == ranked.n_grades
    query, own = ranked.query[unjudged], discounts[unjudged]
    place = np.arange(len(query)) - (np.cumsum(u) - u)[query]
    highest = np.zeros((len(u), len(m)))
    highest[query, place + 1] = own[np.lexsort((-own, query))]
    highest = np.cumsum(highest, axis=1)
    lowest = highest[:, -1:] - np.take_along_axis(highest, np.maximum(u[:, None] - m, 0), axis=1)
    cumulative = np.cumsum(ranked.pools[:, order], axis=1)
    n_ranks = measure.n_ranks or int(cumulative.max(initial=0)) + len(m)
    largest = np.sort(measure.discounts_for(n_ranks))[::-1]
    total = np.concatenate([[0.0], np.cumsum(largest)])
    ideals = total[np.minimum(cumulative.T[:, :, None] + m, n_ranks)]
    judged = ranked.sum_by_query(np.append(gains, 0.0)[ranked.grades] * discounts)
    queries, possible = np.arange(len(u)), m <= u[:, None]

    def extreme_ratio(S: Floats, start: float, sign: int) -> Floats:
        """Return the largest N / D (sign 1) or the smallest (-1) by Dinkelbach's method."""
        t = np.full(len(u), start)
        while True:
            N, D = np.zeros_like(S), np.zeros_like(S)  # of the assignment with the best N - t D
            for step, ideal in zip(steps, ideals, strict=True):
                value = np.where(possible, sign * (N - t[:, None] * D), -np.inf)
                best = np.maximum.accumulate(value, axis=1)
                at = np.maximum.accumulate(np.where(value == best, m, 0), axis=1)
                N = np.take_along_axis(N, at, axis=1) + step * S
                D = np.take_along_axis(D, at, axis=1) + step * ideal
            new = ratio(judged + N[queries, u], D[queries, u], start)
            better = sign * (new - t) > 0
            if not better.any():
                return t
            t = np.where(better, new, t)

    largest_ideal = steps @ ideals[:, queries, u]
    smallest_ideal = steps[:-1] @ ideals[:-1, :, 0] + steps[-1] * ideals[-1, queries, u]
    low = np.where(largest_ideal > 0, extreme_ratio(lowest, 1.0, -1), worthless)
    high = np.where(largest_ideal > 0, extreme_ratio(highest, 0.0, 1), worthless)
    if_worthless = np.where(smallest_ideal > 0, np.nan, worthless)
    return np.fmin(low, if_worthless), np.fmax(high, if_worthless)
