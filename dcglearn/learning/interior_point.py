"""An approximate optimum for few pairs and any C: Mehrotra's interior-point method.

Newton's method (:mod:`dcglearn.learning.newton`) finds the active set in few steps, unless C is
large and hardly any pair is wrong. Then w has to grow until all margins are met, and pairs
enter and leave the active set on the way. An interior point is close to the optimum after
about ten steps and determines the active set. Pairs and pairs of neighbouring grades are
constraints of the same form,

    A w + p a - m = s,    a, s >= 0,    a s = 0,    2 (w - w_0) = A'a,

with A = x, p = 1 / (2 C v) for a pair, and A w = w[k, l] - w[k, l + 1], p = m = 0 for two
grades. a holds the multipliers and s the slacks. Each step predicts along the tangent towards
a s = 0, measures how far that stays feasible, and corrects towards a common a s > 0, which is
the smaller the farther the prediction went: S. Mehrotra, "On the Implementation of a
Primal-Dual Interior Point Method" (SIAM Journal on Optimization 2, 1992).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from dcglearn.base.types import Floats
from dcglearn.learning.active_set import dense_pairs
from dcglearn.learning.problem import Objective

MAX_INTERIOR_STEPS = 50
"""Upper limit of the steps; problems seen so far take at most half as many."""

LARGE_GAP, SMALL_GAP = 1e-6, 1e-14
"""The iteration ends when the duality gap a.s, relative to the objective, is below the first and
w determines the active set, or below the second."""

STEP_SHARE = 0.99
"""Share of the distance to the nearest bound that a step covers."""


class _Constraints(NamedTuple):
    """The constraints A w + p a >= m.

    Attributes
    ----------
    A : ndarray of float, shape (n, K L)
    softness, margins : ndarray of float, shape (n,)
        p and m.
    prior : ndarray of float, shape (K L,)
        w_0.
    """

    A: Floats
    softness: Floats
    margins: Floats
    prior: Floats


class _Point(NamedTuple):
    """A point with a > 0 and s > 0, or a direction; the equations need not hold yet."""

    w: Floats
    a: Floats
    s: Floats

    def moved(self, direction: _Point, t: float) -> _Point:
        return _Point(self.w + t * direction.w, self.a + t * direction.a, self.s + t * direction.s)

    def largest_step(self, direction: _Point) -> float:
        """Return the largest t up to 1 for which a and s stay non-negative."""
        return float(
            1
            / max(
                1.0,
                -(direction.a / self.a).min(initial=0.0),
                -(direction.s / self.s).min(initial=0.0),
            )
        )


def interior_point_start(problem: Objective) -> tuple[Floats, int]:
    """Approximate the optimum, as a start for Newton's method.

    Parameters
    ----------
    problem : Objective
        With few enough pairs for X to fit in memory.

    Returns
    -------
    W : ndarray of float, shape (K, L)
        Its rows are non-increasing up to the remaining error; grades that are tied at the
        optimum are only nearly so. It is w_0 if double precision is not enough.
    steps : int
        Each takes one product X'VX and a few with vectors.

    Examples
    --------
    >>> from dcglearn.learning.problem import Problem
    >>> problem = Problem.of([[[0, 1], [1, 1]]], 2)
    >>> W, steps = interior_point_start(problem)
    >>> W.round(2) + 0.0
    array([[ 0.33, -0.33],
           [ 0.  ,  0.  ]])
    """
    with np.errstate(all="ignore"):  # points that are not finite are not used
        constraints = _constraints(problem)
        (w, _, _), steps = _iterate(constraints, _first_point(constraints))
    return (w.reshape(problem.shape) if np.isfinite(w).all() else problem.prior), steps


def _constraints(problem: Objective) -> _Constraints:
    """Return those of the pairs whose weight is positive, then those of neighbouring grades."""
    pairs = problem.sum_over_blocks(dense_pairs)
    K, L = problem.shape
    steps = np.eye(L)[:-1] - np.eye(L)[1:] if problem.monotone else np.zeros((0, L))
    A = np.vstack([pairs.X, np.kron(np.eye(K), steps)])
    hard = np.zeros(len(A) - len(pairs.X))
    softness = np.hstack([0.5 / problem.C / pairs.weights, hard])
    return _Constraints(A, softness, np.hstack([pairs.margins, hard]), problem.prior.ravel())


def _first_point(constraints: _Constraints) -> _Point:
    """Return the least-squares point, with a and s made positive by Mehrotra's rule."""
    A, softness, margins, prior = constraints
    stiffness = 1 / (softness + 1)
    R, _ = _cholesky_of_step(A, stiffness)
    w = prior + dpotrs(R, (stiffness * (margins - A @ prior)) @ A)[0]
    product = A @ w
    a = stiffness * (margins - product)
    s = softness * a - margins + product
    a += max(0.0, -1.5 * a.min(initial=0.0))
    s += max(0.0, -1.5 * s.min(initial=0.0))
    gap = a @ s
    return _Point(w, a + gap / s.sum() / 2, s + gap / a.sum() / 2)


