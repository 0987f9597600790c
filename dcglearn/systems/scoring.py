"""The value of a measure for each query of a run: :func:`score_runs`, and as the rules say.

    DCG(q) = sum_i c_i E[g_i],       nDCG(q) = DCG(q) / ideal(q)

E is the mean over all orders of documents with equal scores (McSherry & Najork, ECIR 2008). The
ideal is that of the documents judged for q, by gain and not by label; it leaves out documents that
lower its value. All measures follow all rules, but only a DCG counts gains below the least one as
0. To measures of relevant documents a document without a judgment is not relevant, and a query
without relevant ones counts 0, or is left out if the rules leave out queries whose ideal is 0.

P, AP, RR, R, Bpref and their like have trec_eval's formulas:

    P@k = (relevant documents among the first k) / k       R@k = the same / R
    AP  = (1/R) sum_i rel_i P@i

R is the number of relevant documents of the query. Documents with equal scores count by the mean
over their orders. For AP (McSherry & Najork, ECIR 2008): of m such documents, r are relevant and n
above them, so that with the t-th of them

    E[rel_i P@i] = r/m (n + 1 + (t - 1) (r - 1) / (m - 1)) / i

RR, Success and ERR are the worth of the rank at which a person stops, who stops at a document with
the probability R_j = 1 - q_j. Among m documents with equal scores, the probability to pass the
first t of them is, on average, E_t = e_t(q) / binom(m, t), e_t the elementary symmetric polynomial,
so that rank t of the group acts as a document with R = 1 - E_t / E_{t-1}.

Bounds are over all grades of documents without a judgment. Take gains g_1 > ... > g_L >= 0, P_j
judged documents of the best j grades, and m_j unjudged documents with one of these grades, 0 <= m_1
<= ... <= m_L = u. Then nDCG = N / D with

    N = judged part + sum_j (g_j - g_j+1) S(m_j)        g_L+1 = 0
    D = sum_j (g_j - g_j+1) C(P_j + m_j)

C(m) is the sum of the m largest discounts, S(m) that of the m largest (for the smallest N, the m
smallest) discounts at the ranks of unjudged documents. N - t D is a sum of functions of one m_j
each, so one pass over the grades finds its best assignment, and Dinkelbach's method (Management
Science 13, 1967) the best N / D: set t to N / D of the best assignment until it stays. Unjudged
documents that only other runs hold change D only: it is smallest if all have the worst grade.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Booleans, Floats, Grades
from dcglearn.measures.dcg import DCG, NO_IDEAL, best_run, ratio
from dcglearn.measures.measure import Measure, MeasureFile
from dcglearn.measures.names import AskedMeasure, Named, asked_measure
from dcglearn.measures.other_measures import ERR, RBP, BinaryMeasure, OtherMeasure, RBPResidual
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility
from dcglearn.systems.ranked import Ranked, Rules, rank_discounts


def score_runs(
    measure: AskedMeasure,
    ranked: Ranked,
    unjudged_gain: float | None = None,
    worthless: float = 0.0,
) -> Floats:
    """Return the value of a measure for each query.

    Parameters
    ----------
    measure : DCG, LinearUtility, MeasureFile, NamedMeasure, ERR, RBP, str, path-like or \
    ir_measures.Measure
        Of the same L grades, labelled by the measure or L - 1, ..., 0.
    ranked : Ranked
    unjudged_gain : float, optional
        Gain of a document without a judgment, also in the ideal; by default the worst gain.
    worthless : float, default 0
        Normalised value of a query whose ideal is 0; nan leaves the query out.

    Returns
    -------
    ndarray of float, shape (Q,)

    Examples
    --------
    >>> ranked = Ranked(np.array([0, 2]), np.array([1, 0]), np.array([[1, 1]]))
    >>> score_runs(DCG([1, 0], "zipf", normalise="ideal"), ranked), score_runs("P@2", ranked)
    (array([0.5]), array([0.5]))
    """
    found = measure.measure if isinstance(measure, MeasureFile | Named) else measure
    labels = getattr(found, "grades", None) or range(ranked.n_grades)[::-1]
    if len(labels) != ranked.n_grades:
        problem = f"a measure of {len(labels)} grades for {ranked.n_grades}"
        raise InputError(problem, "use one scale")
    named = asked_measure(found, Scale(tuple(labels)), ranked.longest)
    return _score(named.measure, ranked, unjudged_gain, worthless)


def values(measure: Measure | OtherMeasure, ranked: Ranked, rules: Rules) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of each query of :func:`rankings_to_score`.

    They differ only under ``unjudged="bounds"``, and are nan for a query that is left out.
    """
    if isinstance(measure, DCG):
        measure = with_least(measure, rules.least)
    elif isinstance(measure, LinearUtility) and rules.least is not None:
        raise InputError(
            f"the rules count gains below {rules.least:g} as 0, and position-dependent weights "
            "have no gains",
            "evaluate a DCG, or choose other rules",
        )
    worthless = np.nan if rules.worthless is None else rules.worthless
    if rules.unjudged != "bounds":
        value = _score(measure, ranked, 0.0 if rules.unjudged == "nothing" else None, worthless)
        return value, value
    if rules.worthless is None and isinstance(measure, DCG) and measure.normalise is not None:
        raise InputError(
            '`unjudged="bounds"`, and queries without relevant documents left out',
            "use `worthless=0`: without all judgments it is unknown which queries these are",
        )
    return unjudged_bounds(measure, ranked, worthless)


