"""Numbers near the ends of the range of floating-point numbers: rescaled, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats

_USUAL = 300
"""Numbers whose largest is between 2^-300 and 2^300 stay as they are: products of three of them,
and sums of those, are far from the ends of the range."""


def usual_size(values: Floats) -> tuple[Floats, int]:
    """Divide numbers by a power of 2, so that their sums and products do not overflow.

    Parameters
    ----------
    values : ndarray of float
        Finite.

    Returns
    -------
    scaled : ndarray of float
        The same array if the size of its largest number is usual.
    exponent : int
        `values` are `scaled` times 2^exponent.

    Examples
    --------
    >>> usual_size(np.array([2.0**1000, 0.0]))[1], usual_size(np.array([2.0, 0.0]))
    (701, (array([2., 0.]), 0))
    """
    largest = float(np.abs(values).max(initial=0.0))
    size = int(np.frexp(largest)[1])
    exponent = size - min(max(size, -_USUAL), _USUAL)
    return (np.ldexp(values, -exponent), exponent) if exponent else (values, 0)


def multiplied(values: Floats | float, exponent: int, measure: object) -> Floats:
    """Multiply values by 2^exponent; refuse those that overflow.

    Parameters
    ----------
    values : ndarray of float, or float
        Of a rescaled measure.
    exponent : int
    measure : object
        Named in the error.

    Returns
    -------
    ndarray of float

    Raises
    ------
    InputError
        If a value is too large for a floating-point number.

    Examples
    --------
    >>> multiplied(np.array([3.0]), 2, "the measure")
    array([12.])
    """
    array = np.asarray(values)
    if not exponent:
        return array
    with refuse_overflow(measure):
        return np.asarray(np.ldexp(array, exponent))


@contextmanager
def refuse_overflow(measure: object) -> Iterator[None]:
    """Refuse to go on where a value of a measure overflows.

    Parameters
    ----------
    measure : DCG or LinearUtility
        Named in the error.

    Raises
    ------
    InputError
        If an operation of the block overflows.

    Examples
    --------
    >>> with refuse_overflow("the measure"):
    ...     np.float64(1e308) * 10
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: the measure: its values are too large for floating-point
    numbers; use smaller gains
    """
    try:
        with np.errstate(over="raise", invalid="raise"):
            yield
    except FloatingPointError as error:
        raise InputError(
            "its values are too large for floating-point numbers",
            "use smaller gains",
            str(measure),
        ) from error
