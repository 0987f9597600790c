"""Cones of matrices W that are combinations of few generators, with coefficients of 0 or more.

    W = sum_j z_j A_j,   z >= 0

Such a cone restricts the learning problem: discounts that are given leave one generator per step
between neighbouring grades, gains that are given one per rank. Newton's method and the
certificate need two operations, both non-negative least squares in z: the minimum of a
quadratic over the cone, and the projection of a point on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.solver.fixed_point import exact_product
from dcglearn.solver.nnls import solve_nnls

NEGLIGIBLE_COEFFICIENT = 1e-12
"""Smaller coefficients of a point, relative to all, are rounding. At the optimum, generators that
are not used may have multipliers as large as C sum v r, and the gap contains their products."""

REFINEMENTS = 2
"""Each divides the error of a projection by about 10^16 / (condition number)^2."""


class Projection(NamedTuple):
    """The nearest point of a cone.

    Attributes
    ----------
    point : ndarray of float, shape (K L,)
    multipliers : ndarray of float, shape (p,)
        A'(point - q) >= 0, and 0 for the generators that the point uses.
    error : float
        An upper bound on the distance of the point from the exact projection.
    """

    point: Floats
    multipliers: Floats
    error: float


@dataclass(frozen=True, eq=False)
class GeneratedCone:
    """All combinations of generators with coefficients of 0 or more.

    Attributes
    ----------
    generators : ndarray of float, shape (K L, p)
        As columns, linearly independent.
    """

    generators: Floats

    def coefficients(self, w: Floats) -> Floats:
        """Return the coefficients z of the point of the cone that is nearest to w.

        Parameters
        ----------
        w : ndarray of float, shape (K L,)

        Returns
        -------
        ndarray of float, shape (p,)

        Examples
        --------
        >>> GeneratedCone(np.array([[1.0, 1.0], [0.0, 1.0]])).coefficients(np.array([3.0, 1.0]))
        array([2., 1.])
        """
        z = self._scaled(w)
        z[z <= NEGLIGIBLE_COEFFICIENT * float(np.linalg.norm(z))] = 0.0
        return z / self._lengths

    def nearest(self, w: Floats) -> Floats:
        """Return the point of the cone that is nearest to w, shape (K L,)."""
        return self.generators @ self.coefficients(w)

    def minimise(self, H: Floats, b: Floats, start: Floats) -> Floats:
        """Return the w of the cone with the smallest w'H w - 2 w'b.

        Parameters
        ----------
        H : ndarray of float, shape (K L, K L)
            Positive definite.
        b : ndarray of float, shape (K L,)
        start : ndarray of float, shape (K L,)
            A point of the cone: its positive coefficients are at first assumed to be positive.

        Returns
        -------
        ndarray of float, shape (K L,)
        """
        A = self._directions
        z = solve_nnls(A.T @ H @ A, A.T @ b, self.coefficients(start) > 0)
        return self.generators @ (z / self._lengths)

    def projection(self, q: Floats) -> Projection:
        """Project a point, which may be much larger than its projection, and bound the error.

        Parameters
        ----------
        q : ndarray of float, shape (K L,)

        Returns
        -------
        Projection
        """
        A, z = self._directions, self._scaled(q)
        face = z > 0
        for _ in range(REFINEMENTS):
            slopes = self._slopes(q, A @ z)
            if not face.any():
                break
            refined = z[face] + np.linalg.solve(self._gram[face][:, face], slopes[face])
            if (refined <= 0).any():
                break
            z[face] = refined
        point = A @ z
        slopes = self._slopes(q, point)
        # The point is the projection of a q that differs by at most |wrong| / sigma_min.
        wrong = np.where(face, np.abs(slopes), np.maximum(slopes, 0.0))
        rounding = 2.0**-51 * (len(z) + 4) * float(np.abs(z).sum())
        error = float(np.linalg.norm(wrong)) / self._least_singular_value + rounding
        multipliers = np.where(face, 0.0, np.maximum(-slopes, 0.0)) * self._lengths
        return Projection(point, multipliers, error)

    def _scaled(self, w: Floats) -> Floats:
        """Return the coefficients of the generators scaled to length 1."""
        A = self._directions
        z = solve_nnls(self._gram, A.T @ w)
        face = np.flatnonzero(z)
        if len(face):  # normal equations square the condition number; this does not
            exact = np.linalg.lstsq(A[:, face], w)[0]
            if (exact > 0).all():
                z[face] = exact
        return z

    def _slopes(self, q: Floats, point: Floats) -> Floats:
        """Return A'(q - point), each product and sum exact until it is rounded at the end."""
        A = self._directions.T
        parts = np.hstack([*exact_product(A, q), *exact_product(A, -point)])
        return np.array([math.fsum(row) for row in parts])

    @cached_property
    def _least_singular_value(self) -> float:
        return float(np.linalg.svd(self._directions, compute_uv=False)[-1])

    @cached_property
    def _lengths(self) -> Floats:
        lengths: Floats = np.linalg.norm(self.generators, axis=0)
        return lengths

    @cached_property
    def _directions(self) -> Floats:
        """The generators, scaled to length 1."""
        directions: Floats = self.generators / self._lengths
        return directions

    @cached_property
    def _gram(self) -> Floats:
        gram: Floats = self._directions.T @ self._directions
        return gram
