"""How many queries a paired t test needs to find a difference of means.

With n queries whose differences have the standard deviation s, the statistic of a difference d has
a noncentral t distribution with n - 1 degrees of freedom and noncentrality sqrt(n) d / s (Sakai,
Information Retrieval Journal 19, 2016).
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from dcglearn.base.checks import checked_number
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats

POWER, LEVEL = 0.8, 0.05
_MOST = 10**9


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
    if most > _MOST:
        raise InputError(f"a difference of {difference:g}", "it needs too many queries")
    counts = range(2, int(most))
    found = bisect_left(counts, power, key=lambda n: paired_power(n, difference, deviation, level))
    return counts[found]


def paired_deviations(values: Floats) -> tuple[float, float]:
    """Return how much the differences of any two systems vary, of values (systems, queries).

    It is the root mean square of the pairs' standard deviations, and the largest of them.
    """
    first, second = np.triu_indices(len(values), 1)
    variances = np.nanvar(values[first] - values[second], axis=1, ddof=1)
    return float(np.sqrt(variances.mean())), float(np.sqrt(variances.max()))
