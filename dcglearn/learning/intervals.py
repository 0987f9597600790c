"""How far learned gains and discounts would move with other queries.

The percentile bootstrap over queries (Efron & Tibshirani, An Introduction to the
Bootstrap, 1993, chapter 13): draw as many queries as there are, with replacement, learn
again from their judgments, read the answer in the same gauge, and take the middle 95% of
each gain and discount. Judgments of one query stay together, for they are alike.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats
from dcglearn.data.preferences import Preferences
from dcglearn.learning.factorise import Factors, factorise
from dcglearn.learning.learner import DCGLearner
from dcglearn.solver.solve import solve


@dataclass(frozen=True)
class ParameterIntervals:
    """Intervals of the gains and discounts of one learned DCG.

    Attributes
    ----------
    gains : ndarray of float, shape (L, 2)
    discounts : ndarray of float, shape (K, 2)
        Low and high.
    level : float
    resamples : int
        How many were drawn.
    left_out : int
        How many of these taught nothing (one grade, or judgments that cancel out) and
        count for nothing.
    """

    gains: Floats
    discounts: Floats
    level: float
    resamples: int
    left_out: int

    def to_json(self) -> dict[str, Any]:
        """Return the intervals as a JSON-able dict."""
        return {
            "gains": self.gains.tolist(),
            "discounts": self.discounts.tolist(),
            "level": self.level,
            "resamples": self.resamples,
            "left_out": self.left_out,
        }


def parameter_intervals(
    learner: DCGLearner,
    preferences: Preferences,
    rng: np.random.Generator,
    resamples: int = 200,
    level: float = 0.95,
    advance: Advance = silent,
) -> ParameterIntervals:
    """Return bootstrap intervals of a learned DCG's gains and discounts.

    Parameters
    ----------
    learner : DCGLearner
        Fitted on the strict judgments of `preferences`; C is kept as it is.
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
        If there are fewer than two queries, or more than half of the resamples teach
        nothing.
    """
    groups = preferences.pair_groups
    n_queries = int(groups.max(initial=-1)) + 1
    if n_queries < 2:
        raise InputError(
            f"intervals from judgments of {n_queries} query", "judge more queries, or ask for none"
        )
    drawn: list[Factors] = []
    for done in range(resamples):
        times = np.bincount(rng.integers(n_queries, size=n_queries), minlength=n_queries)
        with suppress(InputError):  # a resample may hold one grade only, or cancel out
            drawn.append(_learn_again(learner, preferences, times[groups]))
        advance(done + 1, resamples)
    if 2 * len(drawn) < resamples:
        raise InputError(
            f"{resamples - len(drawn)} of {resamples} resamples of the queries teach nothing",
            "judge more queries, or ask for no intervals",
        )
    tails = [(1 - level) / 2, (1 + level) / 2]
    gains, discounts = (
        np.quantile([getattr(one, part) for one in drawn], tails, axis=0).T
        for part in ("gains", "discounts")
    )
    return ParameterIntervals(gains, discounts, level, resamples, resamples - len(drawn))


def _learn_again(
    learner: DCGLearner, preferences: Preferences, times: NDArray[np.integer]
) -> Factors:
    """Learn from resampled queries and read the answer in the gauge of the first fit."""
    kept = times * preferences.pair_weights > 0
    found = learner.identifiability_
    again = clone(learner).set_params(n_grades=learner.utility_.n_grades)
    problem = again.problem(preferences.pairs[kept], (times * preferences.pair_weights)[kept])
    return factorise(
        solve(problem, learner.solver).W,
        found.gauge,
        found.seen_offsets,
        found.still_grades,
        ordered=problem.monotone,
    )
