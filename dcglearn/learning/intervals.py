"""How far learned gains and discounts move with other queries.

Queries are resampled as in the percentile bootstrap (Efron & Tibshirani, An Introduction to the
Bootstrap, 1993, chapter 13): draw as many queries as there are, with replacement, learn
from their judgments, factorise in the gauge of the original fit, and take the middle 95% of
each gain and discount. The judgments of a query stay together, because they are dependent.

These are not intervals for the gains and discounts of a judge. The squared hinge does not
estimate them: what it tends to differs from them however many judgments there are, and resampling
shows its spread, not this bias. Intervals that cover are those of the likelihood
(:mod:`dcglearn.inference.estimate`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.checks import checked_rng
from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats
from dcglearn.judgments.folds import query_counts
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.choose_c import choose_C
from dcglearn.learning.core_learner import CoreLearner
from dcglearn.learning.factorise import Factors
from dcglearn.learning.fit import Fit, fit
from dcglearn.learning.gauge import Determined
from dcglearn.naming.measure_files import MeasurePart

MOST_UNSOLVED = 0.05
"""The share of resamples that may be left out because no optimum was confirmed: they are not a
random part of all, so that more would narrow what the others lie between."""


@dataclass(frozen=True)
class ParameterIntervals:
    """How far the gains and discounts of a learned DCG move with other queries.

    Attributes
    ----------
    gains : ndarray of float, shape (L, 2)
    discounts : ndarray of float, shape (K, 2)
        What the middle of the resamples lies between; nan where the penalty decides a number, for
        then its spread says nothing about the data.
    level : float
        The share of resamples in the middle.
    resamples : int
        The number drawn.
    left_out : int
        The number of these from which nothing could be learned (only one grade, or
        judgments that cancel out) or whose optimum was not confirmed; they do not count.
    unsolved : int
        The number of these whose optimum was not confirmed.
    C : (float, float)
        The smallest and the largest C of a resample; the same unless C was chosen in each.
    by_query : bool
        Whether queries were resampled; judgments, where no query is known.
    """

    gains: Floats
    discounts: Floats
    level: float
    resamples: int
    left_out: int
    C: tuple[float, float]
    by_query: bool = True
    unsolved: int = 0


def parameter_intervals(
    learner: CoreLearner,
    preferences: Preferences,
    rng: np.random.Generator,
    resamples: int = 200,
    level: float = 0.95,
    advance: Advance = silent,
    choose: MeasurePart | None = None,
) -> ParameterIntervals:
    """Compute how far a learned DCG's gains and discounts move with other queries.

    They are not intervals for the numbers of a judge: a resample shows spread, not the bias of
    the squared hinge.

    Parameters
    ----------
    learner : DCGLearner or CoreLearner
        Fitted to the strict judgments of `preferences`. If its C is ``"cv"``, C is chosen again
        in each resample.
    preferences : Preferences
    rng : numpy.random.Generator
    resamples : int, default 200
        Each one is a fit.
    level : float, default 0.95
    advance : callable
        Called with (resamples done, resamples in all).
    choose : {"utility", "dcg"}, optional
        Choose C again in each resample, by cross-validation of this measure (one division
        into folds for each: the resamples average over them).

    Returns
    -------
    ParameterIntervals

    Raises
    ------
    InputError
        If there are fewer than two queries, or nothing can be learned from more than half
        of the resamples.
    SolverError
        If more than a twentieth of the resamples is not solved.
    """
    checked_rng(rng)
    if resamples < 1 or not 0 < level < 1:
        raise InputError(
            f"{counted(resamples, 'resample')} at the level {level}",
            "give `resamples` of 1 or more, and a `level` between 0 and 1",
        )
    groups = preferences.pair_groups
    n_queries = int(groups.max(initial=-1)) + 1
    by_query = query_counts(preferences.queries[preferences.strict])[0] > 0
    more = f"give {'judgments of more queries' if by_query else 'more judgments'}, or ask for no"
    if n_queries < 2:
        held = "judgments of one query" if by_query else counted(len(groups), "strict judgment")
        raise InputError(f"intervals from {held}", f"{more} intervals")
    if choose is None and learner.C == "cv":
        choose = "dcg"
    learned: list[Factors] = []
    chosen: list[float] = []
    refused: list[SolverError] = []
    for done in range(resamples):
        times = np.bincount(rng.integers(n_queries, size=n_queries), minlength=n_queries)
        try:
            found = _learn_again(learner, preferences, times[groups], rng, choose)
            learned.append(found.factors_as_in(learner.identifiability_))
            chosen.append(found.problem.C)
        except InputError:  # a resample may hold one grade only, or cancel out
            pass
        except SolverError as error:
            refused.append(error)
        advance(done + 1, resamples)
    if MOST_UNSOLVED * resamples < len(refused):
        raise SolverError(
            f"{len(refused)} of {resamples} resamples were not solved; the last: {refused[-1]}"
        )
    left_out = resamples - len(learned)
    if 2 * left_out > resamples:
        raise InputError(
            f"nothing can be learned from {left_out} of {resamples} resamples of the "
            f"{'queries' if by_query else 'judgments'}",
            f"{more} intervals",
        )
    tails = [(1 - level) / 2, (1 + level) / 2]
    gains = np.quantile([one.gains for one in learned], tails, axis=0).T
    discounts = np.quantile([one.discounts for one in learned], tails, axis=0).T
    known = learner.identifiability_
    gains[_by_penalty(known.gains_determined_by)] = np.nan
    discounts[_by_penalty(known.discounts_determined_by)] = np.nan
    C = (min(chosen), max(chosen))
    return ParameterIntervals(
        gains, discounts, level, resamples, left_out, C, by_query, len(refused)
    )


def _by_penalty(determined_by: Sequence[Determined]) -> NDArray[np.bool_]:
    return np.array([by != "data" for by in determined_by])


def _learn_again(
    learner: CoreLearner,
    preferences: Preferences,
    times: NDArray[np.integer],
    rng: np.random.Generator,
    choose: MeasurePart | None,
) -> Fit:
    """Learn from each judgment as often as it was drawn."""
    weights = times * preferences.pair_weights
    drawn = weights > 0
    again = learner.with_parameters(C=learner.C_, n_grades=learner.utility_.n_grades)
    problem = again.problem(preferences.pairs[drawn], weights[drawn])
    if choose is not None:
        groups = preferences.pair_groups[drawn]
        problem = problem.with_C(
            choose_C(problem, groups, rng, solver=learner.solver, use=choose, n_repeats=1).C
        )
        return fit(problem, learner.solver)
    return fit(problem, learner.solver)