def _score(
    measure: Measure | OtherMeasure, ranked: Ranked, unjudged_gain: float | None, worthless: float
) -> Floats:
    if isinstance(measure, LinearUtility):
        every = _with_unjudged(measure.matrix, unjudged_gain)
        return np.asarray(np.einsum("qkl,kl->q", ranked.grade_shares(len(every)), every))
    if isinstance(measure, RBPResidual):
        return _residual(measure, ranked, unjudged_gain)
    if isinstance(measure, RBP):
        measure = measure.dcg
    if isinstance(measure, DCG):
        return _of_dcg(measure, ranked, unjudged_gain, worthless)
    if isinstance(measure, ERR):
        by_grade = _with_unjudged(np.array(measure.probabilities), unjudged_gain)
        value = expected_stop(ranked, by_grade, measure.cutoff, np.reciprocal)
    else:
        by_grade = np.array([*measure.levels, 0.0])
        value = score_binary(measure, ranked)
    if np.isnan(worthless):
        value[ranked.pools[:, by_grade[:-1] > 0].sum(axis=1) == 0] = np.nan
    return value


_WORTH: dict[str, Callable[[Floats], Floats]] = {"RR": np.reciprocal, "Success": np.ones_like}
"""What the rank of the first relevant document is worth."""
_UNJUDGED = -1
"""trec_eval's level of a document that was in the pool, but was not judged: the grade -1."""
_NOT_POOLED = -2
"""trec_eval's level of a document that is not in the qrels."""


