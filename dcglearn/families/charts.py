"""The scale of free gains: which of them is fixed, so that all others are finite.

Only the product W = c g' is estimated: c may be multiplied and g divided by any number. Usually the
best grade has the gain 1. Where it is worth about nothing, and another grade is not, all other
gains are near infinity on that scale, and the discounts near 0, although W is not. So one of the
others is fixed then. W, its derivatives along the family, and the bounds on W are the same on any
of these scales (charts of the manifold of matrices of rank 1: Absil, Mahony & Sepulchre,
Optimization Algorithms on Matrix Manifolds, 2008, section 3.1).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.families.vectors import BEST_IS_ONE, FREE_FAMILY, Anchor, free_gains
from dcglearn.families.weights import Products, WeightFamily

LARGEST_GAIN = 10.0
"""A gain that is larger, relative to the one that is fixed, is fixed in its place."""

NO_SLOPE = 1e-6
"""A smaller slope is 0 to rounding: the rise that it promises cannot be seen."""


def has_charts(family: WeightFamily) -> TypeGuard[Products]:
    """Whether more than one gain of a family could be fixed.

    Parameters
    ----------
    family : WeightFamily
    """
    return (
        isinstance(family, Products)
        and family.gains.name == FREE_FAMILY
        and family.gains.n_parameters > 0
    )


def anchor_of(family: WeightFamily) -> Anchor:
    """Return the gain that is fixed; without charts, it is that of the best grade.

    Parameters
    ----------
    family : WeightFamily
    """
    return family.gains.anchor if has_charts(family) else BEST_IS_ONE


def outgrown(family: Products, parameters: Floats) -> bool:
    """Whether a gain is far larger than the one that is fixed.

    Parameters
    ----------
    family : Products
        That has charts.
    parameters : ndarray of float, shape (p,) or more
        Those of W come first.
    """
    return bool(np.abs(_gains(family, parameters)).max() > LARGEST_GAIN)


def best_chart(family: Products, parameters: Floats) -> Anchor:
    """Return the gain to fix: that of the best grade, or the largest if it is far larger.

    Parameters
    ----------
    family : Products
        That has charts.
    parameters : ndarray of float, shape (p,)

    Examples
    --------
    >>> from dcglearn.families.vectors import discount_family, gain_family
    >>> family = Products(gain_family("free", np.arange(3.0)[::-1]), discount_family("zipf", 2))
    >>> best_chart(family, np.array([0.1, 0.5])), best_chart(family, np.array([0.1, -20.0]))
    (Anchor(grade=0, gain=1.0), Anchor(grade=1, gain=-1.0))
    """
    gains = _gains(family, parameters)
    grade = int(np.abs(gains).argmax())
    if abs(gains[grade]) <= LARGEST_GAIN * abs(gains[0]):
        return BEST_IS_ONE
    return Anchor(grade, float(np.sign(gains[grade])))


def in_chart(family: Products, anchor: Anchor) -> Products:
    """Return the same family, with another gain fixed.

    Discounts that are bounded keep their signs, and the best grade is worth at least 0 then.

    Parameters
    ----------
    family : Products
        That has charts.
    anchor : Anchor
    """
    n_grades = family.gains.n_parameters + 2
    gains = free_gains(n_grades, anchor, 0.0 if has_bounded_discounts(family) else -np.inf)
    return replace(family, gains=gains)


def in_new_chart(family: Products, parameters: Floats, anchor: Anchor) -> Floats:
    """Return the parameters of the same W where another gain is fixed.

    Parameters
    ----------
    family : Products
        That has charts.
    parameters : ndarray of float, shape (p,)
    anchor : Anchor
        Of a gain that is not 0.

    Examples
    --------
    >>> from dcglearn.families.vectors import discount_family, gain_family
    >>> family = Products(gain_family("free", np.arange(3.0)[::-1]), discount_family("zipf", 2))
    >>> in_new_chart(family, np.array([0.1, 20.0]), Anchor(1, 1.0))
    array([2.  , 0.05])
    """
    gains, n = _gains(family, parameters), family.discounts.n_parameters
    factor = gains[anchor.grade] / anchor.gain
    scaled = parameters[:n].copy()
    scaled[family.scale] *= factor
    return np.concatenate([scaled, np.delete(gains[:-1], anchor.grade) / factor])


def rising_chart(
    family: Products, parameters: Floats, gradient: Floats
) -> tuple[Anchor, Floats] | None:
    """Return where to go on from W = 0: a gain, and the parameters with all others 0.

    At W = 0 gains have no effect, so that a search for discounts with one vector of gains ends
    there, although other gains may serve.

    Parameters
    ----------
    family : Products
        That has charts.
    parameters : ndarray of float, shape (p,)
        At which W is 0.
    gradient : ndarray of float, shape (K, L)
        Of the objective in W there.

    Returns
    -------
    anchor : Anchor
    parameters : ndarray of float, shape (p,)
        None of both if the objective rises with no gain.
    """
    n = family.discounts.n_parameters
    generators = family.discounts.at(parameters[:n]).jacobian[:, family.scale]
    slopes = generators.T @ gradient[:, :-1]
    if has_bounded_discounts(family):
        slopes[:, 0] = np.maximum(slopes[:, 0], 0.0)
    grade = int(np.abs(slopes).max(axis=0).argmax())
    steepest = float(slopes[np.abs(slopes[:, grade]).argmax(), grade])
    if abs(steepest) <= NO_SLOPE:
        return None
    anchor = Anchor(grade, float(np.sign(steepest))) if grade else BEST_IS_ONE
    return anchor, np.append(parameters[:n], np.zeros(family.gains.n_parameters))


def has_bounded_discounts(family: Products) -> bool:
    """Whether discounts keep their signs, so that the best grade is worth at least 0.

    Parameters
    ----------
    family : Products
    """
    return bool((family.discounts.lower >= 0).all())


def _gains(family: Products, parameters: Floats) -> Floats:
    n = family.discounts.n_parameters
    return family.gains.at(parameters[n : n + family.gains.n_parameters]).values
