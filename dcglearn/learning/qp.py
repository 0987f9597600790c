"""The three problems of Zhou, Zha, Xue & Yu (arXiv 1212.5650) as printed, solved through cvxpy.

    min   w'w + C sum_i v_i xi_i^2
    s.t.  w'(s(pi_i) - s(pi_i')) >= m_i - xi_i,   xi_i >= 0         (eq. 1, 4, 6)
          W[k, l] >= W[k, l + 1]                                    (eq. 1, 4)

This is a readable reference with one slack variable per pair, for up to some tens of
thousands of pairs. Beyond some hundred pairs OSQP needs more and more iterations, and with a
large C more than its limit; Clarabel does not.
"""

from __future__ import annotations

import warnings

import cvxpy as cp

from dcglearn.base.errors import SolverError
from dcglearn.base.types import Floats
from dcglearn.learning.features import difference_matrix
from dcglearn.learning.problem import Problem

_OPTIONS = {
    # No warm start, so that an answer does not depend on what was solved before.
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


def cvxpy_problem(problem: Problem) -> tuple[cp.Problem, cp.Variable]:
    """Return the problem as a cvxpy problem, and its variable W.

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

    objective = cp.sum_squares(W - problem.prior) + C * (v @ cp.square(xi))
    constraints = [x @ w >= m - xi, xi >= 0]
    if problem.monotone and problem.n_grades > 1:
        constraints.append(W[:, :-1] >= W[:, 1:])
    return cp.Problem(cp.Minimize(objective), constraints), W


def solve_with_cvxpy(problem: Problem, solver: str) -> tuple[Floats, int, str]:
    """Return a solver's answer, without checking it.

    Parameters
    ----------
    problem : Problem
    solver : {"osqp", "clarabel"}

    Returns
    -------
    W : ndarray of float, shape (K, L)
    iterations : int
    status : str
        As reported by the solver.

    Raises
    ------
    SolverError
        If the solver returns no answer.
    """
    program, W = cvxpy_problem(problem)
    with warnings.catch_warnings():
        inaccurate = "Solution may be inaccurate"
        warnings.filterwarnings("ignore", inaccurate, UserWarning)  # the certificate decides
        try:
            program.solve(**_OPTIONS[solver])
        except (cp.SolverError, ArithmeticError, ValueError) as error:
            raise SolverError(f"{solver} failed ({error})") from error
    iterations = int(getattr(program.solver_stats, "num_iters", None) or 0)
    if W.value is None:
        raise SolverError(
            f"{solver} gave no answer (status {program.status}, {iterations} iterations)"
        )
    return W.value, iterations, str(program.status)