def score_binary(measure: BinaryMeasure, ranked: Ranked) -> Floats:
    """Return the value of each query, shape (Q,): 0 where no document is relevant or ranked."""
    levels = np.array([*measure.levels, _NOT_POOLED])
    if measure.options.get("judged_only"):
        ranked = ranked.keep(levels[ranked.grades] >= 0)
    level, relevant = levels[ranked.grades], levels > 0
    if measure.name in _WORTH:
        return expected_stop(ranked, relevant.astype(float), measure.n_ranks, _WORTH[measure.name])
    R = (ranked.pools @ relevant[:-1]).astype(float)
    hits = ranked.mean_over_ties(level > 0)
    k = np.inf if measure.cutoff is None else float(measure.cutoff)
    shares: Floats | Booleans = ranked.ranks < k  # of R (P: k) times the value, per document
    if measure.name == "P":
        return ranked.sum_by_query(hits * shares) / k
    if measure.name == "IPrec":
        down_to = ranked.sum_above(hits) + hits
        reached = down_to >= np.floor(k * R + 0.9)[ranked.query]
        best = np.zeros(len(R))
        np.maximum.at(best, ranked.query, np.where(reached, down_to / (ranked.ranks + 1), 0.0))
        return best
    if measure.name.startswith("Set"):
        return _of_sets(measure, ranked.sum_by_query(hits), ranked.lengths.astype(float), R)
    if measure.name == "Rprec":
        shares = ranked.ranks < R[ranked.query]
    elif measure.name == "AP":
        shares = _hits_down_to(ranked, hits) / (ranked.ranks + 1) * shares
    elif measure.name == "Bpref":
        others = ranked.pools @ (levels[:-1] == 0)
        above = np.minimum(ranked.sum_above(level == 0), R[ranked.query])
        shares = 1 - above / np.maximum(np.minimum(R, others), 1.0)[ranked.query]
    elif measure.name == "infAP":
        shares = _inferred_precision(ranked, level)
    return ratio(ranked.sum_by_query(hits * shares), R)


def _hits_down_to(ranked: Ranked, hits: Floats) -> Floats:
    """Return the mean number of relevant documents down to each rank, if its own is relevant."""
    above = ranked.sum_above(hits) + 1
    first, sizes, group = ranked.tie_groups
    place, size = np.arange(len(hits)) - first[group], sizes[group]
    others = place * np.maximum(hits * size - 1, 0) / np.maximum(size - 1, 1)
    return above[first][group] + others


def _inferred_precision(ranked: Ranked, level: Grades) -> Floats:
    """Return the precision expected at each rank, if its own document is relevant."""
    rank, tiny = ranked.ranks, 0.00001
    relevant = ranked.sum_above(level > 0)
    judged = relevant + ranked.sum_above(level == 0)
    pooled = judged + ranked.sum_above(level == _UNJUDGED)
    above = (rank / (rank + 1)) * (pooled / np.maximum(rank, 1))
    return 1 / (rank + 1) + above * ((relevant + tiny) / (judged + 2 * tiny))


def _of_sets(measure: BinaryMeasure, found: Floats, retrieved: Floats, R: Floats) -> Floats:
    precision, recall = ratio(found, retrieved), ratio(found, R)
    if measure.name == "SetP":
        most = np.minimum(retrieved, R) if measure.options.get("relative") else retrieved
        return ratio(found, most)
    if measure.name == "SetAP":
        return ratio(found * found, retrieved * R)
    if measure.name == "SetF":
        x = measure.options.get("beta", 1.0)  # which trec_eval does not square
        return ratio((x + 1) * precision * recall, x * precision + recall)
    return recall


def expected_stop(
    ranked: Ranked, by_grade: Floats, cutoff: int | None, worth: Callable[[Floats], Floats]
) -> Floats:
    """Return the mean worth (Q,) of the rank where a person stops, by a chance per grade."""
    n_ranks = min(ranked.longest, cutoff or ranked.longest)
    weights = worth(np.arange(1.0, n_ranks + 1))
    by_document = _stopping(ranked, by_grade[ranked.grades], n_ranks)
    stops = ranked.by_rank(by_document, n_ranks)
    reached = np.ones_like(stops)
    np.cumprod(1 - stops[:, :-1], axis=1, out=reached[:, 1:])
    return np.asarray(np.sum(stops * reached * weights, axis=1))


def _stopping(ranked: Ranked, R: Floats, n_ranks: int) -> Floats:
    """Return the mean probability to stop at each rank, if it is reached."""
    if not ranked.has_ties:
        return R
    stops = R.copy()
    firsts, sizes, _ = ranked.tie_groups
    mixed = np.maximum.reduceat(R, firsts) > np.minimum.reduceat(R, firsts)
    for group in np.flatnonzero(mixed & (ranked.ranks[firsts] < n_ranks)):
        first, size = int(firsts[group]), int(sizes[group])
        most = min(size, n_ranks - int(ranked.ranks[first]))
        passed = mean_products(1 - R[first : first + size], most)
        # Once nobody passes, the ranks below are not reached.
        stops[first : first + most] = 1 - ratio(passed[1:], passed[:-1], 1.0)
    return stops


