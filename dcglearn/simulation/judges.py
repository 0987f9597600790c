"""Simulated judges: from a truth and pairs of lists to judgments, with errors or without.

The judge of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6) prefers the list of
higher true utility; draws are dropped, not labelled. A human-like judge sees the
difference through logistic noise, and may call small differences a tie:

    x = u(a) - u(b) + bias + noise,    tie if |x| < indifference
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Pairs
from dcglearn.data.preferences import Preferences
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import NO_DOCUMENT, Scale


def flip_pairs(pairs: Pairs, how_many: int, rng: np.random.Generator) -> Pairs:
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
    >>> int(flip_pairs(pairs, 3, np.random.default_rng(0))[:, 0].sum())
    3
    """
    if not 0 <= how_many <= len(pairs):
        raise InputError(f"{how_many} flips of {len(pairs)} pairs", f"use 0 ... {len(pairs)}")
    noisy = pairs.copy()
    chosen = rng.permutation(len(pairs))[:how_many]  # fewer flips are some of these
    noisy[chosen] = noisy[chosen][:, ::-1]
    return noisy


def misgrade_pairs(pairs: Pairs, how_many: int, n_grades: int, rng: np.random.Generator) -> Pairs:
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
    chosen = rng.permutation(places)[:how_many]  # fewer wrong grades are some of these
    steps = rng.integers(1, n_grades, how_many)  # 1 ... L - 1: never back to the same grade
    noisy.reshape(-1)[chosen] = (noisy.reshape(-1)[chosen] + steps) % n_grades
    return noisy


def true_pairs(truth: Measure, lists: Pairs) -> Pairs:
    """Label pairs as the truth orders them.

    Parameters
    ----------
    truth : DCG or LinearUtility
    lists : ndarray of int8, shape (n, 2, K)

    Returns
    -------
    ndarray of int8, shape (m, 2, K)
        The better list first; pairs of equal true utility are dropped.

    Examples
    --------
    >>> lists = np.array([[[4, 0], [0, 4]], [[1, 1], [1, 1]]], np.int8)
    >>> true_pairs(DCG([5, 4, 3, 2, 1], "log2"), lists).tolist()
    [[[0, 4], [4, 0]]]
    """
    return judged_pairs(truth, lists, np.random.default_rng(0))  # nothing is drawn


def noise_scale(truth_differences: Floats, reliability: float) -> float:
    """Return the scale of logistic noise with which a judge is right so often.

    A judge of noise s prefers the better list with probability 1 / (1 + exp(-|d| / s)),
    d being the true difference; the mean of that over the pairs is the reliability.

    Parameters
    ----------
    truth_differences : ndarray of float, shape (n,)
        True differences of the pairs; draws count for nothing.
    reliability : float
        Above 1/2, up to 1.

    Returns
    -------
    float
        In units of the truth; 0 for a reliability of 1.

    Raises
    ------
    InputError
        If the reliability is outside its range, or all differences are 0.

    Examples
    --------
    >>> round(float(noise_scale(np.array([1.0, -1.0]), 0.75) * np.log(3)), 9)
    1.0
    """
    if not 0.5 < reliability <= 1:
        raise InputError(f"reliability {reliability}", "use more than .5, and at most 1")
    sizes = np.abs(truth_differences[truth_differences != 0])
    if not len(sizes):
        raise InputError("the truth likes all lists alike", "choose another truth or other lists")
    if reliability == 1:
        return 0.0

    def too_right(log_noise: float) -> float:
        return float(expit(sizes / np.exp(log_noise)).mean()) - reliability

    # At e^-40 of the smallest difference every pair is right, at e^40 of the largest half.
    low, high = np.log(sizes.min()) - 40, np.log(sizes.max()) + 40
    return float(np.exp(brentq(too_right, low, high, xtol=1e-12)))


def judged_pairs(
    truth: Measure, lists: Pairs, rng: np.random.Generator, noise: float = 0.0, bias: float = 0.0
) -> Pairs:
    """Label pairs as a judge with noise and a liking for one side orders them.

    Parameters
    ----------
    truth : DCG or LinearUtility
    lists : ndarray of int8, shape (n, 2, K)
        The lists as they are shown, side a first.
    rng : numpy.random.Generator
    noise : float, default 0
        Scale of the logistic noise, in units of the truth (see :func:`noise_scale`).
    bias : float, default 0
        What being shown as a is worth, in units of the truth.

    Returns
    -------
    ndarray of int8, shape (m, 2, K)
        The preferred list first; pairs of equal true utility are dropped.

    Examples
    --------
    >>> lists = np.array([[[4, 0], [0, 4]], [[1, 1], [1, 1]]], np.int8)
    >>> judged_pairs(DCG([5, 4, 3, 2, 1], "log2"), lists, np.random.default_rng(0), bias=9.0)
    array([[[4, 0],
            [0, 4]]], dtype=int8)
    """
    difference = score_differences(truth, lists)
    seen = difference + bias
    if noise:
        seen = seen + noise * rng.logistic(size=len(lists))
    kept = (difference != 0) & (seen != 0)
    pairs: Pairs = np.where((seen < 0)[:, None, None], lists[:, ::-1], lists)[kept]
    return pairs


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
    seen = score_differences(truth, lists) + bias + noise
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
