"""Intervals of numbers of a model: ratios of two estimates, and parameters.

Gains and discounts are ratios, and skewed. The set of all r for which N - r D does not differ
from 0,

    (N - r D)^2 <= t^2 Var(N - r D),

needs no approximation of the ratio itself (Fieller, J. Roy. Statist. Soc. B 16, 1954). It is an
interval where D differs from 0. Where D may be 0 for all that its variance says, the likelihood
itself is asked: the interval holds all r for which the posterior, maximised over all else, has
fallen by no more than half the quantile of F, inflated as clusters inflate the variance of the
ratio. It is unbounded if D = 0 is among them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.special import fdtri, stdtrit

from dcglearn.base.errors import SolverError
from dcglearn.base.types import Floats
from dcglearn.inference.covariance import Covariance
from dcglearn.inference.likelihood import Expanded, lapse_prior
from dcglearn.inference.maximise import maximise, maximum_from
from dcglearn.learning.record import Estimated

MIN_SHARE = 0.9
"""An estimate is determined if the data give at least this share of its information."""


def profile_interval(
    spread: Covariance, top: Floats, bottom: Floats, fall: float
) -> tuple[float, float]:
    """Return where the posterior, maximised over all else, falls by no more than so much.

    It is a function of the ratio of two numbers that are linear in the parameters, (P,).
    """
    from scipy.optimize import brentq  # loads slowly

    maximum = spread.maximum

    def excess(angle: float) -> float:
        constraint = math.cos(angle) * top - math.sin(angle) * bottom
        return maximum.value - _highest(spread, constraint) - fall

    x = maximum.parameters
    at, edge = math.atan2(top @ x, bottom @ x), math.pi / 2
    at -= math.pi * round(at / math.pi)
    try:
        low, high = (brentq(excess, at, end, xtol=1e-5) for end in (-edge, edge))
    except (SolverError, ValueError):  # or it does not fall by so much
        return -math.inf, math.inf
    return math.tan(low), math.tan(high)


def _highest(spread: Covariance, constraint: Floats) -> float:
    """Return the maximum of the posterior among parameters at a right angle to a vector."""
    at, likelihood = np.abs(constraint).argmax(), spread.likelihood
    others = np.arange(len(constraint)) != at
    T = np.eye(len(constraint))[:, others]
    T[at] = -constraint[others] / constraint[at]

    def expand(y: Floats) -> Expanded:
        found = likelihood.expand(y @ T.T)
        return Expanded(found.value, found.gradient @ T, T.T @ found.hessian @ T)

    bounds = np.stack(likelihood.bounds)[:, others]
    return maximise(expand, spread.maximum.parameters[others], bounds).value


def ratio_interval(
    numerator: float, denominator: float, covariance: Floats, quantile: float
) -> tuple[float, float]:
    """Return the interval of Fieller, unbounded where the denominator may be 0."""
    t2, ((of_numerator, of_both), (_, of_denominator)) = quantile**2, covariance.tolist()
    a = denominator**2 - t2 * of_denominator
    b = numerator * denominator - t2 * of_both
    c = numerator**2 - t2 * of_numerator
    root = b * b - a * c
    if a <= 0 or root < 0:
        return -math.inf, math.inf
    half = math.sqrt(root)
    return (b - half) / a, (b + half) / a


def estimated_ratios(
    names: Sequence[str],
    values: Floats,
    slopes: Floats,
    spread: Covariance,
    linear: Floats | None,
) -> tuple[Estimated, ...]:
    """Return ratios of estimates to the first of them, with their 95% intervals.

    `linear`, (m, P), are numbers in proportion to the estimates and linear in the parameters.
    """
    if not values[0]:  # nothing bears on it: the prior alone decides
        undetermined = (math.nan, -math.inf, math.inf)
        return tuple(Estimated(name, *undetermined, determined=False) for name in names)
    contrasts = ratio_slopes(values, slopes)
    given = np.abs(contrasts).max(axis=1) <= 1e-12 * np.abs(slopes[0] / values[0]).max()
    dfs, found = spread.degrees_of_freedom(contrasts), []
    known = zip(names, dfs.tolist(), contrasts, given.tolist(), strict=True)
    for i, (name, df, contrast, fixed) in enumerate(known):
        low = high = ratio = float(values[i] / values[0]) + 0.0  # a gain of 0 is not -0
        flat = contrast @ spread.robust @ contrast
        determined = fixed or spread.share_of_data(contrast) >= MIN_SHARE
        if fixed:
            df = math.inf
        elif spread.one_cluster or not flat:  # flat: held by the bound of a family
            low, high, df = -math.inf, math.inf, math.inf
        else:
            variance, both = spread.variance(contrast), slopes[[i, 0]]
            V = both @ spread.robust @ both.T * (variance / flat)
            quantile = float(stdtrit(df, 0.975))
            low, high = ratio_interval(float(values[i]), float(values[0]), V, quantile)
            if determined and linear is not None and not math.isfinite(high - low):
                fall = spread.inflation(contrast) * quantile**2 / 2
                low, high = profile_interval(spread, linear[i], linear[0], fall)
        determined = determined and math.isfinite(high - low)
        found.append(Estimated(name, ratio, low, high, df, fixed, determined))
    return tuple(found)


def estimated_parameter(spread: Covariance, name: str) -> Estimated:
    """Return a parameter after those of W, which is the ratio to a number that is 1.

    A share of lapses of 0 has no error: its upper bound is where the likelihood, maximised over all
    else, has fallen by half the quantile of F, inflated as clusters inflate the variance.
    """
    contrast, spread = spread.of_parameter(name)
    estimate, lapses = float(spread.maximum.parameters @ contrast), name == "lapses"
    if lapses and not estimate and not spread.one_cluster:
        return Estimated(name, 0.0, 0.0, _largest_lapses(spread, contrast))
    of_1 = np.array([1.0, estimate]), np.stack([0 * contrast, contrast])
    found = estimated_ratios(["1", name], *of_1, spread, None)[1]
    return replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0)) if lapses else found


def _largest_lapses(spread: Covariance, contrast: Floats) -> float:
    """Return the largest share of lapses that the likelihood does not exclude."""
    from scipy.optimize import brentq  # loads slowly

    maximum, held = spread.maximum, contrast > 0
    quantile = float(fdtri(1, max(1.0, spread.effective - 1), 0.95))
    lowest = maximum.value - max(1.0, spread.inflation(contrast)) * quantile / 2

    @cache  # the ends are asked for twice
    def excess(share: float) -> float:
        at_share = np.where(held, share, maximum.parameters)
        found = maximum_from(spread.likelihood, at_share, held) if share else maximum
        return found.value - float(lapse_prior(share)) - lowest

    largest = float(spread.likelihood.bounds[1][held][0])
    if excess(largest) > 0:
        return largest
    return brentq(excess, 0.0, largest, xtol=1e-4)


def ratio_slopes(values: Floats, slopes: Floats) -> Floats:
    """Return the derivatives of ratios to the first value, (m, P); 0 where that is 0."""
    if not values[0]:
        return np.zeros_like(slopes)
    return np.asarray((slopes - np.outer(values / values[0], slopes[0])) / values[0])


def monotone_discounts(discounts: Floats, free: tuple[Estimated, ...]) -> tuple[Estimated, ...]:
    """Return discounts (K,) with the bounds of free ones, made non-increasing."""
    lows = np.maximum.accumulate([one.low for one in reversed(free)])[::-1]
    highs = np.minimum.accumulate([one.high for one in free])
    bounds = np.minimum(lows, discounts), discounts, np.maximum(highs, discounts)
    return tuple(
        replace(one, low=low, estimate=value, high=high)
        for one, (low, value, high) in zip(free, np.stack(bounds, axis=1).tolist(), strict=True)
    )
