"""Choosing C by cross-validation: the weakest penalty that agrees as well with held-out queries.

Agreement with held-out queries hardly changes with C, and the best of several values is often best
by noise. Of all C whose agreement is within one standard error of the best, the largest is
taken: the weakest penalty. The penalty would pull discounts together and gains towards each other;
it is not to win by chance. Breiman, Friedman, Olshen & Stone (Classification and Regression Trees,
1984, section 3.4.3) use one standard error the other way: they take the simplest model, here the
strongest penalty. This rule is for the numbers, not for agreement, and has a price in it.

The cross-validation is repeated with new folds. The standard error is that of the difference from
the best C on the same judgments, by query (:mod:`dcglearn.statistics.clustered_means`), and the
variance between repeats is added. Every fold is solved along the whole path of C, each optimum
being the start of the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats
from dcglearn.correlation.agreement import outcomes, weighted_mean
from dcglearn.judgments.folds import query_folds
from dcglearn.learning.c_path import C_GRID, solve_path
from dcglearn.learning.fit import Fit
from dcglearn.learning.folds import naming_fold, variance_between_repeats
from dcglearn.learning.problem import Problem
from dcglearn.learning.solve import SolverName
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility
from dcglearn.naming.measure_files import MeasurePart
from dcglearn.statistics.clustered_means import clustered_mean

FEW_QUERIES = 80
"""With fewer queries standard errors are wide, and the rule leaves agreement behind."""


@dataclass(frozen=True)
class ChosenC:
    """The C that cross-validation chose, and the agreement of every candidate.

    Attributes
    ----------
    C : float
    grid : tuple of float
        The candidates.
    agreement : tuple of float
        Agreement with held-out queries, one per candidate.
    error : tuple of float
        The standard error of the difference from the best agreement, one per candidate; 0 for the
        best.
    by_query : bool
        Whether some pairs share a query; otherwise each pair was held out on its own.
    queries : int, optional
        How many there were.
    """

    C: float
    grid: tuple[float, ...]
    agreement: tuple[float, ...]
    error: tuple[float, ...]
    by_query: bool = True
    queries: int | None = None

    @property
    def remark(self) -> str:
        """What to know of the choice: an end of the grid, few queries; mostly empty."""
        return "; ".join(one for one in (self._end_of_grid, self._few_queries) if one)

    @property
    def _few_queries(self) -> str:
        best = self.grid[int(np.argmax(self.agreement))]
        if self.queries is None or self.queries >= FEW_QUERIES or best == self.C:
            return ""
        noun = "queries" if self.by_query else "judgments"
        return (
            f"with {self.queries} {noun} the rule may cost agreement: below about {FEW_QUERIES} "
            f"the C that agreed best, {best:g}, is often better with new ones"
        )

    @property
    def _end_of_grid(self) -> str:
        if len(self.grid) < 2 or min(self.grid) < self.C < max(self.grid):
            return ""
        if max(self.grid) == self.C:
            return (
                f"C = {self.C:g} is the largest tried: no stronger penalty agrees clearly better, "
                "and the data decide almost alone"
            )
        return (
            f"C = {self.C:g} is the smallest tried: any weaker penalty agrees clearly worse, and "
            "the penalty decides much of the result"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the choice as a JSON-able dict."""
        document = asdict(self) | {"remark": self.remark}
        del document["queries"]  # the remark has them where they are few
        if self.by_query:  # as earlier versions wrote it
            del document["by_query"]
        return document


def choose_C(
    problem: Problem,
    groups: NDArray[np.integer],
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
        The largest candidate within one standard error of the best.

    Raises
    ------
    InputError
        If there is only one query, if there are no candidates, or if nothing can be learned from
        a training part (the message names the fold).
    SolverError
        If an optimum is not confirmed (the message names the fold).
    """
    candidates = tuple(grid)
    n_queries = len(np.unique(groups))
    if not candidates:
        raise InputError("no candidate for C", "give at least one")
    by_query = n_queries < problem.n_pairs
    if n_queries < 2:
        raise InputError(
            f"{'pairs of one query' if by_query else 'one pair'} cannot be divided into folds",
            f"give `C` a value, or give {'pairs of more queries' if by_query else 'more pairs'}",
        )
    if n_repeats < 1:
        raise InputError(f"n_repeats is {n_repeats}", "use 1 or more")
    k = min(n_folds, n_queries)
    total = n_repeats * k * len(candidates)
    right = np.zeros((n_repeats, len(candidates), problem.n_pairs))
    done = 0
    for repeat in range(n_repeats):
        for f, (train, test) in enumerate(query_folds(groups, k, rng)):
            with naming_fold(f + 1, k):
                part, held_out = problem.take(train), problem.pairs[test]
                path = solve_path(part, candidates, solver)
                for c, (C, solution) in enumerate(zip(candidates, path, strict=True)):
                    if use == "dcg":
                        measure: Measure = Fit(part.with_C(C), solution).dcg
                    else:
                        measure = LinearUtility(solution.W)
                    right[repeat, c, test] = outcomes(measure, held_out)
                    done += 1
                    advance(done, total)
    return _within_one_error(candidates, right, groups, problem.weights)


def _within_one_error(
    grid: tuple[float, ...], right: Floats, groups: NDArray[np.integer], weights: Floats | None
) -> ChosenC:
    """Choose among candidates by their outcomes, shape (repeats, candidates, pairs)."""
    shares = np.array([[weighted_mean(row, weights) for row in repeat] for repeat in right])
    agreement, mean = shares.mean(axis=0), right.mean(axis=0)
    best = int(np.argmax(agreement))
    behind = agreement[best] - agreement
    error = np.zeros(len(grid))
    for c in range(len(grid)):
        if c != best:
            spread = variance_between_repeats(shares[:, best] - shares[:, c])
            difference = clustered_mean(mean[best] - mean[c], groups, weights, spread)
            error[c] = difference.error
    chosen = max(C for C, gap, one in zip(grid, behind, error, strict=True) if gap <= one)
    n_queries = len(np.unique(groups))
    found = tuple(agreement.tolist()), tuple(error.tolist())
    return ChosenC(chosen, grid, *found, n_queries < len(groups), n_queries)
