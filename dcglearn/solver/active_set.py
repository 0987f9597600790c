"""What solvers need to know of the pairs at some W; all of it adds up over blocks of pairs.

With r = m - X w and the active pairs A, those with r > 0, the objective around w is

    |w - w_0|^2 + C sum_A v r^2,     of hessian  I + C X_A' V X_A

so a solver that has X_A' V X_A, X_A' V m_A and the loss needs no pair. Sums over blocks are
taken in the order of the blocks; where margins and weights are whole numbers they are
exact, whatever the blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.solver.pair_codes import Block, Known

ROUNDING = 1e-12
"""More than the error of any X w, to the sum of all |w|."""

MOST_AGAIN = 0.5
"""If more than this share of the pairs is to be looked at again, all are: that is quicker."""


class _Sum:
    """Statistics whose fields are added."""

    def __add__(self, other: Self) -> Self:
        mine, theirs = vars(self), vars(other)
        return type(self)(**{name: value + theirs[name] for name, value in mine.items()})


@dataclass(frozen=True)
class QuadraticModel(_Sum):
    """The quadratic that the objective is around some W.

    Attributes
    ----------
    hessian : ndarray of float, shape (K L, K L)
        X_A' V X_A.
    linear : ndarray of float, shape (K L,)
        X_A' V m_A.
    loss : float
        sum_A v r^2; after moves, up to the rounding of the largest that it was on the way.
    """

    hessian: Floats
    linear: Floats
    loss: float

    def moved(self, change: ActiveSetChange, w: Floats, to: Floats) -> QuadraticModel:
        """Return the quadratic around another point.

        Parameters
        ----------
        change : ActiveSetChange
            From w to the point.
        w, to : ndarray of float, shape (K L,)
        """
        along = to - w
        eased = 2 * (self.linear - self.hessian @ w) - self.hessian @ along
        return QuadraticModel(
            self.hessian + change.hessian,
            self.linear + change.linear,
            max(0.0, self.loss - float(along @ eased) + change.loss),
        )


@dataclass(frozen=True)
class ActiveSetChange(_Sum):
    """How the quadratic changes from one W to another.

    Attributes
    ----------
    hessian : ndarray of float, shape (K L, K L)
    linear : ndarray of float, shape (K L,)
        What is added to those of the :class:`QuadraticModel` at the first W.
    loss : float
        sum v r^2 at the second W of pairs that become active, less that of those that cease
        to be: by so much the first quadratic is wrong there.
    changed : int
        Pairs that are active at one of them only; 0 means that the piece is the same.
    """

    hessian: Floats
    linear: Floats
    loss: float
    changed: int


@dataclass(frozen=True)
class Residuals(_Sum):
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
class GramMatrices(_Sum):
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


@dataclass(frozen=True)
class DensePairs:
    """Pairs as rows; to add them is to put them below each other.

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
    """Return the quadratic around w.

    Parameters
    ----------
    block : Block
    w : ndarray of float, shape (K L,)

    Returns
    -------
    QuadraticModel
    """
    missed = _look(block, w).missed
    loss = sum(_loss(block, part, np.maximum(missed[part], 0.0)) for part in block.stripes())
    return QuadraticModel(*_quadratic(block, np.flatnonzero(missed > 0)), loss)


def active_set_change(block: Block, w: Floats, to: Floats) -> ActiveSetChange:
    """Return how the quadratic changes from w to another point.

    Only pairs that may become active or cease to be are looked at again, and only those that
    do are added up; so near the optimum it takes little.

    Parameters
    ----------
    block : Block
    w, to : ndarray of float, shape (K L,)

    Returns
    -------
    ActiveSetChange
    """
    near, before, now = _around(block, w, to)
    gone = np.flatnonzero((before > 0) > (now > 0))
    come = np.flatnonzero((now > 0) > (before > 0))
    less, more = (
        QuadraticModel(*_quadratic(block, rows), _loss(block, rows, now[some]))
        for some, rows in ((some, some if near is None else near[some]) for some in (gone, come))
    )
    return ActiveSetChange(
        more.hessian - less.hessian,
        more.linear - less.linear,
        more.loss - less.loss,
        len(gone) + len(come),
    )


