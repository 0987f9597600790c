"""Polishing: from a solver's near answer to the optimum, by solving its active piece.

Near the optimum it is known which pairs miss their margin (A) and, from the pools of
P(q) (see :mod:`dcglearn.solver.certificate`), which grades are tied at a rank. On
that piece the problem is a least-squares problem in the free values z, W = B z, with
B the 0/1 matrix that gives tied grades one value:

    B'(I + C X_A' V X_A) B z = B'(w_0 + C X_A' V m)

The piece is solved exactly, read off again from the answer, and so on until a piece
returns. The answer with the smallest duality gap is kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dcglearn.base.types import Floats
from dcglearn.solver.active_set import QuadraticModel, quadratic_model, residual_sums
from dcglearn.solver.certificate import Certificate, certify, primal_from_dual, project
from dcglearn.solver.problem import Objective

ROUNDS = 20


def polish(problem: Objective, W: Floats) -> tuple[Floats, Certificate]:
    """Improve a near answer until its active piece returns.

    Parameters
    ----------
    problem : Objective
    W : ndarray of float, shape (K, L)
        A near answer.

    Returns
    -------
    W : ndarray of float, shape (K, L)
        The best answer found, in the cone, by its certificate.
    certificate : Certificate

    Examples
    --------
    >>> from dcglearn.solver.problem import Problem
    >>> problem = Problem.of([[[0], [1]]], 2)
    >>> polish(problem, np.array([[0.3, -0.3]]))[0]
    array([[ 0.33333333, -0.33333333]])
    """
    best, certificate = certify(problem, W)
    current = best
    seen: set[bytes] = set()
    for _ in range(ROUNDS):
        blocks = _blocks(problem, current)
        at = problem.sum_over_blocks(quadratic_model, current.ravel())
        known = at.linear.tobytes() + at.hessian.tobytes() + blocks.tobytes()
        if known in seen:
            break
        seen.add(known)
        try:
            current, judged = certify(problem, _solve_piece(problem, at, blocks))
        except LinAlgError:  # a piece beyond double precision; the certificate will tell
            break
        if judged.gap < certificate.gap:
            best, certificate = current, judged
    return best, certificate


def _blocks(problem: Objective, W: Floats) -> NDArray[np.intp]:
    """Return the number of each cell's free value, (K L,): tied grades of a rank share one."""
    starts = np.ones(problem.shape, bool)
    if problem.monotone:
        target = project(
            problem, primal_from_dual(problem, problem.sum_over_blocks(residual_sums, W.ravel()))
        )
        starts[:, 1:] = target[:, :-1] != target[:, 1:]
    return np.cumsum(starts.ravel()) - 1


def _solve_piece(problem: Objective, at: QuadraticModel, blocks: NDArray[np.intp]) -> Floats:
    B = np.eye(blocks[-1] + 1)[blocks]
    hessian = B.T @ B + problem.C * (B.T @ at.hessian @ B)
    linear = B.T @ (problem.prior.ravel() + problem.C * at.linear)
    values = cho_solve(cho_factor(hessian), linear)
    return values[blocks].reshape(problem.shape)
