"""Choosing C: the value whose fits agree best with queries they have not seen.

Every fold is solved along the whole path of C, each optimum begun from the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.progress import Advance, silent
from dcglearn.data.query_groups import group_numbers, query_folds
from dcglearn.learning.factors import factors_of
from dcglearn.measures.agreement import outcomes, weighted_mean
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility
from dcglearn.solver.c_path import C_GRID, solve_path
from dcglearn.solver.problem import Problem
from dcglearn.solver.solve import SolverName

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Choice:
    """The chosen C, and the agreement of every candidate with held-out queries.

    Attributes
    ----------
    C : float
    grid : tuple of float
    agreement : tuple of float
        One a candidate.
    """

    C: float
    grid: tuple[float, ...]
    agreement: tuple[float, ...]


def choose_C(
    problem: Problem,
    groups: NDArray[np.int64],
    rng: np.random.Generator,
    n_folds: int = 5,
    grid: Iterable[float] = C_GRID,
    solver: SolverName = "auto",
    use: str = "utility",
    advance: Advance = silent,
) -> Choice:
    """Choose C by cross-validation that keeps a query whole.

    Parameters
    ----------
    problem : Problem
        Its own C does not matter.
    groups : ndarray of int, shape (n,)
        The query of each pair.
    rng : numpy.random.Generator
        Shuffles the queries into folds.
    n_folds : int, default 5
        Fewer where there are fewer queries.
    grid, solver, use, advance
        As in :func:`cross_validate`.

    Returns
    -------
    Choice
        The smallest of the best: among equals, the one that shrinks most.

    Raises
    ------
    InputError
        If there is only one query, or a training part teaches nothing (naming the fold).
    """
    folds = query_folds(groups, min(n_folds, max(2, len(np.unique(groups)))), rng)
    return cross_validate(problem, list(folds), grid, solver, use, advance)


def interleaved(groups: ArrayLike, n_folds: int = 5) -> list[Fold]:
    """Deal groups out to folds by turns, in the order in which they first occur.

    Parameters
    ----------
    groups : array-like, shape (n,)
        The query of each pair.
    n_folds : int, default 5
        Fewer where there are fewer groups.

    Returns
    -------
    list of (train, test)
        Row numbers.

    Raises
    ------
    InputError
        If there is only one group, or fewer than two folds are asked for.

    Examples
    --------
    >>> [test.tolist() for _, test in interleaved(["q", "q", "p", "r"], 2)]
    [[0, 1, 3], [2]]
    """
    codes = group_numbers(groups)
    count = int(codes.max(initial=-1)) + 1
    if count < 2:
        raise InputError("one group of pairs has no folds", "name C, or give pairs of more queries")
    if n_folds < 2:
        raise InputError(f"n_folds is {n_folds}", "use 2 or more")
    turn = codes % min(n_folds, count)
    return [
        (np.flatnonzero(turn != fold), np.flatnonzero(turn == fold))
        for fold in range(turn.max() + 1)
    ]


def cross_validate(
    problem: Problem,
    folds: Sequence[Fold],
    grid: Iterable[float] = C_GRID,
    solver: SolverName = "auto",
    use: str = "utility",
    advance: Advance = silent,
) -> Choice:
    """Choose the C whose optima on the training parts agree best with the test parts.

    Parameters
    ----------
    problem : Problem
        Its own C does not matter.
    folds : sequence of (train, test)
        Row numbers of pairs; together the test parts are all pairs.
    grid : iterable of float
        Candidates, at least one; ascending is quickest.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
    use : {"utility", "dcg"}, default "utility"
        Whose agreement counts: that of W, as in ``DCGLearner.score``, or of its DCG.
    advance : callable
        Called with (fits done, fits in all).

    Returns
    -------
    Choice

    Raises
    ------
    InputError
        If a training part teaches nothing (naming the fold), or there is no candidate.
    SolverError
        If an optimum is not confirmed (naming the fold).
    """
    candidates = tuple(grid)
    if not candidates:
        raise InputError("no candidate for C", "give at least one")
    found = np.zeros((len(candidates), problem.n_pairs))
    for f, (train, test) in enumerate(folds):
        with _fold_named(f + 1, len(folds)):
            part = problem.take(train)
            path = solve_path(part, candidates, solver)
            for c, (C, solution) in enumerate(zip(candidates, path, strict=True)):
                measure: Measure = LinearUtility(solution.W)
                if use == "dcg":
                    factors = factors_of(part.with_C(C), solution)
                    measure = DCG(factors.gains, factors.discounts)
                found[c, test] = outcomes(measure, problem.pairs[test])
                advance(f * len(candidates) + c + 1, len(folds) * len(candidates))
    scores = tuple(weighted_mean(row, problem.weights) for row in found)
    best = min(C for C, score in zip(candidates, scores, strict=True) if score == max(scores))
    return Choice(best, candidates, scores)


@contextmanager
def _fold_named(number: int, count: int) -> Iterator[None]:
    """Say in an error which training part is meant."""
    where = f"without fold {number} of {count} of the cross-validation"
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error.problem}", f"name C; or {error.remedy}") from error
    except SolverError as error:
        raise SolverError(f"{where}: {error}") from error
