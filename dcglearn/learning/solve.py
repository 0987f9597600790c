"""Solve a problem to a confirmed optimum.

``newton`` needs no slack variables and is the fastest solver. ``osqp`` and ``clarabel`` solve
the problem as printed in the paper, through cvxpy, for comparison. Every answer is checked
by its certificate, whatever the solver reports, and polished if that improves it. An answer
that double precision cannot confirm is solved for again in exact arithmetic
(:mod:`dcglearn.learning.exact`); what is not confirmed then raises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from dcglearn.base.errors import SolverError, is_one_of, unknown_name
from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.learning.active_set import QuadraticModel, quadratic_model
from dcglearn.learning.certificate import TOLERANCE, Certificate, certify
from dcglearn.learning.codes import Block
from dcglearn.learning.exact import solve_exactly
from dcglearn.learning.newton import newton
from dcglearn.learning.polish import polish
from dcglearn.learning.problem import Objective, Problem

SolverName = Literal["auto", "newton", "osqp", "clarabel"]
SOLVERS: tuple[SolverName, ...] = ("auto", "newton", "osqp", "clarabel")

MAX_CVXPY_PAIRS = 100_000
"""Number of pairs up to which ``auto`` tries Clarabel; with more it takes minutes and gigabytes."""


@dataclass(frozen=True, repr=False)
class Solution(ShortRepr):
    """A confirmed answer.

    Attributes
    ----------
    W : ndarray of float, shape (K, L)
    certificate : Certificate
    model : QuadraticModel
        The quadratic model of the loss at W.
    solver : str
        The solver whose answer it is.
    status : str
        How that solver ended, in its own words.
    iterations : int
    passes : int
        Over all pairs, including the certificate's. Those of solvers that hold all of X are not
        counted.
    polished : bool
        Whether polishing improved the solver's answer.
    """

    W: Floats
    certificate: Certificate
    model: QuadraticModel
    solver: str
    status: str
    iterations: int
    passes: int
    polished: bool


def solve(
    problem: Objective, solver: SolverName = "auto", start: Solution | None = None
) -> Solution:
    """Solve a problem to a confirmed optimum.

    Parameters
    ----------
    problem : Problem or another Objective
        ``osqp`` and ``clarabel`` need a Problem, with its pairs in memory.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
        ``auto`` uses Newton's method, and then Clarabel if that answer is not confirmed and
        there are at most :data:`MAX_CVXPY_PAIRS` pairs.
    start : Solution, optional
        Of the same pairs with another C: Newton's method starts from it.

    Returns
    -------
    Solution

    Raises
    ------
    InputError
        If the solver's name is unknown.
    SolverError
        If no answer is confirmed, with the status, the iterations and the certificate of each
        solver.

    Examples
    --------
    >>> problem = Problem.of([[[0, 1], [1, 1]]], 2)
    >>> solve(problem).W.round(4)
    array([[ 0.3333, -0.3333],
           [ 0.    ,  0.    ]])
    """
    if not is_one_of(solver, SOLVERS):
        raise unknown_name("solver", solver, SOLVERS)
    with one_blas_thread():
        if start is None:
            return _solve_convex(solver, problem, None, None)
        return _solve_convex(solver, problem, start.W, start.model)


def _solve_convex(
    solver: SolverName, problem: Objective, start: Floats | None, model: QuadraticModel | None
) -> Solution:
    """Return the first confirmed solution of the solvers to try."""
    refused = []
    for name in _solvers_to_try(problem, solver):
        try:
            return _confirmed_solution(problem, name, start, model)
        except SolverError as error:
            refused.append(str(error))
    raise SolverError(
        f"no solver reached a confirmed optimum (|W - W*| <= {TOLERANCE:g} |W|): "
        + "; ".join(refused)
        + f"; {_scale(problem)}; "
        + "rescale `C`, the weights or the margins, or choose another `solver`"
    )


def _scale(problem: Objective) -> str:
    """Return the cause of most refusals: how far the weights and C spread."""
    least, largest = problem.sum_over_blocks(_weight_range).values
    orders = math.log10(largest / least) if largest else 0.0
    largest *= problem.C
    return f"weights span {orders:.0f} orders of magnitude, C x weight is up to {largest:.0e}"


def _weight_range(block: Block) -> _WeightRange:
    v = block.weights
    return _WeightRange((float(v.min(initial=math.inf, where=v > 0)), float(v.max(initial=0.0))))


class _WeightRange(NamedTuple):
    """The smallest positive and the largest weight."""

    values: tuple[float, float]

    def __add__(self, other: Any) -> Any:
        (least, largest), (lower, higher) = self.values, other.values
        return _WeightRange((min(least, lower), max(largest, higher)))


def _solvers_to_try(problem: Objective, solver: SolverName) -> list[str]:
    if solver != "auto":
        return [solver]
    few = isinstance(problem, Problem) and problem.n_pairs <= MAX_CVXPY_PAIRS
    return ["newton", "clarabel"] if few else ["newton"]


def _confirmed_solution(
    problem: Objective, name: str, start: Floats | None, model: QuadraticModel | None
) -> Solution:
    """Return a confirmed solution, or raise what is known about the answer that is not."""
    W, model, status, iterations, passes, settled = _answer(problem, name, start, model)
    answer, certificate = certify(problem, W)
    improved = False
    if not (settled and certificate.confirmed):  # otherwise it is the exact optimum already
        polished, polished_certificate = polish(problem, answer)
        if polished_certificate.computed_gap < certificate.computed_gap:
            answer, certificate, improved = polished, polished_certificate, True
    if not certificate.confirmed:
        ended = f"{name} ended with {status!r} after {iterations} iterations; its answer has "
        before = answer
        try:
            answer, certificate = solve_exactly(problem, answer)
        except SolverError as error:
            raise SolverError(f"{ended}{certificate}; {error}") from error
        if not certificate.confirmed:
            raise SolverError(f"{ended}{certificate}")
        improved |= not np.array_equal(answer, before)
    if improved or model is None:
        model = problem.sum_over_blocks(quadratic_model, answer.ravel())
    return Solution(answer, certificate, model, name, status, iterations, passes + 1, improved)


class _Answer(NamedTuple):
    """What a solver returns, not yet confirmed; its model may be unknown."""

    W: Floats
    model: QuadraticModel | None
    status: str
    iterations: int
    passes: int
    settled: bool


def _answer(
    problem: Objective, name: str, start: Floats | None, model: QuadraticModel | None
) -> _Answer:
    if name == "newton":
        try:
            W, model, iterations, passes, settled = newton(problem, start, model)
        except SolverError as error:
            return _Answer(problem.prior, None, str(error), 0, 0, False)
        status = "the active pairs did not change" if settled else "no further descent"
        return _Answer(W, model, status, iterations, passes, settled)
    if not isinstance(problem, Problem):
        raise SolverError(f"{name} needs the pairs in memory")
    from dcglearn.learning.qp import solve_with_cvxpy  # cvxpy takes seconds to load

    W, iterations, status = solve_with_cvxpy(problem, name)
    return _Answer(W, None, status, iterations, 0, False)
