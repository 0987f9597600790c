"""Maxima of smooth functions within bounds, several at once; that of a posterior.

A step is Newton's on the Hessian with all bends turned to one side (Gill, Murray & Wright,
Practical Optimization, 1981, section 4.4), damped as by Levenberg, so that it is short where the
last one rose by less than was expected, and cut at the bounds (Bertsekas, SIAM J. Control Optim.
20, 1982). Far from the maximum, Fisher's information may stand for the Hessian.

A posterior of products c g' may have several maxima where judgments are few. The search begins at
usual gains and discounts, at steep ones (1, 1/2, 1/4 ... with 1/rank), and at products near to the
best W of any kind; the highest is kept. With many judgments, it begins at the maximum of some.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf

from dcglearn.base.errors import SolverError
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Booleans, Floats, Integers
from dcglearn.inference.families import any_weights
from dcglearn.inference.likelihood import Expanded, Likelihood

MAX_STEPS = 400
_CLOSE = 1e-10
"""Twice the expected rise at which Newton's next step is the last; of many judgments, of each."""
_NEAR, _SAME, _ROUNDING = 10.0, 1e-3, 1e-13

_FROM_FAR, _FROM_NEAR = (1e-3, 5.0, 0.2, 1e-2, 3.0), (1e-2, 30.0, 0.1, 1e-8, 2.0)
"""The damping at first, its factors where a step rises too little, or nearly as expected, the
smallest bend, and how far a step goes at most: 2 in log odds for most parameters. Newton's steps
need more damping than Fisher's, and quadratic models mislead where bends are small."""

_FEW = 2000
"""Up to so many judgments, the search begins at several points."""

_SAMPLE = 20_000
"""More judgments than twice as many begin at the estimate from about so many of them."""


Function = Callable[[Floats, Integers, bool], tuple[Floats, Floats, Floats]]
"""Minus what some points (m, P) maximise, with its first and second derivatives; unless these are
to be observed, they may be those expected."""


class Ascent:
    """Points (n, P) that climb at once, each to a maximum of its own.

    Each has a value, a gradient of the parameters that no bound holds, a Hessian, and twice the
    rise that is expected of a full step. Those that are not near begin with Fisher's steps.
    `balanced` returns the highest of points of the same likelihood.
    """

    def __init__(
        self,
        function: Function,
        start: Floats,
        some: Integers,
        near: bool = False,
        bounds: tuple[Any, Any] = (-np.inf, np.inf),
        balanced: Callable[[Floats], Floats] = np.asarray,
    ) -> None:
        self.function, self.bounds, self.balanced = function, bounds, balanced
        self.theta, self.free = np.clip(start, *bounds), np.ones(start.shape, bool)
        self.gradient, (n, size) = np.zeros(start.shape), start.shape
        self.unit = np.eye(size)
        self.hessian = np.tile(self.unit, (n, 1, 1))
        self.value, self.rise = np.full((2, n), np.inf)
        first, self.more, self.less, self.least, self.longest = _FROM_NEAR if near else _FROM_FAR
        self.damping, self.near = np.full(n, first), np.full(n, near)
        self.offer(some, self.theta[some], near)

    def run(self, some: Integers, close: float) -> Integers:
        """Move some points to their maxima; return those that are not there in the end."""
        for _ in range(MAX_STEPS):
            now = some[~self.near[some] & (self.rise[some] < _NEAR)]
            self.near[now] = True
            self.offer(now, self.theta[now], observed=True)
            some = self.climbing(some, close)
            if not len(some):
                break
            for observed in (False, True):
                self.step(some[self.near[some] == observed], observed)
        return some

    def climbing(self, some: Integers, close: float) -> Integers:
        """Return the points that are not at a maximum."""
        return some[self.rise[some] > close]

    def step(self, some: Integers, observed: bool) -> None:
        """Take one damped step where it helps, and change the damping."""
        if not len(some):
            return
        theta, gradient, hessian = self.theta[some], self.gradient[some], self.hessian[some]
        diagonal = hessian.diagonal(axis1=1, axis2=2)
        damped = hessian + self.unit * (self.damping[some, None] * diagonal)[:, None]
        steps = -np.linalg.solve(damped, gradient[..., None])[..., 0] * self.free[some]
        steps *= np.minimum(1, self.longest / np.abs(steps).max(axis=1, keepdims=True))
        low, high = self.bounds
        moved = np.minimum(np.maximum(theta + steps, low), high)
        steps = moved - theta
        expected = -np.vecdot(gradient + np.matvec(hessian, steps) / 2, steps)
        expected = np.maximum(expected, 0)  # a step that is cut need not lead upwards
        rise = self.offer(some, self.balanced(moved), observed)
        less = np.where(rise > 0.75 * expected, self.less, 1.0)
        self.damping[some] *= np.where(rise >= 0.25 * expected, less, self.more)

    def offer(self, some: Integers, theta: Floats, observed: bool) -> Floats:
        """Put some points at others if these are as high; return by how much they are higher.

        Bends of what is observed are turned to one side.
        """
        if not len(some):
            return np.zeros(0)
        value, gradient, hessian = self.function(theta, some, observed)
        rise: Floats = (
            self.value[some] - value + _ROUNDING * np.maximum(1, np.abs(self.value[some]))
        )
        higher, (low, high) = rise > 0, self.bounds
        free = ~(((theta <= low) & (gradient >= 0)) | ((theta >= high) & (gradient <= 0)))
        at, free, gradient = some[higher], free[higher], (gradient * free)[higher]
        hessian = np.where(free[:, :, None] & free[:, None], hessian[higher], self.unit)
        bent = hessian - self.least * observed * self.unit
        wrong = [k for k, one in enumerate(bent) if dpotrf(one.T)[1]]  # not positive definite
        if wrong:
            bends, axes = np.linalg.eigh(hessian[wrong])
            bends = np.maximum(np.abs(bends), self.least)
            hessian[wrong] = (axes * bends[:, None]) @ axes.mT
        steps = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        self.theta[at], self.value[at], self.free[at] = theta[higher], value[higher], free
        self.gradient[at], self.hessian[at] = gradient, hessian
        self.rise[at] = np.vecdot(gradient, steps)
        return rise


