"""The minimum of a quadratic over matrices with non-increasing rows, by non-negative least squares.

    min_W  |W - W_0|^2 + C (w'H w - 2 w'b)      s.t.   W[k, l] >= W[k, l + 1]

The unknowns are the steps between neighbouring entries of a row and the offset of the row,
W[k, l] = sum_{j >= l} z[k, j] with z[k, j] >= 0 except for the free offset z[k, L - 1]. If H and
b do not change with the offsets, the penalty alone decides them: each row keeps the mean of W_0.
Otherwise they are eliminated; the Schur complement of their block is the matrix of the
non-negative least-squares problem in the steps.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dtrtrs

from dcglearn.base.types import Floats
from dcglearn.learning.nnls import solve_nnls


def monotone_minimum(
    H: Floats, b: Floats, C: float, prior: Floats, start: Floats, offsets: bool
) -> Floats:
    """Minimise |W - W_0|^2 + C (w'H w - 2 w'b) over the matrices with non-increasing rows.

    Parameters
    ----------
    H : ndarray of float, shape (K L, K L)
        Symmetric and positive semidefinite.
    b : ndarray of float, shape (K L,)
    C : float
    prior : ndarray of float, shape (K, L)
        W_0.
    start : ndarray of float, shape (K, L)
        Its rows are non-increasing; which of its entries are tied is the first guess.
    offsets : bool
        Whether w'H w - 2 w'b changes if a number is added to a row of W.

    Returns
    -------
    ndarray of float, shape (K, L)
        Tied entries are exactly equal.

    Raises
    ------
    LinAlgError
        If I + C H is not positive definite in double precision.
    RuntimeError
        If the non-negative least-squares problem is not solved.

    Examples
    --------
    >>> H, b = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0])
    >>> monotone_minimum(H, b, 1.0, np.zeros((1, 2)), np.zeros((1, 2)), False).round(4)
    array([[ 0.3333, -0.3333]])
    """
    K, L = prior.shape
    S, rows, penalty = _sums_of_steps(L, offsets)
    in_steps = ((S.T @ H.reshape(K, L, -1)).reshape(-1, L) @ S).reshape(K * S.shape[1], -1)
    in_steps *= C
    same_row = np.einsum("kikj->kij", in_steps.reshape(K, S.shape[1], K, -1))  # a view
    same_row += penalty
    linear = C * (b.reshape(K, L) @ S) + prior @ rows
    free = (start[:, :-1] > start[:, 1:]).ravel()
    z = np.empty((K, L))
    if offsets:
        z[:, :-1], z[:, -1] = _steps_and_offsets(in_steps, linear, free)
    else:
        z[:, :-1] = solve_nnls(in_steps, linear.ravel(), free).reshape(K, -1)
        z[:, -1] = prior.sum(axis=1) / L + z[:, :-1] @ rows[-1]
    # Summed from the last column, so that a step of 0 gives two exactly equal entries.
    return np.asarray(z[:, ::-1].cumsum(axis=1)[:, ::-1])


@lru_cache(8)
def _sums_of_steps(L: int, offsets: bool) -> tuple[Floats, Floats, Floats]:
    """Return S, shape (L, p), with a row of W as S z; S less the means of rows; and |row|^2.

    With offsets, p = L, and the rows keep their means. Otherwise z holds the p = L - 1 steps.
    """
    S = np.tri(L).T if offsets else np.tri(L).T[:, :-1]
    rows = S if offsets else S - S.mean(axis=0)
    return S, rows, rows.T @ rows


def _steps_and_offsets(H: Floats, b: Floats, free: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Minimise z'H z - 2 z'b over z, shape (K, L), with z >= 0 but for its last column."""
    K, L = b.shape
    T = H.reshape(K, L, K, L)
    R, failed = dpotrf(T[:, -1, :, -1], lower=0)
    if failed:
        raise LinAlgError(f"the hessian is not positive definite at {failed}")
    right = np.hstack([T[:, -1, :, :-1].reshape(K, -1), b[:, -1:]])
    U, u = np.split(dtrtrs(R, right, lower=0, trans=1)[0], [free.size], axis=1)
    schur = T[:, :-1, :, :-1].reshape(free.size, -1) - U.T @ U
    steps = solve_nnls(schur, b[:, :-1].ravel() - (U.T @ u)[:, 0], free)
    offsets = dtrtrs(R, u[:, 0] - U @ steps, lower=0)[0]
    return steps.reshape(K, L - 1), offsets
