"""Fits to parts of the judgments: the choice of C, and how far learned numbers move.

**C** is chosen by cross-validation that keeps a query together. From 80 queries on, of all C whose
agreement is within one standard error of the best, the largest is taken: the weakest penalty, which
pulls discounts together and gains towards each other, and is not to win by chance. (Breiman,
Friedman, Olshen & Stone, Classification and Regression Trees, 1984, section 3.4.3, take the
simplest model instead, here the strongest penalty.) With fewer queries the C that agreed best is
taken: with 10 to 40 simulated queries of three judgments, a fifth of them wrong, it orders .03 more
of new pairs rightly.

**Resamples** of queries are those of the percentile bootstrap (Efron & Tibshirani, An Introduction
to the Bootstrap, 1993, chapter 13). They show the spread of the squared hinge, not its bias;
intervals that cover are those of the likelihood (:mod:`dcglearn.inference.estimate`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from typing import TYPE_CHECKING, cast

import numpy as np

from dcglearn.base.checks import checked_count, checked_rng
from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.progress import Advance, silent
from dcglearn.base.statistics import clustered_mean
from dcglearn.base.types import Floats, Integers
from dcglearn.judgments.preferences import Preferences, query_counts, query_folds
from dcglearn.learning.problem import Problem, SolverName
from dcglearn.learning.record import (
    FEW_QUERIES,
    ChosenC,
    Determined,
    Factors,
    ParameterIntervals,
)
from dcglearn.learning.solve import C_GRID, Fit, fit_path, solve
from dcglearn.measures.agreement import outcomes
from dcglearn.measures.measure import MeasurePart

if TYPE_CHECKING:
    from dcglearn.learning.learner import DCGLearner

MOST_UNSOLVED = 0.05
"""The share of resamples that may be left out because no optimum was confirmed."""


def choose_C(
    problem: Problem,
    groups: Integers,
    rng: np.random.Generator,
    n_folds: int = 5,
    grid: Iterable[float] = C_GRID,
    solver: SolverName = "auto",
    use: MeasurePart = "dcg",
    n_repeats: int = 5,
    advance: Advance = silent,
) -> ChosenC:
    """Choose C by repeated cross-validation that keeps the judgments of a query together.

    Parameters
    ----------
    problem : Problem
        Its own C has no effect.
    groups : ndarray of int, shape (n,)
        The query of each pair.
    rng : numpy.random.Generator
        Shuffles the queries into folds.
    n_folds : int, default 5
        Fewer if there are fewer queries.
    grid : iterable of float
        Candidates, at least one. Ascending values are fastest.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
    use : {"dcg", "utility"}, default "dcg"
        Whether the DCG of W is tested, as in ``DCGLearner.score``, or W itself.
    n_repeats : int, default 5
        How often the queries are divided into folds anew.
    advance : callable
        Called with (fits done, fits in all).

    Returns
    -------
    ChosenC
        The largest candidate within one standard error of the best; with fewer than 80 queries,
        the best.

    Raises
    ------
    InputError, SolverError
        If there is only one query, nothing can be learned from a training part, or an optimum is
        not confirmed.
    """
    candidates = tuple(grid)
    if not candidates:
        raise InputError("no candidate for C", "give at least one")
    n_queries = len(np.unique(groups))
    k = min(n_folds, n_queries)
    total = n_repeats * k * len(candidates)
    right = np.zeros((n_repeats, len(candidates), problem.n_pairs))
    done = 0
    for repeat in range(n_repeats):
        for f, (train, test) in enumerate(query_folds(groups, k, rng)):
            with naming_fold(f + 1, k):
                part = problem.take(train)
                held_out = problem.pairs[test]
                for c, learned in enumerate(fit_path(part, candidates, solver)):
                    measure = learned.dcg if use == "dcg" else learned.utility
                    right[repeat, c, test] = outcomes(measure, held_out)
                    done += 1
                    advance(done, total)
    weights = problem.arrays.weights
    agreement = np.average(right, axis=2, weights=weights).mean(axis=0)
    best = int(agreement.argmax())
    error = [
        0.0 if c == best else clustered_mean(right[:, best] - right[:, c], groups, weights).error
        for c in range(len(candidates))
    ]
    near = compress(candidates, agreement[best] - agreement <= error)
    chosen = max(near) if n_queries >= FEW_QUERIES else candidates[best]
    found = tuple(agreement.tolist()), tuple(error)
    return ChosenC(chosen, candidates, *found, n_queries < len(groups), n_queries)


@contextmanager
def naming_fold(number: int, count: int) -> Iterator[None]:
    """Name the training part in the message of an error."""
    where = f"without fold {number} of {count} of the cross-validation"
    try:
        yield
    except InputError as error:
        remedy = f"give `C` a value; or {error.remedy}"
        raise InputError(f"{where}: {error.problem}", remedy) from error
    except SolverError as error:
        raise SolverError(f"{where}: {error}") from error


def parameter_intervals(
    learned: Fit | DCGLearner,
    preferences: Preferences,
    rng: np.random.Generator,
    resamples: int = 200,
    level: float = 0.95,
    advance: Advance = silent,
    choose: MeasurePart | None = None,
) -> ParameterIntervals:
    """Compute how far a learned DCG's gains and discounts move with other queries.

    They are not intervals for the numbers of a judge.

    Parameters
    ----------
    learned : Fit or DCGLearner
        Of the strict judgments of `preferences`, in memory.
    preferences : Preferences
    rng : numpy.random.Generator
    resamples : int, default 200
        Each one is a fit.
    level : float, default 0.95
    advance : callable
        Called with (resamples done, resamples in all).
    choose : {"dcg", "utility"}, optional
        Choose C again in each resample, by cross-validation of this measure; by default the DCG,
        if C was chosen for the fit.

    Returns
    -------
    ParameterIntervals

    Raises
    ------
    InputError, SolverError
        If there are fewer than two queries, nothing can be learned from more than half of the
        resamples, or the optima of more than a twentieth of them are not confirmed.
    """
    checked_rng(rng)
    checked_count(resamples, "resamples")
    groups = preferences.pair_groups
    n_queries = int(groups.max(initial=-1)) + 1
    by_query = query_counts(preferences.queries[preferences.strict])[0] > 0
    remedy = f"judge more {'queries' if by_query else 'lists'}, or ask for no intervals"
    if n_queries < 2:
        held = "judgments of one query" if by_query else "1 strict judgment"
        raise InputError(f"intervals from {held}", remedy)
    first = fit_of(learned)
    known = first.identifiability
    solver = cast(SolverName, first.solution.solver)
    if choose is None and first.choice is not None:
        choose = "dcg"
    found: list[tuple[Factors, float]] = []

    def middle(drawn: Sequence[Floats], determined_by: Sequence[Determined]) -> Floats:
        bounds = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0).T
        return np.where(np.array(determined_by)[:, None] == "data", bounds, np.nan)

    unsolved = 0
    for done in range(resamples):
        times = np.bincount(rng.integers(n_queries, size=n_queries), minlength=n_queries)
        drawn = np.flatnonzero(times[groups])
        try:
            problem = first.problem.take(drawn, times[groups].astype(float))
            again = fit_choosing(problem, groups[drawn], rng, solver, choose)
            found.append((again.factors_as_in(known), again.problem.C))
        except InputError:  # a resample may hold one grade only, or cancel out
            pass
        except SolverError:
            unsolved += 1
            if unsolved > MOST_UNSOLVED * resamples:  # they are not a random part of all
                raise
        advance(done + 1, resamples)
    left_out = resamples - len(found)
    if 2 * left_out > resamples:
        raise InputError(f"nothing can be learned from {left_out} of {resamples} resamples", remedy)
    factors, chosen = zip(*found, strict=True)
    gains = middle([one.gains for one in factors], known.gains_determined_by)
    discounts = middle([one.discounts for one in factors], known.discounts_determined_by)
    C = min(chosen), max(chosen)
    return ParameterIntervals(gains, discounts, level, resamples, left_out, C, by_query)


def fit_of(learned: Fit | DCGLearner) -> Fit:
    """Return the fit of a learner; a Fit is one."""
    found: Fit | None = learned if isinstance(learned, Fit) else getattr(learned, "fit_", None)
    if found is None:
        raise InputError("the learner holds no pairs", "fit it again: files leave them out")
    return found


def fit_choosing(
    problem: Problem,
    groups: Integers,
    rng: np.random.Generator,
    solver: SolverName,
    use: MeasurePart | None,
    n_repeats: int = 1,
    advance: Advance = silent,
) -> Fit:
    """Fit a problem, with the C that cross-validation of a measure chooses, if one is named."""
    choice = None
    if use is not None:
        choice = choose_C(
            problem, groups, rng, solver=solver, use=use, n_repeats=n_repeats, advance=advance
        )
        problem = problem.with_C(choice.C)
    return Fit(problem, solve(problem, solver), choice)
