"""Pairs of lists to judge: the designs of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import checked_count, checked_rng, finite_array
from dcglearn.base.errors import InputError
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
