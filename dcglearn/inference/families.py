"""Families of gains, of discounts, and of weights W: vectors that depend on few parameters.

x is the value of a grade, from 0 for the worst grade to M for the best; i is a rank, 1 for the
first.

=================  =========================
gains              g, up to the scale
=================  =========================
``free``           one parameter per grade
``linear``         x / M
``power:p``        (x / M)^p
``exponential:b``  (b^x - 1) / (b^M - 1)
=================  =========================

=================  =========================
discounts          c
=================  =========================
``free``           one parameter per rank
``decreasing``     c_1 >= ... >= c_K >= 0
``convex``         decreasing by ever less
``log:b``          log b / log(i + b - 1)
``zipf:s``         i^-s
``rbp:p``          p^(i - 1)
=================  =========================

A number after the colon is given, ``free`` is estimated: ``exponential:2`` is 2^x - 1. Any discount
rule (``log2``, ``jk:2``) is a family without parameters; ``log:free`` holds ``log2``. The scale, in
log odds, belongs to the gains. Decreasing discounts are sums of steps 1[i <= j], convex ones of
ramps (j - i)_+ and a constant, with coefficients of 0 or more.

W[k, l] = c_k g_l with c and g from families of their own, or W
is linear in its parameters: any W, or the multiples of one, which are the gains of one long rank.
The worst grade has the weight 0: a constant added to a row of W changes no order (Zhou, Zha, Xue &
Yu, arXiv 1212.5650, section 5). Where lists of a pair have empty ranks at different places, these
are one more grade, with the last column.

Where c is free, it may be multiplied and g divided by any number. The search stays where
coefficients of c and g are of equal size: a penalty on b = (|c|^2 - |g|^2) / 2 is 0 at one point of
each orbit, and so changes no maximum.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError, check_name, naming
from dcglearn.base.numbers import counted, parse_number
from dcglearn.base.types import Floats
from dcglearn.measures.discounts import DISCOUNT_RULES, rule_discounts

FREE_FAMILY = "free"
"""The family with one parameter per grade or rank, and the parameter that is to be estimated."""

ORDERED = ("decreasing", "convex")
"""Families of discounts that are cones, on whose border no theory of intervals holds."""

START = 2.0
"""The weight of the best grade at the first rank, in log odds, where an estimate begins."""

FamilyLike = str | Sequence[float]
"""The name of a family, or the numbers themselves."""


_STRONG = 0.25
"""The second singular vectors of W may lead to a higher maximum if their value is this share of the
first: in simulation, one of 700 searches among few judgments ends lower without the others."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
"""Of Gauss's quadrature, which is exact to rounding up to b^M = 10^30."""

Derivatives = tuple[Floats, Floats, Floats]
"""A vector, and its first two derivatives in t."""


class Formula(NamedTuple):
    """A formula with one parameter, strictly between `low` and `high`, as a function of real t.

    `at` takes grade values (best first, the worst 0) or ranks, and t, to the vector and its first
    two derivatives in t. Beyond `t_low` and `t_high` the values are those of the limit.
    """

    at: Callable[[Floats, float], Derivatives]
    parameter: str
    to_t: Callable[[float], float]
    low: float
    high: float
    start: float
    t_low: float
    t_high: float


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
    s = x[:, None] * (_NODES + 1) / 2
    density = np.exp(t * s - max(t * x[0], 0.0)) * _NODE_WEIGHTS * x[:, None] / 2
    m0, m1, m2 = ((density * s**j).sum(axis=1) for j in range(3))
    values = m0 / m0[0]
    first = (m1 - values * m1[0]) / m0[0]
    return values, first, (m2 - values * m2[0] - 2 * first * m1[0]) / m0[0]


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


def _decay(x: Floats, t: float) -> Derivatives:
    """Return exp(-t x): i^-t for x = log i, p^(i - 1) for x = i - 1 and t = -log p."""
    values = np.exp(-t * x)
    return values, -x * values, x**2 * values


