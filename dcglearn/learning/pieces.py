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


@dataclass(frozen=True)
class Move(_Sum):
    """How the quadratic changes from one W to another.

    Attributes
    ----------
    curvature : ndarray of float, shape (K L, K L)
    demand : ndarray of float, shape (K L,)
        What is added to those of the :class:`Piece` at the first W.
    loss : float
        That at the second W.
    changed : int
        Pairs that are active at one of them only; 0 means that the piece is the same.
    """

    curvature: Floats
    demand: Floats
    loss: float
    changed: int


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
    active, loss = _active(block, w)
    return Piece(*_quadratic(block, np.flatnonzero(np.concatenate(active))), loss)


def move(block: Block, w: Floats, to: Floats) -> Move:
    """Return how the quadratic changes from w to another point.

    Only pairs that become active or cease to be are added up; so near the optimum it takes
    little more than two passes of look-ups.

    Parameters
    ----------
    block : Block
    w, to : ndarray of float, shape (K L,)

    Returns
    -------
    Move
    """
    before = block.active.get(w.tobytes()) or _active(block, w)[0]
    now, loss = _active(block, to)
    gone, come = (
        np.concatenate(
            [
                np.flatnonzero(a > b) + part.start
                for part, a, b in zip(block.stripes(), one, other, strict=True)
            ]
        )
        for one, other in ((before, now), (now, before))
    )
    less, more = _quadratic(block, gone), _quadratic(block, come)
    return Move(more[0] - less[0], more[1] - less[1], loss, len(gone) + len(come))


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
    pull, loss, size, active = np.zeros(block.size), 0.0, 0.0, 0
    for part in block.stripes():
        missed = block.margins[part] - block.reached(w, part)
        active += int(np.count_nonzero(missed > 0))
        np.maximum(missed, 0.0, out=missed)
        weights = of_rows(block.weights[part], slice(None))
        force = missed if weights is None else weights * missed
        pull += block.pulled(force, part)
        loss += float(force @ missed)
        size += float(force.sum())
    return Slacks(pull, loss, size, active)


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
    found = np.zeros(len(steps))
    for part in block.stripes():
        gained = block.reached(along, part)
        missed = block.margins[part] - block.reached(w, part)
        weights = of_rows(block.weights[part], slice(None))
        weighted = gained if weights is None else weights * gained
        found += [weighted @ np.maximum(0.0, missed - t * gained) for t in steps]
    return found


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


def _quadratic(block: Block, rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return X' V X and X' V m of some pairs."""
    weights, margins = of_rows(block.weights, rows), of_rows(block.margins, rows)
    force = margins if weights is None or margins is None else weights * margins
    return block.gram(rows, weights), block.pulled(weights if force is None else force, rows)


def of_rows(values: Floats, rows: NDArray[np.intp] | slice) -> Floats | None:
    """Return the weights (or margins) of some rows, or None where all of them are 1."""
    one = values.strides == (0,) and len(values) and values[0] == 1
    return None if one else values[rows]


def _active(block: Block, w: Floats) -> tuple[list[NDArray[np.bool_]], float]:
    """Return which pairs miss their margin at w, by stripes, and the loss; remember the first."""
    active, loss = [], 0.0
    for part in block.stripes():
        missed = block.margins[part] - block.reached(w, part)
        active.append(missed > 0)
        np.maximum(missed, 0.0, out=missed)
        loss += _loss(missed, of_rows(block.weights[part], slice(None)))
    block.active.clear()
    block.active[w.tobytes()] = active
    return active, loss


def _loss(missed: Floats, weights: Floats | None) -> float:
    return float(missed @ missed if weights is None else (weights * missed) @ missed)
