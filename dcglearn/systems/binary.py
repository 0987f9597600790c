"""P, AP, RR, R, Bpref and their like, with trec_eval's formulas.

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
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dcglearn.base.types import Booleans, Floats, Grades
from dcglearn.measures.ideal import ratio
from dcglearn.measures.other_measures import BinaryMeasure
from dcglearn.systems.ranked import Ranked

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
    if measure.name == "P":
        return ranked.sum_by_query(hits * (ranked.ranks < k)) / k
    if measure.name == "IPrec":
        return _interpolated(ranked, hits, np.floor(k * R + 0.9))
    if measure.name.startswith("Set"):
        return _of_sets(measure, ranked.sum_by_query(hits), ranked.lengths.astype(float), R)
    shares: Floats | Booleans = ranked.ranks < k  # of R times the value, per document
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


def _interpolated(ranked: Ranked, hits: Floats, needed: Floats) -> Floats:
    down_to = ranked.sum_above(hits) + hits
    reached = down_to >= needed[ranked.query]
    best = np.zeros(len(needed))
    np.maximum.at(best, ranked.query, np.where(reached, down_to / (ranked.ranks + 1), 0.0))
    return best


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
    stops = ranked.by_rank(by_document, n_ranks, 0.0)
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
        ratios = np.divide(
            passed[1:], passed[:-1], out=np.ones(most), where=passed[:-1] > 0
        )  # once nobody passes, the ranks below are not reached
        stops[first : first + most] = 1 - ratios
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
