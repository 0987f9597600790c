"""Simulated pairs of lists, and the truths that order them.

The truths and lists of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6):

    W[k, l] = G_l / log(k + 1),    Data 1: G_l = l,    Data 2: G_l = 2^l - 1

and beyond them truths whose gains change from rank to rank, lists of drawn grades, and
lists drawn from the judged documents of real queries.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.names import unknown_name
from dcglearn.data.preferences import Pairs
from dcglearn.measures.agreement import Measure
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import split_call
from dcglearn.measures.naming import is_file_name, measure_for
from dcglearn.measures.presets import PRESETS
from dcglearn.measures.scale import NO_DOCUMENT, Scale
from dcglearn.measures.utility import LinearUtility

BASE_LIST = (0, 0, 1, 1, 2, 2, 3, 3, 4, 4)
"""The list of section 6, [5,5,4,4,3,3,2,2,1,1], as grade indices."""

DATA_1 = DCG([5, 4, 3, 2, 1], "log2")
"""Section 6, Data 1: gain l; 1 / log(k + 1) in any base gives the same order."""

DATA_2 = DCG([31, 15, 7, 3, 1], "log2")
"""Section 6, Data 2: gain 2^l - 1."""

TRUTHS = {"data-1": "linear-log2", "data-2": "exponential-log2"}
"""The paper's truths, by the presets that they are on grades L ... 1."""

FREE = "free"
"""The name of a truth whose gains are drawn anew at every rank."""


def grade_scale(n_grades: int) -> Scale:
    """Return the scale of section 6: grades L ... 1, the best first."""
    return Scale(tuple(range(n_grades, 0, -1)))


def named_truth(name: str, n_ranks: int, n_grades: int, rng: np.random.Generator) -> Measure:
    """Return the truth that a name means.

    Parameters
    ----------
    name : str
        ``data-1``, ``data-2``, ``free`` (drawn by `rng`; gains change from rank to rank), a
        preset, a measure file, or a measure in full with any gains and discounts.
    n_ranks, n_grades : int
        K and L.
    rng : numpy.random.Generator

    Returns
    -------
    DCG or LinearUtility

    Raises
    ------
    InputError
        If there is no such truth (the known ones are named), or it is for another K or L.

    Examples
    --------
    >>> named_truth("data-2", 10, 4, np.random.default_rng(0))
    DCG({4: 15, 3: 7, 2: 3, 1: 1}, log2)
    """
    if name == FREE:
        return free_truth(n_ranks, n_grades, rng)
    scale = grade_scale(n_grades)
    text = TRUTHS.get(name, name)
    if not (is_file_name(text) or "[" in text or "{" in text):
        head = split_call(text.partition("@")[0])[0]
        if head not in PRESETS:
            raise unknown_name("truth", name, [*TRUTHS, FREE, *PRESETS])
    return measure_for(text, scale, n_ranks).measure


def free_truth(n_ranks: int, n_grades: int, rng: np.random.Generator) -> LinearUtility:
    """Draw a truth that is no DCG: at every rank the grades are worth sorted uniform numbers.

    Parameters
    ----------
    n_ranks, n_grades : int
        K and L.
    rng : numpy.random.Generator

    Returns
    -------
    LinearUtility
        Better grades are worth more at every rank.

    Examples
    --------
    >>> W = free_truth(3, 2, np.random.default_rng(0)).matrix
    >>> bool((W[:, 0] >= W[:, 1]).all())
    True
    """
    return LinearUtility(np.sort(rng.random((n_ranks, n_grades)), axis=1)[:, ::-1])


def permuted_lists(n: int, rng: np.random.Generator, base: ArrayLike = BASE_LIST) -> Pairs:
    """Return pairs of random permutations of one list.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    base : array-like of int, shape (K,)
        Grade indices.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
    """
    lists = np.tile(np.asarray(base, np.int8), (n, 2, 1))
    return rng.permuted(lists, axis=2)


def drawn_lists(
    n: int,
    n_ranks: int,
    probabilities: Sequence[float],
    rng: np.random.Generator,
    shortest: int | None = None,
) -> Pairs:
    """Return pairs of lists whose grades are drawn independently.

    Parameters
    ----------
    n, n_ranks : int
    probabilities : sequence of float
        Of each grade, best first; they add up to 1.
    rng : numpy.random.Generator
    shortest : int, optional
        Lists have random lengths from this to K; all have K by default.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)

    Raises
    ------
    InputError
        If the probabilities do not add up to 1, or `shortest` is outside 1 ... K.
    """
    if abs(sum(probabilities) - 1) > 1e-9 or min(probabilities) < 0:
        raise InputError(f"grade probabilities {list(probabilities)}", "make them add up to 1")
    lists = rng.choice(len(probabilities), (n, 2, n_ranks), p=probabilities).astype(np.int8)
    if shortest is not None:
        if not 1 <= shortest <= n_ranks:
            raise InputError(f"shortest list {shortest}", f"use 1 ... {n_ranks}")
        lengths = rng.integers(shortest, n_ranks + 1, (n, 2, 1))
        lists[np.arange(n_ranks) >= lengths] = NO_DOCUMENT
    return lists


def sorted_against_shuffled(n: int, rng: np.random.Generator, base: ArrayLike = BASE_LIST) -> Pairs:
    """Return pairs of the best ordering of a list and a random one (section 6, figure 9).

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    base : array-like of int, shape (K,)
        Grade indices.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
    """
    lists = permuted_lists(n, rng, base)
    lists[:, 0] = np.sort(np.asarray(base, np.int8))
    return lists


def sorted_against_another(n: int, n_ranks: int, n_grades: int, rng: np.random.Generator) -> Pairs:
    """Return pairs of a sorted list and another one, of uniform grades (figure 10).

    Parameters
    ----------
    n, n_ranks, n_grades : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
    """
    lists = rng.integers(n_grades, size=(n, 2, n_ranks)).astype(np.int8)
    lists[:, 0] = np.sort(lists[:, 0], axis=1)
    return lists


def lists_of_queries(n: int, n_ranks: int, counts: ArrayLike, rng: np.random.Generator) -> Pairs:
    """Return pairs of lists of the documents of one query each.

    Both lists of a pair are random orderings of the documents of one random query, cut at
    K, so their content differs where the query has more documents than K.

    Parameters
    ----------
    n, n_ranks : int
    counts : array-like of int, shape (queries, L)
        How many documents of each grade a query has, best grade first.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
        Queries of fewer documents leave the last ranks empty.

    Examples
    --------
    >>> lists_of_queries(1, 4, [[1, 0, 2]], np.random.default_rng(1))[0]
    array([[ 2,  0,  2, -1],
           [ 0,  2,  2, -1]], dtype=int8)
    """
    table = np.asarray(counts)
    width = int(max(table.sum(axis=1).max(), n_ranks))
    documents = np.full((len(table), width), NO_DOCUMENT, np.int8)
    for row, held in zip(documents, table, strict=True):
        row[: held.sum()] = np.repeat(np.arange(table.shape[1]), held)
    chosen = documents[rng.integers(len(table), size=n)]
    pools = np.repeat(chosen[:, None], 2, axis=1)
    keys = np.where(pools == NO_DOCUMENT, 2.0, rng.random(pools.shape))  # empty places go last
    return np.take_along_axis(pools, np.argsort(keys, axis=2), axis=2)[:, :, :n_ranks]
