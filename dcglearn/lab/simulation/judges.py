"""Simulated judges: from a truth and pairs of lists to judgments, with or without errors.

The judge of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6) prefers the list of higher utility;
pairs of equal utility are dropped. A human-like judge perceives the difference with logistic noise,
and may call small ones a tie:

    x = u(a) - u(b) + bias + noise,    tie if |x| < indifference
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from dcglearn.base.checks import checked_count, checked_number, checked_rng
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Pairs
from dcglearn.inference.answers import TIE, A, B
from dcglearn.judgments.preferences import Preferences, swap_lists
from dcglearn.measures.agreement import checked_pairs, score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import NO_DOCUMENT, Scale


def flip_pairs(pairs: Pairs, n_flips: int, rng: np.random.Generator) -> Pairs:
    """Reverse a given number of pairs (figures 5 and 6)."""
    noisy = pairs.copy()
    chosen = rng.permutation(len(pairs))[:n_flips]
    noisy[chosen] = noisy[chosen][:, ::-1]
    return noisy


def misgrade_pairs(pairs: Pairs, n_wrong: int, n_grades: int, rng: np.random.Generator) -> Pairs:
    """Replace a given number of grades by different ones (figures 7 and 8).

    The order of the lists in a pair stays: preferences are labelled with the true grades.
    """
    documents = np.flatnonzero(pairs.ravel() != NO_DOCUMENT)
    if n_wrong > len(documents):
        raise InputError(
            f"{n_wrong} wrong grades among {len(documents)} documents", "lower it", "wrong_grades"
        )
    noisy = pairs.copy()
    chosen = rng.permutation(documents)[:n_wrong]
    steps = rng.integers(1, n_grades, n_wrong)  # 1 ... L - 1: never back to the same grade
    grades = noisy.reshape(-1)
    grades[chosen] = (grades[chosen] + steps) % n_grades
    return noisy


def true_pairs(truth: Measure, lists: Pairs) -> Pairs:
    """Order the two lists of each pair by the truth.

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
    return judged_pairs(truth, lists, np.random.default_rng(0))  # without noise, nothing is drawn


def noise_scale(truth_differences: Floats, reliability: float) -> float:
    """Return the scale s of logistic noise that gives a judge a certain reliability.

    That is the mean over pairs of 1 / (1 + exp(-|d| / s)), with d the true difference.
    """
    from scipy.optimize import brentq

    sizes = np.abs(truth_differences[truth_differences != 0])
    if not len(sizes):
        raise InputError(
            "the truth gives all lists the same utility", "choose another truth or other lists"
        )
    if reliability == 1:
        return 0.0

    # With noise of e^-40 times the smallest difference all judgments are correct; with e^40
    # times the largest, half of them.
    low, high = np.log(sizes.min()) - 40, np.log(sizes.max()) + 40
    found = brentq(lambda x: expit(sizes / np.exp(x)).mean() - reliability, low, high, xtol=1e-12)
    return float(np.exp(found))


def judged_pairs(
    truth: Measure, lists: Pairs, rng: np.random.Generator, noise: float = 0.0, bias: float = 0.0
) -> Pairs:
    """Order the two lists of each pair by a judge with noise and a bias for one side."""
    difference = score_differences(truth, lists)
    perceived = difference + bias
    if noise:
        perceived = perceived + noise * rng.logistic(size=len(lists))
    kept = (difference != 0) & (perceived != 0)
    pairs: Pairs = lists[kept].copy()
    swap_lists(pairs, perceived[kept] < 0)
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
    """Judge pairs of lists side by side, as a human-like judge with noise, bias and ties.

    Parameters
    ----------
    truth : DCG or LinearUtility
        The utility of the lists for the judge.
    lists : ndarray of int8, shape (n, 2, K)
        The lists shown as a and b.
    scale : Scale
    rng : numpy.random.Generator
    reliability : float, default 4
        1 / scale of the logistic noise, in units of 1 / utility.
    indifference : float, default 0.5
        Perceived differences smaller than this are called a tie, "good" or "bad" by the mean
        utility of the two lists.
    bias : float, default 0
        Added to the difference in favour of the list shown as a.
    n_queries : int, optional
        The number of queries; a fifth of the number of judgments by default.
    n_judges : int, default 0
        The number of judges, who take turns; with 0 the judgments name no judge.

    Returns
    -------
    Preferences

    Raises
    ------
    InputError
        If a number is not finite, the reliability not positive or the indifference negative.
    """
    reliability = checked_number(reliability, "`reliability`", 0, above=True)
    checked_number(indifference, "`indifference`", 0)
    bias = checked_number(bias, "`bias`")
    checked_count(n_judges, "`n_judges`", 0)
    if n_queries is not None:
        checked_count(n_queries, "`n_queries`")
    checked_pairs(lists, truth.n_grades)
    n = len(lists)
    draws, differences = checked_rng(rng).logistic(size=n), score_differences(truth, lists)
    perceived = differences + bias + draws / reliability
    queries = rng.integers(max(1, n // 5) if n_queries is None else n_queries, size=n)
    levels = np.where(_relative_utility(truth, lists) > 0.5, "good", "bad")
    sides = np.where(perceived > 0, "a", "b")
    answers = np.where(np.abs(perceived) < indifference, levels, sides)
    return Preferences.of(
        lists,
        answers,
        scale,
        queries=[f"q{query + 1:03d}" for query in queries],
        judges=[f"j{i % n_judges + 1}" for i in range(n)] if n_judges else None,
    )


def _relative_utility(truth: Measure, lists: Pairs) -> Floats:
    """Return the mean utility of both lists of a pair, from 0 (worst possible) to 1 (best)."""
    weights = truth.matrix_for(lists.shape[2])
    low, high = weights.min(axis=1).sum(), weights.max(axis=1).sum()
    utility = (truth.plain() if isinstance(truth, DCG) else truth).score(lists).mean(axis=1)
    return np.asarray((utility - low) / max(high - low, 1e-300))


Noise = Literal["logistic", "normal", "cauchy"]

NOISES: dict[str, Callable[[Floats], Floats]] = {
    "logistic": expit,
    "normal": lambda v: ndtr(v * np.sqrt(2 * np.pi) / 4),
    "cauchy": lambda v: 0.5 + np.arctan(v * np.pi / 4) / np.pi,
}
"""The probability of preferring a, given v, for each shape of the noise."""


def simulated_answers(
    v: Floats,
    rng: np.random.Generator,
    noise: Noise = "logistic",
    lapses: float = 0.0,
    ties: bool = False,
) -> NDArray[np.int8]:
    """Draw answers to differences v, in log odds; a share of them is given at random."""
    lapse, u = rng.random((len(v), 2)).T
    tie = 1 / (1 + 2 * np.cosh(v / 2)) if ties else np.zeros(len(v))
    return answers_by(u, (1 - tie) * NOISES[noise](v), tie, lapse < lapses, 2 + ties)


def answers_by(
    u: Floats, a: Floats, tie: Floats, at_random: NDArray[np.bool_], n_answers: int
) -> NDArray[np.int8]:
    """Return answers by uniform numbers and the probabilities of a and of a tie."""
    a = np.where(at_random, 1 / n_answers, a)
    tie = np.where(at_random, (n_answers - 2) / n_answers, tie)
    return np.where(u < a, A, np.where(u < a + tie, TIE, B)).astype(np.int8)
