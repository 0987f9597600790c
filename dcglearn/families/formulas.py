"""Gains and discounts that follow a formula with one parameter, with two derivatives.

The parameter that people know (a base, an exponent, a persistence) is a function of t, which may
be any real number; derivatives are in t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import parse_number
from dcglearn.base.types import Floats

Derivatives = tuple[Floats, Floats, Floats]
"""A vector, its first and its second derivative in one parameter, each of shape (m,)."""


@dataclass(frozen=True)
class Formula:
    """A formula with one parameter.

    Attributes
    ----------
    at : callable
        From grade values (best first, the worst 0) or ranks, and t, to :data:`Derivatives`.
    parameter : str
        Its name.
    of_t, to_t : callable
        From t to the parameter, and back.
    low, high : float
        The parameter lies strictly between them.
    start : float
        Where an estimate begins.
    t_low, t_high : float
        An estimate of t stays between them: beyond, the values are those of the limit.
    """

    at: Callable[[Floats, float], Derivatives]
    parameter: str
    of_t: Callable[[float], float]
    to_t: Callable[[float], float]
    low: float
    high: float
    start: float
    t_low: float
    t_high: float

    def internal(self, name: str, text: str) -> float:
        """Return t for the parameter as people write it.

        Parameters
        ----------
        name : str
            Of the family, for the message.
        text : str

        Raises
        ------
        InputError
            If the text is not a number in the range of the parameter.
        """
        value = parse_number(text)
        if not self.low < value < self.high:
            limits = f"above {self.low:g}" + (f" and below {self.high:g}" * (self.high < math.inf))
            wanted = limits if self.low > -math.inf else "that is finite"
            raise InputError(
                f"{name!r} does not give the {self.parameter}",
                f"write a number {wanted} after the colon, or the word free",
            )
        return self.to_t(value)


def _power(x: Floats, t: float) -> Derivatives:
    exponent, share = math.exp(t), x / x[0]
    logarithm = np.log(np.where(share > 0, share, 1.0))
    values = share**exponent
    first = exponent * logarithm * values
    return values, first, first * (1 + exponent * logarithm)


def _exponential(x: Floats, t: float) -> Derivatives:
    """Return (b^x - 1) / (b^M - 1) = m_0(x) / m_0(M), where m_j(x) integrates s^j b^s over 0 ... x.

    Integrals have no singularity where b = 1, and t = log b.
    """
    nodes, node_weights = _legendre()
    s = x[:, None] * (nodes + 1) / 2
    density = np.exp(t * s - max(t * x[0], 0.0)) * node_weights * x[:, None] / 2
    m0, m1, m2 = (np.asarray((density * s**j).sum(axis=1)) for j in range(3))
    values = m0 / m0[0]
    first = (m1 - values * m1[0]) / m0[0]
    return values, first, (m2 - values * m2[0] - 2 * first * m1[0]) / m0[0]


@cache
def _legendre() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(_NODES)


_NODES = 64
"""Nodes of Gauss and Legendre: integrals are exact to rounding up to b^M = 10^30."""


def _generalised_log(i: Floats, t: float) -> Derivatives:
    """Return log b / log(i + b - 1) with b = 1 + e^t."""
    db = math.exp(t)
    b = 1 + db
    top, bottom = math.log(b), np.log(i + b - 1)
    d_top, d_bottom = 1 / b, 1 / (i + b - 1)
    values = top / bottom
    first = (d_top - values * d_bottom) / bottom
    second = (-(d_top**2) + values * d_bottom**2 - 2 * first * d_bottom) / bottom
    return values, first * db, second * db**2 + first * db


def _zipf(i: Floats, t: float) -> Derivatives:
    values, logarithm = i**-t, np.log(i)
    return values, -logarithm * values, logarithm**2 * values


def _rbp(i: Floats, t: float) -> Derivatives:
    values = np.exp(-t * (i - 1))
    return values, -(i - 1) * values, (i - 1) ** 2 * values


GAIN_FORMULAS = {
    "power": Formula(_power, "exponent", math.exp, math.log, 0.0, math.inf, 1.0, -6.0, 6.0),
    "exponential": Formula(_exponential, "base", math.exp, math.log, 0.0, math.inf, 2.0, -6.0, 6.0),
}
DISCOUNT_FORMULAS = {
    "log": Formula(
        _generalised_log,
        "base",
        lambda t: 1 + math.exp(t),
        lambda b: math.log(b - 1),
        1.0,
        math.inf,
        2.0,
        -12.0,
        12.0,
    ),
    "zipf": Formula(_zipf, "exponent", float, float, -math.inf, math.inf, 1.0, -10.0, 10.0),
    "rbp": Formula(
        _rbp,
        "persistence",
        lambda t: math.exp(-t),
        lambda p: -math.log(p),
        0.0,
        1.0,
        0.8,
        -1.0,
        5.0,
    ),
}
