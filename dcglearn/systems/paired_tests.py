"""Tests and confidence intervals of mean differences over queries.

Two systems are compared query by query. The interval of the mean difference is that of the
percentile bootstrap over queries (Efron & Tibshirani, An Introduction to the Bootstrap, 1993,
chapter 13), or Student's: of 10 queries the bootstrap's covers 88 to 90% in place of 95%. If
neither system is better, each difference is as likely to have the other sign (Fisher's
randomisation test; Smucker, Allan & Carterette, CIKM 2007).

With n queries whose differences have the standard deviation s, the statistic of a difference d has
a noncentral t distribution with n - 1 degrees of freedom and noncentrality sqrt(n) d / s, which
says how many queries would find it (Sakai, Information Retrieval Journal 19, 2016).

All pairs of systems at once are compared by Tukey's HSD test with randomisation. If no system
differs from another, each order of the systems' values within a query is as likely as any other. A
pair differs significantly if few such orders give any pair as large a difference of means. Hence
the chance that any of the pairs is called significant by mistake is at most the level (Carterette,
ACM TOIS 30, 2012, section 4; Sakai, Laboratory Experiments in Information Retrieval, 2018, section
4.4). The difference of two systems is over the queries that both have, and only systems that have
all measures at a query are exchanged there.
"""

import math
import warnings
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice, permutations, product
from typing import Literal

import numpy as np

from dcglearn.base.checks import checked_number
from dcglearn.base.errors import InputError
from dcglearn.base.types import Booleans, Floats, Integers

PairedTest = Literal["randomisation", "t"]

RESAMPLES = 9999
"""Random draws of tests and bootstrap intervals."""

POWER, LEVEL = 0.8, 0.05
_MOST_QUERIES = 10**9

_SIGNED_AT_ONCE = 4_000_000
_COUNTED_AT_ONCE = 250_000
_ORDERED_AT_ONCE = 2_000_000
_MEANS = 10_000_000
"""Resampled means that are in memory at once."""
_ZERO = 1e-12
"""What rounding leaves: of a sum whose absolute terms sum to 1, or in standard deviations."""


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
        from scipy.special import stdtr

        means, errors, freedom = _student(differences)
        rounding = _ZERO * np.nanmean(np.abs(differences), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):  # equal differences: t is inf
            p = 2 * stdtr(freedom, -np.abs(means) / errors)
        return np.where(np.abs(means) <= rounding, 1.0, p)
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
    return 1 << n_queries <= resamples  # 2^n


def _student(differences: Floats) -> tuple[Floats, Floats, Integers]:
    """Return means (m,), their standard errors, and the degrees of freedom."""
    n = np.isfinite(differences).sum(axis=1)
    errors = np.nanstd(differences, axis=1, ddof=1) / np.sqrt(n)
    return np.nanmean(differences, axis=1), errors, n - 1


