"""Simulated judgments: a truth, lists, and a judge.

The judge of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6) prefers the list of
higher true utility; draws are dropped, not labelled. A human-like judge sees the
difference through logistic noise and calls small differences a tie:

    x = u(a) - u(b) + bias + noise / reliability,    tie if |x| < indifference

Ties are ``good`` where the two lists are worth more than the middle of what is
possible, ``bad`` otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.data.preferences import Pairs, Preferences
from dcglearn.measures.agreement import Measure, differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import NO_DOCUMENT, Scale

BASE_LIST = (0, 0, 1, 1, 2, 2, 3, 3, 4, 4)
"""The list of section 6, [5,5,4,4,3,3,2,2,1,1], as grade indices."""

DATA_1 = DCG([5, 4, 3, 2, 1], "log2")
"""Section 6, Data 1: gain l; 1 / log(k + 1) in any base gives the same order."""

DATA_2 = DCG([31, 15, 7, 3, 1], "log2")
"""Section 6, Data 2: gain 2^l - 1."""


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


def flipped(pairs: Pairs, how_many: int, rng: np.random.Generator) -> Pairs:
    """Return the pairs with exactly so many of them turned round (figures 5 and 6).

    Parameters
    ----------
    pairs : ndarray of int8, shape (n, 2, K)
    how_many : int
        From 0 to n.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int8, shape (n, 2, K)

    Raises
    ------
    InputError
        If there are not so many pairs.

    Examples
    --------
    >>> pairs = np.array([[[0], [1]]] * 4, np.int8)
    >>> int(flipped(pairs, 3, np.random.default_rng(0))[:, 0].sum())
    3
    """
    if not 0 <= how_many <= len(pairs):
        raise InputError(f"{how_many} flips of {len(pairs)} pairs", f"use 0 ... {len(pairs)}")
    noisy = pairs.copy()
    chosen = rng.choice(len(pairs), how_many, replace=False)
    noisy[chosen] = noisy[chosen][:, ::-1]
    return noisy


def misgraded(pairs: Pairs, how_many: int, n_grades: int, rng: np.random.Generator) -> Pairs:
    """Return the pairs with exactly so many grades replaced by others (figures 7 and 8).

    Preferences are labelled before; the grades are wrong afterwards.

    Parameters
    ----------
    pairs : ndarray of int8, shape (n, 2, K)
    how_many : int
        From 0 to the number of grades in all lists.
    n_grades : int
        L, at least 2.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
        Empty ranks stay empty.

    Raises
    ------
    InputError
        If there are not so many grades, or only one kind of them.
    """
    places = np.flatnonzero(pairs.ravel() != NO_DOCUMENT)
    if not 0 <= how_many <= len(places) or n_grades < 2:
        raise InputError(
            f"{how_many} wrong grades among {len(places)} of {n_grades} kinds",
            f"use 0 ... {len(places)}, and two grades or more",
        )
    noisy = pairs.copy()
    chosen = rng.choice(places, how_many, replace=False)
    steps = rng.integers(1, n_grades, how_many)  # 1 ... L - 1: never back to the same grade
    noisy.reshape(-1)[chosen] = (noisy.reshape(-1)[chosen] + steps) % n_grades
    return noisy


def true_pairs(truth: Measure, lists: Pairs) -> tuple[Pairs, int]:
    """Label pairs as the truth orders them.

    Parameters
    ----------
    truth : DCG or LinearUtility
    lists : ndarray of int8, shape (n, 2, K)

    Returns
    -------
    pairs : ndarray of int8, shape (m, 2, K)
        The better list first.
    draws : int
        Pairs of equal true utility, dropped.

    Examples
    --------
    >>> lists = np.array([[[4, 0], [0, 4]], [[1, 1], [1, 1]]], np.int8)
    >>> true_pairs(DATA_1, lists)[0].tolist(), true_pairs(DATA_1, lists)[1]
    ([[[0, 4], [4, 0]]], 1)
    """
    difference = differences(truth, lists)
    pairs = np.where((difference < 0)[:, None, None], lists[:, ::-1], lists)
    return pairs[difference != 0], int((difference == 0).sum())


def side_by_side(
    truth: Measure,
    lists: Pairs,
    scale: Scale,
    rng: np.random.Generator,
    reliability: float = 4.0,
    indifference: float = 0.5,
    bias: float = 0.0,
    n_queries: int | None = None,
    n_judges: int = 0,
) -> Preferences:
    """Have lists judged side by side by a human-like judge.

    Parameters
    ----------
    truth : DCG or LinearUtility
        What the judge likes.
    lists : ndarray of int8, shape (n, 2, K)
        The lists shown as a and b.
    scale : Scale
    rng : numpy.random.Generator
    reliability : float, default 4
        1 / scale of the logistic noise, in units of the truth.
    indifference : float, default 0.5
        Differences smaller than this are called a tie.
    bias : float, default 0
        What being shown as a is worth.
    n_queries : int, optional
        How many queries the judgments are of; a fifth of them by default.
    n_judges : int, default 0
        How many judges take turns; 0 names none.

    Returns
    -------
    Preferences

    Raises
    ------
    InputError
        If a number is not finite, the reliability not positive or the indifference
        negative.
    """
    if not (np.isfinite([reliability, indifference, bias]).all() and reliability > 0):
        raise InputError(
            f"reliability {reliability}, indifference {indifference}, bias {bias}",
            "use finite numbers, and a reliability above 0",
        )
    if indifference < 0:
        raise InputError(f"indifference {indifference}", "use 0 or more")
    n = len(lists)
    noise = rng.logistic(size=n) / reliability
    seen = differences(truth, lists) + bias + noise
    queries = rng.integers(max(1, n // 5) if n_queries is None else n_queries, size=n)
    answers: NDArray[np.object_] = np.where(seen > 0, "a", "b").astype(object)
    tied = np.abs(seen) < indifference
    answers[tied] = np.where(_worth(truth, lists) > 0.5, "good", "bad")[tied]
    return Preferences.of(
        lists,
        answers,
        scale,
        queries=[f"q{query + 1:03d}" for query in queries],
        judges=[f"j{i % n_judges + 1}" for i in range(n)] if n_judges else None,
    )


def _worth(truth: Measure, lists: Pairs) -> NDArray[np.float64]:
    """Return the mean worth of both lists of a pair, from 0 (worst possible) to 1 (best)."""
    weights = truth.matrix_for(lists.shape[2])
    low, high = weights.min(axis=1).sum(), weights.max(axis=1).sum()
    worth = (truth.plain() if isinstance(truth, DCG) else truth).score(lists).mean(axis=1)
    return (worth - low) / (high - low) if high > low else np.zeros(len(lists))
