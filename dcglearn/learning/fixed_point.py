"""Exact sums of floats, and fixed-point numbers: Python integers times 2^-400.

Sums are exact in double precision, in any order, if their terms have few enough bits. Numbers
are therefore split into parts with few bits: Rump, Ogita & Oishi, "Accurate Floating-Point
Summation" (SIAM Journal on Scientific Computing 31, 2008).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats

FixedPoint: TypeAlias = NDArray[np.object_]
"""Python integers, in units of 2^-400."""

PLACES = 400
"""Binary places of fixed-point numbers."""


def exactly_summable_parts(values: Floats) -> Iterator[Floats]:
    """Split numbers into parts whose sums, in any order, are exact in double precision.

    Parameters
    ----------
    values : ndarray of float, shape (n,)

    Yields
    ------
    ndarray of float, shape (n,)
        The largest bits first. The parts of a number add up to it.

    Examples
    --------
    >>> [part.tolist() for part in exactly_summable_parts(np.array([1.0, 2.0**-50]))]
    [[1.0, 0.0], [0.0, 8.881784197001252e-16]]
    """
    rest = np.array(values, float)
    spare = len(rest).bit_length() + 12
    while rest.any():
        exponent = max(-1000, int(np.frexp(np.abs(rest).max())[1]) - 53 + spare)
        part = np.ldexp(np.rint(np.ldexp(rest, -exponent)), exponent)
        yield part
        rest = rest - part
        if exponent == -1000:
            return  # below the last place


def exact_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return fl(a b) and its rounding error (Dekker's product).

    Parameters
    ----------
    a, b : ndarray of float, shape (n,)
    """
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, error


def _halves(a: Floats) -> tuple[Floats, Floats]:
    scaled = a * (2.0**27 + 1)
    high = scaled - (scaled - a)
    return high, a - high


def to_fixed(values: Floats) -> FixedPoint:
    """Return floats in units of 2^-PLACES.

    Parameters
    ----------
    values : ndarray of float

    Returns
    -------
    ndarray of int
        Rounded down where 400 binary places are not enough.
    """
    out = np.empty(values.shape, object)
    ratios = (value.as_integer_ratio() for value in values.ravel().tolist())
    out.ravel()[:] = [(n << PLACES) // d for n, d in ratios]
    return out


def to_floats(values: FixedPoint) -> Floats:
    """Return fixed-point numbers rounded to floats.

    Parameters
    ----------
    values : ndarray of int, shape (n,)
    """
    return np.array([value / (1 << PLACES) for value in values.ravel()])


def scale_fixed(factor: Fraction, values: Any) -> Any:
    """Return fixed-point numbers times a fraction, rounded down.

    Parameters
    ----------
    factor : Fraction
    values : int or ndarray of int
    """
    return values * factor.numerator // factor.denominator


def root_of_fixed(square: int) -> float:
    """Return an upper bound on the square root of a number in units of 2^(-2 PLACES).

    Parameters
    ----------
    square : int
    """
    if square <= 0:
        return 0.0
    return math.nextafter((math.isqrt(square) + 1) / (1 << PLACES), math.inf)


def eliminate(A: FixedPoint, b: FixedPoint) -> FixedPoint:
    """Solve A z = b for a symmetric A whose eigenvalues are all 1 or more.

    The pivots are then 1 or more too, so the result lacks about as many of the 400 places as
    the largest entry of A has binary digits.

    Parameters
    ----------
    A : ndarray of int, shape (n, n)
    b : ndarray of int, shape (n,)

    Returns
    -------
    ndarray of int, shape (n,)
    """
    A, z = A.copy(), b.copy()
    for k in range(len(A)):
        factors = (A[k + 1 :, k] << PLACES) // A[k, k]
        A[k + 1 :, k:] -= factors[:, None] * A[k, k:] >> PLACES
        z[k + 1 :] -= factors * z[k] >> PLACES
    for k in reversed(range(len(A))):
        z[k] = ((z[k] - (A[k, k + 1 :] @ z[k + 1 :] >> PLACES)) << PLACES) // A[k, k]
    return z


def nearest_descending(row: FixedPoint) -> FixedPoint:
    """Return the nearest non-increasing numbers, by pooling adjacent violators.

    Parameters
    ----------
    row : ndarray of int, shape (n,)

    Examples
    --------
    >>> nearest_descending(np.array([4, 1, 3], object))
    array([4, 2, 2], dtype=object)
    """
    pools: list[tuple[int, int]] = []
    for value in row:
        total, count = value, 1
        while pools and pools[-1][0] * count <= total * pools[-1][1]:
            before = pools.pop()
            total, count = total + before[0], count + before[1]
        pools.append((total, count))
    means = [total // count for total, count in pools for _ in range(count)]
    return np.array(means, object)
