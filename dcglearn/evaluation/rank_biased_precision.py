"""The residual of RBP, :class:`~dcglearn.measures.rank_biased_precision.RBP`, for runs."""

from __future__ import annotations

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.evaluation.ranked import Ranked
from dcglearn.measures.rank_biased_precision import RBP


def rbp_residual(measure: RBP, ranked: Ranked, unjudged_gain: float | None = None) -> Floats:
    """Return the residual of each query: how much RBP can rise with more judgments and documents.

    The second of two documents is not judged, and nothing is known from rank 3 on:

    >>> ranked = Ranked(np.array([0, 2]), np.array([0, 2]), np.array([[1, 1]]))
    >>> rbp_residual(RBP([1, 0], p=0.5), ranked)  # .5 * .5 + .5^2
    array([0.5])
    """
    p, dcg = measure.p, measure.dcg
    longest = int(ranked.lengths.max(initial=0))
    weights = dcg.discounts_for(longest)
    unknown = (ranked.grades == ranked.n_grades).astype(float)
    open_gain = 1.0 - (dcg.gains[-1] if unjudged_gain is None else unjudged_gain)
    judged_later = ranked.mean_over_ties(unknown) * weights[ranked.ranks] * open_gain
    seen = ranked.lengths if measure.cutoff is None else np.minimum(ranked.lengths, measure.cutoff)
    below: Floats = p ** seen.astype(float)
    return ranked.sum_by_query(judged_later) + below


def rbp_at_most(measure: RBP, ranked: Ranked, unjudged_gain: float | None = None) -> Floats:
    """Return how much RBP can rise within its cutoff: the residual without the ranks below it."""
    cut = 0.0 if measure.cutoff is None else measure.p**measure.cutoff
    return rbp_residual(measure, ranked, unjudged_gain) - cut
