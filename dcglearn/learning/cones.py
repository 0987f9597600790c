"""The matrices W that are allowed: all of them, or those whose rows do not increase.

For monotone rows the unknowns of the quadratic are the steps between neighbouring entries of a row
and the offset of the row, W[k, l] = sum_{j >= l} z[k, j] with z[k, j] >= 0 except for the free
offset z[k, L - 1]. If H and b do not change with the offsets, the penalty alone decides them: each
row has the mean 0.

The unknowns are found by block principal pivoting:

    min  x'H x - 2 x'b,   x >= 0

is solved by the x that is free on a set F and 0 elsewhere, with H_FF x_F = b_F, if x is positive on
F and the gradient H x - b is not negative elsewhere. Block principal pivoting guesses F, solves,
and exchanges all unknowns with the wrong sign: Portugal, Judice & Vicente, "A comparison of block
pivoting and interior-point algorithms for linear least squares problems with nonnegative variables"
(Math. Comp. 63, 1994). Where that no longer reduces the number of wrong signs, F is that of SciPy's
non-negative least squares (Lawson & Hanson, Solving Least Squares Problems, 1974), which cannot
cycle.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dposv

from dcglearn.base.types import Booleans, Floats, Integers

PATIENCE = 3
"""Exchanges in a row that need not reduce the number of wrong signs below its minimum."""

MAX_EXCHANGES = 200
"""Exchanges after which the search ends."""

GRADIENT_ROUNDING = 16 * float(np.finfo(float).eps)
"""A gradient component is known to within GRADIENT_ROUNDING h_i sum_j h_j |x_j| with
h_i^2 = H_ii, the form of the rounding errors of a Cholesky factor."""


@dataclass(frozen=True)
class Cone:
    """Matrices W, (K, L), whose parts of `width` entries do not increase: rows, or of 1, any W."""

    width: int

    def minimise(self, H: Floats, b: Floats, C: float, start: Floats, offsets: bool) -> Floats:
        """Return the W of the cone with the smallest |W|^2 + C (w'H w - 2 w'b), shape (K, L).

        The face of `start`, which is in the cone, is the first guess; `offsets` says whether the
        second term changes if a number is added to a row. Errors are those of :func:`solve_nnls`.
        """
        rows = start.reshape(-1, self.width)
        K, L = rows.shape
        S, mean, penalty = _sums_of_steps(L, offsets or L == 1)
        in_steps = ((S.T @ H.reshape(K, L, -1)).reshape(-1, L) @ S).reshape(K * S.shape[1], -1)
        in_steps *= C
        same_row = np.einsum("kikj->kij", in_steps.reshape(K, S.shape[1], K, -1))  # a view
        same_row += penalty
        linear = C * (b.reshape(K, L) @ S)
        free, is_offset = np.zeros((2, K, S.shape[1]), bool)
        free[:, : L - 1], is_offset[:, L - 1 :] = rows[:, 1:] < rows[:, :-1], True
        z = solve_nnls(in_steps, linear.ravel(), free.ravel(), is_offset.ravel()).reshape(K, -1)
        if z.shape[1] < L:
            z = np.column_stack([z, z @ mean])
        # Summed from the last column, so that a step of 0 gives two exactly equal entries.
        return z[:, ::-1].cumsum(axis=1)[:, ::-1].reshape(start.shape)

    def project(self, W: Floats) -> Floats:
        """Return the nearest matrix of the cone, the isotonic regression of each part."""
        projected = np.array(W, float).reshape(-1, self.width)
        for k in np.flatnonzero((projected[:, 1:] > projected[:, :-1]).any(axis=1)):
            projected[k] = _non_increasing(projected[k])
        return projected.reshape(W.shape)

    def gap(self, W: Floats, q: Floats) -> tuple[float, Floats]:
        """Return |W - P(q)|^2 + 2 <W, P(q) - q> and P(q), for a W of the cone.

        The second term is a sum of z S over the steps z of W, with the multipliers
        S[k, l] = sum_{j <= l} (P(q) - q)[k, j] >= 0. S is 0 where P(q) has a step: what skips
        multipliers as large as C sum v r is accurate.
        """
        target = self.project(q)
        at, to, by = (one.reshape(-1, self.width) for one in (W, target, target - q))
        multipliers = np.maximum(0.0, by.cumsum(axis=1)[:, :-1])
        slack = ((at[:, :-1] - at[:, 1:]) * multipliers)[to[:, :-1] == to[:, 1:]].sum()
        off = (W - target).ravel()
        return float(off @ off + 2 * slack), target

    def ties(self, W: Floats) -> Integers:
        """Return the number of the group of tied neighbours that each entry is in, (K L,)."""
        starts = np.ones(W.shape, bool)
        rows = W.reshape(-1, self.width)
        starts.reshape(rows.shape)[:, 1:] = rows[:, 1:] != rows[:, :-1]
        return starts.ravel().cumsum() - 1


@lru_cache(8)
def _sums_of_steps(L: int, offsets: bool) -> tuple[Floats, Floats, Floats]:
    """Return S, with a row of W as S z for steps, and offset, z; the offset for mean 0; |row|^2."""
    S = np.tri(L).T if offsets else np.tri(L).T[:, :-1]
    rows = S if offsets else S - S.mean(axis=0)
    return S, rows[-1], rows.T @ rows


def _non_increasing(row: Floats) -> Floats:
    """Pool adjacent violators; SciPy's function is in a module that takes 0.15 s to load."""
    sums: list[float] = []
    sizes: list[int] = []
    for value in row.tolist():
        total = value
        size = 1
        while sums and sums[-1] / sizes[-1] < total / size:
            total += sums.pop()
            size += sizes.pop()
        sums.append(total)
        sizes.append(size)
    return np.repeat(np.array(sums) / sizes, sizes)


