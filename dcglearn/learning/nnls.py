"""Non-negative least squares from the normal equations, by block principal pivoting.

    min  x'H x - 2 x'b,   x >= 0

is solved by the x that is free on a set F and 0 elsewhere, with H_FF x_F = b_F, if x is
positive on F and the gradient H x - b is not negative elsewhere. Block principal pivoting
guesses F, solves, and exchanges all unknowns with the wrong sign: Portugal, Judice & Vicente,
"A comparison of block pivoting and interior-point algorithms for linear least squares
problems with nonnegative variables" (Math. Comp. 63, 1994). If exchanges cycle, SciPy's active-set
method (Lawson & Hanson) takes over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dposv

from dcglearn.base.types import Floats

PATIENCE = 3
"""Exchanges in a row that need not reduce the number of wrong signs below its minimum."""

GRADIENT_ROUNDING = 16 * float(np.finfo(float).eps)
"""A gradient component is known to within GRADIENT_ROUNDING h_i sum_j h_j |x_j| with
h_i^2 = H_ii, the form of the rounding errors of a Cholesky factor."""


def solve_nnls(
    H: Floats,
    b: Floats,
    start: NDArray[np.bool_] | None = None,
    signed: NDArray[np.bool_] | None = None,
) -> Floats:
    """Minimise x'H x - 2 x'b over x >= 0; unknowns above 0 only by rounding are exactly 0.

    `start` says which are positive at first, `signed` which may be negative, too. LinAlgError if H
    is not positive definite in double precision, RuntimeError if SciPy's solver reaches its limit.
    """
    diagonal = H.diagonal()
    if not (diagonal > 0).all():
        raise LinAlgError("the diagonal is not positive")
    h = np.sqrt(diagonal)
    signed = np.zeros(len(b), bool) if signed is None else signed
    free = (b > 0 if start is None else start) | signed
    fewest, patience = len(b) + 1, PATIENCE
    while patience >= 0:
        x = _minimum_on_face(H, b, free)
        if x is None:
            break
        gradient = H @ x - b
        rounding = (GRADIENT_ROUNDING * (h @ np.abs(x))) * h
        # A free x_i whose contribution to the gradient is below rounding is put on the bound;
        # its gradient is below rounding there too.
        better = (np.where(free, diagonal * x, -gradient) > rounding) | signed
        wrong = int(np.count_nonzero(better != free))
        if not wrong:
            if (np.abs(gradient) <= rounding)[free].all():
                return x
            break
        patience = PATIENCE if wrong < fewest else patience - 1
        fewest = min(wrong, fewest)
        free = better
    from scipy.optimize import nnls  # loads slowly

    order, n = np.argsort(~signed, kind="stable"), np.count_nonzero(signed)
    R = cholesky(H[np.ix_(order, order)])
    y = solve_triangular(R, b[order], trans="T")
    x = np.empty(len(b))
    x[order[n:]] = rest = nnls(R[n:, n:], y[n:])[0]
    x[order[:n]] = solve_triangular(R[:n, :n], y[:n] - R[:n, n:] @ rest)
    return x


def _minimum_on_face(H: Floats, b: Floats, free: NDArray[np.bool_]) -> Floats | None:
    """Return x with H_FF x_F = b_F and 0 elsewhere; None if H_FF is not positive definite."""
    x = np.zeros(len(b))
    (F,) = free.nonzero()
    if len(F):
        # H_FF is symmetric; its transpose has the memory order of LAPACK.
        _, x[F], failed = dposv(H.take(F, 0).take(F, 1).T, b[F], overwrite_a=1, overwrite_b=1)
        if failed:
            return None
    return x
