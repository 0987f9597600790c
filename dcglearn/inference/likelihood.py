"""The log likelihood of judgments, with its gradient and Hessian, and the prior.

A judgment of lists a and b has the inputs

    v = <W, s(a) - s(b)> + side,                        (difference)
    h = offset + slope <W, s(a) + s(b)> / 2,            (level of a tie)

and t, e of :mod:`dcglearn.inference.answers`. W depends on parameters as its family says
(:mod:`dcglearn.families.weights`), with the utility in units of log odds.

The prior keeps estimates finite where no data do, such as judgments that some W predicts without
an error: every entry of W, the side bias and the parameters of ties and levels are normal with
mean 0 and standard deviation 10 (log odds of 10 mean one wrong answer in 22,000), and the share
of lapses is Beta(1, 10).

Sums go over chunks of judgments in their order, so that they are the same to the last bit whatever
the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from dcglearn.base.threads import map_threads, one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.families.weights import WeightFamily
from dcglearn.inference.answers import (
    BAD,
    GOOD,
    TIE,
    A,
    B,
    H,
    LapseTerms,
    T,
    TieModel,
    V,
    log_probability,
    with_lapses,
)
from dcglearn.inference.evidence import Evidence, features, transposed_product

PRIOR_SD = 10.0
"""Standard deviation of W, the side bias and the level, in log odds."""

LAPSE_PRIOR = 10.0
"""The share of lapses e has the prior density 10 (1 - e)^9: mean .09, 95% below .26."""

MAX_LAPSES = 0.95

_MIN_TIES = 1e-6
_CHUNK = 1 << 15

_Statistic = TypeVar("_Statistic")


class Expanded(NamedTuple):
    """A log likelihood, with the prior, and its derivatives.

    Attributes
    ----------
    value : float
    gradient : ndarray of float, shape (P,)
    hessian : ndarray of float, shape (P, P)
    """

    value: float
    gradient: Floats
    hessian: Floats


class Rows(NamedTuple):
    """Some judgments at some parameters.

    Attributes
    ----------
    rows : slice
        Which judgments.
    v, h : ndarray of float, shape (n,)
        Difference and level.
    x_weights : ndarray of float, shape (n, p)
        The derivative of v in the parameters of W.
    level_weights : ndarray of float, shape (n, p)
        That of the mean utility of the two lists; no columns without levels.
    mean_utility : ndarray of float, shape (n,)
    """

    rows: slice
    v: Floats
    h: Floats
    x_weights: Floats
    level_weights: Floats
    mean_utility: Floats


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The log likelihood of judgments as a function of parameters.

    The parameters are those of W, then the side bias, the share of lapses, t, and the offset and
    the slope of the level; those that the model has not are left out.

    Parameters
    ----------
    evidence : Evidence
    family : WeightFamily
    ties : {"strict", "davidson", "rao-kupper"}, default "strict"
    side, lapses : bool, default True
        Whether the model has a side bias, and a share of answers at random.
    relative_lapses : ndarray of float, shape (n,), optional
        By how much each judgment's share of lapses differs from the common one, as a factor.
    """

    evidence: Evidence
    family: WeightFamily
    ties: TieModel = "strict"
    side: bool = True
    lapses: bool = True
    relative_lapses: Floats | None = None

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
        return self.evidence.sum_layout is not None and self.ties != "strict"

    @property
    def n_inputs(self) -> int:
        """Number of inputs of a probability without lapses: v alone, or v, t and h."""
        return 1 if self.ties == "strict" else 3

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
        usual = {"side": 0.0, "lapses": 0.05, "ties": 0.5, "level offset": 0.0, "level slope": 0.5}
        return np.concatenate([self.family.start, [usual[name] for name in self.names]])

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the parameters, each of shape (P,)."""
        low, high = np.full((2, self.n_parameters), [[-math.inf], [math.inf]])
        low[: self.n_weights], high[: self.n_weights] = self.family.bounds
        if self.lapses:
            most = 1.0 if self.relative_lapses is None else float(self.relative_lapses.max())
            low[self.index("lapses")], high[self.index("lapses")] = 0.0, MAX_LAPSES / max(most, 1)
        if self.ties == "rao-kupper":
            low[self.index("ties")] = _MIN_TIES
        return low, high

    def index(self, name: str) -> int:
        """Return the place of a parameter after those of W."""
        return self.n_weights + self.names.index(name)

    def value_of(self, name: str, parameters: Floats) -> float:
        """Return a parameter after those of W, 0 if the model does not have it."""
        return float(parameters[self.index(name)]) if name in self.names else 0.0

    def expand(self, parameters: Floats) -> Expanded:
        """Return the log likelihood with the prior, its gradient and Hessian.

        Parameters
        ----------
        parameters : ndarray of float, shape (P,)

        Returns
        -------
        Expanded
        """
        w = slice(self.n_weights)
        theta = parameters[w]
        W, J = self.family.weights(theta), self.family.jacobian(theta)
        sums = self.expansions(parameters, W, J)
        value, gradient, hessian, of_weights = (sum(parts) for parts in zip(*sums, strict=True))
        pull = of_weights.reshape(W.shape) - W / PRIOR_SD**2
        hessian[w, w] += self.family.curvature(theta, pull)
        gradient[w] -= J.T @ W.ravel() / PRIOR_SD**2
        value -= (W**2).sum() / (2 * PRIOR_SD**2)
        for at, name in enumerate(self.names, self.n_weights):
            number = float(parameters[at])
            if name == "lapses":
                value += (LAPSE_PRIOR - 1) * math.log1p(-number)
                gradient[at] -= (LAPSE_PRIOR - 1) / (1 - number)
            else:
                value -= number**2 / (2 * PRIOR_SD**2)
                gradient[at] -= number / PRIOR_SD**2
        hessian -= self._prior_information(parameters, J)
        return Expanded(value, gradient, hessian)

    def expansions(
        self, parameters: Floats, W: Floats, J: Floats
    ) -> list[tuple[float, Floats, Floats, Floats]]:
        """Return the log likelihood of each chunk, gradient, Hessian, and the gradient in W.

        Without the prior, and without the curvature of the family.

        Parameters
        ----------
        parameters : ndarray of float, shape (P,)
        W, J : ndarray of float, shapes (K, L) and (K L, p)
            Weights at these parameters, and their derivatives.
        """
        return self.sum_over_rows(parameters, lambda rows: self.expand_rows(parameters, rows))

    def prior_information(self, parameters: Floats) -> Floats:
        """Return the information of the prior, shape (P, P).

        Parameters
        ----------
        parameters : ndarray of float, shape (P,)
        """
        return self._prior_information(
            parameters, self.family.jacobian(parameters[: self.n_weights])
        )

    def _prior_information(self, parameters: Floats, J: Floats) -> Floats:
        information = np.zeros((self.n_parameters, self.n_parameters))
        information[: self.n_weights, : self.n_weights] = J.T @ J / PRIOR_SD**2
        for at, name in enumerate(self.names, self.n_weights):
            information[at, at] = 1 / PRIOR_SD**2
            if name == "lapses":
                information[at, at] = (LAPSE_PRIOR - 1) / (1 - float(parameters[at])) ** 2
        return information

    def log_likelihood(self, parameters: Floats) -> float:
        """Return the log likelihood without the prior."""
        return math.fsum(self.log_likelihoods(parameters))

    def log_likelihoods(self, parameters: Floats) -> list[float]:
        """Return the log likelihood of each chunk, without the prior."""
        return self.sum_over_rows(
            parameters,
            lambda rows: float(self._weights(rows) @ self.terms(parameters, rows).value),
        )

    def sum_over_rows(
        self, parameters: Floats, statistic: Callable[[Rows], _Statistic]
    ) -> list[_Statistic]:
        """Return a statistic of each chunk of judgments, in order.

        Parameters
        ----------
        parameters : ndarray of float, shape (P,)
        statistic : callable
            Takes :class:`Rows`.
        """
        theta = parameters[: self.n_weights]
        table = np.hstack([self.family.weights(theta).reshape(-1, 1), self.family.jacobian(theta)])
        with one_blas_thread():
            return map_threads(
                lambda begin: statistic(self._rows(parameters, table, begin)),
                range(0, max(1, len(self.evidence)), _CHUNK),
            )

    def terms(self, parameters: Floats, rows: Rows, answer: int | None = None) -> LapseTerms:
        """Return the log probability of the given answers, or of one answer to all judgments."""
        given = self.evidence.answers[rows.rows]
        answers = given if answer is None else np.full_like(given, answer)
        t = self.value_of("ties", parameters)
        terms = log_probability(answers, rows.v, t, rows.h, self.ties)
        e, q = self.value_of("lapses", parameters), 1 / len(self.answers)
        if self.relative_lapses is None:
            return with_lapses(terms, e, q)
        factor = self.relative_lapses[rows.rows]
        found = with_lapses(terms, e * factor, q)
        found.first[:, -1] *= factor
        found.second[:, -1] *= factor[:, None]
        found.second[:, :, -1] *= factor[:, None]
        return found

    def scores(self, parameters: Floats, rows: Rows, answer: int | None = None) -> Floats:
        """Return the gradient of the log probability of each answer, shape (n, P)."""
        first = self.terms(parameters, rows, answer).first
        design = self._design(parameters, rows)
        return np.asarray(sum(part * first[:, [k]] for k, part in design.items()))

    def answer_terms(
        self, parameters: Floats, rows: Rows, answer: int | None = None
    ) -> tuple[Floats, Floats]:
        """Return the log probability of each answer, and its derivative in v, each (n,)."""
        terms = self.terms(parameters, rows, answer)
        return terms.value, terms.first[:, V]

    def information_rows(self, parameters: Floats, rows: Rows) -> list[Floats]:
        """Return matrices Z whose sum of Z'Z is the expected information of the judgments.

        Matrices of shape (n, P), one per possible answer: sqrt(weight P) times the gradient of
        log P. Of two answers one is enough, because P(a) + P(b) = 1: the other's gradient is
        - P(a) / P(b) times that of a.
        """
        return [
            self.scores(parameters, rows, answer) * factor[:, None]
            for answer, factor in self.information_factors(parameters, rows)
        ]

    def information_factors(self, parameters: Floats, rows: Rows) -> list[tuple[int, Floats]]:
        """Return answers and what their scores are multiplied by in the rows of information."""
        weights = self._weights(rows)
        values = [self.answer_terms(parameters, rows, answer)[0] for answer in self.answers]
        if self.ties == "strict":
            odds = np.exp(np.minimum(values[A] - values[B], 600.0))  # beyond, the score is 0
            return [(A, np.sqrt(weights * odds))]
        factors = [np.sqrt(weights * np.exp(value)) for value in values]
        return list(zip(self.answers, factors, strict=True))

    @property
    def answers(self) -> tuple[int, ...]:
        """The answers that are possible in the model."""
        if self.ties == "strict":
            return A, B
        return (A, B, GOOD, BAD) if self.has_levels else (A, B, TIE)

    def probabilities(self, parameters: Floats) -> Floats:
        """Return the probability of each possible answer, shape (n, answers)."""

        def of_rows(rows: Rows) -> Floats:
            columns = [self.terms(parameters, rows, answer).value for answer in self.answers]
            return np.exp(np.stack(columns, axis=1))

        return np.concatenate(self.sum_over_rows(parameters, of_rows))

    def _rows(self, parameters: Floats, table: Floats, begin: int) -> Rows:
        """Return a chunk; the columns of `table` are W and its derivatives."""
        evidence, rows = self.evidence, slice(begin, begin + _CHUNK)
        codes = evidence.codes[:, rows]
        found = features(evidence.layout, codes, table)
        v = found[:, 0] + self.value_of("side", parameters)
        if not self.has_levels or evidence.sum_layout is None:
            nothing = np.zeros(len(v))
            return Rows(rows, v, nothing, found[:, 1:], np.zeros((len(v), 0)), nothing)
        both = features(evidence.sum_layout, codes, table) / 2
        slope = self.value_of("level slope", parameters)
        h = self.value_of("level offset", parameters) + slope * both[:, 0]
        return Rows(rows, v, h, found[:, 1:], both[:, 1:], both[:, 0])

    def _design(self, parameters: Floats, rows: Rows) -> dict[int, Floats]:
        """Return the derivative of each input in the parameters, (n, P), by its place."""
        n, w = len(rows.v), slice(self.n_weights)
        inputs = {"side": V, "lapses": self.n_inputs, "ties": T, "level offset": H}
        design: dict[int, Floats] = {V: np.zeros((n, self.n_parameters))}
        design[V][:, w] = rows.x_weights
        for name in self.names:
            if name in inputs:
                part = design.setdefault(inputs[name], np.zeros((n, self.n_parameters)))
                part[:, self.index(name)] = 1.0
        if self.has_levels:
            design[H][:, w] = self.value_of("level slope", parameters) * rows.level_weights
            design[H][:, self.index("level slope")] = rows.mean_utility
        return design

    def _weights(self, rows: Rows) -> Floats:
        return self.evidence.weights[rows.rows]

    def expand_rows(self, parameters: Floats, rows: Rows) -> tuple[float, Floats, Floats, Floats]:
        """Return the log likelihood of a chunk, gradient, Hessian, and the gradient in W."""
        weights, terms = self._weights(rows), self.terms(parameters, rows)
        first = terms.first * weights[:, None]
        second = terms.second * weights[:, None, None]
        design = self._design(parameters, rows)
        gradient = np.zeros(self.n_parameters)
        hessian = np.zeros((self.n_parameters, self.n_parameters))
        for i, left in design.items():
            gradient += left.T @ first[:, i]
            for j, right in design.items():
                if j <= i:
                    block = left.T @ (right * second[:, [i], [j]])
                    hessian += block if i == j else block + block.T
        codes = self.evidence.codes[:, rows.rows]
        of_weights = transposed_product(self.evidence.layout, codes, first[:, V])
        if self.has_levels and self.evidence.sum_layout is not None:
            slope, at = self.value_of("level slope", parameters), self.index("level slope")
            of_level = transposed_product(self.evidence.sum_layout, codes, first[:, H])
            of_weights += slope / 2 * of_level
            mixed = rows.level_weights.T @ first[:, H]
            hessian[: self.n_weights, at] += mixed
            hessian[at, : self.n_weights] += mixed
        return float(weights @ terms.value), gradient, hessian, of_weights
