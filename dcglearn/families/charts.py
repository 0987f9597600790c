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
    bounded = bool((family.discounts.lower >= 0).all())
    n_grades = family.gains.n_parameters + 2
    gains = free_gains(n_grades, anchor, 0.0 if bounded else -np.inf)
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


def _gains(family: Products, parameters: Floats) -> Floats:
    n = family.discounts.n_parameters
    return family.gains.at(parameters[n : n + family.gains.n_parameters]).values
