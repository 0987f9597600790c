"""Measures of runs: ranked documents of many queries, tied scores, unjudged documents.

    DCG(q) = sum_i c_i E[g_i],       nDCG(q) = DCG(q) / ideal(q)

E is the mean over the orders of documents with equal scores, which is what a system that
does not tell them apart achieves (McSherry & Najork, "Computing information retrieval
performance measures efficiently in the presence of tied scores", ECIR 2008). The ideal
follows from the documents judged for q, sorted by gain, never by label; a run may stop
early, so it leaves out what would lower it: with positive and negative parts apart,

    ideal = sum c+ g+ + sum c- g-      each part sorted by size, on ranks and documents of its own

Documents of all queries stand in one row of arrays, so a further measure is two look-ups, a
product and a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility


@dataclass(frozen=True)
class Ranked:
    """What a run ranks for each query, best score first.

    Attributes
    ----------
    starts : ndarray of int, shape (Q + 1,)
        Where in the other arrays each query begins.
    grades : ndarray of int, shape (n,)
        Index of the grade, L for a document without a judgment.
    pools : ndarray of int, shape (Q, L)
        How many documents of each grade are judged for each query.
    tied : ndarray of int, shape (n,), optional
        The number of each document's group of equal scores; None where all scores of a query
        differ, or where the order within a group is to count.

    Examples
    --------
    One query, three documents of the grades 0 (the better), 1 and none, of which the first two
    have equal scores:

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

    @property
    def n_grades(self) -> int:
        """L."""
        return int(self.pools.shape[1])

    @cached_property
    def ranks(self) -> Integers:
        """The rank of each document, 0 for the first, shape (n,)."""
        return np.arange(len(self.grades)) - np.repeat(self.starts[:-1], np.diff(self.starts))

    @property
    def lengths(self) -> Integers:
        """How many documents are ranked for each query, shape (Q,)."""
        return np.diff(self.starts)

    @cached_property
    def unjudged(self) -> Integers:
        """How many documents without a judgment are ranked for each query, shape (Q,)."""
        return self.by_query((self.grades == self.n_grades).astype(float)).astype(np.int64)

    @cached_property
    def together(self) -> tuple[Integers, Integers, Floats]:
        """Documents that share their score: which, the number of their group, its size."""
        nothing = np.zeros(0, np.int64)
        if self.tied is None:
            return nothing, nothing, np.zeros(0)
        sizes = np.bincount(self.tied)
        rows = np.flatnonzero(sizes[self.tied] > 1)
        _, groups = np.unique(self.tied[rows], return_inverse=True)
        return rows, groups, np.bincount(groups).astype(float)

    def by_query(self, numbers: Floats) -> Floats:
        """Add up numbers of documents, query by query.

        Parameters
        ----------
        numbers : ndarray of float, shape (n,)

        Returns
        -------
        ndarray of float, shape (Q,)
            0 for a query without a document.
        """
        found = np.zeros(len(self.starts) - 1)
        filled = np.flatnonzero(self.lengths)
        if len(filled):
            found[filled] = np.add.reduceat(numbers, self.starts[filled])
        return found

    def expected(self, numbers: Floats) -> Floats:
        """Give documents of one score the mean of their numbers.

        Parameters
        ----------
        numbers : ndarray of float, shape (n,)

        Returns
        -------
        ndarray of float, shape (n,)
        """
        rows, groups, sizes = self.together
        if not len(rows):
            return numbers
        found = numbers.copy()
        found[rows] = (np.bincount(groups, numbers[rows]) / sizes)[groups]
        return found

    def matrix(self, n_ranks: int) -> NDArray[np.int64]:
        """Return the grades as rows of `n_ranks` ranks, -1 where there is no document.

        Parameters
        ----------
        n_ranks : int
            What is ranked below is left out.

        Returns
        -------
        ndarray of int, shape (Q, n_ranks)
            L for a document without a judgment.
        """
        found = np.full((len(self.starts) - 1, n_ranks), -1)
        query = np.repeat(np.arange(len(found)), self.lengths)
        kept = self.ranks < n_ranks
        found[query[kept], self.ranks[kept]] = self.grades[kept]
        return found

    def part(self, queries: slice) -> Ranked:
        """Return the rankings of some queries that follow each other.

        Parameters
        ----------
        queries : slice
            From one number of a query to another.

        Returns
        -------
        Ranked
        """
        begin, end, _ = queries.indices(len(self.pools))
        starts = self.starts[begin : end + 1]
        documents = slice(starts[0], starts[-1])
        return Ranked(
            starts - starts[0],
            self.grades[documents],
            self.pools[queries],
            None if self.tied is None else self.tied[documents],
        )

    def without_unjudged(self) -> Ranked:
        """Return the same rankings without the documents that nobody judged."""
        kept = self.grades < self.n_grades
        starts = np.concatenate([[0], np.cumsum(self.by_query(kept.astype(float)))])
        return Ranked(
            starts.astype(np.int64),
            self.grades[kept],
            self.pools,
            None if self.tied is None else self.tied[kept],
        )


