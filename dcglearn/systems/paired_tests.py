"""Tests and confidence intervals of mean differences over queries.

Two systems are compared query by query. The interval of the mean difference is that of the
percentile bootstrap over queries (Efron & Tibshirani, An Introduction to the Bootstrap, 1993,
chapter 13), or Student's: of 10 queries the bootstrap's covers 88 to 90% in place of 95%. If
neither system is better, each difference is as likely to have the other sign (Fisher's
randomisation test; Smucker, Allan & Carterette, CIKM 2007).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Literal

import numpy as np

from dcglearn.base.types import Floats, Integers

PairedTest = Literal["randomisation", "t"]

RESAMPLES = 9999
"""Random draws of tests and bootstrap intervals."""


_SIGNED_AT_ONCE = 4_000_000
_COUNTED_AT_ONCE = 250_000
_MEANS = 10_000_000
"""Resampled means that are in memory at once."""
_ZERO = 1e-12
"""A sum below this share of the sum of its absolute terms is 0: rounding leaves as much."""


def mean_of_counted(values: Floats) -> Floats:
    """Return the mean over the last axis of the numbers that are not nan; nan without any."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
        return np.asarray(np.nanmean(values, axis=-1))


def paired_p_values(
    differences: Floats,
    rng: np.random.Generator,
    test: PairedTest = "randomisation",
    resamples: int = RESAMPLES,
) -> Floats:
    """Return the two-sided p-value of each mean difference.

    Differences have shape (m, n), of m comparisons on n queries; nan leaves a query out. The
    randomisation test takes all 2^n signs, or draws `resamples` if there are more. A comparison in
    which all differences are 0 has p = 1.

    >>> paired_p_values(np.array([[0.1, 0.2, 0.3, 0.1, 0.2]]), np.random.default_rng(0))
    array([0.0625])
    """
    if test == "t":
        return _t_tests(differences)
    counted = np.nan_to_num(differences)
    size = np.abs(counted).sum(axis=1)
    shares = counted / np.where(size > 0, size, 1.0)[:, None]
    n = counted.shape[1]
    # Sums that are equal but for rounding become equal multiples of _ZERO.
    least = (np.round(np.abs(shares.sum(axis=1)) / _ZERO) - 0.5) * _ZERO
    exact = takes_all_signs(n, resamples)
    reached = np.zeros(len(shares))
    for part in parts(2**n if exact else resamples, max(1, _SIGNED_AT_ONCE // max(shares.shape))):
        numbers = np.arange(part.start, part.stop)
        if exact:
            negative = numbers[:, None] >> np.arange(n) & 1
        else:
            negative = rng.integers(0, 2, (len(numbers), n))
        reached += (np.abs((1.0 - 2.0 * negative) @ shares.T) >= least).sum(axis=0)
    return reached / 2.0**n if exact else (reached + 1) / (resamples + 1)


def takes_all_signs(n_queries: int, resamples: int = RESAMPLES) -> bool:
    """Return whether the randomisation test takes all signs of the differences, and draws none.

    >>> takes_all_signs(13), takes_all_signs(14)
    (True, False)
    """
    return n_queries < 63 and 2**n_queries <= resamples


def _t_tests(differences: Floats) -> Floats:
    """Return the two-sided p-values of Student's paired t test, shape (m,)."""
    from scipy.special import stdtr

    means, errors, freedom = _student(differences)
    rounding = _ZERO * np.nanmean(np.abs(differences), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # equal differences: t is inf
        p = 2 * stdtr(freedom, -np.abs(means) / errors)
    return np.where(np.abs(means) <= rounding, 1.0, p)


def _student(differences: Floats) -> tuple[Floats, Floats, Integers]:
    """Return means (m,), their standard errors, and the degrees of freedom."""
    n = np.isfinite(differences).sum(axis=1)
    errors = np.nanstd(differences, axis=1, ddof=1) / np.sqrt(n)
    return np.nanmean(differences, axis=1), errors, n - 1


def paired_intervals(
    differences: Floats,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Floats:
    """Return a bootstrap interval of each mean difference; queries are resampled.

    Differences have shape (m, n), nan leaves a query out; the ends have shape (m, 2).
    """
    patterns, pattern = np.unique(~np.isnan(differences), axis=0, return_inverse=True)
    intervals = np.empty((len(differences), 2))
    for number, kept in enumerate(patterns):
        rows, n = np.flatnonzero(pattern.ravel() == number), int(kept.sum())
        for part in parts(len(rows), max(1, _MEANS // resamples)):
            values = differences[rows[part]][:, kept]
            sums = np.empty((len(values), resamples))
            for drawn in parts(resamples, max(1, _COUNTED_AT_ONCE // n)):
                counts = rng.multinomial(n, np.full(n, 1 / n), drawn.stop - drawn.start)
                sums[:, drawn] = values @ counts.T
            levels = (1 - level) / 2, (1 + level) / 2
            ends = np.quantile(sums, levels, axis=1, overwrite_input=True)
            intervals[rows[part]] = ends.T / n
    return intervals


def t_intervals(differences: Floats) -> Floats:
    """Return Student's 95% interval of each mean difference.

    Differences have shape (m, n), nan leaves a query out; the ends have shape (m, 2).

    >>> t_intervals(np.array([[1.0, 2.0, 3.0, np.nan]])).round(3)
    array([[-0.484,  4.484]])
    """
    from scipy.special import stdtrit

    means, errors, freedom = _student(differences)
    half = stdtrit(freedom, 0.975) * errors
    return np.stack([means - half, means + half], axis=1)


def parts(total: int, size: int) -> Iterator[slice]:
    """Divide a range into parts, so that work on each fits in memory.

    >>> list(parts(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
