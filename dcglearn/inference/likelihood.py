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

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from dcglearn.base.types import Floats
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
from dcglearn.learning.source import Statistic

PRIOR_SD = 10.0
"""Standard deviation of W, the side bias and the level, in log odds."""

LAPSE_PRIOR = 10.0
"""The share of lapses e has the prior density 10 (1 - e)^9: mean .09, 95% below .26."""

MAX_LAPSES = 0.95
_MAX_OF_JUDGE = 0.995

_MIN_TIES = 1e-6

_USUAL = {"side": 0.0, "lapses": 0.05, "ties": 0.5, "level offset": 0.0, "level slope": 0.5}


class Expanded(NamedTuple):
    """A log likelihood, with the prior, its gradient (..., P) and Hessian (..., P, P)."""

    value: Floats
    gradient: Floats
    hessian: Floats


class Rows(NamedTuple):
    """Some judgments at parameters (..., P): difference v, level h, and the share of lapses e.

    These are (..., n); `design` has blocks of derivatives: of which input, in which parameters,
    (..., n, q). Where ties have levels, `mean_utility`, (..., n, p + 1), has the mean of the two
    lists in its last column, after its derivatives in the parameters of W.
    """

    judged: Judged
    v: Floats
    h: Floats
    e: Floats
    design: list[tuple[str, slice, Floats]]
    mean_utility: Floats

    def scores(self, terms: Terms, factors: Floats) -> Floats:
        """Return the gradient of the log probability of each answer, (n, P), times factors (n,)."""
        found = np.zeros((len(self.v), max(at.stop for _, at, _ in self.design)))
        for one, at, slopes in self.design:
            found[:, at] += slopes * (terms.first[one] * factors)[:, None]
        return found


Bend = Callable[[Rows], Floats]
"""What a departure from the model may add to v, (n, m)."""


