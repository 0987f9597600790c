"""How much of a direction of W the data determine, as opposed to the size penalty w'w.

For a direction t, |t| = 1, and the hessian C X'VX of some pairs, the *data share* is

    share(t) = 1 - t'(I + C X'VX)^-1 t = sum_e (e't)^2 C h_e / (1 + C h_e)

with the eigenvectors e and eigenvalues h of X'VX. It is 0 where the penalty alone determines W,
and tends to 1 as the data do (in ridge regression: 1 minus the ratio of the posterior to the prior
variance along t). The null part of t, the sum over h_e = 0, is what no pair depends on.
"""

from __future__ import annotations

from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.learning.record import Gauge, is_affine

HALF = 0.5
"""Below this data share the penalty outweighs the data."""

NEGLIGIBLE = 1e-9
"""A data share below this is rounding: the data determine nothing."""


class DataShare:
    """Data shares of directions t of W, (..., K, L), for pairs with the given X'VX, and the gauge.

    At constant ranks (from 1) and in constant grades no pair differs.
    """

    def __init__(
        self,
        hessian: Floats,
        C: float,
        n_grades: int,
        constant_grades: tuple[int, ...] = (),
        constant_ranks: tuple[int, ...] = (),
    ) -> None:
        self.shape = (len(hessian) // n_grades, n_grades)
        self.constant_grades, self.constant_ranks = constant_grades, constant_ranks
        self.varying = np.array([grade not in constant_grades for grade in range(n_grades)])
        values, self._vectors = np.linalg.eigh(hessian)
        rounding = 10 * len(values) * np.finfo(float).eps * values.max(initial=0.0)
        self._null = values <= rounding
        self._penalty_share = 1.0 / (1.0 + C * np.where(self._null, 0.0, values))

    def share(self, directions: Floats) -> Floats:
        """Return the data share of each direction; 0 for the direction 0."""
        shares: Floats = self._squares(directions) @ (1.0 - self._penalty_share)
        return shares

    def null_part(self, directions: Floats) -> Floats:
        """Return the part of each direction in the null space of X; 1 for the direction 0."""
        parts: Floats = 1.0 - self._squares(directions) @ ~self._null
        return parts

    def _squares(self, directions: Floats) -> Floats:
        """Return (e't)^2 for the eigenvectors e of X'VX, shape (..., K L); they sum to 1."""
        flat = directions.reshape(*directions.shape[:-2], len(self._vectors))
        squares: Floats = (flat @ self._vectors) ** 2
        total = squares.sum(axis=-1, keepdims=True)
        squares[total[..., 0] <= 1e-24] = 0.0
        return squares / np.where(total > 1e-24, total, 1.0)

    @cached_property
    def determined_offsets(self) -> NDArray[np.bool_]:
        """Whether a rank's offset has half the share of its discount, shape (K,)."""
        ranks = np.eye(self.shape[0])[:, :, None]  # one direction per rank
        of_discounts = self.share(ranks * self.spaced_gains(1.0, -1.0))
        return self.share(ranks * self.varying) >= np.maximum(HALF * of_discounts, NEGLIGIBLE)

    @cached_property
    def gauge(self) -> Gauge:
        """The gauge that the pairs determine."""
        n_ranks, gains = self.shape[0], self.spaced_gains(1.0, -1.0)
        zero = "absolute" if self.determined_offsets.any() else "worst"
        differing = [k for k in range(n_ranks) if k + 1 not in self.constant_ranks]
        between = self.share((np.eye(n_ranks)[differing, :, None] - 1 / n_ranks) * gains)
        common = self.without_offsets(np.outer(np.ones(n_ranks), gains + self.varying))
        affine = self.share(common) < HALF * (np.median(between) if differing else 0.0)
        return cast(Gauge, f"{zero} order" if affine else zero)

    def spaced_gains(self, best: float, worst: float) -> Floats:
        """Return equally spaced gains of the varying grades, and 0 for the others."""
        gains = np.zeros(len(self.varying))
        gains[self.varying] = np.linspace(best, worst, int(self.varying.sum()))
        return gains

    def without_offsets(self, directions: Floats) -> Floats:
        """Subtract the rank offsets that are undetermined."""
        ones = self.varying * 1.0
        offsets = directions @ ones / max(1.0, ones.sum()) * ~self.determined_offsets
        without: Floats = directions - offsets[..., None] * ones
        return without

    def in_gauge(self, directions: Floats) -> Floats:
        """Subtract what the gauge fixes by convention."""
        free = self.without_offsets(directions * self.varying)
        return free - free.mean(axis=-2, keepdims=True) if is_affine(self.gauge) else free
