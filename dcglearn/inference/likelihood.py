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
from functools import cached_property
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


class Expanded(NamedTuple):
    """A log likelihood, with the prior, its gradient (P,) and Hessian (P, P)."""

    value: float
    gradient: Floats
    hessian: Floats


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

    @property
    def counted(self) -> Evidence:
        """The judgments that sums without queries go over: the distinct ones, if many are equal."""
        return self.evidence.distinct or self.evidence

    def expand(self, parameters: Floats) -> Expanded:
        """Return the log likelihood with the prior, its gradient and Hessian."""
        theta = parameters[: self.n_weights]
        W, J = self.family.weights(theta), self.family.jacobian(theta)
        sums = self.map(self.counted, parameters, lambda rows: self._expand_rows(parameters, rows))
        value, gradient, hessian, of_weights = (sum(parts) for parts in zip(*sums, strict=True))
        w = slice(self.n_weights)
        pull = of_weights.reshape(W.shape) - W / PRIOR_SD**2
        hessian[w, w] += self.family.curvature(theta, pull)
        gradient[w] -= J.T @ W.ravel() / PRIOR_SD**2
        value -= (W**2).sum() / (2 * PRIOR_SD**2)
        normal = np.array([name != "lapses" for name in self.names], bool)
        others = parameters[self.n_weights :] * normal
        value -= (others**2).sum() / (2 * PRIOR_SD**2)
        gradient[self.n_weights :] -= others / PRIOR_SD**2
        if self.lapses:
            at = self.index("lapses")
            value += lapse_prior(float(parameters[at]))
            gradient[at] -= (LAPSE_PRIOR - 1) / (1 - float(parameters[at]))
        signs = self.family.signs
        b = float(theta @ (signs * theta)) / 2
        value -= b**2 / 2
        gradient[w] -= b * signs * theta
        hessian[w, w] -= b * np.diag(signs)
        hessian -= self.prior_information(parameters)
        return Expanded(value, gradient, hessian)

    def _expand_rows(self, parameters: Floats, rows: Rows) -> tuple[float, Floats, Floats, Floats]:
        """Return the log likelihood of a chunk, gradient, Hessian, and the gradient in W."""
        weights, layout = rows.judged.weights, self.evidence.layout
        terms = self.terms(parameters, rows)
        first = {one: weights * slope for one, slope in terms.first.items()}
        gradient = np.zeros(self.n_parameters)
        hessian = np.zeros((self.n_parameters, self.n_parameters))
        for one, (at, left) in rows.design.items():
            gradient[at] += left.T @ first[one]
            for another, (to, right) in rows.design.items():
                if (bend := terms.second.get(one + another)) is not None:
                    block = left.T @ (right * (weights * bend)[:, None])
                    hessian[np.ix_(at, to)] += block
                    if one != another:
                        hessian[np.ix_(to, at)] += block.T
        codes = rows.judged.codes
        of_weights = layout.differences.transposed_product(codes, first[V])
        if self.has_levels:
            slope, at_slope = self.value_of("level slope", parameters), self.index("level slope")
            of_weights += slope / 2 * layout.sums.transposed_product(codes, first[H])
            mixed = rows.mean_utility[:, :-1].T @ first[H]
            hessian[: self.n_weights, at_slope] += mixed
            hessian[at_slope, : self.n_weights] += mixed
        return float(weights @ terms.value), gradient, hessian, of_weights

    def information(self, parameters: Floats, bend: Bend | None = None) -> Floats:
        """Return the expected information of the judgments, shape (P, P), with a departure."""

        def of_rows(rows: Rows) -> Floats:
            rows = rows.departing(bend(rows)) if bend else rows
            Z = self.scores_and_information(parameters, rows)[1].reshape(-1, rows.n_parameters)
            return Z.T @ Z

        evidence = self.evidence if bend else self.counted
        return np.asarray(sum(self.map(evidence, parameters, of_rows)))

    def prior_information(self, parameters: Floats) -> Floats:
        """Return the information of the prior, shape (P, P), and on scales that change nothing."""
        theta, information = parameters[: self.n_weights], np.eye(self.n_parameters) / PRIOR_SD**2
        J, along = self.family.jacobian(theta), self.family.signs * theta
        of_weights = J.T @ J / PRIOR_SD**2 + np.outer(along, along)
        information[: self.n_weights, : self.n_weights] = of_weights
        if self.lapses:
            at = self.index("lapses")
            information[at, at] = (LAPSE_PRIOR - 1) / (1 - float(parameters[at])) ** 2
        return information

    def log_likelihood(self, parameters: Floats) -> float:
        """Return the log likelihood without the prior."""
        return math.fsum(
            self.map(
                self.counted,
                parameters,
                lambda rows: float(rows.judged.weights @ self.terms(parameters, rows).value),
            )
        )

    def map(
        self,
        evidence: Evidence,
        parameters: Floats,
        statistic: Callable[[Rows], _Statistic],
        with_ids: bool = False,
    ) -> Iterable[_Statistic]:
        """Return a statistic of each chunk of judgments at some parameters, in order."""
        theta = parameters[: self.n_weights]
        with_ids = with_ids or self.evidence.relative_lapses is not None
        table = np.hstack([self.family.jacobian(theta), self.family.weights(theta).reshape(-1, 1)])
        return evidence.map(
            lambda judged: statistic(self._rows(parameters, table, judged)), with_ids
        )

    def terms(self, parameters: Floats, rows: Rows, answer: int | None = None) -> Terms:
        """Return the log probability of the given answers, or of one answer to all judgments."""
        given = rows.judged.answers
        answers = given if answer is None else np.full_like(given, answer)
        t, q = self.value_of("ties", parameters), 1 / len(self.answers)
        return answer_terms(answers, rows.v, t, rows.h, rows.e, self.ties, q)

    def scores(self, rows: Rows, terms: Terms) -> Floats:
        """Return the gradient of the log probability of each answer, shape (n, P)."""
        found = np.zeros((len(rows.v), rows.n_parameters))
        for one, (at, part) in rows.design.items():
            found[:, at] += part * terms.first[one][:, None]
        return found

    def scores_and_information(self, parameters: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the scores of the given answers (n, P), and rows z (n, answers, P) of information.

        Of each possible answer, z is sqrt(weight P) times its score. Of two answers the given one
        is enough: the other's score is - P / (1 - P) times its own.
        """
        weights, given = rows.judged.weights, self.terms(parameters, rows)
        scores = self.scores(rows, given)
        if self.ties == "strict":
            other = strict_probability(np.where(rows.judged.answers == A, -rows.v, rows.v), rows.e)
            factor = np.sqrt(weights * np.exp(given.value) / other)
            return scores, (scores * factor[:, None])[:, None]
        information = []
        for answer in self.answers:
            terms = self.terms(parameters, rows, answer)
            factor = np.sqrt(weights * np.exp(terms.value))
            information.append(self.scores(rows, terms) * factor[:, None])
        return scores, np.stack(information, axis=1)

    @property
    def answers(self) -> tuple[int, ...]:
        """The answers that are possible in the model."""
        if self.ties == "strict":
            return A, B
        return (A, B, GOOD, BAD) if self.has_levels else (A, B, TIE)

    def _rows(self, parameters: Floats, table: Floats, judged: Judged) -> Rows:
        """Return a chunk; the columns of `table` are derivatives of W, and W itself."""
        layout, n, p = self.evidence.layout, len(judged.answers), self.n_weights
        found = layout.differences.product(judged.codes, table)
        v, h = found[:, p] + self.value_of("side", parameters), np.zeros(n)
        one, both = np.ones((n, 1)), np.zeros((n, 0))
        found[:, p] = 1.0
        design = {V: (np.arange(p + self.side), found[:, : p + self.side])}
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


def lapse_prior(share: float) -> float:
    """Return the log density of the prior of the share of lapses, but for a constant."""
    return (LAPSE_PRIOR - 1) * math.log1p(-share)
