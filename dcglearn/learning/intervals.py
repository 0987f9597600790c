"""Bootstrap intervals of learned gains and discounts.

The percentile bootstrap over queries (Efron & Tibshirani, An Introduction to the
Bootstrap, 1993, chapter 13): draw as many queries as there are, with replacement, learn
from their judgments, factorise in the gauge of the original fit, and take the middle 95% of
each gain and discount. The judgments of a query stay together, because they are dependent.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from dcglearn.base.checks import checked_rng
from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats
from dcglearn.data.preferences import Preferences
from dcglearn.learning.factorise import Factors
from dcglearn.learning.fit import fit
from dcglearn.learning.learner import DCGLearner


@dataclass(frozen=True)
class ParameterIntervals:
    """Intervals of the gains and discounts of a learned DCG.

    Attributes
    ----------
    gains : ndarray of float, shape (L, 2)
    discounts : ndarray of float, shape (K, 2)
        Lower and upper bound.
    level : float
    resamples : int
        The number drawn.
    left_out : int
        The number of these from which nothing could be learned (only one grade, or
        judgments that cancel out); they do not count.
    """

    gains: Floats
    discounts: Floats
    level: float
    resamples: int
    left_out: int


def parameter_intervals(
    learner: DCGLearner,
    preferences: Preferences,
    rng: np.random.Generator,
    resamples: int = 200,
    level: float = 0.95,
    advance: Advance = silent,
) -> ParameterIntervals:
    """Compute bootstrap intervals of a learned DCG's gains and discounts.

    Parameters
    ----------
    learner : DCGLearner
        Fitted to the strict judgments of `preferences`. Its C is not chosen again.
    preferences : Preferences
    rng : numpy.random.Generator
    resamples : int, default 200
        Each one is a fit.
    level : float, default 0.95
    advance : callable
        Called with (fits done, fits in all).

    Returns
    -------
    ParameterIntervals

    Raises
    ------
    InputError
        If there are fewer than two queries, or nothing can be learned from more than half
        of the resamples.
    """
    checked_rng(rng)
    if resamples < 1 or not 0 < level < 1:
        raise InputError(
            f"{resamples} resamples at the level {level}",
            "give `resamples` of 1 or more, and a `level` between 0 and 1",
        )
    groups = preferences.pair_groups
    n_queries = int(groups.max(initial=-1)) + 1
    if n_queries < 2:
        raise InputError(
            f"intervals from judgments of {'one query' if n_queries else 'no query'}",
            "give judgments of more queries, or ask for no intervals",
        )
    learned: list[Factors] = []
    for done in range(resamples):
        times = np.bincount(rng.integers(n_queries, size=n_queries), minlength=n_queries)
        with suppress(InputError):  # a resample may hold one grade only, or cancel out
            learned.append(_learn_again(learner, preferences, times[groups]))
        advance(done + 1, resamples)
    left_out = resamples - len(learned)
    if 2 * left_out > resamples:
        raise InputError(
            f"nothing can be learned from {left_out} of {resamples} resamples of the queries",
            "give judgments of more queries, or ask for no intervals",
        )
    tails = [(1 - level) / 2, (1 + level) / 2]
    gains = np.quantile([one.gains for one in learned], tails, axis=0).T
    discounts = np.quantile([one.discounts for one in learned], tails, axis=0).T
    return ParameterIntervals(gains, discounts, level, resamples, left_out)


def _learn_again(
    learner: DCGLearner, preferences: Preferences, times: NDArray[np.integer]
) -> Factors:
    """Learn from each judgment as often as it was drawn; keep the gauge of the first fit."""
    weights = times * preferences.pair_weights
    drawn = weights > 0
    again = clone(learner).set_params(C=learner.C_, n_grades=learner.utility_.n_grades)
    problem = again.problem(preferences.pairs[drawn], weights[drawn])
    return fit(problem, learner.solver).factors_as_in(learner.identifiability_)
