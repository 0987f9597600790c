"""How sure a mean is, and whether a difference of means is more than chance.

Judgments of one query are alike, so queries are resampled, not judgments: the
percentile bootstrap over clusters (Efron & Tibshirani, An Introduction to the
Bootstrap, 1993, chapters 8 and 13). Two systems are compared query by query: if neither is
better, each difference is as likely to have the other sign (Fisher's randomisation test;
Smucker, Allan & Carterette, CIKM 2007). Many comparisons are corrected by Holm's step-down
method (Scand. J. Statist. 6, 1979).
"""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats

RESAMPLES = 9999

Test = Literal["randomisation", "t"]
TESTS: tuple[Test, ...] = ("randomisation", "t")

_AT_ONCE = 4_000_000
"""Numbers drawn at a time."""


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
    from scipy.stats import bootstrap  # it takes long to load

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
        batch=max(1, _AT_ONCE // sums.size),
        confidence_level=level,
        method="percentile",
        rng=rng,
    ).confidence_interval
    return np.stack([found.low, found.high], axis=1)


def paired_p(
    differences: Floats,
    rng: np.random.Generator,
    test: Test = "randomisation",
    resamples: int = RESAMPLES,
) -> Floats:
    """Return how likely mean differences as large, of either sign, are by chance.

    Parameters
    ----------
    differences : ndarray of float, shape (m, n)
        Of m comparisons on n queries; nan leaves a query out.
    rng : numpy.random.Generator
    test : {"randomisation", "t"}, default "randomisation"
        All 2^n signs are taken where they are no more than `resamples`; the t test is
        the paired one.
    resamples : int, default 9999

    Returns
    -------
    ndarray of float, shape (m,)
        1 where all differences are 0.

    Examples
    --------
    >>> paired_p(np.array([[0.1, 0.2, 0.3, 0.1, 0.2]]), np.random.default_rng(0))
    array([0.0625])
    """
    if test == "t":
        # equal differences have no variance: _t_test says what p is then
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.array([_t_test(row[~np.isnan(row)]) for row in differences])
    counted = np.nan_to_num(differences)
    rounding = 1e-12 * np.abs(counted).sum(axis=1)
    observed = np.abs(counted.sum(axis=1)) - rounding  # what is equal but for rounding counts
    n = counted.shape[1]
    exact = 2**n <= resamples if n < 60 else False
    total = 2**n if exact else resamples
    as_large = np.zeros(len(counted))
    step = max(1, _AT_ONCE // n)
    for begin in range(0, total, step):
        size = min(step, total - begin)
        if exact:
            signs = (np.arange(begin, begin + size)[:, None] >> np.arange(n)) & 1
        else:
            signs = rng.integers(0, 2, (size, n), np.int8)
        sums = counted @ (2.0 * signs - 1.0).T
        as_large += (np.abs(sums) >= observed[:, None]).sum(axis=1)
    return as_large / total if exact else (as_large + 1) / (total + 1)


def _t_test(row: Floats) -> float:
    from scipy.stats import ttest_1samp

    if abs(row.sum()) <= 1e-12 * np.abs(row).sum():
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nearly constant differences: p is all but 0, as it says
        return float(ttest_1samp(row, 0.0).pvalue)


def paired_intervals(
    differences: Floats,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Floats:
    """Return bootstrap intervals of mean differences, queries being resampled.

    Parameters
    ----------
    differences : ndarray of float, shape (m, n)
        nan leaves a query out.
    rng : numpy.random.Generator
    resamples : int, default 9999
    level : float, default 0.95

    Returns
    -------
    ndarray of float, shape (m, 2)
    """
    found = np.empty((len(differences), 2))
    for row, one in enumerate(differences):
        kept = one[~np.isnan(one)][:, None]
        weights = np.ones(len(kept))
        found[row] = clustered_intervals(kept, np.arange(len(kept)), weights, rng, level, resamples)
    return found


def holm(p: Floats) -> Floats:
    """Correct p-values of several comparisons by Holm's step-down method.

    Parameters
    ----------
    p : ndarray of float, shape (m,)

    Returns
    -------
    ndarray of float, shape (m,)

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    found = np.empty(len(p))
    found[order] = np.minimum(1.0, steps)
    return found
