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
    """Return numbers, and e, that are `values` times 2^-e: the same and 0 if of usual size."""
    largest = float(np.abs(values).max(initial=0.0))
    size = int(np.frexp(largest)[1])
    exponent = size - min(max(size, -_USUAL), _USUAL)
    return (np.ldexp(values, -exponent), exponent) if exponent else (values, 0)


def multiplied(values: Floats | float, exponent: int, measure: object) -> Floats:
    """Return values times 2^exponent; the error for those that overflow names the measure."""
    array = np.asarray(values)
    if not exponent:
        return array
    with refuse_overflow(measure):
        return np.asarray(np.ldexp(array, exponent))


@contextmanager
def refuse_overflow(measure: object) -> Iterator[None]:
    """Turn an overflow in the block into an error that names the measure."""
    try:
        with np.errstate(over="raise", invalid="raise"):
            yield
    except FloatingPointError as error:
        raise InputError(
            "its values are too large for floating-point numbers",
            "use smaller gains",
            str(measure),
        ) from error
