"""The likelihood of strict judgments: less general, and twice as fast.

With the probability p = 1 / (1 + exp(-z)) of an answer that is meant, where z is v for answer a and
-v for b, and a share e of lapses, P = e / 2 + (1 - e) p. The derivatives of log P in v and e are
those of :mod:`dcglearn.inference.answers`, written out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from dcglearn.base.types import Floats
from dcglearn.inference.answers import A
from dcglearn.inference.evidence import transposed_product
from dcglearn.inference.likelihood import Likelihood, Rows

_FEWEST_LAPSES = 1e-6
_LARGEST = 100.0
"""Below this share of lapses and beyond this difference in log odds, P may be 0 to rounding: the
general likelihood takes care of that."""


class _Answered(NamedTuple):
    """Of each answer: P, p, and the derivatives of log P in v and e."""

    P: Floats
    p: Floats
    in_v: Floats
    in_e: Floats

    @classmethod
    def of(cls, sign: Floats | float, v: Floats, e: float) -> _Answered:
        z = sign * v
        p = expit(z)
        P = e / 2 + (1 - e) * p
        return cls(P, p, sign * (1 - e) * p * expit(-z) / P, (0.5 - p) / P)


class StrictLikelihood(Likelihood):
    """The log likelihood of judgments, with a shorter way to that of strict ones."""

    def expand_rows(self, parameters: Floats, rows: Rows) -> tuple[float, Floats, Floats, Floats]:
        """Return the log likelihood of a chunk, gradient, Hessian, and the gradient in W."""
        e = self._lapses(parameters, rows)
        if e is None:
            return super().expand_rows(parameters, rows)
        weights, found = self.evidence.weights[rows.rows], self._answered(rows, None, e)
        first, in_e = weights * found.in_v, weights * found.in_e
        second = first * (self._sign(rows) * (1 - 2 * found.p) - found.in_v)
        mixed = -first * (1 / (1 - e) + found.in_e)
        w, at = slice(self.n_weights), self.index("lapses")
        X, n = rows.x_weights, self.n_parameters
        gradient, hessian = np.zeros(n), np.zeros((n, n))
        gradient[w], gradient[at] = X.T @ first, in_e.sum()
        hessian[w, w] = X.T @ (X * second[:, None])
        hessian[at, at] = -(in_e @ found.in_e)
        hessian[w, at] = hessian[at, w] = X.T @ mixed
        if self.side:
            side = self.index("side")
            gradient[side], hessian[side, side] = first.sum(), second.sum()
            hessian[w, side] = hessian[side, w] = X.T @ second
            hessian[at, side] = hessian[side, at] = mixed.sum()
        codes = self.evidence.codes[:, rows.rows]
        of_weights = transposed_product(self.evidence.layout, codes, first)
        return float(weights @ np.log(found.P)), gradient, hessian, of_weights

    def scores(self, parameters: Floats, rows: Rows, answer: int | None = None) -> Floats:
        """Return the gradient of the log probability of each answer, shape (n, P)."""
        e = self._lapses(parameters, rows)
        if e is None:
            return super().scores(parameters, rows, answer)
        found = self._answered(rows, answer, e)
        scores = np.empty((len(rows.v), self.n_parameters))
        scores[:, : self.n_weights] = rows.x_weights * found.in_v[:, None]
        scores[:, self.index("lapses")] = found.in_e
        if self.side:
            scores[:, self.index("side")] = found.in_v
        return scores

    def information_rows(self, parameters: Floats, rows: Rows) -> list[Floats]:
        """Return matrices Z whose sum of Z'Z is the expected information of the judgments."""
        e = self._lapses(parameters, rows)
        if e is None:
            return super().information_rows(parameters, rows)
        odds = _Answered.of(1.0, rows.v, e).P / _Answered.of(-1.0, rows.v, e).P
        factors = np.sqrt(self.evidence.weights[rows.rows] * odds)
        return [self.scores(parameters, rows, A) * factors[:, None]]

    def _lapses(self, parameters: Floats, rows: Rows) -> float | None:
        """Return the share of lapses, None where the general likelihood is needed."""
        if self.ties != "strict" or self.relative_lapses is not None or not self.lapses:
            return None
        e = self.value_of("lapses", parameters)
        if e < _FEWEST_LAPSES and np.abs(rows.v).max(initial=0.0) > _LARGEST:
            return None
        return e

    def _sign(self, rows: Rows) -> Floats:
        return np.where(self.evidence.answers[rows.rows] == A, 1.0, -1.0)

    def _answered(self, rows: Rows, answer: int | None, e: float) -> _Answered:
        if answer is None:
            return _Answered.of(self._sign(rows), rows.v, e)
        return _Answered.of(1.0 if answer == A else -1.0, rows.v, e)