_INF = math.inf
GAIN_FORMULAS = {
    "power": Formula(_power, "exponent", math.log, 0.0, _INF, 1.0, -6.0, 6.0),
    "exponential": Formula(_exponential, "base", math.log, 0.0, _INF, 2.0, -6.0, 6.0),
}
DISCOUNT_FORMULAS = {
    "log": Formula(
        _generalised_log, "base", lambda b: math.log(b - 1), 1.0, _INF, 2.0, -12.0, 12.0
    ),
    "zipf": Formula(
        lambda i, t: _decay(np.log(i), t), "exponent", float, -_INF, _INF, 1.0, -10.0, 10.0
    ),
    "rbp": Formula(
        lambda i, t: _decay(i - 1, t),
        "persistence",
        lambda p: -math.log(p),
        0.0,
        1.0,
        0.8,
        -1.0,
        5.0,
    ),
}

GAIN_FAMILIES = FREE_FAMILY, "linear", *GAIN_FORMULAS
DISCOUNT_FAMILIES = {FREE_FAMILY, *ORDERED, *DISCOUNT_FORMULAS, *DISCOUNT_RULES}
"""Names of families, before the colon."""


class Expansion(NamedTuple):
    """A vector (..., m) and its first, (..., m, p), and second derivatives, (..., p, p, m).

    They are those in parameters (..., p). What does not depend on these may lack the first axes;
    without `second`, these are 0.
    """

    values: Floats
    jacobian: Floats
    second: Floats | None = None

    def curvature(self, pull: Floats) -> Floats:
        """Return the second derivatives of pull'vector, (..., p, p)."""
        if self.second is None:
            return np.zeros((self.jacobian.shape[-1],) * 2)
        return np.asarray(np.matvec(self.second, pull[..., None, :]))


class Family(NamedTuple):
    """A vector as a function of parameters: coefficients of generators, then t of a formula.

    It is generators @ coefficients; without coefficients, the one generator itself. A formula gives
    the first n entries of the first generator, at the grade values or ranks x (n,).

    The `generators` have the shape (m, q); an estimate begins at the `coefficients`, (q,), which
    have a `lower` bound.
    """

    name: str
    generators: Floats
    coefficients: Floats = np.zeros(0)
    lower: float = -math.inf
    formula: Formula | None = None
    x: Floats = np.zeros(0)

    @property
    def n_coefficients(self) -> int:
        """q, the number of parameters that the vector is linear in."""
        return len(self.coefficients)

    @property
    def start(self) -> Floats:
        """The parameters where an estimate begins."""
        t = [self.formula.to_t(self.formula.start)] if self.formula else []
        return np.append(self.coefficients, t)

    @property
    def bounds(self) -> Floats:
        """Lower and upper bounds of the parameters, shape (2, p)."""
        found = np.tile([[self.lower], [math.inf]], len(self.start))
        if self.formula:
            found[:, -1] = self.formula.t_low, self.formula.t_high
        return found

    def at(self, parameters: Floats) -> Expansion:
        """Return the vector and its derivatives."""
        q = self.n_coefficients
        if self.formula and parameters.ndim > 1:
            return Expansion(*map(np.stack, zip(*map(self.at, parameters), strict=True)))
        coefficients = parameters[..., :q] if q else np.ones((*parameters.shape[:-1], 1))
        if not self.formula:
            return Expansion(coefficients @ self.generators.T, self.generators[:, :q])
        m, n, columns = len(self.generators), len(self.x), self.generators.copy()
        jacobian, second = np.zeros((m, q + 1)), np.zeros((q + 1, q + 1, m))
        f, f1, f2 = self.formula.at(self.x, parameters[q])
        columns[:n, 0], jacobian[:n, q] = f, coefficients[0] * f1
        second[0, q, :n] = second[q, 0, :n] = f1
        second[q, q, :n] = coefficients[0] * f2
        jacobian[:, :q] = columns[:, :q]
        return Expansion(columns @ coefficients, jacobian, second)


