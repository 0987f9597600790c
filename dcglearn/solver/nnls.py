"""Non-negative least squares from the normal equations, by exchanges of whole blocks.

    min  x'H x - 2 x'b,   x >= 0

is solved by the x that is free on a set F and 0 elsewhere, with H_FF x_F = b_F, where x is
positive on F and the slope H x - b is not negative elsewhere. Block principal pivoting
guesses F, solves, and exchanges all that have the wrong sign: Portugal, Judice & Vicente,
"A comparison of block pivoting and interior-point algorithms for linear least squares
problems with nonnegative variables" (Math. Comp. 63, 1994). A few exchanges do, and from the
F of a near problem one or two, where an active-set method takes one unknown at a time.

Exchanges may go round in circles. Where they do not bring the wrong signs below their
fewest for some time, the active-set method of Lawson & Hanson in SciPy takes over, from
nothing. (The paper exchanges one unknown at a time then, which is sure to end; on pieces with
400 unknowns that H hardly tells apart it had not ended after 1,500, each of which costs a
factor of H_FF.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dposv
from scipy.optimize import nnls

from dcglearn.base.types import Floats

PATIENCE = 3
"""Exchanges in a row that need not bring the wrong signs below their fewest."""

GRADIENT_ROUNDING = 16 * float(np.finfo(float).eps)
"""A slope can be told to ROUNDING h_i sum_j h_j |x_j| with h_i^2 = H_ii: the errors of a
Cholesky factor are of that shape. The residuals seen are below a tenth of it."""


def solve_nnls(H: Floats, b: Floats, start: NDArray[np.bool_] | None = None) -> Floats:
    """Minimise x'H x - 2 x'b over x >= 0.

    Parameters
    ----------
    H : ndarray of float, shape (n, n)
        Symmetric and positive definite.
    b : ndarray of float, shape (n,)
    start : ndarray of bool, shape (n,), optional
        Which unknowns are thought to be positive; by default those with a positive b.

    Returns
    -------
    ndarray of float, shape (n,)
        What is on the bound is exactly 0, also what is above it by rounding only.

    Raises
    ------
    LinAlgError
        If H is not positive definite in double precision.
    RuntimeError
        If SciPy's solver takes over and runs out of steps.

    Examples
    --------
    >>> solve_nnls(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([2.0, -1.0]))
    array([1., 0.])
    """
    diagonal = np.diagonal(H)
    if not (diagonal > 0).all():
        raise LinAlgError("the diagonal is not positive")
    h = np.sqrt(diagonal)
    free = b > 0 if start is None else start
    fewest, patience = len(b) + 1, PATIENCE
    while patience >= 0:
        x = _minimum_of_face(H, b, free)
        if x is None:
            break
        slope = H @ x - b
        rounding = (GRADIENT_ROUNDING * (h @ np.abs(x))) * h
        # A free x_i so small that its part of the slope is rounding is put on the bound, where
        # its slope is rounding too.
        better = np.where(free, diagonal * x, -slope) > rounding
        wrong = int(np.count_nonzero(better != free))
        if not wrong:
            if (np.where(free, np.abs(slope), -slope) <= rounding).all():
                return x
            break
        patience = PATIENCE if wrong < fewest else patience - 1
        fewest = min(wrong, fewest)
        free = better
    R = cholesky(H)
    return np.asarray(nnls(R, solve_triangular(R, b, trans="T"))[0])


def _minimum_of_face(H: Floats, b: Floats, free: NDArray[np.bool_]) -> Floats | None:
    """Return x with H_FF x_F = b_F and 0 elsewhere; None if H_FF has no factor."""
    x = np.zeros(len(b))
    (F,) = free.nonzero()
    if len(F):
        # The transpose, which is the same, is laid out as LAPACK wants it.
        _, x[F], failed = dposv(H.take(F, 0).take(F, 1).T, b[F], overwrite_a=1, overwrite_b=1)
        if failed:
            return None
    return x
