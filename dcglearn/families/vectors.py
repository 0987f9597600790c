"""Families of gains and of discounts: vectors that depend on few parameters.

A measure W[k, l] = c_k g_l has discounts c and gains g. Each is free, given, or follows a formula
with one free parameter. x is the value of a grade, from 0 for the worst grade to M for the best;
i is a rank, 1 for the first.

=================  =========================
gains              g
=================  =========================
``free``           one parameter per grade
``linear``         x / M
``power:p``        (x / M)^p
``exponential:b``  (b^x - 1) / (b^M - 1)
=================  =========================

=================  =========================
discounts          c, up to the scale
=================  =========================
``free``           one parameter per rank
``decreasing``     c_1 >= ... >= c_K >= 0
``convex``         decreasing by ever less
``log:b``          log b / log(i + b - 1)
``zipf:s``         i^-s
``rbp:p``          p^(i - 1)
=================  =========================

A number after the colon is given, ``free`` is estimated: ``exponential:2`` is 2^x - 1,
``exponential:free`` has a free base. Any discount rule (``log2``, ``jk:2``) is a family without
parameters. Gains are 1 for the best grade and 0 for the worst; the scale belongs to the discounts.
``log:2`` is 1 / log2(i + 1), so that ``log:free`` holds the usual discount.

Decreasing discounts are the sums of steps 1[i <= j], convex ones those of ramps (j - i)_+ and a
constant, all with coefficients of 0 or more (the generators of the two cones).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dcglearn.base.errors import unknown_name
from dcglearn.base.types import Floats
from dcglearn.families.formulas import DISCOUNT_FORMULAS, GAIN_FORMULAS, Formula
from dcglearn.measures.discounts import DISCOUNT_RULES, rule_discounts

FREE_FAMILY = "free"
"""The family with one parameter per grade or rank, and the parameter that is to be estimated."""


GAIN_FAMILIES = (FREE_FAMILY, "linear", *GAIN_FORMULAS)
DISCOUNT_FAMILIES = tuple(
    dict.fromkeys((FREE_FAMILY, "decreasing", "convex", *DISCOUNT_FORMULAS, *DISCOUNT_RULES))
)
"""Names of families, before the colon."""


class Expansion(NamedTuple):
    """A vector, and its derivatives in the parameters of its family.

    Attributes
    ----------
    values : ndarray of float, shape (m,)
    jacobian : ndarray of float, shape (m, p)
    hessian : ndarray of float, shape (m, p, p)
    """

    values: Floats
    jacobian: Floats
    hessian: Floats


class Anchor(NamedTuple):
    """The gain that is fixed among free gains; all others are relative to it.

    Attributes
    ----------
    grade : int
        Its number, 0 for the best.
    gain : float
        1, or -1.
    """

    grade: int
    gain: float


BEST_IS_ONE = Anchor(0, 1.0)
"""The usual one: a gain is what a grade is worth relative to the best."""


@dataclass(frozen=True, eq=False)
class Family:
    """A vector as a function of its parameters.

    Attributes
    ----------
    name : str
        As people write it, such as ``zipf:free``.
    at : callable
        From parameters (p,) to an :class:`Expansion`.
    start : ndarray of float, shape (p,)
        Where an estimate begins.
    lower, upper : ndarray of float, shape (p,)
        Bounds of the parameters; infinite for most.
    shape : callable, optional
        From the parameters to the one number of a formula: a base, exponent or persistence.
    shape_name : str
        What that number is; empty without one.
    anchor : Anchor
        The gain that is fixed, where gains are free.
    """

    name: str
    at: Callable[[Floats], Expansion]
    start: Floats
    lower: Floats
    upper: Floats
    shape: Callable[[Floats], float] | None = None
    shape_name: str = ""
    anchor: Anchor = BEST_IS_ONE

    @property
    def n_parameters(self) -> int:
        """Number of parameters, the scale of discounts included."""
        return len(self.start)


def gain_family(name: str, values: Floats) -> Family:
    """Return a family of gains.

    Parameters
    ----------
    name : str
        ``free``, ``linear``, ``power:P`` or ``exponential:B``, where the number may be the word
        ``free``. ``exponential`` alone is ``exponential:2``.
    values : ndarray of float, shape (L,)
        The values of the grades, strictly decreasing.

    Returns
    -------
    Family

    Raises
    ------
    InputError
        If the name is unknown, or the number is missing or outside its range.

    Examples
    --------
    >>> gain_family("exponential", np.array([2.0, 1.0, 0.0])).at(np.zeros(0)).values.round(3)
    array([1.   , 0.333, 0.   ])
    """
    kind, parameter = _split(name, GAIN_FAMILIES, "gains")
    x = (values - values[-1]).astype(float)
    if kind == FREE_FAMILY:
        return free_gains(len(x))
    if kind == "linear":
        return given_gains(x, name)
    if kind == "exponential" and not parameter:
        parameter = "2"
    formula = GAIN_FORMULAS[kind]
    if parameter != FREE_FAMILY:
        return given_gains(formula.at(x, formula.internal(name, parameter))[0], name)
    return _of_one_parameter(name, x, formula)


def free_gains(
    n_grades: int, anchor: Anchor = BEST_IS_ONE, lowest_best: float = -math.inf
) -> Family:
    """Return the family of free gains: one is fixed, the worst is 0, each other a parameter.

    Parameters
    ----------
    n_grades : int
    anchor : Anchor
        By default, the best grade has the gain 1.
    lowest_best : float, default -inf
        Lower bound of the gain of the best grade, where another one is fixed.

    Returns
    -------
    Family

    Examples
    --------
    >>> free_gains(4, Anchor(1, -1.0)).at(np.array([0.1, 0.5])).values
    array([ 0.1, -1. ,  0.5,  0. ])
    """
    varying = np.delete(np.arange(n_grades - 1), anchor.grade)
    n = len(varying)
    fixed, jacobian = np.zeros(n_grades), np.zeros((n_grades, n))
    fixed[anchor.grade], jacobian[varying, np.arange(n)] = anchor.gain, 1.0
    hessian = np.zeros((n_grades, n, n))

    def at(parameters: Floats) -> Expansion:
        values = fixed.copy()
        values[varying] = parameters
        return Expansion(values, jacobian, hessian)

    start = np.arange(n, 0, -1) / (n + 1)
    lower = np.where(varying == 0, lowest_best, -math.inf)
    return Family(FREE_FAMILY, at, start, lower, np.full(n, math.inf), anchor=anchor)


def given_gains(gains: Floats, name: str) -> Family:
    """Return the family of one gain vector, scaled to 1 for the first and 0 for the last grade.

    Parameters
    ----------
    gains : ndarray of float, shape (L,)
        The first differs from the last.
    name : str

    Returns
    -------
    Family

    Examples
    --------
    >>> given_gains(np.array([3.0, 1.0, 0.0]), "mine").at(np.zeros(0)).values.round(3)
    array([1.   , 0.333, 0.   ])
    """
    scaled = (gains - gains[-1]) / (gains[0] - gains[-1])
    constant = Expansion(scaled, np.zeros((len(gains), 0)), np.zeros((len(gains), 0, 0)))
    return Family(name, lambda _: constant, *np.zeros((3, 0)))


def discount_family(name: str, n_ranks: int) -> Family:
    """Return a family of discounts. The scale is one of its parameters.

    Parameters
    ----------
    name : str
        ``free``, ``decreasing``, ``convex``, ``log:B``, ``zipf:S``, ``rbp:P``, where the number
        may be the word ``free``, or a discount rule such as ``log2``.
    n_ranks : int

    Returns
    -------
    Family

    Raises
    ------
    InputError
        If the name is unknown, or the number is missing or outside its range.

    Examples
    --------
    >>> discount_family("log2", 3).at(np.array([2.0])).values.round(3)
    array([2.   , 1.262, 1.   ])
    >>> discount_family("decreasing", 3).at(np.array([0.5, 0.0, 0.5])).values
    array([1. , 0.5, 0.5])
    """
    kind, parameter = _split(name, DISCOUNT_FAMILIES, "discounts")
    i = np.arange(1.0, n_ranks + 1)
    if kind == FREE_FAMILY:
        return _combinations(name, np.eye(n_ranks), 1 / np.log2(i + 1), -math.inf)
    if kind == "decreasing":
        steps = (i[:, None] <= i).astype(float)
        return _combinations(name, steps, np.full(n_ranks, 1 / n_ranks), 0.0)
    if kind == "convex":
        ramps = np.maximum(i[1:] - i[:, None], 0.0) / (i[1:] - 1)
        generators = np.hstack([ramps, np.ones((n_ranks, 1))])
        return _combinations(name, generators, np.full(n_ranks, 1 / n_ranks), 0.0)
    formula = DISCOUNT_FORMULAS.get(kind)
    if formula is None or not parameter:
        return given_discounts(rule_discounts(name, n_ranks), name)
    if parameter != FREE_FAMILY:
        return given_discounts(formula.at(i, formula.internal(name, parameter))[0], name)
    return _scaled(_of_one_parameter(name, i, formula))


def given_discounts(discounts: Floats, name: str) -> Family:
    """Return the family of the multiples of one discount vector.

    Parameters
    ----------
    discounts : ndarray of float, shape (K,)
        The first is not 0.
    name : str

    Returns
    -------
    Family

    Examples
    --------
    >>> given_discounts(np.array([2.0, 1.0]), "mine").at(np.array([1.0])).values
    array([1. , 0.5])
    """
    generators = (discounts / discounts[0])[:, None]
    return _combinations(name, generators, np.ones(1), -math.inf)


def _split(name: str, known: tuple[str, ...], of_what: str) -> tuple[str, str]:
    kind, _, parameter = name.strip().partition(":")
    if kind not in known:
        raise unknown_name(f"family of {of_what}", kind, known)
    return kind, parameter.strip()


def _combinations(name: str, generators: Floats, start: Floats, lower: float) -> Family:
    """Return the family of combinations of the columns of `generators`."""
    m, p = generators.shape
    hessian = np.zeros((m, p, p))

    def at(parameters: Floats) -> Expansion:
        return Expansion(generators @ parameters, generators, hessian)

    return Family(name, at, start, np.full(p, lower), np.full(p, math.inf))


def _of_one_parameter(name: str, x: Floats, formula: Formula) -> Family:
    def at(parameters: Floats) -> Expansion:
        values, first, second = formula.at(x, float(parameters[0]))
        return Expansion(values, first[:, None], second[:, None, None])

    def shape(parameters: Floats) -> float:
        return formula.of_t(float(parameters[-1]))

    start = np.array([formula.to_t(formula.start)])
    lower, upper = np.array([[formula.t_low], [formula.t_high]])
    return Family(name, at, start, lower, upper, shape, formula.parameter)


def _scaled(family: Family) -> Family:
    """Return the multiples of the vectors of a family; the scale becomes the first parameter."""

    def at(parameters: Floats) -> Expansion:
        values, jacobian, hessian = family.at(parameters[1:])
        p = len(parameters)
        full = np.zeros((len(values), p, p))
        full[:, 0, 1:] = full[:, 1:, 0] = jacobian
        full[:, 1:, 1:] = parameters[0] * hessian
        columns = np.hstack([values[:, None], parameters[0] * jacobian])
        return Expansion(parameters[0] * values, columns, full)

    start = np.append(1.0, family.start)
    lower, upper = np.append(-math.inf, family.lower), np.append(math.inf, family.upper)
    return Family(family.name, at, start, lower, upper, family.shape, family.shape_name)