def gain_family(gains: FamilyLike, values: Floats, empty: bool = False) -> Family:
    """Return a family of gains. Their scale is among its parameters.

    Examples
    --------
    >>> gain_family("exponential", np.array([2.0, 1.0, 0.0])).at(np.array([3.0])).values
    array([3., 1., 0.])
    >>> gain_family([3, 2, 0], np.array([2.0, 1.0, 0.0]), True).at(np.array([3.0, -1.0])).values
    array([ 3.,  2.,  0., -1.])
    """
    L, x, name, formula = len(values), values - values[-1], "given", None
    if not isinstance(gains, str):
        wanted = f"give {counted(L, 'number')}, the best first"
        numbers = finite_array(gains, "gains", (L,), wanted)
        if (np.diff(numbers) > 0).any() or numbers[0] == numbers[-1]:
            raise InputError(
                f"the given gains {numbers.tolist()} are not those of grades, best first",
                "give non-increasing `gains`, the first above the last",
            )
        columns = ((numbers - numbers[-1]) / (numbers[0] - numbers[-1]))[:, None]
    else:
        name = gains
        kind, _, parameter = gains.replace(" ", "").partition(":")
        check_name(kind, "family of gains", GAIN_FAMILIES)
        if kind == FREE_FAMILY:
            columns = np.eye(L)[:, :-1]
        elif kind == "linear":
            columns = (x / x[0])[:, None]
        else:
            given = parameter or ("2" if kind == "exponential" else "")
            columns, formula = _by_formula(GAIN_FORMULAS[kind], x, gains, given)
    q = columns.shape[1]
    start = np.append(np.arange(q, 0, -1) / q, [0.0] * empty)
    generators = block_diag(columns, np.eye(int(empty)))  # an empty rank may be worth anything
    return Family(name, generators, start, formula=formula, x=x)


def _by_formula(
    formula: Formula, x: Floats, name: str, parameter: str
) -> tuple[Floats, Formula | None]:
    """Return the generator of a formula, and the formula if its parameter is estimated."""
    if parameter == FREE_FAMILY:
        return np.zeros((len(x), 1)), formula
    value, low, high = parse_number(parameter), formula.low, formula.high
    if not low < value < high:
        limits = f"above {low:g}" + f" and below {high:g}" * (high < math.inf)
        wanted = limits if low > -math.inf else "that is finite"
        raise InputError(
            f"{name!r} does not give the {formula.parameter}",
            f"write a number {wanted} after the colon, or the word free",
        )
    return formula.at(x, formula.to_t(value))[0][:, None], None


def discount_family(discounts: FamilyLike, n_ranks: int) -> Family:
    """Return a family of discounts.

    Examples
    --------
    >>> discount_family("log2", 3).at(np.zeros(0)).values.round(3)
    array([1.   , 0.631, 0.5  ])
    >>> discount_family("decreasing", 3).at(np.array([0.5, 0.0, 0.5])).values
    array([1. , 0.5, 0.5])
    """
    i = np.arange(1.0, n_ranks + 1)
    if not isinstance(discounts, str):
        wanted = f"give {counted(n_ranks, 'number')}, one per rank"
        numbers = finite_array(discounts, "discounts", (n_ranks,), wanted)
        if (numbers < 0).any() or not numbers[0]:
            raise InputError(
                f"the given discounts {numbers.tolist()} are not those of ranks",
                "give `discounts` of 0 or more, the first above 0",
            )
        return Family("given", (numbers / numbers[0])[:, None])
    kind, _, parameter = discounts.replace(" ", "").partition(":")
    check_name(kind, "family of discounts", DISCOUNT_FAMILIES)
    if kind == FREE_FAMILY:
        return Family(discounts, np.eye(n_ranks), rule_discounts("log2", n_ranks))
    if kind in ORDERED:
        generators = (i[:, None] <= i).astype(float)
        if kind == "convex":
            generators[:, :-1] = np.maximum(i[1:] - i[:, None], 0.0) / (i[1:] - 1)
        return Family(discounts, generators, np.full(n_ranks, 1 / n_ranks), 0.0)
    formula = DISCOUNT_FORMULAS.get(kind)
    if formula is None or not parameter:
        numbers = rule_discounts(discounts, n_ranks)
        return Family(discounts, (numbers / numbers[0])[:, None])
    generators, free = _by_formula(formula, i, discounts, parameter)
    return Family(discounts, generators, formula=free, x=i)


