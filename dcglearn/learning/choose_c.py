"""Choosing C by cross-validation: the value whose fits agree best with held-out queries.

Every fold is solved along the whole path of C, each optimum being the start of the next.
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
from dcglearn.learning.fit import Fit
from dcglearn.measures.agreement import outcomes, weighted_mean
from dcglearn.measures.files import MeasurePart
from dcglearn.solver.c_path import C_GRID, solve_path
from dcglearn.solver.problem import Problem
from dcglearn.solver.solve import SolverName

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Row numbers of the training part and of the test part."""


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
    use: MeasurePart = "utility",
    advance: Advance = silent,
) -> ChosenC:
    """Choose C by cross-validation that keeps the judgments of a query together.

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
    grid, solver, use, advance
        As in :func:`cross_validate`.

    Returns
    -------
    ChosenC

    Raises
    ------
    InputError
        If there is only one query, or nothing can be learned from a training part (the
        message names the fold).
    """
    folds = query_folds(groups, min(n_folds, max(2, len(np.unique(groups)))), rng)
    return cross_validate(problem, list(folds), grid, solver, use, advance)


def round_robin_folds(groups: ArrayLike, n_folds: int = 5) -> list[Fold]:
    """Deal groups out to folds in turn, in the order in which they first occur.

    Parameters
    ----------
    groups : array-like, shape (n,)
        The query of each pair.
    n_folds : int, default 5
        Fewer if there are fewer groups.

    Returns
    -------
    list of (train, test)
        Row numbers.

    Raises
    ------
    InputError
        If there is only one group, or `n_folds` is below 2.

    Examples
    --------
    >>> [test.tolist() for _, test in round_robin_folds(["q", "q", "p", "r"], 2)]
    [[0, 1, 3], [2]]
    """
    codes = group_numbers(groups)
    count = int(codes.max(initial=-1)) + 1
    if count < 2:
        raise InputError(
            "pairs of one group cannot be divided into folds",
            "give `C` a value, or give pairs of more queries",
        )
    if n_folds < 2:
        raise InputError(f"n_folds is {n_folds}", "use 2 or more")
    fold = codes % min(n_folds, count)
    return [
        (np.flatnonzero(fold != number), np.flatnonzero(fold == number))
        for number in range(fold.max() + 1)
    ]


def cross_validate(
    problem: Problem,
    folds: Sequence[Fold],
    grid: Iterable[float] = C_GRID,
    solver: SolverName = "auto",
    use: MeasurePart = "utility",
    advance: Advance = silent,
) -> ChosenC:
    """Choose the C whose optima on the training parts agree best with the test parts.

    Parameters
    ----------
    problem : Problem
        Its own C has no effect.
    folds : sequence of (train, test)
        Row numbers of pairs. Every pair is in one test part.
    grid : iterable of float
        Candidates, at least one. Ascending values are fastest.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
    use : {"utility", "dcg"}, default "utility"
        Whether W itself is tested, as in ``DCGLearner.score``, or its DCG.
    advance : callable
        Called with (fits done, fits in all).

    Returns
    -------
    ChosenC
        Among equally good candidates the smallest, which shrinks most.

    Raises
    ------
    InputError
        If nothing can be learned from a training part (the message names the fold), or
        there are no candidates.
    SolverError
        If an optimum is not confirmed (the message names the fold).
    """
    candidates = tuple(grid)
    if not candidates:
        raise InputError("no candidate for C", "give at least one")
    right = np.zeros((len(candidates), problem.n_pairs))
    for f, (train, test) in enumerate(folds):
        with _naming_fold(f + 1, len(folds)):
            part = problem.take(train)
            path = solve_path(part, candidates, solver)
            for c, (C, solution) in enumerate(zip(candidates, path, strict=True)):
                learned = Fit(part.with_C(C), solution)
                measure = learned.dcg if use == "dcg" else learned.utility
                right[c, test] = outcomes(measure, problem.pairs[test])
                advance(f * len(candidates) + c + 1, len(folds) * len(candidates))
    agreement = tuple(weighted_mean(row, problem.weights) for row in right)
    best = max(agreement)
    chosen = min(C for C, share in zip(candidates, agreement, strict=True) if share == best)
    return ChosenC(chosen, candidates, agreement)


@contextmanager
def _naming_fold(number: int, count: int) -> Iterator[None]:
    """Name the training part in the message of an error."""
    where = f"without fold {number} of {count} of the cross-validation"
    try:
        yield
    except InputError as error:
        remedy = f"give `C` a value; or {error.remedy}"
        raise InputError(f"{where}: {error.problem}", remedy) from error
    except SolverError as error:
        raise SolverError(f"{where}: {error}") from error
