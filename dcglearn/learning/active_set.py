"""Sums over the pairs that solvers need at some W; all of them add up over blocks.

With the residuals r = m - X w and the active set A of the pairs with r > 0, the objective
near w is the quadratic

    |w - w_0|^2 + C sum_A v r^2     with hessian     2 (I + C X_A' V X_A)

so a solver that has X_A' V X_A, X_A' V m_A and the loss needs no individual pair. Sums over
blocks are taken in the order of the blocks; if margins and weights are integers, the sums
are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Floats
from dcglearn.learning.codes import Block, CachedResiduals, take_unless_ones

PRODUCT_ROUNDING = 1e-12
"""Bound on the rounding error of any entry of X w, relative to the sum of all |w|."""

MAX_RECOMPUTED_SHARE = 0.5
"""If more than this share of the residuals may have changed sign, all are computed again: that
is faster."""


class Additive(ShortRepr):
    """Statistics that are added field by field."""

    def __add__(self, other: Self) -> Self:
        mine, theirs = vars(self), vars(other)
        return type(self)(**{name: value + theirs[name] for name, value in mine.items()})


@dataclass(frozen=True, repr=False)
class QuadraticModel(Additive):
    """The quadratic that equals the loss near some W, as long as the active set A is the same.

    Attributes
    ----------
    hessian : ndarray of float, shape (K L, K L)
        X_A' V X_A.
    linear : ndarray of float, shape (K L,)
        X_A' V m_A.
    loss : float
        sum_A v r^2 at W. After updates its rounding error is that of the largest loss so far.
    """

    hessian: Floats
    linear: Floats
    loss: float

    def updated(self, change: ActiveSetChange, w: Floats, target: Floats) -> QuadraticModel:
        """Return the model at another point.

        Parameters
        ----------
        change : ActiveSetChange
            From w to the target.
        w, target : ndarray of float, shape (K L,)
        """
        decrease = float((target - w) @ (2 * self.linear - self.hessian @ (w + target)))
        return QuadraticModel(
            self.hessian + change.hessian,
            self.linear + change.linear,
            max(0.0, self.loss - decrease + change.loss),
        )


@dataclass(frozen=True, repr=False)
class ActiveSetChange(Additive):
    """How the quadratic model changes from one W to another.

    Attributes
    ----------
    hessian : ndarray of float, shape (K L, K L)
    linear : ndarray of float, shape (K L,)
        What is added to those of the :class:`QuadraticModel` at the first W.
    loss : float
        sum v r^2 at the second W over pairs that become active, minus that over pairs that
        become inactive: the error of the first model there.
    changed : int
        Number of pairs that are active at only one of the two; 0 means the same model.
    """

    hessian: Floats
    linear: Floats
    loss: float
    changed: int


@dataclass(frozen=True, repr=False)
class GramMatrices(Additive):
    """Gram matrices of the pairs whose weight is positive.

    Their entries at one rank show which grades are compared there.

    Attributes
    ----------
    gram : ndarray of float, shape (K L, K L)
        X' X.
    weighted_gram : ndarray of float, shape (K L, K L)
        X' V X.
    n_pairs : int
        Number of pairs with a positive weight.
    """

    gram: Floats
    weighted_gram: Floats
    n_pairs: int


@dataclass(frozen=True, repr=False)
class DensePairs:
    """Pairs as rows of X. Adding two concatenates them.

    Attributes
    ----------
    X : ndarray of float, shape (n, K L)
    margins, weights : ndarray of float, shape (n,)
    """

    X: Floats
    margins: Floats
    weights: Floats

    def __add__(self, other: DensePairs) -> DensePairs:
        mine, theirs = vars(self).values(), vars(other).values()
        return DensePairs(*map(np.concatenate, zip(mine, theirs, strict=True)))


def quadratic_model(block: Block, w: Floats) -> QuadraticModel:
    """Return the quadratic model at w.

    Parameters
    ----------
    block : Block
    w : ndarray of float, shape (K L,)

    Returns
    -------
    QuadraticModel
    """
    r = _all_residuals(block, w).residuals
    loss = sum(_loss(block, part, np.maximum(r[part], 0.0)) for part in block.chunks())
    rows = np.flatnonzero(r > 0)
    weights = take_unless_ones(block.weights, rows)
    return QuadraticModel(*_hessian_and_linear(block, rows, weights), loss)


def active_set_change(block: Block, w: Floats, target: Floats) -> ActiveSetChange:
    """Return how the quadratic model changes from w to another point.

    Only residuals that may change sign are computed again, and only pairs whose residual does
    are added up, so this is cheap near the optimum.

    Parameters
    ----------
    block : Block
    w, target : ndarray of float, shape (K L,)

    Returns
    -------
    ActiveSetChange
    """
    candidates, before, after = _residuals_at_both(block, w, target)
    active = after > 0
    (changed,) = ((before > 0) != active).nonzero()
    rows = changed if candidates is None else candidates[changed]
    signed = np.where(active[changed], 1.0, -1.0)
    weights = take_unless_ones(block.weights, rows)
    if weights is not None:
        signed *= weights
    if block.dense is not None or weights is not None:
        hessian, linear = _hessian_and_linear(block, rows, signed)
    else:  # with many pairs, two products X'X take less time than one X'VX
        added = _hessian_and_linear(block, rows[signed > 0], None)
        removed = _hessian_and_linear(block, rows[signed < 0], None)
        hessian, linear = added[0] - removed[0], added[1] - removed[1]
    r = after[changed]
    return ActiveSetChange(hessian, linear, float((signed * r) @ r), len(rows))


def directional_derivatives(block: Block, w: Floats, direction: Floats, steps: Floats) -> Floats:
    """Return the derivative of -sum_A v r^2 / 2 along a line, at several points of it.

    Parameters
    ----------
    block : Block
    w, direction : ndarray of float, shape (K L,)
    steps : ndarray of float, shape (m,)
        The points are w + t direction for each t of these.

    Returns
    -------
    ndarray of float, shape (m,)
        sum v (X direction) max(0, m - X w - t X direction).
    """
    derivatives = np.zeros(len(steps))
    for part in block.chunks():
        rate = block.matvec(direction, part)
        r = block.margins[part] - block.matvec(w, part)
        weights = take_unless_ones(block.weights, part)
        weighted = rate if weights is None else weights * rate
        derivatives += [weighted @ np.maximum(0.0, r - t * rate) for t in steps]
    return derivatives


def gram_matrices(block: Block) -> GramMatrices:
    """Return the Gram matrices of the pairs whose weight is positive.

    Parameters
    ----------
    block : Block

    Returns
    -------
    GramMatrices
    """
    rows = np.flatnonzero(block.weights > 0)
    weights = take_unless_ones(block.weights, rows)
    gram = block.gram(rows)
    return GramMatrices(gram, gram if weights is None else block.gram(rows, weights), len(rows))


def dense_pairs(block: Block) -> DensePairs:
    """Return the pairs whose weight is positive as rows of X.

    Parameters
    ----------
    block : Block
        With few enough pairs for X to fit in memory.

    Returns
    -------
    DensePairs
    """
    rows = np.flatnonzero(block.weights > 0)
    return DensePairs(block.X[rows], block.margins[rows], block.weights[rows])


def _hessian_and_linear(
    block: Block, rows: NDArray[np.intp], weights: Floats | None
) -> tuple[Floats, Floats]:
    """Return X' V X and X' V m of some pairs, with the given weights; None means 1."""
    if not len(rows):
        return np.zeros((block.n_columns, block.n_columns)), np.zeros(block.n_columns)
    margins = take_unless_ones(block.margins, rows)
    weighted = margins if weights is None or margins is None else weights * margins
    return block.gram(rows, weights), block.rmatvec(weights if weighted is None else weighted, rows)


def _loss(block: Block, rows: slice, r: Floats) -> float:
    """Return r' V r of some pairs whose residuals r are given."""
    weights = take_unless_ones(block.weights, rows)
    return float(r @ r if weights is None else (weights * r) @ r)


