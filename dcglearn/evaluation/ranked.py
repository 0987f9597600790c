"""Measures of runs: ranked documents of many queries, tied scores, unjudged documents.

    DCG(q) = sum_i c_i E[g_i],       nDCG(q) = DCG(q) / ideal(q)

E is the mean over all orders of documents with equal scores: a system that gives them one score
does not choose between these orders (McSherry & Najork, "Computing information retrieval
performance measures efficiently in the presence of tied scores", ECIR 2008). The ideal is
computed from the documents judged for q, sorted by gain, never by label. A run may be short, so
the best run leaves out documents that lower its value. With positive and negative parts apart,

    ideal = sum c+ g+ + sum c- g-      each part sorted by size, on its own ranks and documents

The documents of all queries are stored one after the other in flat arrays. One more measure then
costs two look-ups, one product and one sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.checks import LARGEST, checked_number
from dcglearn.base.errors import InputError
from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Floats, Integers
from dcglearn.measures.dcg import DCG
from dcglearn.measures.ideal import NO_IDEAL, best_run
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility
from dcglearn.naming.names import not_a_measure


@dataclass(frozen=True, repr=False)
class Ranked(ShortRepr):
    """The ranking of each query, best score first.

    Attributes
    ----------
    starts : ndarray of int, shape (Q + 1,)
        Where the documents of each query start in the other arrays; the last entry is n.
    grades : ndarray of int, shape (n,)
        Grade index of each document, L for a document without a judgment.
    pools : ndarray of int, shape (Q, L)
        Number of documents of each grade that are judged for each query.
    tied : ndarray of int, shape (n,), optional
        Number of each document's group of equal scores, ascending. None if all scores of each
        query differ, or if the order within a group counts.
    pooled : ndarray of int, shape (Q,), optional
        Number of documents without a judgment in the pool of each query, from which the ideal is
        taken: those that any of several runs holds. By default the ranking's own.

    Examples
    --------
    One query with three documents: grade 0 (the better), grade 1, and one without a judgment.
    The first two have equal scores:

    >>> ranked = Ranked(
    ...     np.array([0, 3]), np.array([0, 1, 2]), np.array([[1, 1]]), np.array([0, 0, 1])
    ... )
    >>> score_runs(DCG([1, 0], "zipf"), ranked)
    array([0.75])
    """

    starts: Integers
    grades: NDArray[np.integer]
    pools: Integers
    tied: Integers | None = None
    pooled: Integers | None = None

    @property
    def n_grades(self) -> int:
        """L, the number of grades."""
        return int(self.pools.shape[1])

    @cached_property
    def ranks(self) -> Integers:
        """Rank of each document, 0 for the first, shape (n,)."""
        return np.arange(len(self.grades)) - self.starts[self.query]

    @cached_property
    def query(self) -> Integers:
        """Number of the query of each document, shape (n,)."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def lengths(self) -> Integers:
        """Number of documents ranked for each query, shape (Q,)."""
        return np.diff(self.starts)

    @cached_property
    def unjudged(self) -> Integers:
        """Number of ranked documents without a judgment for each query, shape (Q,)."""
        return self.sum_by_query((self.grades == self.n_grades).astype(float)).astype(np.int64)

    @cached_property
    def tied_documents(self) -> tuple[Integers, Integers, Floats]:
        """Documents that share their score: positions, group of each (from 0), group sizes."""
        nothing = np.zeros(0, np.int64)
        if self.tied is None:
            return nothing, nothing, np.zeros(0)
        sizes = np.bincount(self.tied)
        rows = np.flatnonzero(sizes[self.tied] > 1)
        _, groups = np.unique(self.tied[rows], return_inverse=True)
        return rows, groups, np.bincount(groups).astype(float)

    def sum_by_query(self, values: Floats) -> Floats:
        """Sum the values (n,) of each query's documents: shape (Q,), 0 without documents."""
        sums = np.zeros(len(self.starts) - 1)
        filled = np.flatnonzero(self.lengths)
        if len(filled):
            sums[filled] = np.add.reduceat(values, self.starts[filled])
        return sums

    def add_by_query(self, values: Floats) -> Floats:
        """Sum the values of each query's documents one after the other, as trec_eval does."""
        sums: Floats = np.bincount(self.query, values, len(self.lengths)).astype(float)
        return sums

    def sum_above(self, values: Floats) -> Floats:
        """Return the sum over the documents of its query above each document, shape (n,)."""
        before = np.concatenate([[0.0], np.cumsum(values)])
        above: Floats = before[:-1] - before[self.starts[self.query]]
        return above

    def mean_over_ties(self, values: Floats) -> Floats:
        """Return values (n,) in which documents with equal scores have their mean."""
        rows, groups, sizes = self.tied_documents
        if not len(rows):
            return values
        means = values.copy()
        means[rows] = (np.bincount(groups, values[rows]) / sizes)[groups]
        return means

    def grade_matrix(self, n_ranks: int) -> NDArray[np.int64]:
        """Return the grades of the first ranks, (Q, n_ranks); -1 where there is no document."""
        matrix = np.full((len(self.starts) - 1, n_ranks), -1)
        kept = self.ranks < n_ranks
        matrix[self.query[kept], self.ranks[kept]] = self.grades[kept]
        return matrix

    def of_queries(self, queries: slice) -> Ranked:
        """Return the rankings of consecutive queries, a slice with step 1."""
        begin, end, _ = queries.indices(len(self.pools))
        starts = self.starts[begin : end + 1]
        documents = slice(starts[0], starts[-1])
        return Ranked(
            starts - starts[0],
            self.grades[documents],
            self.pools[queries],
            None if self.tied is None else self.tied[documents],
            None if self.pooled is None else self.pooled[queries],
        )

    def keep(self, kept: NDArray[np.bool_]) -> Ranked:
        """Return the rankings of some of the documents, of which the others keep their order."""
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        tied = None if self.tied is None else self.tied[kept]
        return Ranked(starts, self.grades[kept], self.pools, tied)


