"""Polishing: from an approximate answer to the optimum, by solving for its active set.

An approximate answer determines which pairs miss their margin (A) and, from the ties of P(q)
(see :mod:`dcglearn.learning.certificate`), which grades are tied at a rank. Given both, the
problem is least squares in the distinct values z, W = B z, where the 0/1 matrix B repeats
the value of tied grades:

    B'(I + C X_A' V X_A) B z = B'(w_0 + C X_A' V m)

This is solved exactly, the active set and the ties are determined again from the result, and so on
until they repeat. The answer with the smallest duality gap is kept.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dcglearn.base.types import Floats
from dcglearn.learning.active_set import QuadraticModel, quadratic_model
from dcglearn.learning.certificate import Certificate, certify, primal_from_dual, project
from dcglearn.learning.problem import Objective
from dcglearn.learning.residuals import residual_sums

MAX_POLISH_ROUNDS = 20


def polish(problem: Objective, W: Floats) -> tuple[Floats, Certificate]:
    """Improve an approximate answer until its active set repeats.

    Parameters
    ----------
    problem : Objective
    W : ndarray of float, shape (K, L)
        An approximate answer.

    Returns
    -------
    W : ndarray of float, shape (K, L)
        The answer with the smallest duality gap, in the cone of non-increasing rows.
    certificate : Certificate

    Examples
    --------
    >>> from dcglearn.learning.problem import Problem
    >>> problem = Problem.of([[[0], [1]]], 2)
    >>> polish(problem, np.array([[0.3, -0.3]]))[0]
    array([[ 0.33333333, -0.33333333]])
    """
    best, certificate = certify(problem, W)
    current = best
    solved: set[bytes] = set()
    for _ in range(MAX_POLISH_ROUNDS):
        B = _face(problem, current)
        model = problem.sum_over_blocks(quadratic_model, current.ravel())
        key = model.linear.tobytes() + model.hessian.tobytes() + B.tobytes()
        if key in solved:
            break
        solved.add(key)
        try:
            current, current_certificate = certify(problem, _solve_model(problem, model, B))
        except LinAlgError:  # singular in double precision; the best so far is returned
            break
        if current_certificate.computed_gap < certificate.computed_gap:
            best, certificate = current, current_certificate
    return best, certificate


def _face(problem: Objective, W: Floats) -> Floats:
    """Return B, shape (K L, f): the 0/1 matrix of tied grades."""
    starts = np.ones(problem.shape, bool)
    if problem.monotone:
        q = primal_from_dual(problem, problem.sum_over_blocks(residual_sums, W.ravel()))
        target = project(problem, q)
        starts[:, 1:] = target[:, :-1] != target[:, 1:]
    ties = np.cumsum(starts.ravel()) - 1
    B: Floats = np.eye(ties[-1] + 1)[ties]
    return B


def _solve_model(problem: Objective, model: QuadraticModel, B: Floats) -> Floats:
    """Return the minimum of the quadratic model among the W = B z."""
    hessian = B.T @ B + problem.C * (B.T @ model.hessian @ B)
    linear = B.T @ (problem.prior.ravel() + problem.C * model.linear)
    values: Floats = cho_solve(cho_factor(hessian), linear)
    return np.array(B @ values, float).reshape(problem.shape)