def mean_products(q: Floats, most: int) -> Floats:
    """Return the mean product of t of the numbers, over all choices of t, for t = 0 ... `most`."""
    t = np.arange(most + 1)
    means = np.zeros(most + 1)
    means[0] = 1.0
    for m, number in enumerate(q.tolist(), start=1):
        # a choice of t of m numbers leaves out the last one, or holds it
        share = np.minimum(t / m, 1.0)
        means[1:] = (1 - share[1:]) * means[1:] + share[1:] * number * means[:-1]
    return means


def _of_dcg(measure: DCG, ranked: Ranked, unjudged_gain: float | None, worthless: float) -> Floats:
    gains = _with_unjudged(np.array(measure.gains), unjudged_gain)
    first = ranked.first(measure.n_ranks)
    discounts = rank_discounts(measure, first)
    expected = first.mean_over_ties(gains[first.grades])
    value = first.sum_by_query(expected * discounts[first.ranks])
    if measure.normalise is None:
        return value
    if max(measure.gains) <= 0 > min(measure.gains):
        raise InputError(*NO_IDEAL)
    others = np.zeros_like(ranked.lengths)  # of no gain, they do not count
    if gains[-1]:
        others = ranked.unjudged if ranked.pooled is None else ranked.pooled
    counts = np.column_stack([ranked.pools, others])
    every = measure.discounts_for(measure.n_ranks or int(counts.sum(axis=1).max(initial=0)))
    return ratio(value, best_run(every, gains, counts), worthless)


def _with_unjudged(by_grade: Floats, unjudged: float | None) -> Floats:
    """Return numbers (..., L + 1) by grade; the last one is of a document without a judgment."""
    last = by_grade[..., -1:]
    last = last if unjudged is None else np.full_like(last, unjudged)
    return np.concatenate([by_grade, last], axis=-1)


def _residual(measure: RBP, ranked: Ranked, unjudged_gain: float | None) -> Floats:
    """Return how much RBP can rise with more judgments and documents."""
    weights = rank_discounts(measure.dcg, ranked)
    unknown = ranked.mean_over_ties(ranked.grades == ranked.n_grades)
    open_gain = 1.0 - (measure.dcg.gains[-1] if unjudged_gain is None else unjudged_gain)
    judged_later = unknown * weights[ranked.ranks] * open_gain
    seen = ranked.lengths if measure.cutoff is None else np.minimum(ranked.lengths, measure.cutoff)
    return ranked.sum_by_query(judged_later) + np.power(measure.p, seen)


_OTHER_RULE = 'choose another rule, such as `unjudged="worst"`'