def score_runs(
    measure: Measure, ranked: Ranked, unjudged: float | None = None, worthless: float = 0.0
) -> Floats:
    """Return the value of a measure for each query.

    Parameters
    ----------
    measure : DCG or LinearUtility
        Of the same L grades. A vector of discounts, or a LinearUtility, counts its own ranks.
        With gains below 0 a normalised one has the same ideal for every run, that of runs which
        leave out what costs; :meth:`~dcglearn.measures.dcg.DCG.score` holds a full list against
        full lists.
    ranked : Ranked
    unjudged : float, optional
        What a document without a judgment gains; by default as one of the worst grade. It
        belongs to the query's documents when the ideal is looked for.
    worthless : float, default 0
        The normalised value of a query whose ideal is 0; nan leaves it out.

    Returns
    -------
    ndarray of float, shape (Q,)

    Raises
    ------
    InputError
        If the measure has another number of grades, or is to be divided by an ideal and has
        no gain above 0.

    Examples
    --------
    >>> ranked = Ranked(np.array([0, 2]), np.array([1, 0]), np.array([[1, 1]]))
    >>> score_runs(DCG([1, 0], "zipf", normalise="ideal"), ranked)
    array([0.5])
    """
    if measure.n_grades != ranked.n_grades:
        raise InputError(
            f"a measure of {measure.n_grades} grades for {ranked.n_grades}", "use one scale"
        )
    if isinstance(measure, LinearUtility):
        return _of_matrix(measure.matrix, ranked, unjudged)
    gains = _with_unjudged(np.array(measure.gains), unjudged)
    discounts = rank_discounts(measure, ranked)
    value = ranked.by_query(ranked.expected(gains[ranked.grades]) * discounts[ranked.ranks])
    if measure.normalise is None:
        return value
    if measure.normalise == "ideal" and max(measure.gains) <= 0 > min(measure.gains):
        raise InputError("no gain above 0: the ideal is 0", "use minmaxDCG")
    counts = np.column_stack([ranked.pools, ranked.unjudged])
    return _normalised(measure, value, gains, counts, worthless)


def rank_discounts(measure: DCG, ranked: Ranked) -> Floats:
    """Return c_1, c_2, ... for the longest ranking; a vector ends with zeros.

    Parameters
    ----------
    measure : DCG
    ranked : Ranked

    Returns
    -------
    ndarray of float
        At least one.
    """
    longest = int(ranked.lengths.max(initial=0))
    found = np.zeros(max(longest, 1))
    counted = longest if measure.n_ranks is None else min(longest, measure.n_ranks)
    found[:counted] = measure.discounts_for(counted)
    return found


def shares(part: Floats, whole: Floats, otherwise: float) -> Floats:
    """Divide where there is something to divide by.

    Parameters
    ----------
    part, whole : ndarray of float, shape (Q,)
    otherwise : float
        What stands where the whole is not above 0.

    Returns
    -------
    ndarray of float, shape (Q,)
    """
    found = np.full(len(part), otherwise)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def _with_unjudged(gains: Floats, unjudged: float | None) -> Floats:
    return np.append(gains, gains[-1] if unjudged is None else unjudged)


def _of_matrix(W: Floats, ranked: Ranked, unjudged: float | None) -> Floats:
    K, L = W.shape
    wide = np.zeros((K + 1, L + 1))  # nothing is gained below rank K
    wide[:K, :L] = W
    wide[:K, L] = W[:, -1] if unjudged is None else unjudged
    at = np.minimum(ranked.ranks, K)
    gained = wide[at, ranked.grades]
    rows, groups, sizes = ranked.together
    if len(rows):
        shares = np.zeros((len(sizes), L + 1))
        np.add.at(shares, (groups, ranked.grades[rows]), 1.0)
        gained[rows] = np.sum(wide[at[rows]] * (shares / sizes[:, None])[groups], axis=1)
    return ranked.by_query(gained)


def _normalised(
    measure: DCG, value: Floats, gains: Floats, counts: Integers, worthless: float
) -> Floats:
    best = _extreme(measure, gains, counts)
    if measure.normalise == "ideal":
        return shares(value, best, worthless)
    worst = -_extreme(measure, -gains, counts)
    return shares(value - worst, best - worst, worthless)


def _extreme(measure: DCG, gains: Floats, counts: Integers) -> Floats:
    """Return the largest DCG of documents, `counts` of each gain a query, shape (Q,)."""
    most = int(counts.sum(axis=1).max(initial=0))
    n_ranks = most if measure.n_ranks is None else measure.n_ranks
    discounts = measure.discounts_for(n_ranks) if n_ranks else np.zeros(0)
    return _part(discounts, gains, counts) + _part(-discounts, -gains, counts)


def _part(discounts: Floats, gains: Floats, counts: Integers) -> Floats:
    """Give the largest gains above 0 the largest discounts above 0."""
    order = np.argsort(-gains, kind="stable")
    order = order[gains[order] > 0]
    upto = np.cumsum(counts[:, order], axis=1)
    positive = np.sort(discounts[discounts > 0])[::-1]
    total = np.concatenate([[0.0], np.cumsum(positive)])[np.minimum(upto, len(positive))]
    found: Floats = np.diff(total, axis=1, prepend=0.0) @ gains[order]
    return found
