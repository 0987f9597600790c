"""Semismooth Newton over the cone of monotone matrices: the optimum without slack variables.

    F(w) = |w|^2 + C sum_i v_i max(0, m_i - w'x_i)^2

is quadratic while the active set A, the pairs that miss their margin, stays the same. A solver
needs the sums of this quadratic, and no individual pair; with integer margins and weights they are
exact. The minimum of this quadratic model over the cone,

    min  w'H w - 2 w'b,   H = I + C X_A' V X_A,   b = C X_A' V m_A,

is a non-negative least-squares problem in the steps between neighbouring grades
(:mod:`dcglearn.learning.cones`), with K L unknowns. The step towards it descends; if the active set
there is the same, it is the optimum (Keerthi & DeCoste, "A Modified Finite Newton Method for Fast
Solution of Large Scale Linear SVMs", JMLR 6, 2005, here over a cone).

Many pairs start from the optimum of a subsample: without it, 10^6 pairs take 1.7 times as long, or
7 times if none is wrong. If the active set does not settle, C grows along a path; without it, 2,000
to 200,000 pairs of which none is wrong are not solved at C = 10^8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from dcglearn.base.errors import SolverError
from dcglearn.base.types import Floats
from dcglearn.learning.problem import Problem
from dcglearn.learning.source import Additive, Block, taken

MAX_NEWTON_STEPS = 100
MAX_SUBSAMPLE_STEPS = 10
"""Largest numbers of steps from one start, and on a subsample, which need not be solved exactly."""

SUBSAMPLE_MIN = 5_000
SUBSAMPLE_FROM = 100
SUBSAMPLE_FACTOR = 20
"""More pairs than the first, and than the second for each of the K L unknowns, start from a
subsample that is so many times smaller."""

LINE_SEARCH_ROUNDS = 3
"""Rounds of a line search, each over 17 points between two of the previous round; with one round,
20,000 pairs without errors are not solved at C = 10^6."""

MAX_LINE_SEARCHES = 20
"""Line searches after which the path of C is taken instead."""

SLOW_GROWTH = 2.0
"""Growth of C along its path, instead of 10, while line searches are needed."""

ARMIJO = 1e-4
"""A full step is taken if F falls by this share of what its slope predicts (Armijo's rule)."""


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


class Descent(NamedTuple):
    """The best point reached, in the cone, and the model there; the optimum if it is settled."""

    W: Floats
    model: QuadraticModel
    steps: int
    passes: int
    settled: bool


def newton(
    problem: Problem, start: Floats | None = None, model: QuadraticModel | None = None
) -> Descent:
    """Minimise the objective, from the optimum of a subsample or from 0 by default.

    The model at `start` is that of any C. SolverError if one cannot be minimised.
    """
    start = _subsample_optimum(problem) if start is None else start
    first = descend(problem, start, model=model, max_line_searches=MAX_LINE_SEARCHES)
    return first if first.settled else _descend_along_path(problem, first.steps, first.passes)


def _descend_along_path(problem: Problem, steps: int, passes: int) -> Descent:
    """Go from a small C to the problem's own, as the optima for C and C / 10 are close.

    Its steps and passes are added to those given.
    """
    start = np.zeros(problem.shape)
    model = None
    below = 10.0 ** max(1, math.ceil(math.log10(problem.C * problem.n_pairs)))
    while True:
        end = descend(problem.with_C(problem.C / below), start, model=model)
        start = end.W
        model = end.model
        steps += end.steps
        passes += end.passes
        if below == 1.0:
            return end._replace(steps=steps, passes=passes)
        searched = end.passes > end.steps + 1
        below = max(1.0, below / (SLOW_GROWTH if searched else 10.0))


def _subsample_optimum(problem: Problem) -> Floats:
    """Return about the optimum of a subsample of many pairs, or 0; the loss is scaled to match."""
    n_pairs = problem.n_pairs
    unknowns = math.prod(problem.shape)
    if n_pairs <= max(SUBSAMPLE_MIN, SUBSAMPLE_FROM * unknowns):
        return np.zeros(problem.shape)
    fewer = problem.sample(n_pairs // SUBSAMPLE_FACTOR)
    return descend(fewer, _subsample_optimum(fewer), max_steps=MAX_SUBSAMPLE_STEPS).W


def descend(
    problem: Problem,
    start: Floats,
    max_steps: int = MAX_NEWTON_STEPS,
    model: QuadraticModel | None = None,
    max_line_searches: int = MAX_NEWTON_STEPS,
) -> Descent:
    """Step until the active set settles or no step descends, at most `max_steps` times."""
    w = problem.cone.project(start).ravel()
    here = model or problem.sum_over_blocks(quadratic_model, w)
    passes = 0 if model else 1
    for step in range(1, max_steps + 1):
        target = _minimise_model(problem, here, w)
        change = problem.sum_over_blocks(quadratic_model, target, w)
        passes += 1
        there = here.updated(change, w, target)
        if not change.added:
            return Descent(target.reshape(problem.shape), there, step, passes, True)
        direction = target - w
        if np.abs(direction).max() <= 1e-15 * np.abs(w).max():
            break
        slope = 2 * (direction @ (w - problem.C * (here.linear - here.hessian @ w)))
        difference = direction @ (w + target) + problem.C * (there.loss - here.loss)
        if difference <= ARMIJO * slope:
            w = target
            here = there
        elif not max_line_searches:
            break
        else:
            max_line_searches -= 1
            w = w + _line_search(problem, w, direction) * direction
            here = problem.sum_over_blocks(quadratic_model, w)
            passes += LINE_SEARCH_ROUNDS + 1
    return Descent(w.reshape(problem.shape), here, step, passes, False)


def _line_search(problem: Problem, w: Floats, direction: Floats) -> float:
    """Return a t in (0, 1] at which the derivative of F along the direction is about 0."""
    low = 0.0
    high = 1.0
    for _ in range(LINE_SEARCH_ROUNDS):
        steps = np.linspace(low, high, 17)
        loss_part = problem.sum_over_blocks(directional_derivatives, w, direction, steps)
        slope = direction @ w + steps * (direction @ direction) - problem.C * loss_part
        if not (slope > 0).any():
            return float(steps[-1])
        last = np.argmax(slope > 0)
        if last == 0:  # flat to within rounding
            return float(steps[0] or steps[1])
        low = steps[last - 1]
        high = steps[last]
    share = -slope[last - 1] / (slope[last] - slope[last - 1])
    return float(low + share * (high - low))


def _minimise_model(problem: Problem, model: QuadraticModel, w: Floats) -> Floats:
    """Minimise the quadratic model over the cone, starting with the ties between grades of w."""
    W = w.reshape(problem.shape)
    offsets = problem.source.has_empty_ranks
    try:
        return problem.cone.minimise(model.hessian, model.linear, problem.C, W, offsets).ravel()
    except (LinAlgError, RuntimeError) as error:  # RuntimeError: of nnls
        raise SolverError(
            f"a quadratic model cannot be minimised in double precision ({error}); rescale `C`, "
            "the weights or the margins"
        ) from error


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
    margins = taken(block.margins, rows)
    r = r[rows]
    weighted = margins if weights is None or margins is None else weights * margins
    linear = block.rmatvec(weights if weighted is None else weighted, rows)
    loss = float((r if weights is None else weights * r) @ r)
    return QuadraticModel(block.gram(rows, weights), linear, loss, len(rows))


def directional_derivatives(block: Block, w: Floats, direction: Floats, steps: Floats) -> Floats:
    """Return the derivative of -sum_A v r^2 / 2 at w + t direction, for each t of the steps."""
    rate = block.matvec(direction)
    r = block.residuals(w)
    weighted = block.weighted(rate)
    return np.array([weighted @ np.maximum(0.0, r - t * rate) for t in steps])
