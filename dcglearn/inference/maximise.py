"""The maximum of a smooth function within bounds, by Newton's method; that of a posterior.

Where the Hessian is not negative definite, the absolute values of its eigenvalues are used
(Gill, Murray & Wright, Practical Optimization, 1981, section 4.4); steps are limited in length,
shortened until the function rises enough (Armijo), and cut at the bounds (Bertsekas, SIAM J.
Control Optim. 20, 1982). Second derivatives are computed anew where old ones lead less far.

A posterior of products c g' may have several maxima where judgments are few. The search begins at
usual gains and discounts, and at products near to the best W of any kind; the highest is kept. With
many judgments, it begins at the maximum of some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from dcglearn.base.errors import SolverError
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Booleans, Floats
from dcglearn.inference.families import any_weights
from dcglearn.inference.likelihood import Expanded, Likelihood

MAX_STEPS = 200
_CLOSE = 1e-18
"""The expected rise at which the maximum is reached: far below what tests can tell apart."""
_KEPT = 1e-3
"""Second derivatives are kept while a step leaves no more than this of the expected rise."""
_RISE = 1e-4
_SMALLEST_CURVATURE = 1e-10
_HALVINGS = 40
_ROUNDING = 1e-12

_REACH = 1.0
_REACH_SHARE = 0.5
"""A step changes no parameter by more than _REACH, which is 1 in log odds for most of them, or
_REACH_SHARE of the largest: where the Hessian is nearly singular, quadratic models mislead."""

_FEW = 2000
"""Up to so many judgments, the search begins at several points."""

_SAMPLE = 20_000
"""More judgments than twice as many begin at the estimate from about so many of them."""


class Maximum(NamedTuple):
    """A local maximum: parameters (P,), the function there, and which parameters no bound holds."""

    parameters: Floats
    at: Expanded
    free: Booleans
    steps: int


@one_blas_thread()  # small matrices are not worth several
def highest_posterior(likelihood: Likelihood, near: Floats | None = None) -> Maximum:
    """Return the maximum of a posterior; that of many judgments may be near known parameters."""
    evidence = likelihood.evidence.counted
    if len(evidence) > 2 * _SAMPLE or evidence.parts is not None:
        if near is None:
            some = replace(likelihood, evidence=evidence.sample(_SAMPLE))
            near = highest_posterior(some).parameters
        return maximum_from(likelihood, near)
    starts, found = [likelihood.start], []
    if len(likelihood.evidence) <= _FEW:
        starts += _near_any_weights(likelihood)
    for start in starts:
        with suppress(SolverError):
            found.append(maximum_from(likelihood, start))
    if not found:
        raise SolverError(f"the likelihood has no maximum that was reached in {MAX_STEPS} steps")
    return max(found, key=lambda one: one.at.value)


def _near_any_weights(likelihood: Likelihood) -> list[Floats]:
    """Return starts at products near to the best W of any kind."""
    family, layout = likelihood.family, likelihood.evidence.layout
    if not family.discounts.n_coefficients:
        return []
    anywhere = any_weights(layout.n_ranks, layout.n_grades, layout.empty)
    free = replace(likelihood, family=anywhere)
    with suppress(SolverError):
        best = maximum_from(free, free.start).parameters
        W, others = anywhere.weights(best[: free.n_weights]), best[free.n_weights :]
        return [np.append(one, others) for one in family.near(W)]
    return []


def maximum_from(
    likelihood: Likelihood, start: Floats, held: Booleans | Literal[False] = False
) -> Maximum:
    """Return the maximum of a posterior that a search from a point finds, some parameters held."""
    low, high = (np.where(held, start, bound) for bound in likelihood.bounds)
    return maximise(likelihood.expand, start, (low, high), likelihood.balanced)


def maximise(
    expand: Callable[[Floats], Expanded],
    start: Floats,
    bounds: tuple[Floats, Floats],
    balanced: Callable[[Floats], Floats] = np.copy,
) -> Maximum:
    """Maximise a function of P parameters; `balanced` ones are at least as high, without a step."""
    low, high = bounds
    x = np.clip(start, low, high)
    at, rise = expand(x), 0.0
    hessian = at.hessian
    for steps in range(MAX_STEPS):
        free = ~(((x <= low) & (at.gradient <= 0)) | ((x >= high) & (at.gradient >= 0)))
        step = _ascent(at.gradient, hessian, free)
        if at.gradient @ step > _KEPT * rise:
            hessian = at.hessian
            step = _ascent(at.gradient, hessian, free)
        rise = float(at.gradient @ step)
        if rise <= _CLOSE:
            return Maximum(x, at, free, steps)
        reach = max(_REACH, _REACH_SHARE * float(np.abs(x).max()))
        step *= min(1.0, reach / float(np.abs(step).max()))
        if at.gradient @ (np.clip(x + step, low, high) - x) <= 0:
            step *= _share_within(x, step, bounds)
        moved = _search(expand, x, at, step, bounds, balanced)
        if moved is None:
            break
        x, at = moved
    raise SolverError(
        f"the likelihood has no maximum that was reached in {MAX_STEPS} steps "
        f"(expected rise {rise:.2g})"
    )


def _ascent(gradient: Floats, hessian: Floats, free: Booleans) -> Floats:
    """Return the step, shape (P,), of the parameters that are free."""
    values, vectors = np.linalg.eigh(-hessian[np.ix_(free, free)])
    size = np.abs(values)
    size = np.maximum(size, _SMALLEST_CURVATURE * size.max(initial=1e-300))
    step = np.zeros(len(free))
    step[free] = vectors @ ((vectors.T @ gradient[free]) / size)
    return step


def _share_within(x: Floats, step: Floats, bounds: tuple[Floats, Floats]) -> float:
    """Return the share of a step at which the first parameter comes to its bound.

    A step that is cut there need not lead upwards.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # steps of 0 come to no bound
        shares = np.where(step < 0, (bounds[0] - x) / step, (bounds[1] - x) / step)
    return float(np.min(shares[shares > 0], initial=1.0))


def _cut(x: Floats, bounds: tuple[Floats, Floats]) -> Floats:
    """Return a point cut at the bounds; what is at one but for rounding is put on it."""
    low, high = bounds
    return np.where(x - low < _ROUNDING, low, np.where(high - x < _ROUNDING, high, x))


def _search(
    expand: Callable[[Floats], Expanded],
    x: Floats,
    at: Expanded,
    step: Floats,
    bounds: tuple[Floats, Floats],
    balanced: Callable[[Floats], Floats],
) -> tuple[Floats, Expanded] | None:
    """Return a point along the step, cut at the bounds, that is higher by enough."""
    rounding = 1e-13 * max(1.0, abs(at.value))
    for halving in range(_HALVINGS):
        moved = _cut(x + step * 0.5**halving, bounds)
        rise = _RISE * float(at.gradient @ (moved - x))
        moved = balanced(moved)
        found = expand(moved)
        if rise > 0 and np.isfinite(found.value) and found.value >= at.value + rise - rounding:
            return moved, found
    return None
