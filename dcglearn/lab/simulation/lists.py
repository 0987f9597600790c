"""Pairs of lists to judge, drawn at random or from the documents of real queries.

The designs of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6), lists of independent grades, and
lists of the judged documents of one query.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count, checked_rng, finite_array
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.base.types import Pairs
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT, checked_grades

BASE_LIST = (0, 0, 1, 1, 2, 2, 3, 3, 4, 4)
"""The list of section 6, [5,5,4,4,3,3,2,2,1,1], as grade indices."""


def permuted_lists(n: int, rng: np.random.Generator, base: ArrayLike = BASE_LIST) -> Pairs:
    """Draw pairs of random permutations of one list.

    Parameters
    ----------
    n : int
        Number of pairs.
    rng : numpy.random.Generator
    base : array-like of int, shape (K,)
        Grade indices.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
    """
    checked_count(n, "`n`", 0)
    lists = np.tile(checked_grades(base, MAX_GRADES, "`base`").astype(np.int8), (n, 2, 1))
    return checked_rng(rng).permuted(lists, axis=2)


def drawn_lists(
    n: int,
    n_ranks: int,
    probabilities: Sequence[float],
    rng: np.random.Generator,
    shortest: int | None = None,
) -> Pairs:
    """Draw pairs of lists of independent grades.

    Parameters
    ----------
    n, n_ranks : int
        Number of pairs, and K.
    probabilities : sequence of float, length L
        The probability of each grade, best first; they add up to 1.
    rng : numpy.random.Generator
    shortest : int, optional
        Lists have random lengths from this to K. By default all lists have length K.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)

    Raises
    ------
    InputError
        If a probability is negative, they do not add up to 1, or `shortest` is outside
        1 ... K.
    """
    checked_count(n, "`n`", 0)
    checked_count(n_ranks, "`n_ranks`")
    checked_rng(rng)
    shares = finite_array(probabilities, "grade probabilities", (None,), low=0.0)
    if abs(shares.sum() - 1) > 1e-9:
        raise InputError(f"grade probabilities {shares.tolist()}", "use numbers that add up to 1")
    uniform, cumulated = rng.random((n, 2, n_ranks)), np.cumsum(shares)
    lists = np.zeros(uniform.shape, np.int8)
    for bound in cumulated[:-1] / cumulated[-1]:  # as rng.choice, which searches for each number
        lists += uniform >= bound
    if shortest is not None:
        checked_count(shortest, "`shortest`", 1, n_ranks)
        lengths = rng.integers(shortest, n_ranks + 1, (n, 2, 1))
        lists[np.arange(n_ranks) >= lengths] = NO_DOCUMENT
    return lists


def sorted_against_shuffled(n: int, rng: np.random.Generator, base: ArrayLike = BASE_LIST) -> Pairs:
    """Draw pairs of the best ordering of a list and a random one (section 6, figure 9)."""
    lists = permuted_lists(n, rng, base)
    lists[:, 0] = np.sort(np.asarray(base, np.int8))
    return lists


def sorted_against_another(n: int, n_ranks: int, n_grades: int, rng: np.random.Generator) -> Pairs:
    """Draw pairs of a sorted list and an unsorted one, of uniform grades (figure 10)."""
    lists = rng.integers(n_grades, size=(n, 2, n_ranks)).astype(np.int8)
    lists[:, 0] = np.sort(lists[:, 0], axis=1)
    return lists


def lists_of_queries(n: int, n_ranks: int, counts: ArrayLike, rng: np.random.Generator) -> Pairs:
    """Draw pairs of lists of the documents of a real query.

    Both lists of a pair are random orderings of the documents of one random query, cut at K,
    so their content differs where the query has more than K documents.

    Parameters
    ----------
    n, n_ranks : int
        Number of pairs, and K.
    counts : array-like of int, shape (queries, L)
        The number of documents of each grade that each query has, best grade first.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
        Queries with fewer than K documents leave the last ranks empty.

    Examples
    --------
    >>> lists_of_queries(1, 4, [[1, 0, 2]], np.random.default_rng(1))[0]
    array([[ 2,  0,  2, -1],
           [ 0,  2,  2, -1]], dtype=int8)
    """
    checked_count(n, "`n`", 0)
    checked_count(n_ranks, "`n_ranks`")
    checked_rng(rng)
    table = _checked_counts(counts)
    width = int(max(table.sum(axis=1).max(), n_ranks))
    documents = np.full((len(table), width), NO_DOCUMENT, np.int8)
    for row, n_of_grade in zip(documents, table, strict=True):
        row[: n_of_grade.sum()] = np.repeat(np.arange(table.shape[1]), n_of_grade)
    chosen = documents[rng.integers(len(table), size=n)]
    pools = np.repeat(chosen[:, None], 2, axis=1)
    keys = np.where(pools == NO_DOCUMENT, 2.0, rng.random(pools.shape))  # empty ranks come last
    return np.take_along_axis(pools, np.argsort(keys, axis=2), axis=2)[:, :, :n_ranks]


def _checked_counts(counts: ArrayLike) -> NDArray[np.int64]:
    numbers = finite_array(counts, "counts", (None, None), low=0.0)
    if not numbers.size or (numbers != np.floor(numbers)).any() or numbers.max() > MAX_EXACT:
        raise InputError("counts are not whole numbers", "give the documents of each grade")
    return numbers.astype(np.int64)
