"""Measures with very large or very small numbers.

A DCG is proportional to its gains and to its discounts, and a linear utility to its weights. So
they are divided by a power of 2, which is exact, before anything is summed, and the value is
multiplied by it afterwards. What still does not fit into a floating-point number is refused, not
returned as inf or 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.overflow import usual_size

_LEAST_GAIN = 2.0**-800
"""A smaller gain, next to one of usual size, would lose digits in a product."""

_M = TypeVar("_M")


@dataclass(frozen=True)
class Rescaled(Generic[_M]):
    """A measure of usual size that is proportional to another.

    Attributes
    ----------
    measure : DCG or LinearUtility
        The other measure itself if its size is usual.
    gains, discounts : int
        The other measure's gains, or weights, are 2^gains times those of `measure`, and its
        discounts 2^discounts times.
    """

    measure: _M
    gains: int = 0
    discounts: int = 0

    @property
    def exponent(self) -> int:
        """The other measure's values are 2^exponent times those of `measure`."""
        return self.gains + self.discounts


def rescaled(measure: _M) -> Rescaled[_M]:
    """Return a measure of usual size that is proportional to a measure.

    Parameters
    ----------
    measure : DCG or LinearUtility

    Returns
    -------
    Rescaled

    Raises
    ------
    InputError
        If its gains, discounts or weights differ by too many orders of magnitude.

    Examples
    --------
    >>> from dcglearn.measures.dcg import DCG
    >>> large = DCG([1e308, 0])
    >>> found = rescaled(large)
    >>> found.measure == large, found.exponent, found.measure.gains[0] * 2.0**found.exponent
    (False, 724, 1e+308)
    """
    exponents = {"gains": 0, "discounts": 0, "weights": 0}
    changed: dict[str, Any] = {}
    for name in exponents:
        given = getattr(measure, name, None)
        if not isinstance(given, tuple):
            continue
        values = np.array(given) if name != "weights" else cast(Any, measure).matrix
        scaled, exponents[name] = usual_size(values)
        least = np.abs(scaled).min(where=values != 0, initial=1.0)
        lost = exponents[name] and (np.ldexp(scaled, exponents[name]) != values).any()
        if lost or (name == "gains" and least < _LEAST_GAIN):
            raise InputError(
                f"its {name} differ by too many orders of magnitude for floating-point numbers",
                f"use {name} of more similar size",
                str(measure),
            )
        if exponents[name]:
            changed[name] = scaled
    other = replace(measure, **changed) if changed else measure  # type: ignore[type-var]  # both are dataclasses
    return Rescaled(other, exponents["gains"] + exponents["weights"], exponents["discounts"])
