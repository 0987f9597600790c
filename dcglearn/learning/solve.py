"""Solve a problem to a confirmed optimum.

``newton`` is the fastest solver; ``osqp`` and ``clarabel`` solve the problem as printed, through
cvxpy. Every answer is checked by its certificate; what is not confirmed raises.

An answer that is not the exact optimum is polished: Newton's method descends from it. The one with
the smaller duality gap is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from dcglearn.base.errors import InputError, SolverError, is_one_of, unknown_name
from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.learning.certificate import certify
from dcglearn.learning.newton import Descent, descend, newton
from dcglearn.learning.problem import Problem, SolverName
from dcglearn.learning.record import TOLERANCE, Certificate, SolverRun
from dcglearn.learning.sums import QuadraticModel, quadratic_model, residual_sums

SOLVERS: tuple[SolverName, ...] = get_args(SolverName)

C_GRID = tuple(10.0**power for power in range(-4, 4))
"""The powers of ten from 10^-4 to 10^3."""


@dataclass(frozen=True, repr=False)
class Solution(SolverRun, ShortRepr):
    """A confirmed answer.

    Attributes
    ----------
    solver, status : str
        The solver whose answer it is, and how it ended, in its own words.
    iterations, passes : int
        Its steps, and passes over all pairs, including the certificate's.
    polished : bool
        Whether polishing improved its answer.
    W : ndarray of float, shape (K, L)
    certificate : Certificate
    model : QuadraticModel
        The quadratic model of the loss at W.
    """

    W: Floats
    certificate: Certificate
    model: QuadraticModel


def solve(problem: Problem, solver: SolverName = "auto", start: Solution | None = None) -> Solution:
    """Solve a problem to a confirmed optimum.

    Parameters
    ----------
    problem : Problem
        ``osqp`` and ``clarabel`` need its pairs in memory.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
        ``auto`` is Newton's method.
    start : Solution, optional
        Of the same pairs with another C: Newton's method starts from it.

    Returns
    -------
    Solution

    Raises
    ------
    InputError
        If the solver's name is unknown, or the optimum seems to be 0, so that all lists are tied.
    SolverError
        If the answer is not confirmed, with the status, the iterations and the certificate.

    Examples
    --------
    >>> problem = Problem.of([[[0, 1], [1, 1]]], 2)
    >>> solve(problem).W.round(4)
    array([[ 0.3333, -0.3333],
           [ 0.    ,  0.    ]])
    """
    if not is_one_of(solver, SOLVERS):
        raise unknown_name("solver", solver, SOLVERS)
    name = "newton" if solver == "auto" else solver
    with one_blas_thread():
        found, status = _answer(problem, name, start)
        (answer, certificate), model, improved = certify(problem, found.W), found.model, False
        if not (found.settled and certificate.confirmed):
            polished = descend(problem, answer)
            W, better = certify(problem, polished.W)
            if better.computed_gap < certificate.computed_gap:
                answer, certificate, model, improved = W, better, polished.model, True
        if not certificate.confirmed:
            if certificate.size <= certificate.distance:
                check_not_zero(problem)
            raise SolverError(
                f"the optimum is not confirmed (|W - W*| <= {TOLERANCE:g} |W|): {name} ended with "
                f"{status!r} after {found.steps} iterations; its answer has {certificate}; with "
                f"C = {problem.C:g}; rescale `C`, the weights or the margins, or choose another "
                "`solver`"
            )
    steps, passes = found.steps, found.passes + 1
    return Solution(name, status, steps, passes, improved, answer, certificate, model)


def solve_path(
    problem: Problem, grid: Sequence[float], solver: SolverName = "auto"
) -> Iterator[Solution]:
    """Yield the optimum for each C of a grid, started from the one before; ascending is fastest."""
    solution = None
    for C in grid:
        solution = solve(problem.with_C(C), solver, solution)
        yield solution


def check_not_zero(problem: Problem) -> None:
    """Refuse a problem whose optimum is W = 0, with the reason: then P(q) is 0 at W = 0."""
    at_zero = problem.sum_over_blocks(residual_sums, np.zeros(math.prod(problem.shape)))
    size = problem.C * at_zero.total
    q = problem.C * at_zero.normal_residual.reshape(problem.shape)
    if np.abs(problem.cone.project(q)).max() > 1e-12 * size:
        return
    if not size:
        raise InputError("no margin is above 0: W = 0 satisfies all pairs", "raise the margins")
    if np.abs(q).max() > 1e-12 * size:
        raise InputError(
            "all weights are 0 at the optimum: better grades lose more often than they win",
            "check that the scale names the best grade first",
        )
    raise InputError("the judgments cancel out", "give judgments that agree more with each other")


def _answer(problem: Problem, name: str, start: Solution | None) -> tuple[Descent, str]:
    """Return what a solver returns, not yet confirmed, and how it ended."""
    W, steps = np.zeros(problem.shape), 0
    if name == "newton":
        try:
            found = newton(problem, *((start.W, start.model) if start else ()))
            ended = "the active pairs did not change" if found.settled else "no further descent"
            return found, ended
        except SolverError as error:
            ended = str(error)
    else:
        problem.arrays  # noqa: B018 - raises if the pairs are in files
        from dcglearn.learning.qp import solve_with_cvxpy  # cvxpy takes seconds to load

        W, steps, ended = solve_with_cvxpy(problem, name)
    W = problem.cone.project(W)
    model = problem.sum_over_blocks(quadratic_model, W.ravel())
    return Descent(W, model, steps, passes=0, settled=False), ended
