"""Sums over the pairs that solvers and the certificate need at some W; they add up over blocks.

With the residuals r = m - X w and the active set A of the pairs with r > 0, the objective
near w is the quadratic

    |w|^2 + C sum_A v r^2     with hessian     2 (I + C X_A' V X_A)

so a solver needs no individual pair. With integer margins and weights sums are exact. For the
certificate, X'(v r) is added up over few pairs at a time, in parts of which most are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import add
from typing import Self

import numpy as np

from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Floats
from dcglearn.learning.source import Block, taken

SUMMED_PAIRS = 1 << 13
"""Pairs over which X'(v r) is added up at a time for the certificate."""


class Additive(ShortRepr):
    """Statistics that are added field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, vars(self).values(), vars(other).values()))


@dataclass(frozen=True, repr=False)
class QuadraticModel(Additive):
    """The quadratic that equals the loss near some W: X_A' V X_A, X_A' V m_A and sum_A v r^2.

    Or what is added to it from there to a second W. So many pairs were `added`.
    """

    hessian: Floats
    linear: Floats
    loss: float
    added: int

    def updated(self, change: QuadraticModel, w: Floats, target: Floats) -> QuadraticModel:
        """Return the model at the target, from the change on the way from w."""
        decrease = float((target - w) @ (2 * self.linear - self.hessian @ (w + target)))
        there = self + change
        return replace(there, loss=max(0.0, there.loss - decrease))


@dataclass(frozen=True, repr=False)
class GramMatrices(Additive):
    """X'X and X'VX, shape (K L, K L), of the pairs whose weight is positive, and their number."""

    gram: Floats
    weighted_gram: Floats
    n_pairs: int


@dataclass(frozen=True, repr=False)
class ResidualSums(Additive):
    """X_A' V r, as parts of shape (K L,), sum_A v r^2 (loss) and sum_A v r (total) at some W.

    Most parts are exact; `rounded` is the sum of the |terms| of the others. `weight` is sum v over
    all pairs.
    """

    parts: list[Floats]
    rounded: float
    loss: float
    total: float
    active: int
    weight: float

    @property
    def normal_residual(self) -> Floats:
        """X_A' V r, rounded once more than its parts, shape (K L,)."""
        return np.array([math.fsum(column) for column in np.array(self.parts).T])


def quadratic_model(block: Block, w: Floats, since: Floats | None = None) -> QuadraticModel:
    """Return the quadratic model at w, or its change since another point, which is cheap nearby."""
    before = None if since is None else block.residuals(since) > 0
    r = block.residuals(w)
    active = r > 0
    if before is None:
        rows = np.flatnonzero(active)
        weights = taken(block.weights, rows)
    else:
        rows = np.flatnonzero(before != active)
        weights = block.weighted(np.where(active[rows], 1.0, -1.0), rows)
    margins, r = taken(block.margins, rows), r[rows]
    weighted = margins if weights is None or margins is None else weights * margins
    linear = block.rmatvec(weights if weighted is None else weighted, rows)
    loss = float((r if weights is None else weights * r) @ r)
    return QuadraticModel(block.gram(rows, weights), linear, loss, len(rows))


def directional_derivatives(block: Block, w: Floats, direction: Floats, steps: Floats) -> Floats:
    """Return the derivative of -sum_A v r^2 / 2 at w + t direction, for each t of the steps."""
    rate, r = block.matvec(direction), block.residuals(w)
    weighted = block.weighted(rate)
    return np.array([weighted @ np.maximum(0.0, r - t * rate) for t in steps])


def gram_matrices(block: Block) -> GramMatrices:
    """Return the Gram matrices of the pairs whose weight is positive."""
    rows = np.flatnonzero(block.weighted(np.ones(len(block))))
    gram, weights = block.gram(rows), taken(block.weights, rows)
    return GramMatrices(gram, gram if weights is None else block.gram(rows, weights), len(rows))


def residual_sums(block: Block, w: Floats) -> ResidualSums:
    """Return the sums of the positive residuals at w, computed from the pairs themselves."""
    parts: list[Floats] = []
    rounded, r = 0.0, np.maximum(block.residuals(w), 0.0)
    weighted, weights = block.weighted(r), block.weighted(np.ones(len(r)))
    for begin in range(0, len(r), SUMMED_PAIRS):
        rows = slice(begin, begin + SUMMED_PAIRS)
        high = leading_bits(weighted[rows])
        low = weighted[rows] - high
        parts += [block.rmatvec(high, rows), block.rmatvec(low, rows)]
        rounded += float(np.abs(low).sum())
    loss, total, weight = map(float, (weighted @ r, weighted.sum(), weights.sum()))
    return ResidualSums(parts, rounded, loss, total, int(np.count_nonzero(r)), weight)


def leading_bits(values: Floats) -> Floats:
    """Return so few leading bits of each number that their sums, in any order, are exact.

    Rump, Ogita & Oishi, "Accurate Floating-Point Summation" (SIAM Journal on Scientific Computing
    31, 2008).
    """
    spare = len(values).bit_length() + 12
    exponent = max(-1000, math.frexp(np.abs(values).max(initial=0.0))[1] - 53 + spare)
    return np.ldexp(np.rint(np.ldexp(values, -exponent)), exponent)
