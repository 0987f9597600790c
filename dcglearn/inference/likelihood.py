"""The log likelihood of judgments, with its gradient and Hessian, and the prior.

A judgment of lists a and b has the inputs

    v = <W, s(a) - s(b)> + side,                        (difference)
    h = offset + slope <W, s(a) + s(b)> / 2,            (level of a tie)

and t, e of :mod:`dcglearn.inference.answers`. W depends on parameters as its family says
(:mod:`dcglearn.inference.families`), in units of log odds.

The prior keeps estimates finite where no data do: every entry of W, the side bias and the
parameters of ties and levels are normal with mean 0 and standard deviation 10 (log odds of 10 mean
one wrong answer in 22,000), and the share of lapses is Beta(1, 10).

Sums go over chunks of judgments in their order, and so do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations_with_replacement
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from dcglearn.base.types import Floats, Integers
from dcglearn.inference.answers import (
    BAD,
    GOOD,
    TIE,
    A,
    B,
    E,
    H,
    T,
    Terms,
    TieModel,
    V,
    answer_terms,
    strict_probability,
)
from dcglearn.inference.evidence import Evidence, Judged
from dcglearn.inference.families import WeightFamily

PRIOR_SD = 10.0
"""Standard deviation of W, the side bias and the level, in log odds."""

LAPSE_PRIOR = 10.0
"""The share of lapses e has the prior density 10 (1 - e)^9: mean .09, 95% below .26."""

MAX_LAPSES = 0.95
_MAX_OF_JUDGE = 0.995

_MIN_TIES = 1e-6

_USUAL = {"side": 0.0, "lapses": 0.05, "ties": 0.5, "level offset": 0.0, "level slope": 0.5}

_Statistic = TypeVar("_Statistic")


@dataclass(frozen=True, eq=False)
class Expanded:
    """A log likelihood, with the prior, its gradient (P,) and Hessian (P, P), once it is needed."""

    value: float
    gradient: Floats
    find_hessian: Callable[[], Floats]

    @cached_property
    def hessian(self) -> Floats:
        """The second derivatives."""
        return self.find_hessian()


class Rows(NamedTuple):
    """Some judgments at P parameters: difference v and level h, (n,), and the share of lapses e.

    `design` has the q parameters that each input depends on, and its derivatives in them, (n, q);
    where ties have levels, `mean_utility`, (n, p + 1), has the mean of the two lists in its last
    column, after its derivatives in the parameters of W.
    """

    judged: Judged
    v: Floats
    h: Floats
    e: float | Floats
    design: dict[str, tuple[Integers, Floats]]
    mean_utility: Floats
    n_parameters: int

    def departing(self, z: Floats) -> Rows:
        """Return them with m more parameters, all 0: v is v + gamma'z for z (n, m)."""
        at, slopes = self.design[V]
        n_parameters = self.n_parameters + z.shape[1]
        both = np.append(at, np.arange(self.n_parameters, n_parameters)), np.hstack([slopes, z])
        return self._replace(design={**self.design, V: both}, n_parameters=n_parameters)

    def scores(self, terms: Terms) -> Floats:
        """Return the gradient of the log probability of each answer, (n, P)."""
        found = np.zeros((len(self.v), self.n_parameters))
        for one, (at, slopes) in self.design.items():
            found[:, at] += slopes * terms.first[one][:, None]
        return found