def paired_intervals(
    differences: Floats, rng: np.random.Generator, resamples: int = RESAMPLES, level: float = 0.95
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


def paired_power(
    n_queries: int, difference: float, deviation: float, level: float = LEVEL
) -> float:
    """Return how likely a two-sided paired t test finds a difference."""
    from scipy.stats import nct, t

    critical = t.isf(level / 2, n_queries - 1)
    shift = np.sqrt(n_queries) * difference / deviation
    found = nct.sf(critical, n_queries - 1, shift) + nct.cdf(-critical, n_queries - 1, shift)
    return float(found)


def queries_needed(
    difference: float, deviation: float, power: float = POWER, level: float = LEVEL
) -> int:
    """Return the least number of queries with which a paired test has a given power.

    Parameters
    ----------
    difference : float
        The difference of two means that is to be found, above 0.
    deviation : float
        The standard deviation of the differences over queries, such as that of pilot runs.
    power : float, default 0.8
        How likely the difference is to be found, if it is there.
    level : float, default 0.05
        The level of the two-sided test.

    Returns
    -------
    int

    Examples
    --------
    >>> queries_needed(0.02, 0.1), queries_needed(0.02, 0.2)
    (199, 787)
    """
    from scipy.stats import norm

    checked_number(difference, "`difference`", 0.0, above=True)
    checked_number(deviation, "`deviation`", 0.0)
    checked_number(power, "`power`", 0, 1)
    checked_number(level, "`level`", 0, 1)
    if not deviation:
        return 2
    half = float(norm.isf(level / 2) + norm.isf(1 - power))  # of a test with a known deviation
    most = 100 + 2 * (half * deviation / difference) ** 2
    if most > _MOST_QUERIES:
        raise InputError(f"a difference of {difference:g}", "it needs too many queries")
    counts = range(2, int(most))
    found = bisect_left(counts, power, key=lambda n: paired_power(n, difference, deviation, level))
    return counts[found]


def paired_deviations(values: Floats) -> tuple[float, float]:
    """Return how much the differences of any two systems vary, of values (systems, queries).

    It is the root mean square of the pairs' standard deviations, and the largest of them.
    """
    first, second = np.triu_indices(len(values), 1)
    differences = values[first] - values[second]
    if np.isfinite(differences).sum(axis=1).min() < 2:
        raise InputError("two runs share fewer than two queries", "leave out `topics`")
    variances = np.nanvar(differences, axis=1, ddof=1)
    return float(np.sqrt(variances.mean())), float(np.sqrt(variances.max()))


def tukey_test(
    values: Floats,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    across_measures: bool = False,
) -> tuple[Floats, int]:
    """Compare all pairs of systems; values (measures, systems, queries) are nan where left out.

    Return p-values (measures, pairs), as ``triu_indices`` orders pairs, and how many orders were
    drawn. All are taken if there are at most `resamples`, which counts as 0; else p is at least
    1 / (drawn + 1). Across measures, p is corrected for the pairs of all measures, in standard
    deviations within queries.
    """
    values = values[:, :, ~np.isnan(values).all(axis=(0, 1))].swapaxes(1, 2)
    counted = ~np.isnan(values)
    complete = np.asarray(counted.all(axis=0))
    every = math.prod(math.factorial(int(n)) for n in complete.sum(axis=1))
    exact = every <= resamples
    orders = _all_orders(complete) if exact else _drawn(complete, resamples, rng)
    measures = [*zip(map(_standardised, values), counted.astype(float), strict=True)]
    first, second = np.triu_indices(complete.shape[1], 1)
    observed = np.array([_differences(*measure)[first, second] for measure in measures])
    reached = np.zeros(observed.shape)
    for order in orders:
        largest = np.array([_largest(*measure, order) for measure in measures])
        if across_measures:
            largest[:] = largest.max(axis=0)
        for m, ascending in enumerate(np.sort(largest, axis=1)):
            below = np.searchsorted(ascending, np.abs(observed[m]) - _ZERO)
            reached[m] += len(ascending) - below
    if exact:
        return reached / every, 0
    return (reached + 1) / (resamples + 1), resamples


def _standardised(values: Floats) -> Floats:
    """Return (queries, systems) in standard deviations from the query's mean, 0 if left out."""
    counted, filled = ~np.isnan(values), np.nan_to_num(values)
    number = np.maximum(counted.sum(axis=1, keepdims=True), 1)
    centred = np.where(counted, filled - filled.sum(axis=1, keepdims=True) / number, 0.0)
    size = np.sqrt((centred**2).sum() / max(1, counted.sum()))
    rounding = _ZERO * np.abs(filled).max(initial=0.0)
    return centred / size if size > rounding else np.zeros_like(centred)


def _differences(values: Floats, counted: Floats) -> Floats:
    """Return the difference of means of each two systems, of values (..., queries, systems)."""
    sums = values.swapaxes(-1, -2) @ counted
    return (sums - sums.swapaxes(-1, -2)) / (counted.T @ counted)


def _largest(values: Floats, counted: Floats, orders: Integers) -> Floats:
    moved = np.take_along_axis(values[None], orders, axis=2)
    of_any = counted.any(axis=1)
    if (counted.all(axis=1) == of_any).all():
        return np.asarray(np.ptp(moved.sum(axis=1), axis=1) / of_any.sum())
    return np.asarray(np.abs(_differences(moved, counted)).max(axis=(1, 2)))


def _all_orders(complete: Booleans) -> Iterator[Integers]:
    """Yield all orders of the systems, some at once, shape (n, queries, systems)."""
    by_query = []
    for members in map(np.flatnonzero, complete):
        rows = np.tile(np.arange(complete.shape[1]), (math.factorial(len(members)), 1))
        rows[:, members] = list(permutations(members))
        by_query.append(rows)
    every = product(*by_query)
    while orders := list(islice(every, max(1, _ORDERED_AT_ONCE // complete.size))):
        yield np.array(orders)


def _drawn(complete: Booleans, resamples: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Yield drawn orders of the systems, shape (n, queries, systems), that many in all."""
    whole = complete.all(axis=1)
    for part in parts(resamples, max(1, _ORDERED_AT_ONCE // complete.size)):
        size = part.stop - part.start
        orders = np.tile(np.arange(complete.shape[1]), (size, len(complete), 1))
        orders[:, whole] = rng.permuted(orders[:, whole], axis=-1)
        for q in np.flatnonzero(~whole):
            members = np.flatnonzero(complete[q])
            orders[:, q, members] = rng.permuted(np.tile(members, (size, 1)), axis=-1)
        yield orders


def parts(total: int, size: int) -> Iterator[slice]:
    """Divide a range into parts, so that work on each fits in memory.

    >>> list(parts(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
