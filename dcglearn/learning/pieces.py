"""What solvers need to know of the pairs at some W; all of it adds up over blocks of pairs.

With r = m - X w and the active pairs A, those with r > 0, the objective around w is

    |w - w_0|^2 + C sum_A v r^2,     of curvature  I + C X_A' V X_A

so a solver that has X_A' V X_A, X_A' V m_A and the loss needs no pair. Sums over blocks are
taken in the order of the blocks; where margins and weights are whole numbers they are
exact, whatever the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dcglearn.learning.blocks import Block
from dcglearn.measures.discounts import Floats


class _Sum:
    """Statistics whose fields are added."""

    def __add__(self, other: Self) -> Self:
        mine, theirs = vars(self), vars(other)
        return type(self)(**{name: value + theirs[name] for name, value in mine.items()})


@dataclass(frozen=True)
class Piece(_Sum):
    """The quadratic that the objective is around some W.

    Attributes
    ----------
    curvature : ndarray of float, shape (K L, K L)
        X_A' V X_A.
    demand : ndarray of float, shape (K L,)
        X_A' V m_A.
    loss : float
        sum_A v r^2.
    """

    curvature: Floats
    demand: Floats
    loss: float

    def is_that_of(self, other: Piece) -> bool:
        """Whether both are the same quadratic, to the last bit."""
        return np.array_equal(self.demand, other.demand) and np.array_equal(
            self.curvature, other.curvature
        )


@dataclass(frozen=True)
class Slacks(_Sum):
    """By how much margins are missed at some W.

    Attributes
    ----------
    pull : ndarray of float, shape (K L,)
        X' V r over the active pairs.
    loss, size : float
        sum_A v r^2 and sum_A v r.
    active : int
        Active pairs.
    """

    pull: Floats
    loss: float
    size: float
    active: int


@dataclass(frozen=True)
class Counts(_Sum):
    """Which grades meet, in pairs of a weight above 0.

    Attributes
    ----------
    met : ndarray of float, shape (K L, K L)
        X' X.
    weighted : ndarray of float, shape (K L, K L)
        X' V X.
    n : int
        Such pairs.
    """

    met: Floats
    weighted: Floats
    n: int


def piece(block: Block, w: Floats) -> Piece:
    """Return the quadratic around w.

    Parameters
    ----------
    block : Block
    w : ndarray of float, shape (K L,)

    Returns
    -------
    Piece
    """
    rows, missed = _active(block, w)
    margins, weights = block.margins[rows], of_rows(block.weights, rows)
    force = margins if weights is None else weights * margins
    return Piece(
        block.gram(rows, weights),
        block.pulled(force, rows),
        float(missed @ missed if weights is None else (weights * missed) @ missed),
    )


def slacks(block: Block, w: Floats) -> Slacks:
    """Return by how much margins are missed at w.

    Parameters
    ----------
    block : Block
    w : ndarray of float, shape (K L,)

    Returns
    -------
    Slacks
        Computed from the pairs themselves, not from a :class:`Piece`.
    """
    rows, missed = _active(block, w)
    force = block.weights[rows] * missed
    return Slacks(block.pulled(force, rows), float(force @ missed), float(force.sum()), len(rows))


def slopes(block: Block, w: Floats, along: Floats, steps: Floats) -> Floats:
    """Return the slope of -sum v r^2 / 2 at w + t along, for several t.

    Parameters
    ----------
    block : Block
    w, along : ndarray of float, shape (K L,)
    steps : ndarray of float, shape (m,)
        The t.

    Returns
    -------
    ndarray of float, shape (m,)
        sum v (X along) max(0, m - X w - t X along).
    """
    missed, gained = block.margins - block.reached(w), block.reached(along)
    weighted = block.weights * gained
    return np.array([weighted @ np.maximum(0.0, missed - t * gained) for t in steps])


def counts(block: Block) -> Counts:
    """Return which grades meet.

    Parameters
    ----------
    block : Block

    Returns
    -------
    Counts
    """
    rows = np.flatnonzero(block.weights > 0)
    weights = of_rows(block.weights, rows)
    met = block.gram(rows)
    return Counts(met, met if weights is None else block.gram(rows, weights), len(rows))


def of_rows(weights: Floats, rows: NDArray[np.intp]) -> Floats | None:
    """Return the weights of some rows, or None where all weights are 1."""
    shared = weights.strides == (0,) and len(weights) and weights[0] == 1
    return None if shared else weights[rows]


def _active(block: Block, w: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return the pairs that miss their margin, and by how much."""
    missed = block.margins - block.reached(w)
    rows = np.flatnonzero(missed > 0)
    return rows, missed[rows]