@dataclass(frozen=True)
class Likelihood:
    """The log likelihood of judgments as a function of parameters.

    The parameters are those of W, then the side bias, the share of lapses, t, and the offset and
    the slope of the level; those that the model has not are left out.
    """

    evidence: Evidence
    family: WeightFamily
    ties: TieModel
    side: bool
    lapses: bool

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters after those of W."""
        names = ("side",) * self.side + ("lapses",) * self.lapses
        names += ("ties",) * (self.ties != "strict")
        return names + ("level offset", "level slope") * self.has_levels

    @property
    def has_levels(self) -> bool:
        """Whether ties have levels, good or bad."""
        return self.evidence.layout.levels and self.ties != "strict"

    @cached_property
    def n_weights(self) -> int:
        """Number of parameters of W."""
        return len(self.family.start)

    @cached_property
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
        most = 1.0 if relative is None else relative.max()  # their mean is 1
        known = {"lapses": (0.0, min(MAX_LAPSES, _MAX_OF_JUDGE / most))}
        if self.ties == "rao-kupper":
            known["ties"] = _MIN_TIES, math.inf
        others = [known.get(name, (-math.inf, math.inf)) for name in self.names]
        low, high = np.hstack([self.family.bounds, np.reshape(others, (-1, 2)).T])
        return low, high

    @cached_property
    def places(self) -> dict[str, slice]:
        """The places of the parameters after those of W."""
        return {name: slice(at, at + 1) for at, name in enumerate(self.names, self.n_weights)}

    def value_of(self, name: str, parameters: Floats) -> Floats:
        """Return a parameter after those of W, (..., 1), 0 if the model does not have it."""
        return parameters[..., self.places[name]] if name in self.places else np.zeros(1)

    def expand(self, parameters: Floats) -> Expanded:
        """Return the log likelihood with the prior, its gradient and Hessian, at (..., P)."""
        at, prior = self.family.at(parameters), self.prior(parameters)
        parts = self.map(parameters, partial(self._sum, parameters), counted=True)
        sums: Any = map(sum, zip(*parts, strict=True))
        value, gradient, of_weights, hessian = sums
        gradient[..., : self.n_weights] = np.vecmat(of_weights, at.jacobian)
        pull = of_weights - at.values / PRIOR_SD**2
        hessian[..., : self.n_weights, : self.n_weights] += at.curvature(pull)
        return Expanded(value + prior.value, gradient + prior.gradient, hessian + prior.hessian)

    def prior(self, parameters: Floats) -> Expanded:
        """Return the log density of the prior at (..., P), but for a constant, and its derivatives.

        What does not change W is normal as well, and would be 0. The Hessian is that of a W that is
        linear in its parameters.
        """
        n, theta, signs = self.n_weights, parameters[..., : self.n_weights], self.family.signs
        along, gradient, at = theta @ signs, -parameters @ self._precision, self.family.at(theta)
        balance = np.vecdot(along, theta)[..., None] / 2
        W, of_W = at.values / PRIOR_SD, at.jacobian / PRIOR_SD
        value = np.vecdot(gradient, parameters) - np.vecdot(W, W) - balance[..., 0] ** 2
        gradient[..., :n] = -np.vecmat(W, of_W) - balance * along
        hessian = np.zeros((*parameters.shape, 1)) - self._precision
        hessian[..., :n, :n] = -of_W.mT @ of_W - balance[..., None] * signs
        hessian[..., :n, :n] -= along[..., None] * along[..., None, :]
        if self.lapses:
            at_lapses = self.places["lapses"].start
            share = parameters[..., at_lapses]
            value += 2 * lapse_prior(share)
            gradient[..., at_lapses] = (1 - LAPSE_PRIOR) / (1 - share)
            hessian[..., at_lapses, at_lapses] = (1 - LAPSE_PRIOR) / (1 - share) ** 2
        return Expanded(value / 2, gradient, hessian)

    @cached_property
    def _precision(self) -> Floats:
        """The prior's precision of the parameters after those of W, but for lapses, (P, P)."""
        normal = [name != "lapses" for name in self.names]
        return np.diag(np.append(np.zeros(self.n_weights), normal)) / PRIOR_SD**2

    def _sum(self, parameters: Floats, rows: Rows) -> tuple[Floats, Floats, Floats, Floats]:
        """Return log likelihood, gradients in other parameters and in W, and Hessian of a chunk.

        The Hessian is that of a W that is linear in its parameters.
        """
        weights, layout, codes = rows.judged.weights, self.evidence.layout, rows.judged.codes
        terms, n, P = self.terms(parameters, rows), self.n_weights, self.n_parameters
        first = {one: weights * slope for one, slope in terms.first.items()}
        of_weights = layout.differences.transposed_product(codes, first[V])
        gradient, hessian = np.zeros(parameters.shape), np.zeros((*parameters.shape, P))
        for one, at, slopes in rows.design:
            gradient[..., at] += np.vecmat(first[one], slopes)
        for (one, at, left), (another, to, right) in combinations_with_replacement(rows.design, 2):
            if one + another in terms.second:
                bent = right * (weights * terms.second[one + another])[..., None]
                block = left.mT @ bent
                hessian[..., at, to] += block
                if at != to:
                    hessian[..., to, at] += block.mT
        if self.has_levels:
            slope, at = self.value_of("level slope", parameters), self.places["level slope"].start
            of_weights += slope / 2 * layout.sums.transposed_product(codes, first[H])
            mixed = np.vecmat(first[H], rows.mean_utility[..., :-1])
            hessian[..., :n, at] += mixed
            hessian[..., at, :n] += mixed
        return terms.value @ weights, gradient, of_weights, hessian

    def information(self, parameters: Floats) -> Floats:
        """Return the expected information of the judgments, shape (P, P)."""

        def of_rows(rows: Rows) -> Floats:
            return gram_of(self.scores_and_information(parameters, rows)[1])

        return np.asarray(sum(self.map(parameters, of_rows, counted=True)))

    def log_likelihood(self, parameters: Floats) -> float:
        """Return the log likelihood without the prior."""
        return float(self.expand(parameters).value - self.prior(parameters).value)

    def map(
        self,
        parameters: Floats,
        statistic: Callable[[Rows], Statistic],
        counted: bool = False,
    ) -> Iterable[Statistic]:
        """Return a statistic of each chunk of judgments, or distinct ones, at some parameters."""
        at = self.family.at(parameters)
        evidence = self.evidence.counted if counted else self.evidence
        with_ids = not counted or evidence.relative_lapses is not None
        table = np.concatenate([at.jacobian, at.values[..., None]], axis=-1)
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
        """Return weight times score of the given answers (n, P), and rows of information.

        These, z (n, answers, P), are the root of weight and probability times the score of an
        answer. Of two answers the given one is enough: the other's derivatives are - P / (1 - P)
        times its own.
        """
        given, weights = self.terms(parameters, rows), rows.judged.weights
        scores = rows.scores(given, weights)
        if self.ties == "strict":
            other = strict_probability((2.0 * rows.judged.answers - 1.0) * rows.v, rows.e)
            factors = np.sqrt(np.exp(given.value) / other / weights)
            return scores, (scores * factors[:, None])[:, None]
        every = (self.terms(parameters, rows, answer) for answer in self.answers)
        parts = [rows.scores(one, np.sqrt(weights * np.exp(one.value))) for one in every]
        return scores, np.stack(parts, axis=1)

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
        v, h = found[..., p] + self.value_of("side", parameters), np.zeros(n)
        one, both = np.ones((n, 1)), np.zeros((n, 0))
        found[..., p] = 1.0
        design = [(V, slice(p + self.side), found[..., : p + self.side])]
        if self.ties != "strict":
            design.append((T, self.places["ties"], one))
        if self.has_levels:
            both = layout.sums.product(judged.codes, table) / 2
            slope = self.value_of("level slope", parameters)
            h = self.value_of("level offset", parameters) + slope * both[..., p]
            design += [
                (H, slice(p), slope[..., None] * both[..., :p]),
                (H, self.places["level offset"], one),
                (H, self.places["level slope"], both[..., p:]),
            ]
        e = self.value_of("lapses", parameters)
        if self.lapses:
            factor = one
            if self.evidence.relative_lapses is not None:
                factor = self.evidence.relative_lapses[judged.judges][:, None]
                e = e * factor[:, 0]
            design.append((E, self.places["lapses"], factor))
        return Rows(judged, v, h, e, design, both)


def gram_of(information: Floats) -> Floats:
    """Return the information (P, P) of some judgments, of rows (n, answers, P)."""
    rows = information.reshape(-1, information.shape[2])
    return rows.T @ rows


def lapse_prior(share: Any) -> Floats:
    """Return the log density of the prior of the share of lapses, but for a constant."""
    return np.asarray((LAPSE_PRIOR - 1) * np.log1p(-share))
