"""Means of judgments that come in clusters, with intervals and tests, and several tests at once.

Judgments of one query are not independent, so what counts is how much the mean changes when whole
queries are left out. With m the weighted mean, w_g the weight of query g, s_g its weighted sum, W
the total weight and G queries, the jackknife

    V = (G - 1) / G  sum_g e_g^2,      e_g = (s_g - m w_g) / (W - w_g)

is the variance CR3 of a mean (MacKinnon, Nielsen & Webb, J. Appl. Econometrics 38, 2023). Two
judgments of the smallest weight v, one each way, are added, 2 (v / W)^2, so that the interval has
a width when no judgment differs (Bonett & Price, J. Educ. Behav. Stat. 37, 2012). The interval is
that of Student's t. Its degrees of freedom are one less than the smaller of

    2 (sum e_g^2)^2 / sum e_g^4      and      W^2 / sum w_g^2

The first is Satterthwaite's 2 V^2 / var(V): few queries may decide a small difference. The second
is the number of queries of equal size that are worth as much: one query may hold many judgments.

Several comparisons are corrected by Holm's step-down method (Scand. J. Statist. 6, 1979).
"""

from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import ArrayLike

from dcglearn.base.types import Floats


@dataclass(frozen=True)
class ClusteredMean:
    """A weighted mean of values in clusters, and how sure it is.

    `error` is its standard error with `df` degrees of freedom, nan if fewer than two clusters
    have weight; `effective` clusters of equal weight are worth as much. `between_repeats` is the
    part of the error that comes from repeats, such as the folds of a cross-validation.
    """

    value: float
    error: float
    df: float
    effective: float
    between_repeats: float

    def interval(self, low: float = -np.inf, high: float = np.inf) -> tuple[float, float]:
        """Return a 95% confidence interval of the mean.

        Both ends are within the range from `low` to `high`, or nan without an error.
        """
        half = float(scipy.special.stdtrit(self.df, 0.975)) * self.error
        return float(max(self.value - half, low)), float(min(self.value + half, high))

    def p_value(self, null: float = 0.0) -> float:
        """Return the two-sided p-value of a hypothetical mean."""
        return float(2 * scipy.special.stdtr(self.df, -abs(self.value - null) / self.error))


def clustered_mean(
    values: Floats, groups: ArrayLike, weights: Floats | None = None
) -> ClusteredMean:
    """Return a weighted mean of values (n,) or (repeats, n), whose error keeps clusters together.

    >>> found = clustered_mean(np.array([1.0, 1.0, 0.0, 1.0]), [0, 0, 1, 2])
    >>> found.value, round(found.error, 3), round(found.df, 2)
    (0.75, 0.461, 1.67)
    >>> [round(end, 2) for end in found.interval(0, 1)], round(found.p_value(0.5), 2)
    ([0.0, 1.0], 0.65)
    """
    repeats = np.atleast_2d(values)
    given = np.ones(repeats.shape[1]) if weights is None else weights
    counted = given > 0
    repeats, given = repeats[:, counted], given[counted] / given.max()
    _, cluster = np.unique(np.asarray(groups)[counted], return_inverse=True)
    sizes = np.bincount(cluster, given)
    values, total, R = repeats.mean(axis=0), float(given.sum()), len(repeats)
    value = float(values @ given / total)
    between = float((repeats @ given / total).var(ddof=1) / R) if R > 1 else 0.0
    effective = float(total**2 / (sizes @ sizes))
    G = len(sizes)
    if G < 2 or (total - sizes <= 1e-12 * total).any():  # the other clusters have no share
        return ClusteredMean(value, np.nan, np.nan, effective, between**0.5)
    left_out = np.bincount(cluster, given * (values - value)) / (total - sizes)
    squares = left_out**2
    variance = (G - 1) / G * squares.sum() + 2 * (given.min() / total) ** 2 + between
    fourth = squares @ squares
    satterthwaite = 2 * squares.sum() ** 2 / fourth if fourth > 0 else np.inf
    df = min(satterthwaite, effective) - 1
    return ClusteredMean(value, float(np.sqrt(variance)), float(df), effective, between**0.5)


def holm(p: Floats) -> Floats:
    """Correct the p-values of several comparisons.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, steps)
    return corrected
