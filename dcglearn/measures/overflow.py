"""Values beyond the range of floating-point numbers are refused, not returned as inf or 0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats


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


def check_not_overflown(values: Floats) -> Floats:
    """Return sums and products that are finite, or raise the error of NumPy for those that are not.

    Parameters
    ----------
    values : ndarray of float
        The result of an operation that NumPy does not watch, such as a matrix product.

    Returns
    -------
    ndarray of float
        The same array.

    Raises
    ------
    FloatingPointError
        If one of them is infinite or NaN.
    """
    if not np.isfinite(values).all():
        raise FloatingPointError("overflow")
    return values