def _all_residuals(block: Block, w: Floats) -> CachedResiduals:
    """Return the residuals of all pairs at w, and cache them."""
    last = block.cached_residuals
    if last and np.array_equal(last[0].w, w):
        return last[0]
    cached = CachedResiduals(w.copy(), None, block.residuals(w), math.inf)
    block.store_residuals(cached)
    return cached


def _residuals_at_both(
    block: Block, w: Floats, target: Floats
) -> tuple[NDArray[np.intp] | None, Floats, Floats]:
    """Return candidate pairs and their residuals at w and at the target.

    The candidates include every pair that is active at only one of the two points; None means
    all pairs. Between two points no residual changes by more than the largest possible
    |<target - w, x>|, so a residual farther from 0 than that keeps its sign.
    """
    if block.dense is not None:
        return None, _all_residuals(block, w).residuals, _all_residuals(block, target).residuals
    all_pairs, *some_pairs = block.cached_residuals or (_all_residuals(block, w),)
    cached, bound = next(
        (cached, bound)
        for cached in (*some_pairs, all_pairs)
        if (bound := _residual_change_bound(block, cached.w, w, target)) <= cached.radius
    )
    near = np.flatnonzero((cached.residuals <= 2 * bound) & (cached.residuals >= -2 * bound))
    cached_here = np.array_equal(cached.w, w)
    if len(near) > MAX_RECOMPUTED_SHARE * len(block):
        return None, _all_residuals(block, w).residuals, _all_residuals(block, target).residuals
    rows = near if cached.rows is None else cached.rows[near]
    before = cached.residuals[near] if cached_here else block.margins[rows] - block.matvec(w, rows)
    after = block.margins[rows] - block.matvec(target, rows)
    radius = min(bound, cached.radius - bound)
    block.store_residuals(all_pairs, CachedResiduals(target.copy(), rows, after, radius))
    return rows, before, after


def _residual_change_bound(block: Block, cached: Floats, *points: Floats) -> float:
    """Return how much a computed residual can differ at some points from that at `cached`."""
    size = max(float(np.abs(point).sum()) for point in (cached, *points))
    change = max(block.layout.product_bound(point - cached) for point in points)
    return change + PRODUCT_ROUNDING * size
