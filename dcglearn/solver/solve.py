"""Solving a problem to a confirmed optimum, whoever solves it.

``newton`` needs no slack variables and is the quickest; ``osqp`` and ``clarabel`` solve
the problem as it is printed, through cvxpy, and are there to be compared with. No
solver's word is taken: every answer is judged by its certificate, polished where that
helps, and one that is not confirmed raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dcglearn.base.errors import SolverError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.solver.active_set import QuadraticModel, quadratic_model
from dcglearn.solver.certificate import TOLERANCE, Certificate, certify
from dcglearn.solver.newton import newton
from dcglearn.solver.polish import polish
from dcglearn.solver.problem import Objective, Problem

SolverName = Literal["auto", "newton", "osqp", "clarabel"]
SOLVERS: tuple[SolverName, ...] = ("auto", "newton", "osqp", "clarabel")

MAX_CVXPY_PAIRS = 100_000
"""Pairs up to which ``auto`` tries the problem as it is printed: beyond, that takes minutes
and gigabytes."""


@dataclass(frozen=True)
class Solution:
    """A confirmed answer.

    Attributes
    ----------
    W : ndarray of float, shape (K, L)
    certificate : Certificate
    model : QuadraticModel
        The quadratic that the objective is around W, of the active pairs.
    solver : str
        Which solver it started from.
    status : str
        How it ended, in that solver's own words.
    iterations : int
    passes : int
        Over all pairs, the certificate's included; those of solvers that hold all of X are
        not counted.
    polished : bool
        Whether the answer was improved after the solver.
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
    problem : Problem, or another Objective
        The solvers of the problem as it is printed take a Problem only.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
        ``auto`` takes Newton, and Clarabel where that answer is not confirmed and there are
        at most :data:`MAX_CVXPY_PAIRS` pairs.
    start : Solution, optional
        Of the same pairs with another C: where Newton begins.

    Returns
    -------
    Solution

    Raises
    ------
    InputError
        If the solver's name is unknown.
    SolverError
        If no answer is confirmed, with each solver's status, iterations and what
        the certificate says.

    Examples
    --------
    >>> problem = Problem.of([[[0, 1], [1, 1]]], 2)
    >>> solve(problem).W.round(4)
    array([[ 0.3333, -0.3333],
           [ 0.    ,  0.    ]])
    """
    if solver not in SOLVERS:
        raise unknown_name("solver", solver, SOLVERS)
    refused = []
    for name in _tried(problem, solver):
        try:
            with one_blas_thread():
                return _attempt(problem, name, start)
        except SolverError as error:
            refused.append(str(error))
    raise SolverError(
        f"no confirmed optimum (sqrt(gap) <= {TOLERANCE:g} |W| is asked for): "
        + "; ".join(refused)
        + "; rescale C, the weights or the margins, or name another solver"
    )


def _tried(problem: Objective, solver: SolverName) -> list[str]:
    if solver != "auto":
        return [solver]
    few = isinstance(problem, Problem) and problem.n_pairs <= MAX_CVXPY_PAIRS
    return ["newton", "clarabel"] if few else ["newton"]


def _attempt(problem: Objective, name: str, start: Solution | None) -> Solution:
    """Return a confirmed solution, or raise with what is to be said of the refused one."""
    exact, passes, at = False, 0, None
    if name == "newton":
        where = (start.W, start.model) if start else ()
        W, at, iterations, passes, exact = newton(problem, *where)
        status = "the active pairs did not change" if exact else "no descent left"
    else:
        if not isinstance(problem, Problem):
            raise SolverError(f"{name} needs the pairs in memory")
        from dcglearn.solver.qp import solve_with_cvxpy  # cvxpy takes seconds to load

        W, iterations, status = solve_with_cvxpy(problem, name)
    answer, certificate = certify(problem, W)
    improved = False
    if not (exact and certificate.confirmed):  # then polishing has nothing to add
        polished, judged = polish(problem, answer)
        if judged.gap < certificate.gap:
            answer, certificate, improved = polished, judged, True
    if not certificate.confirmed:
        raise SolverError(f"{name} said {status} after {iterations} iterations, but {certificate}")
    if improved or at is None:
        at = problem.sum_over_blocks(quadratic_model, answer.ravel())
    return Solution(answer, certificate, at, name, status, iterations, passes + 1, improved)
