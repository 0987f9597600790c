"""Families of gains and discounts as what the learner's W is restricted to.

A free gain vector is non-increasing and ends in 0, a sum of steps; free discounts are 0 or
more: so W = c g' has the monotone rows that the learning problem asks for (Zhou, Zha, Xue & Yu,
arXiv 1212.5650, eq. 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.families.given import FamilyLike, discounts_like, gains_like
from dcglearn.families.model_steps import SolveConvex
from dcglearn.families.products import solve_product
from dcglearn.families.structure import ProductStructure, VectorCone
from dcglearn.families.vectors import FREE_FAMILY, Family
from dcglearn.solver.problem import Objective
from dcglearn.solver.product_point import ProductPoint
from dcglearn.solver.solve import Solution


@dataclass(frozen=True, eq=False)
class LearnedFamilies(ProductStructure):
    """The families of a learner, as its solver takes them.

    Attributes
    ----------
    gain_family, discount_family : Family
    """

    gain_family: Family
    discount_family: Family

    @classmethod
    def of(
        cls,
        gains: FamilyLike | None,
        discounts: FamilyLike | None,
        values: ArrayLike,
        n_ranks: int,
    ) -> LearnedFamilies:
        """Return the families by their names; the one that is not given is free.

        Parameters
        ----------
        gains, discounts : str or sequence of float, optional
            As :func:`~dcglearn.families.vectors.gain_family` and
            :func:`~dcglearn.families.vectors.discount_family` take them, or numbers.
        values : array-like of float, shape (L,)
            The values of the grades, strictly decreasing.
        n_ranks : int

        Returns
        -------
        LearnedFamilies

        Raises
        ------
        InputError
            If a name is unknown, or numbers are not those of gains or discounts.

        Examples
        --------
        >>> families = LearnedFamilies.of(None, "log2", [2.0, 1.0, 0.0], 5)
        >>> families.gain_family.name, families.gains.n_generators
        ('free', 2)
        """
        of_gains = gains_like(FREE_FAMILY if gains is None else gains, np.array(values, float))
        of_discounts = discounts_like(FREE_FAMILY if discounts is None else discounts, n_ranks)
        return cls(_gain_cone(of_gains), _discount_cone(of_discounts), of_gains, of_discounts)

    def solve(
        self, problem: Objective, solve_convex: SolveConvex, start: ProductPoint | None
    ) -> Solution:
        """Return the best W (see :func:`~dcglearn.families.products.solve_product`).

        Parameters
        ----------
        problem : Objective
        solve_convex : callable
            Solves convex problems.
        start : ProductPoint, optional
        """
        return solve_product(problem, self, solve_convex, start)

    @property
    def given(self) -> tuple[bool, bool]:
        """Whether the gains, and whether the discounts, are given up to the scale."""
        sides = (self.gains, self.discounts)
        families = (self.gain_family, self.discount_family)
        return tuple(  # type: ignore[return-value]  # a tuple of two, which mypy cannot count
            side.n_generators == 1 and family.shape is None
            for side, family in zip(sides, families, strict=True)
        )


def _gain_cone(family: Family) -> VectorCone:
    values = family.at(family.start).values
    if family.shape is not None:
        return VectorCone(
            lambda t: family.at(np.array([t])).values[:, None],
            (float(family.lower[0]), float(family.upper[0])),
            lambda t: family.at(np.array([t])).jacobian[:, 0],
            float(family.start[0]),
        )
    n_grades = len(values)
    steps = np.triu(np.ones((n_grades, n_grades)))[:, :-1]
    generators = steps if family.name == FREE_FAMILY else values[:, None]
    return VectorCone(lambda _: generators)


def _discount_cone(family: Family) -> VectorCone:
    """Return the cone of a family; its scale is a coefficient."""
    if family.shape is not None:
        return VectorCone(
            lambda t: family.at(np.array([1.0, t])).values[:, None],
            (float(family.lower[1]), float(family.upper[1])),
            lambda t: family.at(np.array([1.0, t])).jacobian[:, 1],
            float(family.start[1]),
        )
    generators = family.at(family.start).jacobian
    return VectorCone(lambda _: generators)
