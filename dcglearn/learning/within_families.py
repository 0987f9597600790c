"""What pairs determine of gains and discounts that belong to families.

In families W = c g' moves only along the tangents of c and of g. The data share of a number is
that of :mod:`dcglearn.learning.data_share` among these directions: those of free gains, of free
discounts, of the parameter of a formula, and the scale. A number that is given has none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.families.learned import LearnedFamilies
from dcglearn.families.structure import VectorCone
from dcglearn.learning.data_share import HALF, DataShare, DeterminedGauge
from dcglearn.learning.factorise import Factors, product_factors
from dcglearn.learning.gauge import is_affine
from dcglearn.learning.identify import Identifiability, change_on_doubling, no_surer_than
from dcglearn.learning.null_space import constant_grades, null_space
from dcglearn.solver.active_set import GramMatrices
from dcglearn.solver.problem import Objective
from dcglearn.solver.product_point import ProductPoint, centred_columns
from dcglearn.solver.solve import Solution


@dataclass(frozen=True, eq=False)
class Tangents:
    """Directions of W within families, at a product.

    Attributes
    ----------
    projector : ndarray of float, shape (K L, K L)
        On all of them.
    of_discounts : ndarray of float, shape (K, K, L)
    of_gains : ndarray of float, shape (L, K, L)
        Those of each discount and each gain; 0 if it is given.
    """

    projector: Floats
    of_discounts: Floats
    of_gains: Floats

    @classmethod
    def of(cls, families: LearnedFamilies, point: ProductPoint, centred: bool) -> Tangents:
        """Return the directions at a product.

        Parameters
        ----------
        families : LearnedFamilies
        point : ProductPoint
        centred : bool
            Whether rows of W have the mean 0.
        """
        c, g = point.discounts, centred_columns(point.gains, centred)
        dc = _tangent(families.discounts, point.discount_parameter, len(c))
        dg = _tangent(families.gains, point.gain_parameter, len(g))
        if families.gains.n_generators > 1:
            dg[-1] = 0.0  # the worst grade is worth 0
        shown = centred_columns(dg, centred)
        columns = [np.outer(c, g).ravel()]
        columns += [np.outer(one, g).ravel() for one in dc.T]
        columns += [np.outer(c, one).ravel() for one in shown.T]
        U, s, _ = np.linalg.svd(np.array(columns).T, full_matrices=False)
        basis = U[:, s > 1e-10 * s[0]]
        of_discounts = np.array([np.outer(one, g) for one in (dc @ np.linalg.pinv(dc)).T])
        of_gains = np.array([np.outer(c, one) for one in (shown @ np.linalg.pinv(dg)).T])
        return cls(basis @ basis.T, of_discounts, of_gains)

    def shares(self, hessian: Floats, problem: Objective, constant: tuple[int, ...]) -> DataShare:
        """Return the data shares of directions in families.

        Parameters
        ----------
        hessian : ndarray of float, shape (K L, K L)
            X'VX of the pairs.
        problem : Objective
        constant : tuple of int
            Grades in which no pair differs.
        """
        within = self.projector @ hessian @ self.projector
        return DataShare((within + within.T) / 2, problem.C, problem.shape[1], constant)


def _tangent(cone: VectorCone, t: float, size: int) -> Floats:
    """Return the directions of a vector, apart from its scale, as columns."""
    if cone.derivative:
        return cone.derivative(t)[:, None]
    return np.eye(size) if cone.n_generators > 1 else np.zeros((size, 0))


def factors_in_families(
    problem: Objective, families: LearnedFamilies, solution: Solution, gram: GramMatrices
) -> Factors:
    """Return the discounts and gains of a product, as far as the pairs determine them.

    Parameters
    ----------
    problem : Objective
    families : LearnedFamilies
    solution : Solution
        With a product.
    gram : GramMatrices
        Of all pairs.

    Returns
    -------
    Factors
    """
    point = _point(solution)
    constant = constant_grades(gram.gram, problem.shape[1])
    tangents = Tangents.of(families, point, not problem.has_empty_ranks)
    shares = tangents.shares(solution.model.hessian, problem, constant)
    affine = _loses_offset(families, shares, problem, point)
    return factors_of_product(families, point, affine, constant, problem.has_empty_ranks)


def factors_of_product(
    families: LearnedFamilies,
    point: ProductPoint,
    affine: bool,
    constant: tuple[int, ...],
    absolute: bool,
) -> Factors:
    """Return the factors of a product; what is given is as it was given, to the last bit.

    Parameters
    ----------
    families : LearnedFamilies
    point : ProductPoint
    affine : bool
        Whether discounts are determined only up to an affine map.
    constant : tuple of int
        Grades in which no pair differs.
    absolute : bool
        Whether an empty rank shows that the worst grade is worth 0.
    """
    given_gains, given_discounts = families.given
    if given_gains:
        point = replace(point, gains=families.gains.generators(0.0)[:, 0])
    if given_discounts:
        point = replace(point, discounts=families.discounts.generators(0.0)[:, 0])
    return product_factors(point, affine, families.given, constant, absolute)


def identify_in_families(
    problem: Objective, families: LearnedFamilies, solution: Solution, gram: GramMatrices
) -> Identifiability:
    """Find out what the pairs of a problem determine of numbers that belong to families.

    Parameters
    ----------
    problem : Objective
    families : LearnedFamilies
    solution : Solution
        With a product.
    gram : GramMatrices
        Of all pairs.

    Returns
    -------
    Identifiability
        Numbers that are given have the data share 1.
    """
    K, L = problem.shape
    point = _point(solution)
    factors = factors_in_families(problem, families, solution, gram)
    null = null_space(gram, L)
    tangents = Tangents.of(families, point, not problem.has_empty_ranks)
    shares = tangents.shares(solution.model.hessian, problem, null.constant_grades)
    of_all = tangents.shares(gram.weighted_gram, problem, null.constant_grades)
    offsets = np.full(K, problem.has_empty_ranks)
    gauge = DeterminedGauge(factors.gauge, offsets)
    affine = is_affine(factors.gauge)

    def shares_of(directions: Floats, given: bool, fixed: tuple[int, ...]) -> Floats:
        if given:
            return np.column_stack([np.ones(len(directions)), np.zeros(len(directions))])
        if affine:
            directions = directions - directions.mean(axis=-2, keepdims=True)
        found = np.column_stack([shares.share(directions), of_all.null_part(directions)])
        moving = np.abs(directions).max(axis=(1, 2)) > 0
        found[~moving] = (1.0, 0.0)  # fixed by the family, such as the 0 of the worst grade
        return no_surer_than(found, [one for one in fixed if moving[one]])

    given_gains, given_discounts = families.given
    discount = shares_of(tangents.of_discounts, given_discounts, factors.fixed_discounts)
    gain = shares_of(tangents.of_gains, given_gains, factors.fixed_gains)
    return Identifiability(
        **vars(null),
        gauge=factors.gauge,
        determined_offsets=offsets,
        offset_share=float(_offset_share(shares, problem, point)),
        discount_share=discount[:, 0],
        gain_share=gain[:, 0],
        discount_null=discount[:, 1],
        gain_null=gain[:, 1],
        change_on_doubling_c=change_on_doubling(
            problem,
            solution.W,
            tangents.projector @ solution.model.hessian @ tangents.projector,
            shares,
            gauge,
            null,
        ),
    )


def _point(solution: Solution) -> ProductPoint:
    if solution.product is None:
        raise TypeError("the solution is not a product")
    return solution.product


def _offset_share(shares: DataShare, problem: Objective, point: ProductPoint) -> float:
    g = centred_columns(point.gains, not problem.has_empty_ranks)
    return float(shares.share(np.outer(np.ones(problem.shape[0]), g)))


def _loses_offset(
    families: LearnedFamilies, shares: DataShare, problem: Objective, point: ProductPoint
) -> bool:
    """Whether a constant added to all discounts is less determined than other changes are."""
    if families.discounts.n_generators == 1:
        return False
    K = problem.shape[0]
    g = centred_columns(point.gains, not problem.has_empty_ranks)
    between = shares.share((np.eye(K) - 1 / K)[:, :, None] * g)
    return _offset_share(shares, problem, point) < HALF * float(np.median(between))
