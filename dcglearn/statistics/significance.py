"""Confidence intervals of mean differences over queries, and tests of them.

Two systems are compared query by query. The interval of the mean difference is that of the
percentile bootstrap over queries (Efron & Tibshirani, An Introduction to the Bootstrap, 1993,
chapter 13), or Student's: of 10 queries the bootstrap's covers 88 to 90% in place of 95%. If
neither system is better, each difference is as likely to have the other sign (Fisher's
randomisation test; Smucker, Allan & Carterette, CIKM 2007). Several comparisons are corrected by
Holm's step-down method (Scand. J. Statist. 6, 1979).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Literal

import numpy as np

from dcglearn.base.errors import is_one_of, unknown_name
from dcglearn.base.overflow import usual_size
from dcglearn.base.types import Floats

RESAMPLES = 9999

PairedTest = Literal["randomisation", "t"]
PAIRED_TESTS: tuple[PairedTest, ...] = ("randomisation", "t")

_DRAWN_AT_ONCE = 4_000_000
_SIGNS_AT_ONCE = 1_000_000
_COUNTED_AT_ONCE = 250_000
_MEANS = 10_000_000
"""Resampled means that are in memory at once."""
_ZERO = 1e-12
"""A sum below this share of the sum of its absolute terms is 0: rounding leaves as much."""


def mean_of_counted(values: Floats) -> Floats:
    """Return the mean over the last axis of the numbers that are not nan, without overflow.

    >>> mean_of_counted(np.array([[1e308, 1e308], [1.0, np.nan]]))
    array([1.e+308, 1.e+000])
    """
    counted = ~np.isnan(values)
    kept = np.where(counted, values, 0.0)
    exponents = np.apply_along_axis(lambda row: usual_size(row)[1], -1, kept)
    if exponents.any():
        kept = np.ldexp(kept, -exponents[..., None])
    means = np.full(values.shape[:-1], np.nan)
    np.divide(kept.sum(axis=-1), counted.sum(axis=-1), out=means, where=counted.any(axis=-1))
    return np.ldexp(means, exponents) if exponents.any() else means


def paired_p_values(
    differences: Floats,
    rng: np.random.Generator,
    test: PairedTest = "randomisation",
    resamples: int = RESAMPLES,
) -> Floats:
    """Return the two-sided p-value of each mean difference.

    Differences have shape (m, n), of m comparisons on n queries; nan leaves a query out. The
    randomisation test takes all 2^n signs if there are at most `resamples` of them, and else draws
    `resamples` signs. A comparison in which all differences are 0 has p = 1.

    >>> paired_p_values(np.array([[0.1, 0.2, 0.3, 0.1, 0.2]]), np.random.default_rng(0))
    array([0.0625])
    """
    if not is_one_of(test, PAIRED_TESTS):
        raise unknown_name("test", test, PAIRED_TESTS)
    if test == "t":
        return np.array([_t_test(row[~np.isnan(row)]) for row in differences])
    counted = np.nan_to_num(differences)
    size = np.abs(counted).sum(axis=1)
    shares = counted / np.where(size > 0, size, 1.0)[:, None]
    n = counted.shape[1]
    # Sums that are equal but for rounding become equal multiples of _ZERO.
    least = (np.round(np.abs(shares.sum(axis=1)) / _ZERO) - 0.5) * _ZERO
    reached = np.zeros(len(shares))
    for signs in _signs(n, resamples, rng):
        for part in parts(len(shares), max(1, _DRAWN_AT_ONCE // len(signs))):
            reached[part] += (np.abs(signs @ shares[part].T) >= least[part]).sum(axis=0)
    return reached / 2.0**n if takes_all_signs(n, resamples) else (reached + 1) / (resamples + 1)


def _signs(n: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield all signs of n differences, or drawn ones; the same for all comparisons."""
    batch = min(resamples, max(1, _SIGNS_AT_ONCE // n))
    if takes_all_signs(n, resamples):
        for part in parts(2**n, batch):
            bits = np.arange(part.start, part.stop)[:, None] >> np.arange(n) & 1
            yield np.asarray(1.0 - 2.0 * bits)
        return
    for part in parts(resamples, batch):
        yield np.asarray(1.0 - 2.0 * rng.integers(0, 2, (part.stop - part.start, n)))


def takes_all_signs(n_queries: int, resamples: int = RESAMPLES) -> bool:
    """Return whether the randomisation test takes all signs of the differences, and draws none.

    >>> takes_all_signs(13), takes_all_signs(14)
    (True, False)
    """
    return n_queries < 63 and 2**n_queries <= resamples


def _t_test(row: Floats) -> float:
    from scipy.stats import ttest_1samp

    if abs(row.sum()) <= _ZERO * np.abs(row).sum():
        return 1.0
    with warnings.catch_warnings(), np.errstate(divide="ignore"):  # equal differences: t is inf
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)  # p is near 0 anyway
        return float(ttest_1samp(row, 0.0).pvalue)


def paired_intervals(
    differences: Floats,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Floats:
    """Return a bootstrap interval of each mean difference; queries are resampled.

    Differences have shape (m, n), nan leaves a query out; the ends have shape (m, 2).
    """
    counted = ~np.isnan(differences)
    patterns, pattern = np.unique(counted, axis=0, return_inverse=True)
    intervals = np.full((len(differences), 2), np.nan)
    for number, kept in enumerate(patterns):
        rows = np.flatnonzero(pattern.ravel() == number)
        for part in parts(len(rows) if kept.sum() >= 2 else 0, max(1, _MEANS // resamples)):
            values = differences[rows[part]][:, kept]
            intervals[rows[part]] = _mean_intervals(values, rng, resamples, level)
    return intervals


def t_intervals(differences: Floats, level: float = 0.95) -> Floats:
    """Return Student's t interval of each mean difference.

    Differences have shape (m, n), nan leaves a query out; the ends have shape (m, 2).

    >>> t_intervals(np.array([[1.0, 2.0, 3.0, np.nan]])).round(3)
    array([[-0.484,  4.484]])
    """
    from scipy.special import stdtrit

    n = np.isfinite(differences).sum(axis=1)
    spread = np.nanstd(differences, axis=1, ddof=1) / np.sqrt(n)
    half = stdtrit(n - 1, (1 + level) / 2) * spread
    means = np.nanmean(differences, axis=1)
    return np.stack([means - half, means + half], axis=1)


def _mean_intervals(
    values: Floats, rng: np.random.Generator, resamples: int, level: float
) -> Floats:
    """Return a bootstrap interval of the mean of each row; all rows are resampled together."""
    n = values.shape[1]
    sums = np.empty((len(values), resamples))
    for part in parts(resamples, max(1, _COUNTED_AT_ONCE // n)):
        counts = rng.multinomial(n, np.full(n, 1 / n), part.stop - part.start)
        sums[:, part] = values @ counts.T
    ends = np.quantile(sums, [(1 - level) / 2, (1 + level) / 2], axis=1, overwrite_input=True)
    return np.asarray(ends.T / n)


def parts(total: int, size: int) -> Iterator[slice]:
    """Divide a range into parts, so that work on each fits in memory.

    >>> list(parts(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))


def holm(p: Floats) -> Floats:
    """Correct the p-values of several comparisons by Holm's step-down method.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, steps)
    return corrected
