"""Intervals for means of judgments that come in clusters.

Judgments of one query are alike, so queries are resampled, not judgments: the
percentile bootstrap over clusters (Efron & Tibshirani, An Introduction to the
Bootstrap, 1993, chapters 8 and 13).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

from dcglearn.measures.discounts import Floats

RESAMPLES = 9999


def clustered_intervals(
    values: Floats,
    groups: NDArray[np.integer],
    weights: Floats,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Floats:
    """Return a bootstrap interval of each column's weighted mean.

    All columns are resampled together, so differences of columns, given as columns,
    have paired intervals.

    Parameters
    ----------
    values : ndarray of float, shape (n, m)
    groups : ndarray of int, shape (n,)
        The cluster of each row.
    weights : ndarray of float, shape (n,)
    rng : numpy.random.Generator
    level : float, default 0.95
    resamples : int, default 9999

    Returns
    -------
    ndarray of float, shape (m, 2)
        Low and high; both nan where fewer than two clusters have weight.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = np.array([[1.0], [1.0], [0.0], [0.0]])
    >>> clustered_intervals(values, np.array([0, 0, 1, 1]), np.ones(4), rng)
    array([[0., 1.]])
    """
    counted = weights > 0  # a resample of queries without weight would have no mean
    values, groups, weights = values[counted], groups[counted], weights[counted]
    number, cluster = np.unique(groups, return_inverse=True)
    if len(number) < 2:
        return np.full((values.shape[1], 2), np.nan)
    sums = np.array([np.bincount(cluster, weights * column) for column in values.T])
    sizes = np.broadcast_to(np.bincount(cluster, weights), sums.shape)

    def mean(total: Floats, size: Floats, axis: int = -1) -> Floats:
        return np.asarray(total.sum(axis=axis) / size.sum(axis=axis))

    found = bootstrap(
        (sums, sizes),
        mean,
        paired=True,
        vectorized=True,
        axis=-1,
        n_resamples=resamples,
        batch=max(1, 4_000_000 // sums.size),
        confidence_level=level,
        method="percentile",
        rng=rng,
    ).confidence_interval
    return np.stack([found.low, found.high], axis=1)
