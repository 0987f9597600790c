"""The matrices W that are allowed: all of them, or those whose rows do not increase.

For monotone rows the unknowns of the quadratic are the steps between neighbouring entries of a row
and the offset of the row, W[k, l] = sum_{j >= l} z[k, j] with z[k, j] >= 0 except for the free
offset z[k, L - 1]. If H and b do not change with the offsets, the penalty alone decides them:
each row has the mean 0. The projection is isotonic
regression of each row.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dposv

from dcglearn.base.types import Floats, Integers
from dcglearn.learning.nnls import solve_nnls


class Cone:
    """All matrices."""

    def minimise(self, H: Floats, b: Floats, C: float, start: Floats, offsets: bool) -> Floats:
        """Return the W of the cone with the smallest |W|^2 + C (w'H w - 2 w'b), shape (K, L).

        `start` is in the cone, and its face is the first guess; `offsets` says whether the second
        term changes if a number is added to a row. LinAlgError if I + C H is not positive
        definite in double precision, RuntimeError if least squares reach their step limit.
        """
        A = C * H
        A.flat[:: len(A) + 1] += 1
        _, w, failed = dposv(A.T, C * b, overwrite_a=1)  # the memory order of LAPACK
        if failed:
            raise LinAlgError(f"the hessian is not positive definite at {failed}")
        return np.asarray(w.reshape(start.shape))

    def project(self, W: Floats) -> Floats:
        """Return the nearest matrix of the cone; tied entries are exactly equal."""
        return np.array(W, float)

    def gap(self, W: Floats, q: Floats) -> tuple[float, Floats]:
        """Return |W - P(q)|^2 + 2 <W, P(q) - q> and P(q), for a W of the cone."""
        off = (W - q).ravel()
        return float(off @ off), q

    def ties(self, W: Floats) -> Integers:
        """Return the number of the group of tied entries that each one is in, shape (K L,)."""
        return np.arange(W.size)


class Monotone(Cone):
    """Matrices whose rows do not increase."""

    def minimise(self, H: Floats, b: Floats, C: float, start: Floats, offsets: bool) -> Floats:
        """Solve for steps and offsets."""
        K, L = start.shape
        S, mean, penalty = _sums_of_steps(L, offsets)
        in_steps = ((S.T @ H.reshape(K, L, -1)).reshape(-1, L) @ S).reshape(K * S.shape[1], -1)
        in_steps *= C
        same_row = np.einsum("kikj->kij", in_steps.reshape(K, S.shape[1], K, -1))  # a view
        same_row += penalty
        linear = C * (b.reshape(K, L) @ S)
        z, free = np.empty((K, L)), np.ones(linear.shape, bool)
        is_offset = np.zeros_like(free)
        is_offset[:, L - 1 :] = True
        free[:, : L - 1] = start[:, :-1] > start[:, 1:]
        found = solve_nnls(in_steps, linear.ravel(), free.ravel(), is_offset.ravel())
        z[:, : S.shape[1]] = found.reshape(K, -1)
        if not offsets:
            z[:, -1] = z[:, :-1] @ mean
        # Summed from the last column, so that a step of 0 gives two exactly equal entries.
        return np.asarray(z[:, ::-1].cumsum(axis=1)[:, ::-1])

    def project(self, W: Floats) -> Floats:
        """Return the isotonic regression of each row."""
        projected = np.array(W, float)
        for k in np.flatnonzero((projected[:, 1:] > projected[:, :-1]).any(axis=1)):
            projected[k] = _non_increasing(projected[k])
        return projected

    def gap(self, W: Floats, q: Floats) -> tuple[float, Floats]:
        """Sum z S over the steps z of W, with S[k, l] = sum_{j <= l} (P(q) - q)[k, j] >= 0.

        S is 0 where P(q) has a step: what skips multipliers as large as C sum v r is accurate.
        """
        target, complementarity = self._tied_projection(W, q), 0.0
        if target is None:
            target = self.project(q)
            multipliers = np.maximum(0.0, (target - q).cumsum(axis=1)[:, :-1])
            tied = target[:, :-1] == target[:, 1:]
            complementarity = float(((W[:, :-1] - W[:, 1:]) * multipliers)[tied].sum())
        off = (W - target).ravel()
        return float(off @ off) + 2 * complementarity, target

    def ties(self, W: Floats) -> Integers:
        """Equal neighbours in a row are tied."""
        starts = np.ones(W.shape, bool)
        starts[:, 1:] = W[:, 1:] != W[:, :-1]
        return np.asarray(starts.ravel().cumsum() - 1)

    def _tied_projection(self, W: Floats, q: Floats) -> Floats | None:
        """Return P(q) if its ties are those of W, as at the optimum; this is quick to verify."""
        group = self.ties(W)
        means = np.bincount(group, q.ravel()) / np.bincount(group)
        target: Floats = means[group].reshape(W.shape)
        falls = target[:, 1:] < target[:, :-1]
        multipliers = (target - q).cumsum(axis=1)[:, :-1]
        steps = W[:, 1:] != W[:, :-1]
        valid = (falls == steps).all() and (falls | (multipliers >= 0)).all()
        return target if valid else None


FREE, MONOTONE = Cone(), Monotone()


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
        total, size = value, 1
        while sums and sums[-1] / sizes[-1] < total / size:
            total, size = total + sums.pop(), size + sizes.pop()
        sums.append(total)
        sizes.append(size)
    return np.repeat(np.array(sums) / sizes, sizes)
