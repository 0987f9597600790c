"""The likelihood of some thousand judgments, many times: sums over codes instead of judgments.

Judgments depend on W only through x, the difference of two encoded lists; the sums that the
gradient and the Hessian in W need are those of :mod:`dcglearn.trials.coded_rows`, and those in the
parameters follow by the chain rule.

P = e q + (1 - e) p is the probability of an answer, p that of one which is meant. With
m = (1 - e) p / P, f and s the derivatives of log p in an input i, those of log P are m f_i and
m s_ij + m (1 - m) f_i f_j (:mod:`dcglearn.inference.answers`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.inference.answers import TIE, A, B
from dcglearn.inference.likelihood import Likelihood, Rows
from dcglearn.trials.coded_rows import CodedRows

MAX_JUDGMENTS = 1 << 15
"""More are summed in chunks, by the general likelihood."""

_FEWEST_LAPSES = 1e-6
_LARGEST = 100.0
"""Below this share of lapses and beyond this difference in log odds, P may be 0 to rounding, and
beyond this frequency of ties all else is: the general likelihood takes care of that."""

_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, eq=False)
class Answered:
    """Probabilities of answers and what derivatives are made of, each of shape (n,).

    Attributes
    ----------
    P, p : ndarray of float
        The probability of the answer, and if it is meant.
    meant : ndarray of float
        m, the share of such answers that is meant.
    slopes : list of ndarray of float
        f, the derivatives of log p in v, and in t where ties are modelled.
    bends : list of list of ndarray of float
        s, the second derivatives.
    in_e : ndarray of float
        The derivative of log P in the share of lapses e.
    guessed : float
        q, the probability of the answer if it is not meant.
    """

    P: Floats
    p: Floats
    meant: Floats
    slopes: list[Floats]
    bends: list[list[Floats]]
    in_e: Floats
    guessed: float

    @property
    def first(self) -> list[Floats]:
        """The derivatives of log P in v, in t where ties are modelled, and in e."""
        return [*(self.meant * slope for slope in self.slopes), self.in_e]

    @property
    def second(self) -> dict[tuple[int, int], Floats]:
        """The second derivatives in the same inputs; the later input comes first."""
        found, last = {}, len(self.slopes)
        both = self.meant * (1 - self.meant)
        mixed = self.p * self.guessed / (self.P * self.P)
        for i, slope in enumerate(self.slopes):
            for j, other in enumerate(self.slopes[: i + 1]):
                found[i, j] = self.meant * self.bends[i][j] + both * slope * other
            found[last, i] = -slope * mixed
        found[last, last] = -self.in_e * self.in_e
        return found


@dataclass(frozen=True, eq=False)
class CountedLikelihood(Likelihood):
    """The log likelihood of judgments, with a shorter way to that of some thousand of them.

    Strict judgments and Davidson's ties, without levels, whose judges lapse alike.
    """

    @cached_property
    def coded(self) -> CodedRows:
        """The rows x."""
        return CodedRows(self.evidence.layout, self.evidence.codes.astype(np.intp))

    @cached_property
    def has_short_way(self) -> bool:
        """Whether the sums are taken here."""
        few = len(self.evidence) <= MAX_JUDGMENTS and not self.has_levels
        return few and self.lapses and self.relative_lapses is None and self.ties != "rao-kupper"

    def expansions(
        self, parameters: Floats, W: Floats, J: Floats
    ) -> list[tuple[float, Floats, Floats, Floats]]:
        """Return the log likelihood, gradient, Hessian, and the gradient in W, in a list."""
        if not self.has_short_way:
            return super().expansions(parameters, W, J)
        v = self.coded.products(W.reshape(-1, 1))[0] + self.value_of("side", parameters)
        found = self._answered(parameters, v)
        if found is None:
            return super().expansions(parameters, W, J)
        weights, inputs = self.evidence.weights, self._inputs
        second = {at: weights * values for at, values in found.second.items()}
        first = [weights * values for values in found.first]
        sums, gram = self.coded.sums(
            np.stack([first[0], *(second[i, 0] for i in range(len(first) - 1, -1, -1))])
        )
        in_theta = sums @ J
        w, n = slice(self.n_weights), self.n_parameters
        gradient, hessian = np.zeros(n), np.zeros((n, n))
        gradient[w], hessian[w, w] = in_theta[0], J.T @ gram @ J
        totals = {at: values.sum() for at, values in second.items()}
        for at, name in enumerate(self.names, self.n_weights):
            i = inputs[name]
            gradient[at] = first[i].sum()
            hessian[w, at] = hessian[at, w] = in_theta[-1 - i]
            for other, another in enumerate(self.names, self.n_weights):
                j = inputs[another]
                hessian[at, other] = totals[max(i, j), min(i, j)]
        return [(float(weights @ np.log(found.P)), gradient, hessian, sums[0])]

    def log_likelihoods(self, parameters: Floats) -> list[float]:
        """Return the log likelihood, without the prior, in a list."""
        if not self.has_short_way:
            return super().log_likelihoods(parameters)
        W = self.family.weights(parameters[: self.n_weights])
        v = self.coded.products(W.reshape(-1, 1))[0] + self.value_of("side", parameters)
        found = self._answered(parameters, v)
        if found is None:
            return super().log_likelihoods(parameters)
        return [float(self.evidence.weights @ np.log(found.P))]

    def scores(self, parameters: Floats, rows: Rows, answer: int | None = None) -> Floats:
        """Return the gradient of the log probability of each answer, shape (n, P)."""
        found = self._answered(parameters, rows.v, answer)
        if found is None:
            return super().scores(parameters, rows, answer)
        first = found.first
        scores = np.empty((self.n_parameters, len(rows.v)))
        np.multiply(rows.x_weights.T, first[0], out=scores[: self.n_weights])
        for name in self.names:
            scores[self.index(name)] = first[self._inputs[name]]
        return scores.T

    def information_factors(self, parameters: Floats, rows: Rows) -> list[tuple[int, Floats]]:
        """Return answers and what their scores are multiplied by in the rows of information."""
        found = [self._answered(parameters, rows.v, answer) for answer in self.answers]
        if None in found:
            return super().information_factors(parameters, rows)
        weights, P = self.evidence.weights, [one.P for one in found if one is not None]
        if self.ties == "strict":
            return [(A, np.sqrt(weights * P[0] / P[1]))]
        return [
            (answer, np.sqrt(weights * share))
            for answer, share in zip(self.answers, P, strict=True)
        ]

    def answer_terms(
        self, parameters: Floats, rows: Rows, answer: int | None = None
    ) -> tuple[Floats, Floats]:
        """Return the log probability of each answer, and its derivative in v."""
        found = self._answered(parameters, rows.v, answer)
        if found is None:
            return super().answer_terms(parameters, rows, answer)
        return np.log(found.P), found.meant * found.slopes[0]

    def _rows(self, parameters: Floats, table: Floats, begin: int) -> Rows:
        if not self.has_short_way:
            return super()._rows(parameters, table, begin)
        found = self.coded.products(table)
        nothing = np.zeros(len(self.evidence))
        v = found[0] + self.value_of("side", parameters)
        return Rows(slice(len(v)), v, nothing, found[1:].T, np.zeros((len(v), 0)), nothing)

    @property
    def _inputs(self) -> dict[str, int]:
        """The place of the input that each parameter adds to."""
        return {"side": 0, "ties": 1, "lapses": 1 if self.ties == "strict" else 2}

    @cached_property
    def _given(self) -> tuple[Floats, ...]:
        """Return 1 where the answer is a, b and a tie, each of shape (n,)."""
        return tuple((self.evidence.answers == one).astype(float) for one in (A, B, TIE))

    def _answered(
        self, parameters: Floats, v: Floats, answer: int | None = None
    ) -> Answered | None:
        """Return the probabilities of given answers; None where the general way is needed."""
        e, t = self.value_of("lapses", parameters), self.value_of("ties", parameters)
        if not self.has_short_way or abs(t) > _LARGEST:
            return None
        if e < _FEWEST_LAPSES and np.abs(v).max(initial=0.0) > _LARGEST:
            return None
        given = self._given if answer is None else tuple(float(answer == k) for k in (A, B, TIE))
        if self.ties == "strict":
            p, slopes, bends = _strict(given[0] - given[1], v)
        else:
            p, slopes, bends = _davidson(given, v, t)
        q = 1 / len(self.answers)
        meant = (1 - e) * p
        P = meant + e * q
        meant /= P
        return Answered(P, p, meant, slopes, bends, (q - p) / P, q)


_Terms = tuple[Floats, list[Floats], list[list[Floats]]]


def _strict(sign: Floats | float, v: Floats) -> _Terms:
    """Return p, and the derivatives of log p, of a strict answer."""
    odds = np.exp(np.minimum(-sign * v, _LARGEST_EXPONENT))
    p = 1 / (1 + odds)
    other = odds * p
    return p, [sign * other], [[-p * other]]


def _davidson(given: tuple[Floats | float, ...], v: Floats, t: float) -> _Terms:
    """Return p, and the derivatives of log p in v and t, where ties follow Davidson's model."""
    of_a = np.exp(np.clip(v / 2, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
    of_b, of_tie = 1 / of_a, np.exp(t)
    total = 1 / (of_a + of_b + of_tie)
    p_a, p_b, p_tie = of_a * total, of_b * total, of_tie * total
    a, b, tie = given
    difference = p_a - p_b
    bend = (difference * difference - (p_a + p_b)) / 4
    mixed, last = p_tie * difference / 2, p_tie * (p_tie - 1)
    slopes = [((a - b) - difference) / 2, tie - p_tie]
    return a * p_a + b * p_b + tie * p_tie, slopes, [[bend], [mixed, last]]