def unjudged_bounds(
    measure: Measure | OtherMeasure, ranked: Ranked, worthless: float
) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value (Q,) over all grades of unjudged documents."""
    if isinstance(measure, RBP):
        least = min(measure.dcg.gains)
        low = _score(measure, ranked, least, 0.0)
        below = 0.0 if measure.cutoff is None else measure.p**measure.cutoff
        return low, low + (_residual(measure, ranked, least) - below)
    if not isinstance(measure, DCG | ERR):
        raise InputError("no bounds for position-dependent weights")
    by_grade = measure.gains if isinstance(measure, DCG) else measure.probabilities or ()
    if isinstance(measure, DCG) and (rank_discounts(measure, ranked) < 0).any():
        raise InputError("bounds for discounts below 0", _OTHER_RULE)
    if isinstance(measure, ERR) or measure.normalise is None:  # each rises with every grade
        low, high = (_score(measure, ranked, end, 0.0) for end in (min(by_grade), max(by_grade)))
        return low, high
    if min(by_grade) < 0:
        raise InputError("bounds for gains below 0", _OTHER_RULE)
    if ranked.pooled is None:
        return _bounds_of_ratios(measure, ranked, worthless)
    others = np.maximum(ranked.pooled - ranked.unjudged, 0)
    bounds = []
    for grade in (np.argmin(by_grade), np.argmax(by_grade)):
        pools = ranked.pools.copy()
        pools[:, grade] += others
        bounds.append(_bounds_of_ratios(measure, replace(ranked, pools=pools), worthless))
    lows, highs = zip(*bounds, strict=True)
    return np.fmin(*lows), np.fmax(*highs)


def _bounds_of_ratios(measure: DCG, ranked: Ranked, worthless: float) -> tuple[Floats, Floats]:
    gains, u = np.array(measure.gains), ranked.unjudged
    order = np.argsort(-gains, kind="stable")
    steps = -np.diff(gains[order], append=0.0)
    m = np.arange(int(u.max(initial=0)) + 1)
    discounts = ranked.mean_over_ties(rank_discounts(measure, ranked)[ranked.ranks])
    unjudged = ranked.grades == ranked.n_grades
    alone, own = ranked.keep(unjudged), discounts[unjudged]
    falling = alone.by_rank(own[np.lexsort((-own, alone.query))], len(m) - 1)
    highest = np.cumsum(np.pad(falling, ((0, 0), (1, 0))), axis=1)
    lowest = highest[:, -1:] - np.take_along_axis(highest, np.maximum(u[:, None] - m, 0), axis=1)
    cumulative = np.cumsum(ranked.pools[:, order], axis=1)
    n_ranks = measure.n_ranks or int(cumulative.max(initial=0)) + len(m)
    largest = np.sort(measure.discounts_for(n_ranks))[::-1]
    total = np.append(0.0, np.cumsum(largest))
    ideals = total[np.minimum(cumulative.T[:, :, None] + m, n_ranks)]
    judged = ranked.sum_by_query(np.append(gains, 0.0)[ranked.grades] * discounts)
    queries, possible = np.arange(len(u)), m <= u[:, None]
    largest_ideal = steps @ ideals[:, queries, u]

    def extreme_ratio(S: Floats, sign: int) -> Floats:
        """Return the largest N / D (sign 1) or the smallest (-1) by Dinkelbach's method.

        It is `worthless` for a query whose largest ideal is 0.
        """
        start = float(sign < 0)
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
                return np.where(largest_ideal > 0, t, worthless)
            t = np.where(better, new, t)

    smallest_ideal = steps[:-1] @ ideals[:-1, :, 0] + steps[-1] * ideals[-1, queries, u]
    if_worthless = np.where(smallest_ideal > 0, np.nan, worthless)
    low, high = extreme_ratio(lowest, -1), extreme_ratio(highest, 1)
    return np.fmin(low, if_worthless), np.fmax(high, if_worthless)


def in_order(ranked: Ranked, rules: Rules) -> Ranked:
    """Return the rankings with ties only if their mean counts; anew, as what they derive is big."""
    return replace(ranked, tied=ranked.tied if rules.ties == "mean" else None)


def rankings_to_score(ranked: Ranked, rules: Rules) -> Ranked:
    """Return the rankings as measures see them: without unjudged documents if rules remove them."""
    ordered = in_order(ranked, rules)
    return ordered.keep(ranked.grades < ranked.n_grades) if rules.unjudged == "removed" else ordered


def with_least(measure: DCG, least: float | None) -> DCG:
    """Return the measure with 0 for the gains below `least`."""
    if least is None:
        return measure
    return replace(measure, gains=tuple(gain if gain >= least else 0.0 for gain in measure.gains))


def unjudged_in_ideal(rules: Rules, measures: Sequence[object]) -> bool:
    """Return whether the ideal of some measure may count documents without a judgment."""
    normalised = [one for one in measures if isinstance(one, DCG) and one.normalise]
    if rules.unjudged == "worst":
        return any(with_least(one, rules.least).gains[-1] for one in normalised)
    return rules.unjudged == "bounds" and bool(normalised)
