"""The maximum of a smooth function within bounds, by Newton's method.

Where the Hessian is not negative definite, the absolute values of its eigenvalues are used
(Gill, Murray & Wright, Practical Optimization, 1981, section 4.4); steps are limited in length,
shortened until the function rises enough (Armijo), and cut at the bounds (Bertsekas, SIAM J.
Control Optim. 20, 1982).
What counts is the result: the gradient of the free parameters is 0, to what it can be told from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import SolverError
from dcglearn.base.types import Floats
from dcglearn.inference.likelihood import Expanded

MAX_STEPS = 200
_CLOSE = 1e-12
"""The expected rise at which the maximum is reached: far below what tests can tell apart."""
_RISE = 1e-4
_SMALLEST_CURVATURE = 1e-10
_HALVINGS = 40
_ROUNDING = 1e-12

_REACH = 1.0
_REACH_SHARE = 0.5
"""A step changes no parameter by more than _REACH, which is 1 in log odds for most of them, or
_REACH_SHARE of the largest: where the Hessian is nearly singular, quadratic models mislead far
from where they were made. Without this limit, simulated judgments take 1.4 times as many
expansions."""


@dataclass(frozen=True, eq=False)
class Maximum:
    """A local maximum.

    Attributes
    ----------
    parameters : ndarray of float, shape (P,)
    at : Expanded
        The function there.
    free : ndarray of bool, shape (P,)
        Parameters that are neither fixed nor held by a bound.
    steps : int
    reached : bool
        False if the search was left before.
    """

    parameters: Floats
    at: Expanded
    free: NDArray[np.bool_]
    steps: int
    reached: bool = True


def maximise(
    expand: Callable[[Floats], Expanded],
    start: Floats,
    bounds: tuple[Floats, Floats],
    leave: Callable[[Floats], bool] | None = None,
) -> Maximum:
    """Maximise a function of P parameters.

    Parameters
    ----------
    expand : callable
        From parameters to value, gradient and Hessian.
    start : ndarray of float, shape (P,)
        Within the bounds.
    bounds : tuple of two ndarrays of float, shape (P,)
        Lower and upper; equal ones fix a parameter.
    leave : callable, optional
        From parameters to whether to end the search there, without a maximum.

    Returns
    -------
    Maximum

    Raises
    ------
    SolverError
        If the maximum is not reached.

    Examples
    --------
    >>> def parabola(x):
    ...     return Expanded(-float(x @ x), -2 * x, -2 * np.eye(2))
    >>> found = maximise(parabola, np.ones(2), (np.array([-1.0, 0.5]), np.array([2.0, 2.0])))
    >>> found.parameters, found.free
    (array([0. , 0.5]), array([ True, False]))
    """
    low, high = bounds
    x = np.clip(start, low, high)
    at = expand(x)
    for steps in range(MAX_STEPS):
        held = ((x <= low) & (at.gradient <= 0)) | ((x >= high) & (at.gradient >= 0))
        free = ~held
        step = np.zeros(len(x))
        step[free] = _ascent(at.gradient[free], at.hessian[np.ix_(free, free)])
        if at.gradient @ step <= _CLOSE:
            return Maximum(x, at, free, steps)
        if leave is not None and leave(x):
            return Maximum(x, at, free, steps, reached=False)
        reach = max(_REACH, _REACH_SHARE * float(np.abs(x).max()))
        step *= min(1.0, reach / float(np.abs(step).max()))
        if at.gradient @ (np.clip(x + step, low, high) - x) > 0:
            moved = _search(expand, x, at, step, bounds)
        else:
            moved = _search(expand, x, at, step * _share_within(x, step, bounds), bounds)
            moved = moved and _at_bounds(expand, *moved, bounds)
        if moved is None:
            break
        x, at = moved
    raise SolverError(
        f"the likelihood has no maximum that was reached in {MAX_STEPS} steps "
        f"(expected rise {float(at.gradient @ step):.2g})"
    )


def _ascent(gradient: Floats, hessian: Floats) -> Floats:
    values, vectors = np.linalg.eigh(-hessian)
    size = np.abs(values)
    size = np.maximum(size, _SMALLEST_CURVATURE * size.max(initial=1e-300))
    return np.asarray(vectors @ ((vectors.T @ gradient) / size))


def _share_within(x: Floats, step: Floats, bounds: tuple[Floats, Floats]) -> float:
    """Return the share of a step at which the first parameter comes to its bound.

    A step that is cut at a bound need not lead upwards: what other parameters do may only be right
    together with what was cut.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # steps of 0 come to no bound
        shares = np.where(step < 0, (bounds[0] - x) / step, (bounds[1] - x) / step)
    return float(np.min(shares[shares > 0], initial=1.0))


def _at_bounds(
    expand: Callable[[Floats], Expanded], x: Floats, at: Expanded, bounds: tuple[Floats, Floats]
) -> tuple[Floats, Expanded]:
    """Return a point with the parameters that are at a bound but for rounding put on it."""
    low, high = bounds
    there = np.where(x - low < _ROUNDING, low, np.where(high - x < _ROUNDING, high, x))
    return (x, at) if (there == x).all() else (there, expand(there))


def _search(
    expand: Callable[[Floats], Expanded],
    x: Floats,
    at: Expanded,
    step: Floats,
    bounds: tuple[Floats, Floats],
) -> tuple[Floats, Expanded] | None:
    """Return a point along the step, cut at the bounds, that is higher by enough."""
    rounding = 1e-13 * max(1.0, abs(at.value))
    for halving in range(_HALVINGS):
        moved = np.clip(x + step * 0.5**halving, *bounds)
        found = expand(moved)
        rise = _RISE * float(at.gradient @ (moved - x))
        if rise > 0 and np.isfinite(found.value) and found.value >= at.value + rise - rounding:
            return moved, found
    return None