Bend: TypeAlias = Callable[[Rows], Floats]
"""What a departure from the model may add to v, (n, m)."""


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The log likelihood of judgments as a function of parameters.

    The parameters are those of W, then the side bias, the share of lapses, t, and the offset and
    the slope of the level; those that the model has not are left out.
    """

    evidence: Evidence
    family: WeightFamily
    ties: TieModel = "strict"
    side: bool = True
    lapses: bool = True

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters after those of W."""
        names = ("side",) * self.side + ("lapses",) * self.lapses
        if self.ties != "strict":
            names += ("ties",)
        return names + ("level offset", "level slope") * self.has_levels

    @property
    def has_levels(self) -> bool:
        """Whether ties have levels, good or bad."""
        return self.evidence.layout.levels and self.ties != "strict"

    @property
    def n_weights(self) -> int:
        """Number of parameters of W."""
        return len(self.family.start)

    @property
    def n_parameters(self) -> int:
        """P, the number of parameters."""
        return self.n_weights + len(self.names)

    @cached_property
    def start(self) -> Floats:
        """Where an estimate begins, shape (P,)."""
        return np.concatenate([self.family.start, [_USUAL[name] for name in self.names]])

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the parameters, each of shape (P,)."""
        relative = self.evidence.relative_lapses
        most = 1.0 if relative is None else max(1.0, float(relative.max()))
        known = {"lapses": (0.0, min(MAX_LAPSES, _MAX_OF_JUDGE / most))}
        if self.ties == "rao-kupper":
            known["ties"] = _MIN_TIES, math.inf
        others = [known.get(name, (-math.inf, math.inf)) for name in self.names]
        low, high = np.hstack([self.family.bounds, np.reshape(others, (-1, 2)).T])
        return low, high

    def index(self, name: str) -> int:
        """Return the place of a parameter after those of W."""
        return self.n_weights + self.names.index(name)

    def value_of(self, name: str, parameters: Floats) -> float:
        """Return a parameter after those of W, 0 if the model does not have it."""
        return float(parameters[self.index(name)]) if name in self.names else 0.0

    def balanced(self, parameters: Floats) -> Floats:
        """Return the parameters of the same W at which its scale is shared as the prior prefers.

        Along scales that change nothing the likelihood is a bent valley, in which steps are short.
        """
        n = self.n_weights
        return np.append(self.family.balanced(parameters[:n]), parameters[n:])

    def expand(self, parameters: Floats) -> Expanded:
        """Return the log likelihood with the prior, its gradient and Hessian."""
        theta, w = parameters[: self.n_weights], slice(self.n_weights)
        of_rows = partial(self._slopes, parameters)
        sums = self.map(self.evidence.counted, parameters, of_rows, slopes=False)
        value, gradient, of_weights = (sum(parts) for parts in zip(*sums, strict=True))
        gradient[w] = self.family.jacobian(theta).T @ of_weights
        normal, slopes = self._normal(parameters)
        gradient -= slopes.T @ normal
        if self.lapses:
            at = self.index("lapses")
            gradient[at] -= (LAPSE_PRIOR - 1) / (1 - float(parameters[at]))
        n = len(of_weights)
        bends = self.family.curvature(theta, of_weights - normal[:n] / PRIOR_SD)
        bends -= normal[n] * np.diag(self.family.signs)
        value += self.log_prior(parameters)
        return Expanded(value, gradient, partial(self._hessian, parameters, bends))

    def log_prior(self, parameters: Floats) -> float:
        """Return the log density of the prior, but for a constant."""
        normal = self._normal(parameters)[0]
        return lapse_prior(self.value_of("lapses", parameters)) - float(normal @ normal) / 2

    def _normal(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return what is normal with standard deviation 1 in the prior, and its derivatives.

        That is W, what does not change W and would be 0, and the other parameters but for lapses.
        """
        theta, others = parameters[: self.n_weights], parameters[self.n_weights :]
        W, along = self.family.weights(theta).ravel(), self.family.signs * theta
        kept = [name != "lapses" for name in self.names]
        values = np.concatenate([W / PRIOR_SD, [theta @ along / 2], others[kept] / PRIOR_SD])
        slopes = np.zeros((len(values), len(parameters)))
        n, p = W.size, len(theta)
        slopes[:n, :p], slopes[n, :p] = self.family.jacobian(theta) / PRIOR_SD, along
        slopes[n + 1 :, p:] = np.eye(len(others))[kept] / PRIOR_SD
        return values, slopes

    def _slopes(self, parameters: Floats, rows: Rows) -> tuple[float, Floats, Floats]:
        """Return the log likelihood of a chunk, and the gradients in other parameters and in W."""
        weights, layout, codes = rows.judged.weights, self.evidence.layout, rows.judged.codes
        terms = self.terms(parameters, rows)
        first = {one: weights * slope for one, slope in terms.first.items()}
        gradient = np.zeros(self.n_parameters)
        for one, (at, slopes) in rows.design.items():
            gradient[at] += slopes.T @ first[one]
        of_weights = layout.differences.transposed_product(codes, first[V])
        if self.has_levels:
            slope = self.value_of("level slope", parameters)
            of_weights += slope / 2 * layout.sums.transposed_product(codes, first[H])
        return float(weights @ terms.value), gradient, of_weights

    def _hessian(self, parameters: Floats, bends: Floats) -> Floats:
        """Return the Hessian, where W as a function of parameters bends the posterior so much."""
        w = slice(self.n_weights)

        def of_rows(rows: Rows) -> Floats:
            terms, weights = self.terms(parameters, rows), rows.judged.weights
            found = np.zeros((len(parameters), len(parameters)))
            for one, another in combinations_with_replacement(rows.design, 2):
                if one + another in terms.second:
                    (at, left), (to, right) = rows.design[one], rows.design[another]
                    block = left.T @ (right * (weights * terms.second[one + another])[:, None])
                    found[np.ix_(at, to)] += block
                    if one != another:
                        found[np.ix_(to, at)] += block.T
            if self.has_levels:
                mixed = rows.mean_utility[:, :-1].T @ (weights * terms.first[H])
                found[w, self.index("level slope")] += mixed
                found[self.index("level slope"), w] += mixed
            return found

        found = np.asarray(sum(self.map(self.evidence.counted, parameters, of_rows)))
        found[w, w] += bends
        return found - self.prior_information(parameters)

    def information(self, parameters: Floats) -> Floats:
        """Return the expected information of the judgments, shape (P, P)."""

        def of_rows(rows: Rows) -> Floats:
            return gram_of(self.scores_and_information(parameters, rows)[1])

        return np.asarray(sum(self.map(self.evidence.counted, parameters, of_rows)))

    def prior_information(self, parameters: Floats) -> Floats:
        """Return the information of the prior, shape (P, P), and on scales that change nothing."""
        slopes = self._normal(parameters)[1]
        information: Floats = slopes.T @ slopes
        if self.lapses:
            at = self.index("lapses")
            information[at, at] = (LAPSE_PRIOR - 1) / (1 - float(parameters[at])) ** 2
        return information

    def log_likelihood(self, parameters: Floats) -> float:
        """Return the log likelihood without the prior."""
        return self.expand(parameters).value - self.log_prior(parameters)

    def map(
        self,
        evidence: Evidence,
        parameters: Floats,
        statistic: Callable[[Rows], _Statistic],
        with_ids: bool = False,
        slopes: bool = True,
    ) -> Iterable[_Statistic]:
        """Return a statistic of each chunk of judgments at some parameters, in order.

        Without `slopes` the design lacks the parameters of W.
        """
        theta = parameters[: self.n_weights]
        with_ids = with_ids or self.evidence.relative_lapses is not None
        table = self.family.weights(theta).reshape(-1, 1)
        if slopes:
            table = np.hstack([self.family.jacobian(theta), table])
        return evidence.map(
            lambda judged: statistic(self._rows(parameters, table, judged)), with_ids
        )

    def terms(self, parameters: Floats, rows: Rows, answer: int | None = None) -> Terms:
        """Return the log probability of the given answers, or of one answer to all judgments."""
        given = rows.judged.answers
        answers = given if answer is None else np.full_like(given, answer)
        t, q = self.value_of("ties", parameters), 1 / len(self.answers)
        return answer_terms(answers, rows.v, t, rows.h, rows.e, self.ties, q)

    def scores_and_information(self, parameters: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the scores of the given answers (n, P), and rows z (n, answers, P) of information.

        z is the root of weight and probability times the score of an answer. Of two answers the
        given one is enough: the other's derivatives are - P / (1 - P) times its own.
        """
        given = self.terms(parameters, rows)
        scores, expected = rows.scores(given), []
        if self.ties == "strict":
            other = strict_probability((2.0 * rows.judged.answers - 1.0) * rows.v, rows.e)
            expected.append((scores, np.exp(given.value) / other))
        else:
            for answer in self.answers:
                terms = self.terms(parameters, rows, answer)
                expected.append((rows.scores(terms), np.exp(terms.value)))
        weights = rows.judged.weights
        parts = [one * np.sqrt(weights * factor)[:, None] for one, factor in expected]
        return scores, np.stack(parts, axis=1)

    @property
    def answers(self) -> tuple[int, ...]:
        """The answers that are possible in the model."""
        if self.ties == "strict":
            return A, B
        return (A, B, GOOD, BAD) if self.has_levels else (A, B, TIE)

    def _rows(self, parameters: Floats, table: Floats, judged: Judged) -> Rows:
        """Return a chunk; the columns of `table` are derivatives of W, and W itself."""
        layout, n, p = self.evidence.layout, len(judged.answers), table.shape[1] - 1
        columns = table if p else table[:, 0]  # one column is faster as a vector
        found = layout.differences.product(judged.codes, columns).reshape(n, -1)
        v, h = found[:, p] + self.value_of("side", parameters), np.zeros(n)
        one, both = np.ones((n, 1)), np.zeros((n, 0))
        found[:, p] = 1.0
        at = [*range(p), *[self.n_weights] * self.side]
        design = {V: (np.array(at, np.intp), found[:, : len(at)])}
        if self.ties != "strict":
            design[T] = np.array([self.index("ties")]), one
        if self.has_levels:
            both = layout.sums.product(judged.codes, table) / 2
            slope = self.value_of("level slope", parameters)
            h = self.value_of("level offset", parameters) + slope * both[:, p]
            at = [*range(p), self.index("level offset"), self.index("level slope")]
            design[H] = np.array(at), np.hstack([slope * both[:, :p], one, both[:, p:]])
        e: float | Floats = self.value_of("lapses", parameters)
        if self.lapses:
            factor = one
            if self.evidence.relative_lapses is not None:
                factor = self.evidence.relative_lapses[judged.judges][:, None]
                e = e * factor[:, 0]
            design[E] = np.array([self.index("lapses")]), factor
        return Rows(judged, v, h, e, design, both, self.n_parameters)


def gram_of(information: Floats) -> Floats:
    """Return the information (P, P) of some judgments, of rows (n, answers, P)."""
    rows = information.reshape(-1, information.shape[2])
    return rows.T @ rows


def lapse_prior(share: float) -> float:
    """Return the log density of the prior of the share of lapses, but for a constant."""
    return (LAPSE_PRIOR - 1) * math.log1p(-share)
