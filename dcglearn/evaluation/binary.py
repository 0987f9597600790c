"""P, AP, RR, R, Bpref and their like, with trec_eval's formulas.

    P@k = (relevant documents among the first k) / k       R@k = the same / R
    AP  = (1/R) sum_i rel_i P@i

R is the number of relevant documents of the query. Documents with equal scores count by the mean
over their orders, as in :mod:`dcglearn.evaluation.ranked`. For AP (McSherry & Najork, ECIR 2008):
of m documents with equal scores, r are relevant and n above them, so that with the t-th of them

    E[rel_i P@i] = r/m (n + 1 + (t - 1) (r - 1) / (m - 1)) / i
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.evaluation.expected_reciprocal_rank import expected_stop
from dcglearn.evaluation.ranked import Ranked, ratio
from dcglearn.measures.binary import BinaryMeasure

_WORTH: dict[str, Callable[[Floats], Floats]] = {
    "RR": lambda rank: 1 / rank,
    "Success": np.ones_like,
}
"""What the rank of the first relevant document is worth."""
_UNJUDGED = -1
"""trec_eval's level of a document that was in the pool, but was not judged: the grade -1."""
_NOT_POOLED = -2
"""trec_eval's level of a document that is not in the qrels."""


def score_binary(measure: BinaryMeasure, ranked: Ranked) -> Floats:
    """Return the value of each query, shape (Q,): 0 where no document is relevant or ranked.

    >>> ranked = Ranked(np.array([0, 3]), np.array([0, 2, 0]), np.array([[2, 4]]))
    >>> score_binary(BinaryMeasure("AP", levels=(1, 0)), ranked).round(4)
    array([0.8333])
    """
    levels = np.array([*measure.levels, _NOT_POOLED])
    if measure.options.get("judged_only"):
        ranked = ranked.keep(levels[ranked.grades] >= 0)
    relevant = (levels > 0).astype(float)
    if measure.name in _WORTH:
        return expected_stop(ranked, relevant, measure.n_ranks, _WORTH[measure.name])
    R = ranked.pools @ relevant[:-1]
    hits = ranked.mean_over_ties(relevant[ranked.grades])
    k = np.inf if measure.cutoff is None else float(measure.cutoff)
    if measure.name == "P":
        return ranked.add_by_query(hits * (ranked.ranks < k)) / k
    if measure.name == "IPrec":
        return _interpolated(ranked, hits, np.floor(k * R + 0.9))
    if measure.name.startswith("Set"):
        return _of_sets(measure, ranked.add_by_query(hits), ranked.lengths.astype(float), R)
    others = ranked.pools @ (levels[:-1] == 0).astype(float)
    per_document = _shares(measure.name, ranked, hits, k, levels[ranked.grades], R, others)
    return ratio(ranked.add_by_query(hits * per_document), R, 0.0)


def _shares(
    name: str,
    ranked: Ranked,
    hits: Floats,
    k: float,
    level: NDArray[np.integer],
    R: Floats,
    others: Floats,
) -> Floats | NDArray[np.bool_]:
    """Return what each relevant document adds to R times the value, shape (n,)."""
    if name == "Rprec":
        return ranked.ranks < R[ranked.query]
    if name == "AP":
        return _hits_down_to(ranked, hits) / (ranked.ranks + 1) * (ranked.ranks < k)
    if name == "Bpref":
        above = np.minimum(ranked.sum_above((level == 0).astype(float)), R[ranked.query])
        return 1 - above / np.maximum(np.minimum(R, others), 1.0)[ranked.query]
    if name == "infAP":
        return _inferred_precision(ranked, level)
    return ranked.ranks < k


def _hits_down_to(ranked: Ranked, hits: Floats) -> Floats:
    """Return the mean number of relevant documents down to each rank, if its own is relevant."""
    above = ranked.sum_above(hits) + 1
    rows, groups, sizes = ranked.tied_documents
    if len(rows):
        first = np.searchsorted(groups, np.arange(len(sizes)))[groups]
        place, others = np.arange(len(rows)) - first, sizes[groups] - 1
        found = hits[rows] * sizes[groups]
        above[rows] = above[rows[first]] + place * np.maximum(found - 1, 0) / others
    return above


def _interpolated(ranked: Ranked, hits: Floats, needed: Floats) -> Floats:
    down_to = ranked.sum_above(hits) + hits
    reached = down_to >= needed[ranked.query]
    best = np.zeros(len(needed))
    np.maximum.at(best, ranked.query, np.where(reached, down_to / (ranked.ranks + 1), 0.0))
    return best


def _inferred_precision(ranked: Ranked, level: NDArray[np.integer]) -> Floats:
    """Return the precision expected at each rank, if its own document is relevant."""
    rank, tiny = ranked.ranks, 0.00001
    relevant, other = (ranked.sum_above(one.astype(float)) for one in (level > 0, level == 0))
    judged = relevant + other
    pooled = judged + ranked.sum_above((level == _UNJUDGED).astype(float))
    above = (rank / (rank + 1)) * (pooled / np.maximum(rank, 1))
    precision: Floats = 1 / (rank + 1) + above * ((relevant + tiny) / (judged + 2 * tiny))
    return precision


def _of_sets(measure: BinaryMeasure, found: Floats, retrieved: Floats, R: Floats) -> Floats:
    precision, recall = ratio(found, retrieved, 0.0), ratio(found, R, 0.0)
    if measure.name == "SetP":
        most = np.minimum(retrieved, R) if measure.options.get("relative") else retrieved
        return ratio(found, most, 0.0)
    if measure.name == "SetAP":
        return ratio(found * found, retrieved * R, 0.0)
    if measure.name == "SetF":
        x = measure.options.get("beta", 1.0)  # which trec_eval does not square
        return ratio((x + 1) * precision * recall, x * precision + recall, 0.0)
    return recall
