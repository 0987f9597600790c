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
from dataclasses import dataclass

import numpy as np

from dcglearn.base.types import Floats


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
