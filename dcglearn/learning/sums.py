"""Sums over the pairs that solvers and the certificate need at some W; they add up over blocks.

With the residuals r = m - X w and the active set A of the pairs with r > 0, the objective
near w is the quadratic

    |w|^2 + C sum_A v r^2     with hessian     2 (I + C X_A' V X_A)

so a solver that has X_A' V X_A, X_A' V m_A and the loss needs no individual pair. Sums are taken in
the order of the blocks; with integer margins and weights they are exact. For the certificate,
X'(v r) is added up over few pairs at a time, because the bound on the rounding error of a sum grows
with its longest chain of additions; or in parts, most of which are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Floats
from dcglearn.learning.codes import Block, taken

SUMMED_PAIRS = 1 << 13
"""Pairs over which X'(v r) is added up at a time for the certificate."""


class Additive(ShortRepr):
    """Statistics that are added field by field."""

    def __add__(self, other: Self) -> Self:
        mine, theirs = vars(self), vars(other)
        return type(self)(**{name: value + theirs[name] for name, value in mine.items()})


@dataclass(frozen=True, repr=False)
class QuadraticModel(Additive):
    """The quadratic that equals the loss near some W: X_A' V X_A, X_A' V m_A and sum_A v r^2."""

    hessian: Floats
    linear: Floats
    loss: float

    def updated(self, change: ActiveSetChange, w: Floats, target: Floats) -> QuadraticModel:
        """Return the model at the target, from the change on the way from w."""
        decrease = float((target - w) @ (2 * self.linear - self.hessian @ (w + target)))
        return QuadraticModel(
            self.hessian + change.hessian,
            self.linear + change.linear,
            max(0.0, self.loss - decrease + change.loss),
        )


@dataclass(frozen=True, repr=False)
class ActiveSetChange(Additive):
    """What pairs that become active at a second W, `changed` in number, add to the model there."""

    hessian: Floats
    linear: Floats
    loss: float
    changed: int


@dataclass(frozen=True, repr=False)
class GramMatrices(Additive):
    """X'X and X'VX, shape (K L, K L), of the pairs whose weight is positive, and their number."""

    gram: Floats
    weighted_gram: Floats
    n_pairs: int


@dataclass(frozen=True, repr=False)
class ResidualSums(Additive):
    """X_A' V r, sum_A v r^2 (loss) and sum_A v r (total) at some W, added up in `n_parts` parts.

    `weight` is sum v over all pairs.
    """

    normal_residual: Floats
    loss: float
    total: float
    active: int
    weight: float
    n_parts: int


@dataclass(frozen=True, repr=False)
class AccurateSums(Additive):
    """X_A' V r as a list of arrays of shape (K L,), and the sum of the |terms| that may round."""

    normal_residuals: list[Floats]
    rounded: float


def quadratic_model(block: Block, w: Floats) -> QuadraticModel:
    """Return the quadratic model at w."""
    r = block.residuals_kept(w)
    loss = sum(_loss(block, part, np.maximum(r[part], 0.0)) for part in block.chunks())
    rows = np.flatnonzero(r > 0)
    return QuadraticModel(*_hessian_and_linear(block, rows, taken(block.weights, rows)), loss)


def active_set_change(block: Block, w: Floats, target: Floats) -> ActiveSetChange:
    """Return how the quadratic model changes from w to another point; cheap near the optimum."""
    before, after = block.residuals_kept(w), block.residuals_kept(target)
    active = after > 0
    (rows,) = ((before > 0) != active).nonzero()
    signed = np.where(active[rows], 1.0, -1.0)
    weights = taken(block.weights, rows)
    if weights is not None:
        signed *= weights
    if weights is not None:
        hessian, linear = _hessian_and_linear(block, rows, signed)
    else:  # with many pairs, two products X'X take less time than one X'VX
        added = _hessian_and_linear(block, rows[signed > 0], None)
        removed = _hessian_and_linear(block, rows[signed < 0], None)
        hessian, linear = added[0] - removed[0], added[1] - removed[1]
    r = after[rows]
    return ActiveSetChange(hessian, linear, float((signed * r) @ r), len(rows))