def solve_nnls(H: Floats, b: Floats, start: Booleans, signed: Booleans) -> Floats:
    """Minimise x'H x - 2 x'b over x >= 0; unknowns above 0 only by rounding are exactly 0.

    `start` says which are positive at first, `signed` which may be negative, too. LinAlgError if H
    is not positive definite in double precision, RuntimeError if exchanges do not end.
    """
    diagonal = H.diagonal()
    if not (diagonal > 0).all():
        raise LinAlgError("the diagonal is not positive")
    h = np.sqrt(diagonal)
    free = start | signed
    fewest = len(b) + 1
    patience = PATIENCE
    for _ in range(MAX_EXCHANGES):
        x = _minimum_on_face(H, b, free)
        gradient = H @ x - b
        rounding = (GRADIENT_ROUNDING * (h @ np.abs(x))) * h
        # A free x_i whose contribution to the gradient is below rounding is put on the bound;
        # its gradient is below rounding there too.
        better = (np.where(free, diagonal * x, -gradient) > rounding) | signed
        (wrong,) = (better != free).nonzero()
        if not len(wrong):
            return x
        patience = PATIENCE if len(wrong) < fewest else patience - 1
        fewest = min(len(wrong), fewest)
        free = better
        if patience < 0:
            free = _free_within_bounds(H, b, signed)
            patience = PATIENCE
    raise RuntimeError("the exchanges of least squares did not end")


def _free_within_bounds(H: Floats, b: Floats, signed: Booleans) -> Booleans:
    """Return which unknowns are not at their bounds at the minimum, by an active-set method."""
    from scipy.optimize import nnls  # loads slowly

    # The signed ones, first, bring their rows of the triangle to 0 whatever the others are.
    order = np.argsort(~signed, kind="stable")
    n_signed = int(signed.sum())
    root = cholesky(H[np.ix_(order, order)])
    free = signed.copy()
    target = solve_triangular(root, b[order], trans=1)
    free[order[n_signed:]] = nnls(root[n_signed:, n_signed:], target[n_signed:])[0] > 0
    return free


def _minimum_on_face(H: Floats, b: Floats, free: Booleans) -> Floats:
    """Return x with H_FF x_F = b_F and 0 elsewhere."""
    x = np.zeros(len(b))
    (F,) = free.nonzero()
    if len(F):
        # H_FF is symmetric; its transpose has the memory order of LAPACK.
        _, x[F], failed = dposv(H.take(F, 0).take(F, 1).T, b[F], overwrite_a=1, overwrite_b=1)
        if failed:
            raise LinAlgError(f"the hessian is not positive definite at {failed}")
    return x