def score_runs(
    measure: Measure, ranked: Ranked, unjudged_gain: float | None = None, worthless: float = 0.0
) -> Floats:
    """Return the value of a measure for each query.

    Parameters
    ----------
    measure : DCG or LinearUtility
        Has the same L grades. Ranks beyond a vector of discounts, or beyond the rows of a
        LinearUtility, count 0. With gains below 0, a normalised measure uses the same ideal for
        every run: that of a run which leaves out documents with a negative gain.
        :meth:`~dcglearn.measures.dcg.DCG.score` compares a full list with full lists instead.
    ranked : Ranked
    unjudged_gain : float, optional
        Gain of a document without a judgment. By default the gain of the worst grade. Such
        documents are part of the query's pool when the ideal is computed: those of the ranking,
        or as many as `ranked.pooled` says.
    worthless : float, default 0
        Normalised value of a query whose ideal is 0; nan leaves the query out.

    Returns
    -------
    ndarray of float, shape (Q,)

    Raises
    ------
    InputError
        If the number of grades differs, or the measure is divided by its ideal and has no gain
        above 0.

    Examples
    --------
    >>> ranked = Ranked(np.array([0, 2]), np.array([1, 0]), np.array([[1, 1]]))
    >>> score_runs(DCG([1, 0], "zipf", normalise="ideal"), ranked)
    array([0.5])
    """
    if not isinstance(measure, DCG | LinearUtility):
        raise not_a_measure(measure)
    if measure.n_grades != ranked.n_grades:
        raise InputError(
            f"a measure of {measure.n_grades} grades for {ranked.n_grades}", "use one scale"
        )
    if unjudged_gain is not None:
        unjudged_gain = checked_number(unjudged_gain, "`unjudged_gain`", -LARGEST, LARGEST)
    if isinstance(measure, LinearUtility):
        return _of_matrix(measure.matrix, ranked, unjudged_gain)
    return _of_dcg(measure, ranked, unjudged_gain, worthless)


def _of_dcg(measure: DCG, ranked: Ranked, unjudged_gain: float | None, worthless: float) -> Floats:
    gains = _with_unjudged(np.array(measure.gains), unjudged_gain)
    discounts = rank_discounts(measure, ranked)
    expected = ranked.mean_over_ties(gains[ranked.grades])
    value = ranked.sum_by_query(expected * discounts[ranked.ranks])
    if measure.normalise is None:
        return value
    if measure.normalise == "ideal" and max(measure.gains) <= 0 > min(measure.gains):
        raise InputError(*NO_IDEAL)
    unjudged = ranked.unjudged if ranked.pooled is None else ranked.pooled
    counts = np.column_stack([ranked.pools, unjudged])
    return _normalised(measure, value, gains, counts, worthless)


def rank_discounts(measure: DCG, ranked: Ranked) -> Floats:
    """Return the discounts of all ranks of the longest ranking; a vector is filled with zeros."""
    longest = int(ranked.lengths.max(initial=0))
    discounts = np.zeros(max(longest, 1))
    counted = longest if measure.n_ranks is None else min(longest, measure.n_ranks)
    discounts[:counted] = measure.discounts_for(counted)
    return discounts


def ratio(numerator: Floats, denominator: Floats, otherwise: float) -> Floats:
    """Divide where the denominator is above 0; elsewhere the ratio is `otherwise`."""
    quotient = np.full(len(numerator), otherwise)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient


def _with_unjudged(gains: Floats, unjudged_gain: float | None) -> Floats:
    return np.append(gains, gains[-1] if unjudged_gain is None else unjudged_gain)


def _of_matrix(W: Floats, ranked: Ranked, unjudged_gain: float | None) -> Floats:
    K, L = W.shape
    wide = np.zeros((K + 1, L + 1))  # the last row: ranks below K gain nothing
    wide[:K, :L] = W
    wide[:K, L] = W[:, -1] if unjudged_gain is None else unjudged_gain
    rank = np.minimum(ranked.ranks, K)
    gained = wide[rank, ranked.grades]
    rows, groups, sizes = ranked.tied_documents
    if len(rows):
        grade_counts = np.zeros((len(sizes), L + 1))
        np.add.at(grade_counts, (groups, ranked.grades[rows]), 1.0)
        probabilities = (grade_counts / sizes[:, None])[groups]
        gained[rows] = np.sum(wide[rank[rows]] * probabilities, axis=1)
    return ranked.sum_by_query(gained)


def _normalised(
    measure: DCG, value: Floats, gains: Floats, counts: Integers, worthless: float
) -> Floats:
    best = _largest(measure, gains, counts)
    if measure.normalise == "ideal":
        return ratio(value, best, worthless)
    worst = -_largest(measure, -gains, counts)
    return ratio(value - worst, best - worst, worthless)


def _largest(measure: DCG, gains: Floats, counts: Integers) -> Floats:
    """Return the largest DCG of any run of each pool, shape (Q,).

    `gains` has one entry per column of `counts`, the number of documents with that gain.
    """
    most = int(counts.sum(axis=1).max(initial=0))
    n_ranks = most if measure.n_ranks is None else measure.n_ranks
    discounts = measure.discounts_for(n_ranks) if n_ranks else np.zeros(0)
    return best_run(discounts, gains, counts)
