"""The three problems of Zhou, Zha, Xue & Yu (arXiv 1212.5650) as printed, solved through cvxpy.

    min   w'w + C sum_i v_i xi_i^2
    s.t.  w'(s(pi_i) - s(pi_i')) >= m_i - xi_i,   xi_i >= 0         (eq. 1, 4, 6)
          W[k, l] >= W[k, l + 1]                                    (eq. 1, 4)

The encoding s of a ranking has one unit vector per rank, one after the other. With five grades, the
1st, 5th and 3rd grade in that order are

    s(pi) = 10000 00001 00100        so that        u(pi) = <W, s(pi)>

(section 5.1, K x L). Rankings of K documents without grades have one unit vector of length K per
rank (section 8, K x K). An empty rank, -1, is a zero vector.

This is a readable reference for up to some tens of thousands of pairs. Beyond some hundred, and
with a large C, OSQP may reach its limit of iterations; Clarabel does not.
"""

import warnings

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array

from dcglearn.base.errors import SolverError
from dcglearn.base.types import Floats, Grades
from dcglearn.learning.problem import Problem

_OPTIONS = {
    # No warm start, so that an answer does not depend on what was solved before.
    "osqp": {"solver": cp.OSQP, "warm_start": False},
    "clarabel": {
        "solver": cp.CLARABEL,
        "tol_gap_abs": 1e-10,
        "tol_gap_rel": 1e-10,
        "tol_feas": 1e-10,
    },
}


def encode(rankings: Grades, n_grades: int) -> csr_array:
    """Return s(pi) of each ranking (n, K) of grade indices, shape (n, K L)."""
    rows, ranks = np.nonzero(rankings >= 0)
    columns = ranks * n_grades + rankings[rows, ranks]
    shape = (len(rankings), rankings.shape[1] * n_grades)
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def solve_with_cvxpy(problem: Problem, solver: str) -> tuple[Floats, int, str]:
    """Return the answer of ``osqp`` or ``clarabel``, not checked, its iterations and its status.

    The pairs of the problem are in memory.
    """
    pairs = problem.pairs
    L = problem.shape[1]
    m = problem.arrays.margins
    v = problem.arrays.weights
    W = cp.Variable(problem.shape, name="W")
    w = cp.vec(W, order="C")
    xi = cp.Variable(len(pairs), name="xi")
    x = encode(pairs[:, 0], L) - encode(pairs[:, 1], L)
    loss = cp.sum_squares(xi) if v is None else v @ cp.square(xi)
    constraints = [x @ w >= (1.0 if m is None else m) - xi, xi >= 0]
    if problem.monotone and L > 1:
        constraints.append(W[:, :-1] >= W[:, 1:])
    program = cp.Problem(cp.Minimize(cp.sum_squares(W) + problem.C * loss), constraints)
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