def _iterate(constraints: _Constraints, at: _Point) -> tuple[_Point, int]:
    """Step until the duality gap is small, or no step can be computed."""
    for step in range(MAX_INTERIOR_STEPS):
        gap = at.a @ at.s
        size = np.sum((at.w - constraints.prior) ** 2) + (at.a * at.a) @ constraints.softness / 2
        if not gap > SMALL_GAP * size:
            return at, step
        if gap <= LARGE_GAP * size and _determines_active_set(constraints, at):
            return at, step
        tangent = _tangent(constraints, at)
        if tangent is None:
            return at, step
        predictor = tangent.direction(0.0)
        predicted = at.moved(predictor, at.largest_step(predictor))
        share = (predicted.a @ predicted.s / gap) ** 3
        corrector = tangent.direction(share * gap / len(at.a) - predictor.a * predictor.s)
        at = at.moved(corrector, min(1.0, STEP_SHARE * at.largest_step(corrector)))
    return at, MAX_INTERIOR_STEPS


def _determines_active_set(constraints: _Constraints, at: _Point) -> bool:
    """Whether the pairs that miss their margin at w are those with a > s."""
    residuals = constraints.softness * at.a
    return bool(((at.s < residuals) == (at.s < at.a))[constraints.softness > 0].all())


class _Tangent(NamedTuple):
    """The equations to first order around a point.

    Attributes
    ----------
    constraints : _Constraints
    R : ndarray of float, shape (K L, K L)
        R'R = 2 I + A' diag(stiffness) A.
    infeasibility : ndarray of float, shape (n,)
        A w + p a - m - s.
    dual_residual : ndarray of float, shape (K L,)
        A'a - 2 (w - w_0).
    room, stiffness, product : ndarray of float, shape (n,)
        s + p a, a / (s + p a) and a (A w + p a - m).
    """

    constraints: _Constraints
    R: Floats
    infeasibility: Floats
    dual_residual: Floats
    room: Floats
    stiffness: Floats
    product: Floats

    def direction(self, target: Floats | float) -> _Point:
        """Return the direction to the point where a s = target."""
        A, softness, _, _ = self.constraints
        force = (target - self.product) / self.room
        w = dpotrs(self.R, self.dual_residual + force @ A)[0]
        change = A @ w
        a = force - self.stiffness * change
        return _Point(w, a, softness * a + change + self.infeasibility)


def _tangent(constraints: _Constraints, at: _Point) -> _Tangent | None:
    A, softness, margins, prior = constraints
    w, a, s = at
    surplus = A @ w + softness * a - margins
    room = s + softness * a
    stiffness = a / room
    R, failed = _cholesky_of_step(A, stiffness)
    if failed:
        return None
    dual_residual = a @ A - 2 * (w - prior)
    return _Tangent(constraints, R, surplus - s, dual_residual, room, stiffness, a * surplus)


def _cholesky_of_step(A: Floats, weights: Floats) -> tuple[Floats, int]:
    """Return the upper triangular R with R'R = 2 I + A' V A, and nonzero if there is none."""
    weighted = A * np.sqrt(weights)[:, None]
    H = weighted.T @ weighted
    H.flat[:: len(H) + 1] += 2
    R, failed = dpotrf(H, lower=0)
    return R, failed
