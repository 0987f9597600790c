"""How often a measure agrees with judgments: the one place where it is counted.

A judgment says that the first ranking of a pair is better. The measure is right
(1) if it scores the first one higher, wrong (0) if lower, and a tie of the measure
counts 1/2 (Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 6.2, call the mean over
pairs "precision").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.measures.measure import TIE_TOLERANCE, Measure
from dcglearn.measures.scale import checked_grades


def score_differences(measure: Measure, pairs: ArrayLike) -> Floats:
    """Return u(first) - u(second) of each pair, exactly 0 where they are tied.

    The two lists of a pair answer one query and share its ideal, so a normalised
    DCG orders them as the plain one does; the plain one is used.

    Parameters
    ----------
    measure : DCG or LinearUtility
    pairs : array-like of int, shape (n, 2, K)
        Grade indices, the preferred ranking first, -1 for no document.

    Returns
    -------
    ndarray of float, shape (n,)

    Raises
    ------
    InputError
        If the pairs have another shape, or grades or ranks that the measure lacks.

    Examples
    --------
    >>> from dcglearn.measures.dcg import DCG
    >>> score_differences(DCG([2, 1, 0], "constant"), [[[0, 2], [1, 1]], [[0, 1], [1, 2]]])
    array([0., 2.])
    """
    rows = checked_pairs(pairs, measure.n_grades)
    weights = measure.matrix_for(rows.shape[-1])
    padded = np.hstack([weights, np.zeros((len(weights), 1))])  # index -1: no document
    largest = np.abs(weights).max(axis=1)
    found = np.zeros(len(rows))
    for k, row in enumerate(padded):  # rank by rank, so that equal terms cancel exactly
        found += row[rows[:, 0, k]] - row[rows[:, 1, k]]
    near = np.flatnonzero(np.abs(found) <= TIE_TOLERANCE * largest.sum())
    possible = (rows[near, 0] != rows[near, 1]) @ largest
    found[near[np.abs(found[near]) <= TIE_TOLERANCE * possible]] = 0.0
    return found


def outcomes(measure: Measure, pairs: ArrayLike) -> Floats:
    """Return 1 for each judgment the measure agrees with, 0 against it, 1/2 for its ties.

    Parameters
    ----------
    measure : DCG or LinearUtility
    pairs : array-like of int, shape (n, 2, K)
        The preferred ranking first.

    Returns
    -------
    ndarray of float, shape (n,)
    """
    return outcomes_of_differences(score_differences(measure, pairs))


def outcomes_of_differences(difference: Floats) -> Floats:
    """Return 1, 1/2 or 0 for positive, zero and negative differences."""
    found: Floats = (np.sign(difference) + 1) / 2
    return found


def agreement(measure: Measure, pairs: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of judgments that the measure agrees with, its ties counting 1/2.

    Parameters
    ----------
    measure : DCG or LinearUtility
    pairs : array-like of int, shape (n, 2, K)
        The preferred ranking first.
    sample_weight : array-like of float, shape (n,), optional
        How much each judgment counts, 1 by default.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If there are no pairs, or the weights add up to 0.

    Examples
    --------
    >>> from dcglearn.measures.dcg import DCG
    >>> agreement(DCG([2, 1, 0], "log2"), [[[0, 2], [2, 0]], [[1, 2], [0, 2]]])
    0.5
    """
    return weighted_mean(outcomes(measure, pairs), sample_weight)


def weighted_mean(values: Floats, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean of one value per pair, weighted.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
    sample_weight : array-like of float, shape (n,), optional
        0 or more; 1 by default.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If a weight is negative or not finite, or the weights sum to 0.
    """
    if sample_weight is None:
        weights = np.ones(len(values))
    else:
        weights = one_per_pair(sample_weight, len(values), "sample_weight", 0.0)
    total = weights.sum()
    if not total > 0:
        raise InputError("no judgment to count", "give at least one strict preference")
    return float(values @ weights / total)


def checked_pairs(
    pairs: ArrayLike, n_grades: int
) -> np.ndarray[tuple[int, int, int], np.dtype[np.integer]]:
    """Check an array of preference pairs.

    Parameters
    ----------
    pairs : array-like of int, shape (n, 2, K)
        Grade indices; (n, 2 K), first ranking then second, is accepted too.
    n_grades : int
        L.

    Returns
    -------
    ndarray of int, shape (n, 2, K)

    Raises
    ------
    InputError
        If the shape is another or an entry is no grade index.
    """
    rows = checked_grades(pairs, n_grades, "pairs")
    if rows.ndim == 2 and rows.shape[1] and rows.shape[1] % 2 == 0:
        rows = rows.reshape(len(rows), 2, -1)
    if rows.ndim != 3 or rows.shape[1] != 2 or not rows.shape[2]:
        raise InputError(
            f"pairs of shape {rows.shape}", "give (n, 2, K): the preferred ranking first"
        )
    return rows


def one_per_pair(values: ArrayLike, n_pairs: int, name: str, low: float = -np.inf) -> Floats:
    """Check that an argument holds one finite number per pair.

    Parameters
    ----------
    values : array-like of float, shape (n_pairs,)
    n_pairs : int
    name : str
        What to call the argument in an error.
    low : float, optional
        The smallest number allowed.

    Returns
    -------
    ndarray of float, shape (n_pairs,)

    Raises
    ------
    InputError
        If the shape differs, or naming the row of the first number that is not allowed.
    """
    return finite_array(values, name, (n_pairs,), "give one finite number per pair", low)
