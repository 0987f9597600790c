"""How far data, rather than the size penalty w'w, determine a direction of W.

For a direction t, |t| = 1, and the hessian C X'VX of some pairs, its *data share* is

    share(t) = 1 - t'(I + C X'VX)^-1 t = sum_e (e't)^2 C h_e / (1 + C h_e)

with the eigenvectors e and eigenvalues h of X'VX: 0 where the penalty (the ridge) decides
alone, towards 1 where the data do. Its unseen part, sum of (e't)^2 over h_e = 0, is what
no pair touches.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.learning.factorise import Gauge, is_order

HALF = 0.5
"""Below this data share the ridge weighs more than the data."""

NOTHING = 1e-9
"""Below this data share there are no data at all, but for rounding."""


class DataShares:
    """Data shares of directions t of W, for some pairs.

    Parameters
    ----------
    hessian : ndarray of float, shape (K L, K L)
        X'VX of the pairs.
    C : float
    n_grades : int
        L.
    still_grades : tuple of int
        Grades that never differ: nothing is said of them.
    """

    def __init__(
        self,
        hessian: Floats,
        C: float,
        n_grades: int,
        still_grades: tuple[int, ...] = (),
    ) -> None:
        self.shape = (len(hessian) // n_grades, n_grades)
        self.shown = np.array([grade not in still_grades for grade in range(n_grades)])
        values, self._vectors = np.linalg.eigh(hessian)
        noise = 10 * len(values) * np.finfo(float).eps * values.max(initial=0.0)
        self._hidden = values <= noise
        self._ridge = 1.0 / (1.0 + C * np.where(self._hidden, 0.0, values))

    def share(self, directions: Floats) -> Floats:
        """Return the data share of each direction (..., K, L); 0 for the direction 0."""
        found: Floats = self._parts(directions) @ (1.0 - self._ridge)
        return found

    def unseen(self, directions: Floats) -> Floats:
        """Return the part of each direction in the null space of X; 1 for the direction 0."""
        found: Floats = 1.0 - self._parts(directions) @ ~self._hidden
        return found

    def _parts(self, directions: Floats) -> Floats:
        """Return (e't)^2 for the eigenvectors e of X'VX, shape (..., K L); they add up to 1."""
        flat = directions.reshape(*directions.shape[:-2], len(self._vectors))
        parts: Floats = (flat @ self._vectors) ** 2
        total = parts.sum(axis=-1, keepdims=True)
        parts[total[..., 0] <= 1e-24] = 0.0
        return parts / np.where(total > 1e-24, total, 1.0)

    def pull_of_ridge(self, W: Floats) -> Floats:
        """Return (I + C X'VX)^-1 W = dW / d log C on the active piece, shape (K, L)."""
        found: Floats = self._vectors @ (self._ridge * (self._vectors.T @ W.ravel()))
        return found.reshape(W.shape)

    def gauge(self, still_ranks: tuple[int, ...]) -> tuple[Gauge, NDArray[np.bool_]]:
        """Choose how to read W: by what is half as well determined as what is beside it.

        Parameters
        ----------
        still_ranks : tuple of int
            Ranks (from 1) at which no pair differs.

        Returns
        -------
        gauge : {"worst", "absolute", "worst order", "absolute order"}
        seen_offsets : ndarray of bool, shape (K,)
        """
        n_ranks = self.shape[0]
        gains, ones = self.spaced(1.0, -1.0), self.shown * 1.0
        ranks = np.eye(n_ranks)[:, :, None]  # one direction a rank
        seen = self.share(ranks * ones) >= np.maximum(HALF * self.share(ranks * gains), NOTHING)
        rows = "absolute" if seen.any() else "worst"
        moving = [k for k in range(n_ranks) if k + 1 not in still_ranks]
        between = self.share((ranks[moving] - 1 / n_ranks) * gains)
        offset = self.share(self.without_offsets(np.outer(np.ones(n_ranks), gains + ones), seen))
        order = offset < HALF * (np.median(between) if moving else 0.0)
        return cast(Gauge, f"{rows} order" if order else rows), seen

    def spaced(self, best: float, worst: float) -> Floats:
        """Return equally spaced gains of the grades that are shown, 0 for the others."""
        gains = np.zeros(len(self.shown))
        gains[self.shown] = np.linspace(best, worst, int(self.shown.sum()))
        return gains

    def without_offsets(self, directions: Floats, seen: NDArray[np.bool_]) -> Floats:
        """Take off directions (..., K, L) the rank offsets that are not seen."""
        ones = self.shown * 1.0
        offsets = directions @ ones / max(1.0, ones.sum()) * ~seen
        found: Floats = directions - offsets[..., None] * ones
        return found

    def in_gauge(self, directions: Floats, gauge: Gauge, seen: NDArray[np.bool_]) -> Floats:
        """Take off directions (..., K, L) what the gauge declares to be without meaning."""
        found = self.without_offsets(directions * self.shown, seen)
        return found - found.mean(axis=-2, keepdims=True) if is_order(gauge) else found
