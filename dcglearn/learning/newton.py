"""The same optimum without slack variables: semismooth Newton over the monotone cone.

    F(w) = w'w + C sum_i v_i max(0, m_i - w'x_i)^2

is quadratic as long as the same pairs miss their margin (A). The minimum of that piece
over the cone,

    min  w'H w - 2 w'b,   H = I + C X_A' V X_A,   b = C X_A' V m_A,

is a non-negative least-squares problem in the steps from grade to grade,
w[k, l] = o_k + sum_{j >= l} z[k, j] with z >= 0 and o free, so it has K L unknowns however
many pairs there are. Its direction is one of descent; the search along it is exact. When
the minimum of a piece misses the same margins, the piece is the right one and the minimum
is the optimum. The idea is that of Keerthi & DeCoste, "A Modified Finite Newton Method for
Fast Solution of Large Scale Linear SVMs" (JMLR 6, 2005), carried over to a cone.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import brentq, nnls
from scipy.sparse import csr_array

from dcglearn.base.errors import SolverError
from dcglearn.learning.encoding import difference_rows, gram_of
from dcglearn.learning.problem import Problem
from dcglearn.measures.discounts import Floats

MOST_STEPS = 100


def newton(problem: Problem) -> tuple[Floats, int, bool]:
    """Return the optimum, the steps it took, and whether the last piece returned.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    W : ndarray of float, shape (K, L)
        In the cone; tied grades are exactly tied.
    steps : int
    returned : bool
        Whether the minimum of the last piece misses the same margins: it is the
        optimum then. Otherwise W is the best point reached.

    Raises
    ------
    SolverError
        If a piece is beyond double precision.

    Examples
    --------
    >>> problem = Problem.of([[[0, 1], [1, 1]]], 2)
    >>> newton(problem)[0].round(4)
    array([[ 0.3333, -0.3333],
           [ 0.    ,  0.    ]])
    """
    X = difference_rows(problem.pairs, problem.n_grades)
    steps_to_weights = _steps_to_weights(problem)
    w: Floats = np.zeros(X.shape[1])
    reached: Floats = np.zeros(X.shape[0])
    for step in range(1, MOST_STEPS + 1):
        active = reached < problem.margins
        try:
            target = _minimum_of_piece(problem, X[np.flatnonzero(active)], active, steps_to_weights)
        except (LinAlgError, RuntimeError) as error:  # RuntimeError: nnls ran out of steps
            raise SolverError(f"a piece cannot be solved in double precision ({error})") from error
        reached_there = X @ target
        if np.array_equal(reached_there < problem.margins, active):
            return target.reshape(problem.shape), step, True
        along, reached_along = target - w, reached_there - reached
        t = _best_step(problem, w, along, reached, reached_along)
        if t * np.abs(along).max() <= 1e-15 * np.abs(w).max():
            break
        w = target if t == 1 else w + t * along
        reached = reached_there if t == 1 else X @ w
    return w.reshape(problem.shape), step, False


def _minimum_of_piece(
    problem: Problem, rows: Floats | csr_array, active: np.ndarray, steps_to_weights: Floats
) -> Floats:
    """Minimise the quadratic of the active pairs over the cone."""
    pull = problem.C * problem.weights[active]
    H = np.eye(rows.shape[1]) + gram_of(rows, pull)
    b = rows.T @ (pull * problem.margins[active])
    if not problem.monotone or problem.n_grades == 1:
        free: Floats = cho_solve(cho_factor(H), b)
        return free
    steps, offsets = _steps_and_offsets(
        steps_to_weights.T @ H @ steps_to_weights, steps_to_weights.T @ b, problem.shape[0]
    )
    lifted = np.zeros(problem.shape)
    lifted[:, :-1] = steps.reshape(len(lifted), -1)
    # Added up from the worst grade, so that a step of 0 ties two grades to the last bit.
    found: Floats = np.cumsum(lifted[:, ::-1], axis=1)[:, ::-1] + offsets[:, None]
    return found.ravel()


def _steps_and_offsets(H: Floats, b: Floats, n_ranks: int) -> tuple[Floats, Floats]:
    """Minimise over steps >= 0 and free offsets; the offsets come last, and are eliminated."""
    n = len(b) - n_ranks
    offsets = cho_factor(H[n:, n:])
    R = cholesky(H[:n, :n] - H[:n, n:] @ cho_solve(offsets, H[n:, :n]))
    slope = b[:n] - H[:n, n:] @ cho_solve(offsets, b[n:])
    steps, _ = nnls(R, solve_triangular(R, slope, trans="T"))
    return steps, cho_solve(offsets, b[n:] - H[n:, :n] @ steps)


def _steps_to_weights(problem: Problem) -> Floats:
    """Return the matrix that turns steps and offsets into w: 0 and 1 only."""
    n_ranks, n_grades = problem.shape
    upward = np.triu(np.ones((n_grades, n_grades)))[:, :-1]  # step j lifts the grades 0 ... j
    return np.hstack(
        [np.kron(np.eye(n_ranks), upward), np.kron(np.eye(n_ranks), np.ones((n_grades, 1)))]
    )


def _best_step(
    problem: Problem, w: Floats, along: Floats, reached: Floats, reached_along: Floats
) -> float:
    """Return the t in (0, 1] at which F is least on the way: its slope there is 0."""

    def slope(t: float) -> float:
        slacks = np.maximum(0.0, problem.margins - reached - t * reached_along)
        pull = problem.C * float((problem.weights * reached_along) @ slacks)
        return float(along @ w + t * (along @ along)) - pull

    return 1.0 if slope(1.0) <= 0 or slope(0.0) >= 0 else float(brentq(slope, 0.0, 1.0))
