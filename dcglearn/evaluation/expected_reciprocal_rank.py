"""The ERR of runs, :class:`~dcglearn.measures.expected_reciprocal_rank.ERR`.

Of documents with equal scores, ERR is the mean over their orders. With q_j = 1 - R_j of the m
documents of such a group, the probability to pass the first t of them is, on average, the mean
product of t of the m numbers,

    E_t = e_t(q) / binom(m, t)      e_t the elementary symmetric polynomial

so that rank t of the group acts as a document with R = 1 - E_t / E_{t-1}.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.evaluation.ranked import Ranked
from dcglearn.measures.expected_reciprocal_rank import ERR

_CELLS_AT_ONCE = 2**20


def score_err(measure: ERR, ranked: Ranked, unjudged: float | None = None) -> Floats:
    """Return the ERR of each query.

    >>> ranked = Ranked(np.array([0, 2]), np.array([1, 0]), np.array([[1, 1]]))
    >>> score_err(ERR([0.5, 0.25]), ranked)  # .25 + .75 * .5 / 2
    array([0.4375])
    """
    probabilities = measure.probabilities
    if probabilities is None or len(probabilities) != ranked.n_grades:
        raise InputError("ERR on another scale", "give one probability for each grade")
    by_grade = np.array([*probabilities, probabilities[-1] if unjudged is None else unjudged])
    return expected_stop(ranked, by_grade, measure.cutoff, lambda rank: 1 / rank)


def expected_stop(
    ranked: Ranked, by_grade: Floats, cutoff: int | None, worth: Callable[[Floats], Floats]
) -> Floats:
    """Return the mean worth of the rank, 1 for the first, at which a person stops, shape (Q,).

    `by_grade` (L + 1,) holds the probability to stop at a document of each grade, the last entry
    that of one without a judgment. Who does not stop down to the cutoff gets 0.
    """
    longest = int(ranked.lengths.max(initial=0))
    n_ranks = longest if cutoff is None else min(longest, cutoff)
    weights = worth(np.arange(1.0, n_ranks + 1))
    found = np.zeros(len(ranked.lengths))
    rows = max(1, _CELLS_AT_ONCE // max(n_ranks, 1))
    for begin in range(0, len(found), rows):
        block = slice(begin, begin + rows)
        found[block] = _of_block(ranked.of_queries(block), by_grade, weights)
    return found


def _of_block(ranked: Ranked, by_grade: Floats, weights: Floats) -> Floats:
    stops = _stopping(ranked, by_grade[ranked.grades], len(weights))
    matrix = np.zeros((len(ranked.lengths), len(weights)))
    kept = ranked.ranks < len(weights)
    matrix[ranked.query[kept], ranked.ranks[kept]] = stops[kept]
    reached = np.ones_like(matrix)
    np.cumprod(1 - matrix[:, :-1], axis=1, out=reached[:, 1:])
    value: Floats = np.sum(matrix * reached * weights, axis=1)
    return value


def _stopping(ranked: Ranked, R: Floats, n_ranks: int) -> Floats:
    """Return the mean probability to stop at each rank, if it is reached."""
    rows, groups, sizes = ranked.tied_documents
    if not len(rows):
        return R
    stops = R.copy()
    first = np.searchsorted(groups, np.arange(len(sizes)))
    mixed = np.maximum.reduceat(R[rows], first) > np.minimum.reduceat(R[rows], first)
    for group in np.flatnonzero(mixed & (ranked.ranks[rows[first]] < n_ranks)):
        start, size = int(rows[first[group]]), int(sizes[group])
        most = min(size, n_ranks - int(ranked.ranks[start]))
        passed = mean_products(1 - R[start : start + size], most)
        ratios = np.divide(
            passed[1:], passed[:-1], out=np.ones(most), where=passed[:-1] > 0
        )  # once nobody passes, the ranks below are not reached
        stops[start : start + most] = 1 - ratios
    return stops


def mean_products(q: Floats, most: int) -> Floats:
    """Return the mean product of t of the numbers, over all choices of t, for t = 0 ... `most`.

    >>> mean_products(np.array([0.5, 1.0]), 2)
    array([1.  , 0.75, 0.5 ])
    """
    t = np.arange(most + 1)
    means = np.zeros(most + 1)
    means[0] = 1.0
    for m, number in enumerate(q.tolist(), start=1):
        # a choice of t of m numbers leaves out the last one, or holds it
        share = np.minimum(t / m, 1.0)
        means[1:] = (1 - share[1:]) * means[1:] + share[1:] * number * means[:-1]
    return means
