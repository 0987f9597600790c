"""Solve a problem to a confirmed optimum.

``newton`` needs no slack variables and is the fastest solver. ``osqp`` and ``clarabel`` solve
the problem as printed in the paper, through cvxpy, for comparison. Every answer is checked
by its certificate, whatever the solver reports; what is not confirmed raises.

An answer that is not the exact optimum is polished. It determines which pairs miss their margin (A)
and, from the ties of P(q) (see :mod:`dcglearn.learning.certificate`), which grades are tied at a
rank. Given both, the problem is least squares in the distinct values z, W = B z, where the 0/1
matrix B repeats the value of tied grades:

    B'(I + C X_A' V X_A) B z = B' C X_A' V m

This is solved exactly, the active set and the ties are determined again from the result, and so on
until they repeat. The answer with the smallest duality gap is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dcglearn.base.errors import InputError, SolverError, is_one_of, unknown_name
from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.learning.certificate import certify, primal_from_dual
from dcglearn.learning.codes import Block
from dcglearn.learning.newton import newton
from dcglearn.learning.problem import Problem
from dcglearn.learning.record import TOLERANCE, Certificate, SolverRun
from dcglearn.learning.sums import QuadraticModel, quadratic_model, residual_sums

SolverName = Literal["auto", "newton", "osqp", "clarabel"]
SOLVERS: tuple[SolverName, ...] = ("auto", "newton", "osqp", "clarabel")

C_GRID = tuple(10.0**power for power in range(-4, 4))
"""The powers of ten from 10^-4 to 10^3."""

MAX_POLISH_ROUNDS = 20

STIFF = 1e8
"""Where weights differ by more than this factor, an optimum that looks like 0 need not be 0."""


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
        If the solver's name is unknown; or if the optimum is 0, so that all lists are tied, and
        that could not be confirmed.
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
        W, model, status, iterations, passes, settled = _answer(problem, name, start)
        answer, certificate = certify(problem, W)
        improved = False
        if not (settled and certificate.confirmed):  # otherwise it is the exact optimum already
            polished, better = polish(problem, answer, certificate)
            if better.computed_gap < certificate.computed_gap:
                answer, certificate, improved = polished, better, True
        if not certificate.confirmed:
            least, largest = problem.sum_over_blocks(_weight_range).values
            if certificate.size <= certificate.distance and largest <= STIFF * least:
                check_not_zero(problem)
            raise SolverError(
                f"the optimum is not confirmed (|W - W*| <= {TOLERANCE:g} |W|): {name} ended with "
                f"{status!r} after {iterations} iterations; its answer has {certificate}; "
                f"{_scale(least, largest, problem.C)}; rescale `C`, the weights or the margins, or "
                "choose another `solver`"
            )
        if improved or model is None:
            model = problem.sum_over_blocks(quadratic_model, answer.ravel())
    return Solution(name, status, iterations, passes + 1, improved, answer, certificate, model)


def solve_path(
    problem: Problem, grid: Sequence[float], solver: SolverName = "auto"
) -> Iterator[Solution]:
    """Yield the optimum for each C of a grid, each started from the previous one.

    Neighbouring optima have nearly the same active set, so one or two Newton steps lead from one
    to the next; ascending grids are fastest.

    >>> problem = Problem.of([[[0], [1]]], 2)
    >>> [float(s.W[0, 0].round(3)) for s in solve_path(problem, [0.1, 1.0, 10.0])]
    [0.083, 0.333, 0.476]
    """
    solution = None
    for C in grid:
        solution = solve(problem.with_C(C), solver, solution)
        yield solution


def polish(problem: Problem, W: Floats, certificate: Certificate) -> tuple[Floats, Certificate]:
    """Improve an answer of the cone, and its certificate, until its active set repeats.

    >>> problem = Problem.of([[[0], [1]]], 2)
    >>> polish(problem, *certify(problem, np.array([[0.3, -0.3]])))[0]
    array([[ 0.33333333, -0.33333333]])
    """
    current = W
    solved: set[bytes] = set()
    for _ in range(MAX_POLISH_ROUNDS):
        r = problem.sum_over_blocks(residual_sums, current.ravel())
        face = problem.cone.project(primal_from_dual(problem, r.normal_residual))
        ties = problem.cone.ties(face)
        model = problem.sum_over_blocks(quadratic_model, current.ravel())
        key = model.linear.tobytes() + model.hessian.tobytes() + ties.tobytes()
        if key in solved:
            break
        solved.add(key)
        B = np.eye(ties[-1] + 1)[ties]
        A = B.T @ B + problem.C * (B.T @ model.hessian @ B)
        try:
            z = cho_solve(cho_factor(A), B.T @ (problem.C * model.linear))
        except LinAlgError:  # singular in double precision; the best so far is returned
            break
        current, found = certify(problem, (B @ z).reshape(problem.shape))
        if found.computed_gap < certificate.computed_gap:
            W, certificate = current, found
    return W, certificate


def check_not_zero(problem: Problem) -> None:
    """Refuse a problem whose optimum is W = 0, with the reason.

    The optimum is 0 iff the projection of C X'Vm, for the margins m that W = 0 misses, is 0.
    """
    at_zero = problem.sum_over_blocks(residual_sums, np.zeros(math.prod(problem.shape)))
    size = problem.C * at_zero.total
    q = primal_from_dual(problem, at_zero.normal_residual)
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


class _Answer(NamedTuple):
    """What a solver returns, not yet confirmed; its model may be unknown."""

    W: Floats
    model: QuadraticModel | None
    status: str
    iterations: int
    passes: int
    settled: bool


def _answer(problem: Problem, name: str, start: Solution | None) -> _Answer:
    if name == "newton":
        given = (start.W, start.model) if start else (None, None)
        try:
            W, model, iterations, passes, settled = newton(problem, *given)
        except SolverError as error:
            return _Answer(np.zeros(problem.shape), None, str(error), 0, 0, False)
        status = "the active pairs did not change" if settled else "no further descent"
        return _Answer(W, model, status, iterations, passes, settled)
    problem.arrays  # noqa: B018 - raises if the pairs are in files
    from dcglearn.learning.qp import solve_with_cvxpy  # cvxpy takes seconds to load

    W, iterations, status = solve_with_cvxpy(problem, name)
    return _Answer(W, None, status, iterations, 0, False)


def _scale(least: float, largest: float, C: float) -> str:
    """Return the cause of most refusals: how far the weights and C spread."""
    orders = math.log10(largest / least) if largest else 0.0
    return f"weights span {orders:.0f} orders of magnitude, C x weight is up to {C * largest:.0e}"


def _weight_range(block: Block) -> _WeightRange:
    v = np.ones(1) if block.weights is None else block.weights
    return _WeightRange((float(v.min(initial=math.inf, where=v > 0)), float(v.max(initial=0.0))))


class _WeightRange(NamedTuple):
    """The smallest positive and the largest weight."""

    values: tuple[float, float]

    def __add__(self, other: Any) -> Any:
        (least, largest), (lower, higher) = self.values, other.values
        return _WeightRange((min(least, lower), max(largest, higher)))
