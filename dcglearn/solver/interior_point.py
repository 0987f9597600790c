"""Near the optimum of few pairs, whatever C: Mehrotra's interior-point method.

Newton's method (:mod:`dcglearn.solver.newton`) finds which pairs miss their margin in few
steps, unless C is large and hardly a pair is wrong: then w has to grow until all margins fit,
and pairs come and go on the way. An interior point comes near in ten steps, say, and knows by
then which are which. A pair and two neighbouring grades are rows alike,

    A w + p a - m = s,    a, s >= 0,    a s = 0,    2 (w - w_0) = A'a,

with A = x, p = 1 / (2 C v) for a pair, and A w = w[k, l] - w[k, l + 1], p = m = 0 for two grades.
A step goes to a s = 0 along the tangent, looks how far that gets, and goes again, to a
common a s > 0 that is the smaller the farther it got: S. Mehrotra, "On the Implementation of a
Primal-Dual Interior Point Method" (SIAM Journal on Optimization 2, 1992).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from dcglearn.base.types import Floats
from dcglearn.solver.active_set import dense_pairs
from dcglearn.solver.problem import Objective

MAX_INTERIOR_STEPS = 50
"""Steps that are made at most; half as many do."""

NEAR, NEAREST = 1e-6, 1e-14
"""It ends where the gap to the optimum, which is a s, is below the first share of the objective
and w tells which pairs miss their margin, or below the second."""

INSIDE = 0.99
"""The share of the way to the nearest bound that a step goes."""


class _Wanted(NamedTuple):
    """What is asked for: A w + p a >= m, at a price.

    Attributes
    ----------
    A : ndarray of float, shape (n, K L)
    soft, margins : ndarray of float, shape (n,)
        p and m.
    prior : ndarray of float, shape (K L,)
        w_0.
    """

    A: Floats
    soft: Floats
    margins: Floats
    prior: Floats


class _Point(NamedTuple):
    """Inside: a > 0 and s > 0; the equations need not hold yet."""

    w: Floats
    a: Floats
    s: Floats

    def moved(self, way: _Point, t: float) -> _Point:
        return _Point(self.w + t * way.w, self.a + t * way.a, self.s + t * way.s)

    def farthest(self, way: _Point) -> float:
        """Return how far the way leads inside, 1 at most."""
        return float(
            1 / max(1.0, -(way.a / self.a).min(initial=0.0), -(way.s / self.s).min(initial=0.0))
        )


def interior_point_start(problem: Objective) -> tuple[Floats, int]:
    """Come near the optimum.

    Parameters
    ----------
    problem : Objective
        Of so few pairs that X fits into memory.

    Returns
    -------
    W : ndarray of float, shape (K, L)
        Its rows fall, but for the rest that is missing to the optimum; grades that are tied there
        are not quite. It is w_0 where double precision does not get anywhere.
    steps : int
        Each takes one product X'VX, and some with vectors.

    Examples
    --------
    >>> from dcglearn.solver.problem import Problem
    >>> problem = Problem.of([[[0, 1], [1, 1]]], 2)
    >>> W, steps = interior_point_start(problem)
    >>> W.round(2) + 0.0
    array([[ 0.33, -0.33],
           [ 0.  ,  0.  ]])
    """
    with np.errstate(all="ignore"):  # what is not finite is not used
        wanted = _wanted(problem)
        (w, _, _), steps = _inside(wanted, _start(wanted))
    return (w.reshape(problem.shape) if np.isfinite(w).all() else problem.prior), steps


def _wanted(problem: Objective) -> _Wanted:
    """Return the pairs that weigh anything, and below them the neighbouring grades."""
    pairs = problem.sum_over_blocks(dense_pairs)
    K, L = problem.shape
    falls = np.eye(L)[:-1] - np.eye(L)[1:] if problem.monotone else np.zeros((0, L))
    A = np.vstack([pairs.X, np.kron(np.eye(K), falls)])
    hard = np.zeros(len(A) - len(pairs.X))
    soft = np.hstack([0.5 / problem.C / pairs.weights, hard])
    return _Wanted(A, soft, np.hstack([pairs.margins, hard]), problem.prior.ravel())


def _start(wanted: _Wanted) -> _Point:
    """Return least squares, with a and s moved inside as Mehrotra does."""
    A, soft, margins, prior = wanted
    stiff = 1 / (soft + 1)
    R, _ = _triangle(A, stiff)
    w = prior + dpotrs(R, (stiff * (margins - A @ prior)) @ A)[0]
    reached = A @ w
    a = stiff * (margins - reached)
    s = soft * a - margins + reached
    a += max(0.0, -1.5 * a.min(initial=0.0))
    s += max(0.0, -1.5 * s.min(initial=0.0))
    gap = a @ s
    return _Point(w, a + gap / s.sum() / 2, s + gap / a.sum() / 2)


def _inside(wanted: _Wanted, at: _Point) -> tuple[_Point, int]:
    """Go on until the gap is small, or there is no way."""
    for step in range(MAX_INTERIOR_STEPS):
        gap = at.a @ at.s
        size = np.sum((at.w - wanted.prior) ** 2) + (at.a * at.a) @ wanted.soft / 2
        if not gap > NEAREST * size or (gap <= NEAR * size and _tells(wanted, at)):
            return at, step
        tangent = _tangent(wanted, at)
        if tangent is None:
            return at, step
        straight = tangent.way(0.0)
        there = at.moved(straight, at.farthest(straight))
        share = (there.a @ there.s / gap) ** 3
        way = tangent.way(share * gap / len(at.a) - straight.a * straight.s)
        at = at.moved(way, min(1.0, INSIDE * at.farthest(way)))
    return at, MAX_INTERIOR_STEPS


def _tells(wanted: _Wanted, at: _Point) -> bool:
    """Whether the pairs that miss their margin by w are those with a > s."""
    missed = wanted.soft * at.a
    return bool(((at.s < missed) == (at.s < at.a))[wanted.soft > 0].all())


class _Tangent(NamedTuple):
    """The equations to first order around a point.

    Attributes
    ----------
    wanted : _Wanted
    R : ndarray of float, shape (K L, K L)
        R'R = 2 I + A' diag(stiff) A.
    missing : ndarray of float, shape (n,)
        A w + p a - m - s.
    pull : ndarray of float, shape (K L,)
        A'a - 2 (w - w_0).
    room, stiff, owed : ndarray of float, shape (n,)
        s + p a, a / (s + p a) and a (A w + p a - m).
    """

    wanted: _Wanted
    R: Floats
    missing: Floats
    pull: Floats
    room: Floats
    stiff: Floats
    owed: Floats

    def way(self, aim: Floats | float) -> _Point:
        """Return the way to a s = aim."""
        A, soft, _, _ = self.wanted
        force = (aim - self.owed) / self.room
        w = dpotrs(self.R, self.pull + force @ A)[0]
        gained = A @ w
        a = force - self.stiff * gained
        return _Point(w, a, soft * a + gained + self.missing)


def _tangent(wanted: _Wanted, at: _Point) -> _Tangent | None:
    A, soft, margins, prior = wanted
    w, a, s = at
    reached = A @ w + soft * a - margins
    room = s + soft * a
    stiff = a / room
    R, failed = _triangle(A, stiff)
    if failed:
        return None
    return _Tangent(wanted, R, reached - s, a @ A - 2 * (w - prior), room, stiff, a * reached)


def _triangle(A: Floats, weights: Floats) -> tuple[Floats, int]:
    """Return the upper R with R'R = 2 I + A' V A, and whether there is none."""
    weighted = A * np.sqrt(weights)[:, None]
    H = weighted.T @ weighted
    H.flat[:: len(H) + 1] += 2
    R, failed = dpotrf(H, lower=0)
    return R, failed
