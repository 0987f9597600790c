"""Intervals of ratios of two estimates.

Gains and discounts are ratios: of the weight of a grade to that of the best, of a rank to the
first. A ratio of two estimates is skewed, the more so the less certain the denominator. The set of
all r for which N - r D does not differ from 0,

    (N - r D)^2 <= t^2 Var(N - r D),

needs no approximation of the ratio itself (Fieller, J. Roy. Statist. Soc. B 16, 1954). It is
an interval where D differs from 0; otherwise it is unbounded, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from dcglearn.base.types import Floats
from dcglearn.inference.covariance import Covariance

MIN_SHARE = 0.9
"""An estimate is determined if the data give at least this share of its information."""


@dataclass(frozen=True)
class RatioInterval:
    """A ratio with its interval.

    Attributes
    ----------
    estimate, low, high : float
        Bounds are -inf and inf where the denominator may be 0.
    df : float
        Degrees of freedom of the variance.
    """

    estimate: float
    low: float
    high: float
    df: float

    @property
    def bounded(self) -> bool:
        """Whether there is an interval at all."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def ratio_interval(
    numerator: float, denominator: float, covariance: Floats, df: float, quantile: float
) -> RatioInterval:
    """Return the interval of Fieller.

    Parameters
    ----------
    numerator, denominator : float
        Estimates.
    covariance : ndarray of float, shape (2, 2)
        Of the two.
    df : float
        Kept for the reader.
    quantile : float
        Of the distribution of (N - r D) / sd, such as 1.96.

    Returns
    -------
    RatioInterval

    Examples
    --------
    >>> one = ratio_interval(1.0, 2.0, np.diag([0.01, 0.04]), 100.0, 1.96)
    >>> round(one.low, 3), round(one.high, 3)
    (0.377, 0.663)
    """
    estimate = numerator / denominator if denominator else math.nan
    t2, ((of_numerator, of_both), (_, of_denominator)) = quantile**2, covariance.tolist()
    a = denominator**2 - t2 * of_denominator
    b = numerator * denominator - t2 * of_both
    c = numerator**2 - t2 * of_numerator
    root = b * b - a * c
    if a <= 0 or root < 0:
        return RatioInterval(estimate, -math.inf, math.inf, df)
    half = math.sqrt(root)
    return RatioInterval(estimate, (b - half) / a, (b + half) / a, df)


@dataclass(frozen=True)
class Estimated:
    """One number of a model, with its interval.

    Attributes
    ----------
    name : str
        Such as ``gain 1`` or ``discount 3``.
    estimate, low, high : float
        Bounds may be infinite.
    df : float
        Degrees of freedom of the variance; inf for a number that is given.
    given : bool
        Whether the family gives the number.
    determined : bool
        Whether the data, and not the prior, decide.
    """

    name: str
    estimate: float
    low: float
    high: float
    df: float = math.inf
    given: bool = False
    determined: bool = True


def estimated_ratios(
    names: Sequence[str],
    values: Floats,
    slopes: Floats,
    covariance: Covariance,
    prior: Floats,
    level: float,
) -> tuple[Estimated, ...]:
    """Return ratios of estimates to the first of them, with their intervals.

    Parameters
    ----------
    names : sequence of str, length m
    values : ndarray of float, shape (m,)
    slopes : ndarray of float, shape (m, P)
        Their derivatives in the parameters.
    covariance : Covariance
    prior : ndarray of float, shape (P, P)
        Information of the prior.
    level : float

    Returns
    -------
    tuple of Estimated
        Ratios that no parameter changes are given; ratios to 0 are nan, and not determined.
    """
    if not values[0]:  # nothing bears on it: the prior alone decides
        undetermined = (math.nan, -math.inf, math.inf)
        return tuple(Estimated(name, *undetermined, determined=False) for name in names)
    contrasts = ratio_slopes(values, slopes)
    given = np.abs(contrasts).max(axis=1) <= 1e-12 * np.abs(slopes[0] / values[0]).max()
    found = []
    for i, name in enumerate(names):
        ratio = float(values[i] / values[0]) + 0.0  # a gain of 0 is not -0
        if given[i]:
            found.append(Estimated(name, ratio, ratio, ratio, given=True))
            continue
        if covariance.one_cluster:
            found.append(Estimated(name, ratio, -math.inf, math.inf, determined=False))
            continue
        variance = covariance.variance(contrasts[i])
        flat = float(contrasts[i] @ covariance.robust @ contrasts[i])
        if not flat:  # held by the bound of a family
            found.append(Estimated(name, ratio, -math.inf, math.inf, determined=False))
            continue
        both = slopes[[i, 0]]
        spread = both @ covariance.robust @ both.T * (variance / flat)
        df = covariance.degrees_of_freedom(contrasts[i])
        quantile = float(stdtrit(df, (1 + level) / 2))
        one = ratio_interval(float(values[i]), float(values[0]), spread, df, quantile)
        determined = one.bounded and share_of_data(covariance, prior, contrasts[i]) >= MIN_SHARE
        found.append(Estimated(name, ratio, one.low, one.high, df, determined=determined))
    return tuple(found)


def ratio_slopes(values: Floats, slopes: Floats) -> Floats:
    """Return the derivatives of ratios to the first of several estimates, shape (m, P).

    Parameters
    ----------
    values : ndarray of float, shape (m,)
    slopes : ndarray of float, shape (m, P)

    Returns
    -------
    ndarray of float, shape (m, P)
        0 where the first estimate is 0, so that there are no ratios.
    """
    if not values[0]:
        return np.zeros_like(slopes)
    return np.asarray((slopes - np.outer(values / values[0], slopes[0])) / values[0])


def monotone_discounts(discounts: Floats, free: tuple[Estimated, ...]) -> tuple[Estimated, ...]:
    """Return discounts with the bounds of free ones, made non-increasing.

    Parameters
    ----------
    discounts : ndarray of float, shape (K,)
    free : tuple of Estimated, length K
        With intervals.
    """
    lows = np.maximum.accumulate([one.low for one in reversed(free)])[::-1]
    highs = np.minimum.accumulate([one.high for one in free])
    return tuple(
        replace(one, estimate=value, low=min(low, value), high=max(high, value))
        for one, value, low, high in zip(
            free, discounts.tolist(), lows.tolist(), highs.tolist(), strict=True
        )
    )


def share_of_data(covariance: Covariance, prior: Floats, contrast: Floats) -> float:
    """Return the share of the information on contrast'theta that does not come from the prior.

    Parameters
    ----------
    covariance : Covariance
    prior : ndarray of float, shape (P, P)
        Information of the prior.
    contrast : ndarray of float, shape (P,)
    """
    step = covariance.model @ contrast
    total = float(contrast @ step)
    return 1 - float(step @ prior @ step) / total if total > 0 else 1.0


def simultaneous_quantile(
    correlation: Floats, df: float, level: float, rng: np.random.Generator, draws: int = 20_000
) -> float:
    """Return the quantile of the largest |t| of several estimates.

    Parameters
    ----------
    correlation : ndarray of float, shape (m, m)
    df : float
        Of the common variance.
    level : float
    rng : numpy.random.Generator
    draws : int, default 20000

    Returns
    -------
    float
        At least the quantile of one.

    Examples
    --------
    >>> simultaneous_quantile(np.eye(1), 1e9, 0.95, np.random.default_rng(0)) > 1.9
    True
    """
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    normal = np.abs(rng.standard_normal((draws, len(correlation))) @ root.T).max(axis=1)
    chi = np.sqrt(rng.chisquare(df, draws) / df) if df < 1e6 else 1.0
    return float(np.quantile(normal / chi, level))
