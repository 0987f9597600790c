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

_SURE, _MORE_LAPSES, _FAR_BELOW = 0.8, 0.25, 2.0
"""One of these points is enough where its maximum is alone by such a margin, and so many more
lapses lower the log posterior by so much: lapses have maxima of their own."""

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
    found = _reached(likelihood, [likelihood.start])
    if len(likelihood.evidence) <= _FEW and not (found and _is_alone(likelihood, found[0])):
        found += _reached(likelihood, _near_any_weights(likelihood))
    if not found:
        raise SolverError(f"the likelihood has no maximum that was reached in {MAX_STEPS} steps")
    return max(found, key=lambda one: one.at.value)


def _reached(likelihood: Likelihood, starts: list[Floats]) -> list[Maximum]:
    """Return the maxima that searches from several points find."""
    found = []
    for start in starts:
        with suppress(SolverError):
            found.append(maximum_from(likelihood, start))
    return found


def _is_alone(likelihood: Likelihood, found: Maximum) -> bool:
    """Return whether no other maximum is as high, to second order around one.

    Let S be the gradient in all W at W = c g', and -H the Hessian. Another product (c + d)(g + e)'
    gains |S| |d| |e| at most, as c and g are at their best; its squared distance from c g' is at
    least 2 |c| |g| |d| |e|. So nothing is gained if |S|, the largest singular value, is below the
    smallest eigenvalue of H times |c| |g|. That holds in any scales of ranks and grades.
    """
    family, x, n = likelihood.family, found.parameters, likelihood.n_weights
    if likelihood.has_levels or not family.has_any_factors or not _knows_lapses(likelihood, found):
        return False
    c, g = np.split(x[:n], [family.discounts.n_coefficients])
    shape, every = (c.size, g.size), replace(likelihood, family=family.unfactored)
    at, k = every.expand(np.append(np.outer(c, g), x[n:])), c.size * g.size
    with suppress(np.linalg.LinAlgError):  # where nothing is known in some direction
        H = _profile(-at.hessian, np.append(np.ones(k, bool), found.free[n:]), k)
        by_rank, by_grade = (np.trace(H.reshape(2 * shape), 0, i, i + 2) for i in (1, 0))
        A, B = np.linalg.cholesky(by_rank), np.linalg.cholesky(by_grade)
        a, b = np.linalg.inv(A), np.linalg.inv(B)
        S, T = a @ at.gradient[:k].reshape(shape) @ b.T, np.kron(a, b)
        least = np.linalg.eigvalsh(T @ H @ T.T)[0]
        size = np.linalg.norm(A.T @ c) * np.linalg.norm(B.T @ g)
        return bool(np.linalg.norm(S, 2) < _SURE * least * size)
    return False


def _knows_lapses(likelihood: Likelihood, found: Maximum) -> bool:
    """Return whether many more lapses, with what else is best then, are far less likely."""
    if not likelihood.lapses:
        return True
    at, free = likelihood.index("lapses"), found.free.copy()
    free[at] = True
    order = np.append(at, np.delete(np.arange(len(free)), at))
    H = _profile(-found.at.hessian[np.ix_(order, order)], free[order], 1)[0, 0]
    slope = float(found.at.gradient[at])
    return bool(H * _MORE_LAPSES**2 / 2 - slope * _MORE_LAPSES > _FAR_BELOW)


def _profile(H: Floats, free: Booleans, k: int) -> Floats:
    """Return minus the Hessian in the first k parameters where free others are at their best."""
    others = np.flatnonzero(free)[k:]
    mixed = H[:k, others]
    return np.asarray(H[:k, :k] - mixed @ np.linalg.solve(H[np.ix_(others, others)], mixed.T))


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