class _Starts(Ascent):
    """Points that climb one function."""

    def climbing(self, some: Integers, close: float) -> Integers:
        """Return the points that do not rise to a maximum that one has reached."""
        some, reached = super().climbing(some, close), self.value[self.rise <= close]
        rise, top = self.rise[some, None], (self.value - self.rise / 2)[some, None]
        there = (rise < _SAME) & (np.abs(top - reached) < rise / 10)
        return some[np.flatnonzero(~there.any(axis=1))]


class Maximum(NamedTuple):
    """A local maximum: parameters (P,), the function there, and which parameters no bound holds."""

    parameters: Floats
    value: float
    free: Booleans


@one_blas_thread()  # small matrices are not worth several
def highest_posterior(likelihood: Likelihood, near: Floats | None = None) -> Maximum:
    """Return the maximum of a posterior; that of many judgments may be near known parameters."""
    evidence = likelihood.evidence.counted
    if len(evidence) > 2 * _SAMPLE or evidence.parts is not None:
        if near is None:
            some = replace(likelihood, evidence=evidence.sample(_SAMPLE))
            near = highest_posterior(some).parameters
        return maximum_from(likelihood, near)
    if len(likelihood.evidence) <= _FEW:
        return _of_few(likelihood)
    return maximum_from(likelihood, likelihood.start)


@lru_cache(8)
def _of_few(likelihood: Likelihood) -> Maximum:
    """Return the maximum for few judgments, which several models ask for.

    The search begins also near to the best W of any kind, and at steep gains and discounts.
    """
    family, layout, starts = likelihood.family, likelihood.evidence.layout, [likelihood.start]
    if family.discounts.n_coefficients:
        anywhere = any_weights(layout.n_ranks, layout.n_grades, layout.empty)
        with suppress(SolverError):
            best = _of_few(replace(likelihood, family=anywhere)).parameters
            W, others = anywhere.weights(best), best[len(anywhere.start) :]
            starts += [np.append(one, others) for one in family.near(W)]
            ranks, grades = np.indices(W.shape)
            steep = next(family.near(np.asarray(8 / (1 + ranks) / 2.0**grades)))
            starts.append(np.append(steep, likelihood.start[likelihood.n_weights :]))
    # Steps that are balanced may lead past a higher maximum.
    return maximise(likelihood.expand, np.stack(starts), likelihood.bounds)


def maximum_from(likelihood: Likelihood, start: Floats, held: Booleans | bool = False) -> Maximum:
    """Return the maximum of a posterior that a search from a point finds, some parameters held."""
    bounds = np.where(held, start, likelihood.bounds)
    n, balanced = len(likelihood.evidence), likelihood.family.balanced
    close = _CLOSE * n if n > 2 * _SAMPLE else _CLOSE
    return maximise(likelihood.expand, start, bounds, balanced, close)


def maximise(
    expand: Callable[[Floats], Expanded],
    starts: Floats,
    bounds: Any,
    balanced: Callable[[Floats], Floats] = np.asarray,
    close: float = _CLOSE,
) -> Maximum:
    """Return the highest maximum within bounds (2, P) that starts (m, P) or (P,) reach."""

    def function(theta: Floats, some: Integers, observed: bool) -> tuple[Floats, Floats, Floats]:
        value, gradient, hessian = expand(theta)
        return -value, -gradient, -hessian

    starts = np.atleast_2d(starts)
    found = _Starts(function, starts, every := np.arange(len(starts)), True, bounds, balanced)
    found.run(every, close)
    reached = np.flatnonzero(found.rise <= close)
    if not len(reached):
        raise SolverError(
            f"the likelihood has no maximum that was reached in {MAX_STEPS} steps "
            f"(expected rise {found.rise.min():.2g})"
        )
    best = reached[found.value[reached].argmin()]
    last = np.linalg.solve(found.hessian[best], found.gradient[best])
    value = float(found.rise[best] / 2 - found.value[best])
    return Maximum(np.clip(found.theta[best] - last, *bounds), value, found.free[best])
