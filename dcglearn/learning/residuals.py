"""Sums of the residuals r = max(0, m - X w) over the pairs, for the certificate.

X'(v r) is added up over few pairs at a time, because the bound on the rounding error of a sum
grows with its longest chain of additions; or in parts, most of which are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.learning.active_set import Additive
from dcglearn.learning.codes import Block, take_unless_ones
from dcglearn.learning.fixed_point import exactly_summable_parts

SUMMED_PAIRS = 1 << 13
"""Pairs over which X'(v r) is added up at a time."""


@dataclass(frozen=True, repr=False)
class ResidualSums(Additive):
    """Sums of the positive residuals r at some W.

    Attributes
    ----------
    normal_residual : ndarray of float, shape (K L,)
        X_A' V r, minus half the gradient of the loss.
    loss, total : float
        sum_A v r^2 and sum_A v r.
    active : int
        Number of active pairs.
    weight : float
        sum v over all pairs.
    n_parts : int
        Number of parts, of up to :data:`SUMMED_PAIRS` pairs, whose sums were added.
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


def residual_sums(block: Block, w: Floats) -> ResidualSums:
    """Return the sums of the positive residuals at w.

    Parameters
    ----------
    block : Block
    w : ndarray of float, shape (K L,)

    Returns
    -------
    ResidualSums
        Computed from the pairs themselves, not from a :class:`QuadraticModel`.
    """
    normal_residual, loss, total, active = np.zeros(block.n_columns), 0.0, 0.0, 0
    weight, n_parts = 0.0, 0
    for part in block.chunks():
        r = block.margins[part] - block.matvec(w, part)
        active += int(np.count_nonzero(r > 0))
        np.maximum(r, 0.0, out=r)
        weights = take_unless_ones(block.weights, part)
        weighted = r if weights is None else weights * r
        for some, y in _short(part, weighted):
            normal_residual += block.rmatvec(y, some)
            n_parts += 1
        loss += float(weighted @ r)
        total += float(weighted.sum())
        weight += float(len(r) if weights is None else weights.sum())
    return ResidualSums(normal_residual, loss, total, active, weight, n_parts)


def accurate_sums(block: Block, w: Floats) -> AccurateSums:
    """Return X_A' V r in parts, most of which are exact.

    Parameters
    ----------
    block : Block
    w : ndarray of float, shape (K L,)
    """
    parts, rounded = [], 0.0
    for part in block.chunks():
        r = np.maximum(block.margins[part] - block.matvec(w, part), 0.0)
        for some, y in _short(part, block.weights[part] * r):
            high = next(exactly_summable_parts(y), y)
            low = y - high
            parts += [block.rmatvec(high, some), block.rmatvec(low, some)]
            rounded += float(np.abs(low).sum())
    return AccurateSums(parts, rounded)


def _short(part: slice, y: Floats) -> Iterator[tuple[slice, Floats]]:
    """Cut a slice of the pairs, and numbers that belong to it, into short ones."""
    for begin in range(0, len(y), SUMMED_PAIRS):
        some = y[begin : begin + SUMMED_PAIRS]
        yield slice(part.start + begin, part.start + begin + len(some)), some