def residuals(block: Block, w: Floats) -> Residuals:
    """Return by how much margins are missed at w.

    Parameters
    ----------
    block : Block
    w : ndarray of float, shape (K L,)

    Returns
    -------
    Residuals
        Computed from the pairs themselves, not from a :class:`QuadraticModel`.
    """
    pull, loss, size, active = np.zeros(block.size), 0.0, 0.0, 0
    for part in block.stripes():
        missed = block.margins[part] - block.reached(w, part)
        active += int(np.count_nonzero(missed > 0))
        np.maximum(missed, 0.0, out=missed)
        weights = of_rows(block.weights, part)
        force = missed if weights is None else weights * missed
        pull += block.pulled(force, part)
        loss += float(force @ missed)
        size += float(force.sum())
    return Residuals(pull, loss, size, active)


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
        weights = of_rows(block.weights, part)
        weighted = gained if weights is None else weights * gained
        found += [weighted @ np.maximum(0.0, missed - t * gained) for t in steps]
    return found


def gram_matrices(block: Block) -> GramMatrices:
    """Return which grades meet.

    Parameters
    ----------
    block : Block

    Returns
    -------
    GramMatrices
    """
    rows = np.flatnonzero(block.weights > 0)
    weights = of_rows(block.weights, rows)
    met = block.gram(rows)
    return GramMatrices(met, met if weights is None else block.gram(rows, weights), len(rows))


def dense_pairs(block: Block) -> DensePairs:
    """Return the pairs of a weight above 0 as rows of X.

    Parameters
    ----------
    block : Block
        Of so few pairs that X is small.

    Returns
    -------
    DensePairs
    """
    some = np.flatnonzero(block.weights > 0)
    return DensePairs(block.X[some], block.margins[some], block.weights[some])


def _quadratic(block: Block, rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return X' V X and X' V m of some pairs."""
    weights, margins = of_rows(block.weights, rows), of_rows(block.margins, rows)
    force = margins if weights is None or margins is None else weights * margins
    return block.gram(rows, weights), block.pulled(weights if force is None else force, rows)


def _loss(block: Block, rows: NDArray[np.intp] | slice, missed: Floats) -> float:
    """Return r' V r of some pairs whose r is given."""
    weights = of_rows(block.weights, rows)
    return float(missed @ missed if weights is None else (weights * missed) @ missed)


def of_rows(values: Floats, rows: NDArray[np.intp] | slice) -> Floats | None:
    """Return the weights (or margins) of some rows, or None where all of them are 1."""
    one = values.strides == (0,) and len(values) and values[0] == 1
    return None if one else values[rows]


def _look(block: Block, w: Floats) -> Known:
    """Return what w leaves of all margins, and remember it where that saves a look."""
    missed = np.empty(len(block))
    for part in block.stripes():
        np.subtract(block.margins[part], block.reached(w, part), out=missed[part])
    found = Known(w.copy(), None, missed, math.inf)
    if block.dense is None:
        block.remember(found)
    return found


def _around(block: Block, w: Floats, to: Floats) -> tuple[NDArray[np.intp] | None, Floats, Floats]:
    """Return pairs, all that are active at one of two points only among them, and m - X w at both.

    From one point to another no m - X w changes by more than any X can: where it was farther from
    0, it keeps its sign. None stands for all pairs.
    """
    if block.dense is not None:
        return None, _look(block, w).missed, _look(block, to).missed
    every, *newer = block.known or (_look(block, w),)
    known, reach = next(
        (known, reach)
        for known in (*newer, every)
        if (reach := _reach(block, known.w, w, to)) <= known.radius
    )
    near = np.flatnonzero((known.missed <= 2 * reach) & (known.missed >= -2 * reach))
    here = np.array_equal(known.w, w)
    if len(near) > MOST_AGAIN * len(block):
        before = every.missed if np.array_equal(every.w, w) else _look(block, w).missed
        return None, before, _look(block, to).missed
    rows = near if known.rows is None else known.rows[near]
    before = known.missed[near] if here else block.margins[rows] - block.reached(w, rows)
    now = block.margins[rows] - block.reached(to, rows)
    block.remember(every, Known(to.copy(), rows, now, min(reach, known.radius - reach)))
    return rows, before, now


def _reach(block: Block, known: Floats, *points: Floats) -> float:
    """Return by how much a computed m - X w can be another at some points than where it is known.

    From there to a point no X w changes by more than `farthest`.
    """
    size = max(float(np.abs(point).sum()) for point in (known, *points))
    return max(block.layout.farthest(point - known) for point in points) + ROUNDING * size
