"""Who is ahead for each query by itself, whatever the gains.

The nDCG of both systems on one query is divided by the same ideal, so its sign is that of the
difference of DCG: a verdict on one query is exact (:mod:`dcglearn.coherence.verdict`), and needs
no search as that on a mean of nDCG does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dcglearn.coherence.advantage import cumulative_counts
from dcglearn.coherence.verdict import winners
from dcglearn.systems.graded_rankings import GradedRankings

_TABLES_AT_ONCE = 2_000_000
"""How many entries of advantage tables are computed at once, which limits the memory."""


def query_verdicts(
    graded: GradedRankings, pairs: Sequence[tuple[int, int]], n_grades: int
) -> NDArray[np.str_]:
    """Decide for each query which system is ahead for all gains, with the given discounts.

    Names of shape (pairs, Q): "a", "b", "equal" or "depends". A query that a system does not hold
    is an empty ranking.

    >>> from dcglearn.measures.dcg import DCG
    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> from dcglearn.evaluation.rules import Rules
    >>> from dcglearn.systems.graded_rankings import graded_rankings
    >>> qrels = {q: {"d": 2, "e": 1, "f": 0} for q in ("q1", "q2")}
    >>> runs = {"one": {"q1": {"d": 3, "e": 2}, "q2": {"d": 3, "f": 2, "e": 1}},
    ...         "two": {"q1": {"e": 3, "d": 2}, "q2": {"e": 3, "d": 2, "f": 1}}}
    >>> evaluation = evaluate(qrels, runs, "zipf", rules=Rules("input"))
    >>> graded = graded_rankings(evaluation, DCG({2: 2, 1: 1, 0: 0}, "zipf"), 3)
    >>> query_verdicts(graded, [(0, 1)], 3).tolist()
    [['a', 'depends']]
    """
    counts = cumulative_counts(graded.rankings, n_grades)
    chosen = np.array(pairs, np.intp).reshape(-1, 2)
    step = max(1, _TABLES_AT_ONCE // max(1, counts[0].size))
    found = [
        winners(counts[i] - counts[j], None, graded.discounts, graded.worst_gain)
        for i, j in (chosen[at : at + step].T for at in range(0, len(chosen), step))
    ]
    return np.concatenate(found)