class Product(NamedTuple):
    """The entries (..., m n) of c g' for c (..., m) and g (..., n), those of the first row first.

    And their first derivatives, (..., m n, p), those in the parameters of c first.
    """

    c: Expansion
    g: Expansion
    values: Floats
    jacobian: Floats

    def curvature(self, pull: Floats) -> Floats:
        """Return the second derivatives of pull'(c g'), shape (..., p, p)."""
        (c, of_c, _), (g, of_g, _), (*several, _, p) = self.c, self.g, self.jacobian.shape
        n, found = of_c.shape[-1], np.empty((*several, p, p))
        pull = pull.reshape(*c.shape, -1)
        found[..., :n, :n] = self.c.curvature(np.matvec(pull, g))
        found[..., n:, n:] = self.g.curvature(np.vecmat(c, pull))
        found[..., :n, n:] = of_c.mT @ pull @ of_g
        found[..., n:, :n] = found[..., :n, n:].mT
        return found


@dataclass(frozen=True, eq=False)
class WeightFamily:
    """W = c g', or g alone as K rows. The parameters of the discounts come first."""

    gains: Family
    discounts: Family
    n_ranks: int

    @property
    def factored(self) -> bool:
        """Whether W is a product, and not g alone."""
        return bool(self.discounts.name)

    @property
    def name(self) -> str:
        """As people read it."""
        if not self.factored:
            return self.gains.name
        return f"gains {self.gains.name}, discounts {self.discounts.name}"

    @cached_property
    def start(self) -> Floats:
        """Where an estimate begins, shape (p,)."""
        found = np.concatenate([self.discounts.start, self.gains.start])
        found[self.scale_of_gains] *= START
        return self.balanced(found)

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds; with discounts of 0 or more, so is the gain of the best grade."""
        low, high = np.hstack([self.discounts.bounds, self.gains.bounds])
        if self.discounts.lower == 0:
            low[self.scale_of_gains.start] = 0.0
        return low, high

    def at(self, parameters: Floats) -> Product:
        """Return W with its derivatives, at parameters of which its own are the first.

        Several functions ask for these at the same ones.
        """
        theta = parameters[..., : len(self.start)]
        return _product(self, theta.tobytes(), theta.shape)

    def weights(self, parameters: Floats) -> Floats:
        """Return W, shape (K, L)."""
        return self.at(parameters).values.reshape(self.n_ranks, -1).copy()

    @cached_property
    def signs(self) -> Floats:
        """Diagonal signs (p, p): c grows and g shrinks, and W stays the same, along theta signs."""
        found = np.zeros(len(self.start))
        if self.discounts.n_coefficients:
            found[self._coefficients] = 1.0
            found[self.scale_of_gains] = -1.0
        return np.diag(found)

    def near(self, W: Floats) -> Iterator[Floats]:
        """Yield products with the first singular vectors of W, and with the second if strong."""
        W = W.reshape(len(self.discounts.generators), -1)
        generators = self.gains.at(self.gains.start).jacobian[:, : self.gains.n_coefficients]
        vectors, sizes, _ = np.linalg.svd(W, full_matrices=False)
        for left in vectors.T[sizes >= _STRONG * sizes[0]][:2]:
            parameters, upwards = self.start.copy(), left if left.sum() >= 0 else -left
            columns = self.discounts.generators[:, self._coefficients]
            parameters[self._coefficients] = np.linalg.lstsq(columns, upwards)[0]
            c = self.at(parameters).c.values
            parameters[self.scale_of_gains] = np.linalg.lstsq(generators, c @ W / (c @ c))[0]
            yield self.balanced(np.clip(parameters, *self.bounds))

    @property
    def _coefficients(self) -> slice:
        return slice(self.discounts.n_coefficients)

    @cached_property
    def scale_of_gains(self) -> slice:
        """The places of the coefficients of the gains, after all parameters of the discounts."""
        n = len(self.discounts.start)
        return slice(n, n + self.gains.n_coefficients)

    def balanced(self, parameters: Floats) -> Floats:
        """Return parameters (..., p) of the same W whose coefficients of c and g are as large."""
        found = parameters.copy()
        c, g = found[..., self._coefficients], found[..., self.scale_of_gains]
        of_c, of_g = (np.linalg.norm(one, axis=-1, keepdims=True) for one in (c, g))
        factor = np.sqrt(np.where(of_c * of_g > 0, of_g / np.maximum(of_c, 1e-300), 1.0))
        c *= factor
        g /= factor
        return found


@lru_cache(8)
def _product(family: WeightFamily, parameters: bytes, shape: tuple[int, ...]) -> Product:
    theta, n = np.frombuffer(parameters).reshape(shape), family.scale_of_gains.start
    c, g = family.discounts.at(theta[..., :n]), family.gains.at(theta[..., n:])
    values = c.values[..., None] * g.values[..., None, :]
    values = values.reshape(*values.shape[:-2], -1)
    left = c.jacobian[..., None, :] * g.values[..., None, :, None]
    right = c.values[..., None, None] * g.jacobian[..., None, :, :]
    jacobian = np.concatenate([left, right], axis=-1).reshape(*values.shape, -1)
    return Product(c, g, values, jacobian)


def _unfactored(name: str, generators: Floats, start: Floats, n_ranks: int) -> WeightFamily:
    """Return the W that are `generators`, (K L, p), times parameters."""
    return WeightFamily(Family(name, generators, start), Family("", np.ones((1, 1))), n_ranks)


@lru_cache(8)
def any_weights(n_ranks: int, n_grades: int, empty: bool = False) -> WeightFamily:
    """Return the family of all W: every rank has gains of its own."""
    varying = np.delete(np.arange(n_grades + empty), n_grades - 1)
    gains = np.maximum(n_grades - 1 - varying, 0) / (n_grades - 1)
    start = np.outer(rule_discounts("log2", n_ranks), gains).ravel()
    generators = np.kron(np.eye(n_ranks), np.eye(n_grades + empty)[:, varying]).astype(float)
    return _unfactored("gains of each position", generators, start, n_ranks)


def multiples_of(W: Floats, name: str, empty: bool) -> WeightFamily:
    """Return the multiples of one W, (K, L); an empty rank may be worth something of its own."""
    K, L = W.shape
    relative = W - W[:, -1:]
    generators = np.zeros((K, L + empty, 1 + empty))
    generators[:, :L, 0] = relative
    if empty:  # discounted as the best grade is
        generators[:, L, 1] = relative[:, 0] / max(np.abs(relative[:, 0]).max(), 1e-300)
    start = np.append(1 / np.abs(relative).max(), [0.0] * empty)
    return _unfactored(name, generators.reshape(-1, 1 + empty), start, K)


def parse_families(texts: Mapping[str, str | None]) -> dict[str, Any]:
    """Read names of families, which are known, or numbers, by names that end in what they are of.

    >>> parse_families({"gains": "1,.5,0", "larger-discounts": "zipf:free", "larger-gains": None})
    {'gains': [1.0, 0.5, 0.0], 'discounts': 'zipf:free'}
    """
    found: dict[str, Any] = {}
    for place, text in texts.items():
        if text is None:
            continue
        kind = place.rpartition("-")[2]
        if "," in text:
            found[kind] = [parse_number(one) for one in text.split(",")]
            continue
        with naming(place):
            if kind == "gains":
                gain_family(text, np.array([1.0, 0.0]))
            else:
                discount_family(text, 2)
        found[kind] = text
    return found


def families_in_words(smaller: Mapping[str, str | None], larger: Mapping[str, str | None]) -> str:
    """Name a hypothesis by its families, and those of the model that holds it."""
    named, within = (
        ", ".join(
            f"{place.rpartition('-')[2]} {text}"
            for place, text in families.items()
            if text not in (None, FREE_FAMILY)
        )
        for families in (smaller, larger)
    )
    return (named or "the same gains at every rank") + (f", within {within}" if within else "")
