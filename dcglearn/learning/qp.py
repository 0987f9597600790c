"""The three problems of Zhou, Zha, Xue & Yu (arXiv 1212.5650) as they are printed.

    min   w'w + C sum_i v_i xi_i^2
    s.t.  w'(s(pi_i) - s(pi_i')) >= m_i - xi_i,   xi_i >= 0         (eq. 1, 4, 6)
          W[k, l] >= W[k, l + 1]                                    (eq. 1, 4)

A readable reference: one slack a pair, so it is meant for up to some tens of thousands
of pairs. No solver's word is taken: every answer is polished and judged by its
certificate, and one that is not confirmed raises.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import cvxpy as cp

from dcglearn.base.errors import SolverError
from dcglearn.base.names import unknown_name
from dcglearn.learning.certificate import TOLERANCE, Certificate, certify
from dcglearn.learning.encoding import difference_matrix
from dcglearn.learning.polish import polish
from dcglearn.learning.problem import Problem
from dcglearn.measures.discounts import Floats

SolverName = Literal["auto", "osqp", "clarabel"]
SOLVERS: tuple[SolverName, ...] = ("auto", "osqp", "clarabel")

MOST_PAIRS_FOR_OSQP = 500
"""Up to here OSQP with polishing was seen to be exact; beyond, Clarabel is as fast and
OSQP needs ever more iterations, more than it is given where C is large."""

_OPTIONS = {
    # No warm start: an answer must not depend on what was solved before it.
    "osqp": {
        "solver": cp.OSQP,
        "warm_start": False,
        "polishing": True,
        "eps_abs": 1e-5,
        "eps_rel": 1e-5,
        "max_iter": 10_000,
    },
    "clarabel": {
        "solver": cp.CLARABEL,
        "tol_gap_abs": 1e-10,
        "tol_gap_rel": 1e-10,
        "tol_feas": 1e-10,
    },
}


@dataclass(frozen=True)
class Solution:
    """A confirmed answer.

    Attributes
    ----------
    W : ndarray of float, shape (K, L)
    certificate : Certificate
    solver : str
        Which solver it started from.
    status : str
        What that solver said of its own answer.
    iterations : int
    polished : bool
        Whether the answer was improved after the solver.
    """

    W: Floats
    certificate: Certificate
    solver: str
    status: str
    iterations: int
    polished: bool


def solve(problem: Problem, solver: SolverName = "auto") -> Solution:
    """Solve a problem to a confirmed optimum.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "osqp", "clarabel"}, default "auto"
        ``auto`` takes OSQP for up to 500 pairs and Clarabel beyond, or where
        OSQP's answer is not confirmed.

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
    if solver != "auto":
        names = [solver]
    elif len(problem.pairs) <= MOST_PAIRS_FOR_OSQP:
        names = ["osqp", "clarabel"]
    else:
        names = ["clarabel"]
    refused = []
    for name in names:
        found = _attempt(problem, name)
        if isinstance(found, Solution):
            return found
        refused.append(found)
    raise SolverError(
        f"no confirmed optimum (sqrt(gap) <= {TOLERANCE:g} |W| is asked for): "
        + "; ".join(refused)
        + "; rescale C, the weights or the margins, or name another solver"
    )


def model(problem: Problem) -> tuple[cp.Problem, cp.Variable]:
    """Return the problem as cvxpy states it, and its variable W.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    cvxpy.Problem
    cvxpy.Variable of shape (K, L)
    """
    W = cp.Variable(problem.shape, name="W")
    w = cp.vec(W, order="C")
    xi = cp.Variable(len(problem.pairs), name="xi")
    x = difference_matrix(problem.pairs, problem.n_grades)
    m, v, C = problem.margins, problem.weights, problem.C

    objective = cp.sum_squares(w) + C * (v @ cp.square(xi))
    constraints = [x @ w >= m - xi, xi >= 0]
    if problem.monotone and problem.n_grades > 1:
        constraints.append(W[:, :-1] >= W[:, 1:])
    return cp.Problem(cp.Minimize(objective), constraints), W


def _attempt(problem: Problem, name: str) -> Solution | str:
    """Return a confirmed solution, or what is to be said of the refused one."""
    program, W = model(problem)
    with warnings.catch_warnings():
        # cvxpy warns of an inaccurate answer; the certificate decides instead.
        warnings.simplefilter("ignore")
        try:
            program.solve(**_OPTIONS[name])
        except (cp.SolverError, ArithmeticError, ValueError) as error:
            return f"{name} failed ({error})"
    statistics = program.solver_stats
    iterations = int(getattr(statistics, "num_iters", None) or 0)
    if W.value is None:
        return f"{name} gave no answer (status {program.status}, {iterations} iterations)"
    answer, certificate = certify(problem, W.value)
    polished, judged = polish(problem, answer)
    if judged.gap < certificate.gap:
        answer, certificate, improved = polished, judged, True
    else:
        improved = False
    if not certificate.confirmed:
        return f"{name} said {program.status} after {iterations} iterations, but {certificate}"
    return Solution(answer, certificate, name, str(program.status), iterations, improved)