def directional_derivatives(block: Block, w: Floats, direction: Floats, steps: Floats) -> Floats:
    """Return the derivative of -sum_A v r^2 / 2 at w + t direction, for each t of the steps."""
    derivatives = np.zeros(len(steps))
    for part in block.chunks():
        rate, r = block.matvec(direction, part), block.residuals(w, part)
        weighted = rate if block.weights is None else block.weights[part] * rate
        derivatives += [weighted @ np.maximum(0.0, r - t * rate) for t in steps]
    return derivatives


def gram_matrices(block: Block) -> GramMatrices:
    """Return the Gram matrices of the pairs whose weight is positive."""
    if block.weights is None:
        gram = block.gram(np.arange(len(block)))
        return GramMatrices(gram, gram, len(block))
    rows = np.flatnonzero(block.weights > 0)
    return GramMatrices(block.gram(rows), block.gram(rows, block.weights[rows]), len(rows))


def residual_sums(block: Block, w: Floats) -> ResidualSums:
    """Return the sums of the positive residuals at w, computed from the pairs themselves."""
    normal_residual, loss, total, active = np.zeros(block.n_columns), 0.0, 0.0, 0
    weight, n_parts = 0.0, 0
    for part in block.chunks():
        r = block.residuals(w, part)
        active += int(np.count_nonzero(r > 0))
        np.maximum(r, 0.0, out=r)
        weights = taken(block.weights, part)
        weighted = r if weights is None else weights * r
        for some, y in _short(part, weighted):
            normal_residual += block.rmatvec(y, some)
            n_parts += 1
        loss += float(weighted @ r)
        total += float(weighted.sum())
        weight += float(len(r) if weights is None else weights.sum())
    return ResidualSums(normal_residual, loss, total, active, weight, n_parts)


def accurate_sums(block: Block, w: Floats) -> AccurateSums:
    """Return X_A' V r in parts, most of which are exact."""
    parts, rounded = [], 0.0
    for part in block.chunks():
        r = np.maximum(block.residuals(w, part), 0.0)
        for some, y in _short(part, r if block.weights is None else block.weights[part] * r):
            high = leading_bits(y)
            parts += [block.rmatvec(high, some), block.rmatvec(y - high, some)]
            rounded += float(np.abs(y - high).sum())
    return AccurateSums(parts, rounded)


def leading_bits(values: Floats) -> Floats:
    """Return so few leading bits of each number that their sums, in any order, are exact.

    Rump, Ogita & Oishi, "Accurate Floating-Point Summation" (SIAM Journal on Scientific Computing
    31, 2008).
    """
    spare = len(values).bit_length() + 12
    exponent = max(-1000, math.frexp(np.abs(values).max(initial=0.0))[1] - 53 + spare)
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, -exponent)), exponent))


def _short(part: slice, y: Floats) -> Iterator[tuple[slice, Floats]]:
    """Cut a slice of the pairs, and numbers that belong to it, into short ones."""
    for begin in range(0, len(y), SUMMED_PAIRS):
        some = y[begin : begin + SUMMED_PAIRS]
        yield slice(part.start + begin, part.start + begin + len(some)), some


def _hessian_and_linear(
    block: Block, rows: NDArray[np.intp], weights: Floats | None
) -> tuple[Floats, Floats]:
    """Return X' V X and X' V m of some pairs, with the given weights; None means 1."""
    if not len(rows):
        return np.zeros((block.n_columns, block.n_columns)), np.zeros(block.n_columns)
    margins = taken(block.margins, rows)
    weighted = margins if weights is None or margins is None else weights * margins
    return block.gram(rows, weights), block.rmatvec(weights if weighted is None else weighted, rows)


def _loss(block: Block, rows: slice, r: Floats) -> float:
    """Return r' V r of some pairs whose residuals r are given."""
    return float(r @ r if block.weights is None else (block.weights[rows] * r) @ r)
