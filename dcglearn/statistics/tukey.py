"""All pairs of systems at once: Tukey's HSD test by randomisation.

If no system differs from another, each order of the systems' values within a query is as likely as
any other. The largest difference of two means, over all pairs, is then compared with its
distribution over such orders; a pair differs significantly if few orders give any pair as large a
difference. Hence the chance that any of the pairs is called significant by mistake is at most the
level (Carterette, Multiple testing in statistical analysis of systems-based information retrieval
experiments, ACM TOIS 30, 2012, section 4; Sakai, Laboratory Experiments in Information Retrieval,
2018, section 4.4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, permutations, product

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.statistics.significance import RESAMPLES

_ORDERED_AT_ONCE = 2_000_000
_ZERO = 1e-12
"""Differences of means closer than this, in standard deviations, are equal but for rounding."""

_Groups = list[list[NDArray[np.integer]]]


@dataclass(frozen=True)
class TukeyTest:
    """P-values of all pairs of systems.

    `p`, shape (measures, pairs), is in the order of ``numpy.triu_indices(systems, 1)``. `drawn`
    orders were drawn, so that p is at least 1 / (drawn + 1); 0 if all were taken.
    """

    p: Floats
    drawn: int


def tukey_test(
    values: Floats,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    across_measures: bool = False,
) -> TukeyTest:
    """Compare all pairs of systems by Tukey's HSD test with randomisation.

    Values have shape (measures, systems, queries), nan where a query is left out of a system; each
    two systems share a query. All orders of the systems within the queries are taken if there are
    at most `resamples`; else that many are drawn, the same for all measures. Across measures, p is
    corrected for the pairs of all of them: the largest difference is then that over pairs and
    measures, in standard deviations within the queries.

    The difference of two systems is that of their means over the queries that both have. Only
    values of systems that have the same measures at a query are exchanged, so that what is left out
    stays left out.

    >>> values = np.array([[[0.1, 0.2, 0.3, 0.2], [0.2, 0.1, 0.2, 0.3], [0.9, 0.8, 0.9, 0.7]]])
    >>> tukey_test(values, np.random.default_rng(0)).p.round(4)  # of 1,296 orders
    array([[1.   , 0.037, 0.037]])
    """
    values = values[:, :, ~np.isnan(values).all(axis=(0, 1))]
    measures = [_Measure.of(one) for one in values]
    groups = _exchangeable(~np.isnan(values))
    every = math.prod(math.factorial(len(group)) for query in groups for group in query)
    exact = every <= resamples
    n_systems = values.shape[1]
    orders = _all_orders(groups, n_systems) if exact else _drawn(groups, n_systems, resamples, rng)
    least = np.array([np.abs(one.differences()) for one in measures]) - _ZERO
    reached = np.zeros(least.shape)
    for order in orders:
        largest = np.array([one.largest(order) for one in measures])
        if across_measures:
            largest[:] = largest.max(axis=0)
        for m, ascending in enumerate(np.sort(largest, axis=1)):
            reached[m] += len(ascending) - np.searchsorted(ascending, least[m])
    if exact:
        return TukeyTest(reached / every, 0)
    return TukeyTest((reached + 1) / (resamples + 1), resamples)


@dataclass(frozen=True)
class _Measure:
    """The values of one measure, in standard deviations from the mean of their query.

    `values` and `counted` have shape (queries, systems); a value that is left out is 0.
    """

    values: Floats
    counted: Floats

    @classmethod
    def of(cls, values: Floats) -> _Measure:
        counted = ~np.isnan(values.T)
        filled = np.nan_to_num(values.T)
        number = np.maximum(counted.sum(axis=1, keepdims=True), 1)
        centred = np.where(counted, filled - filled.sum(axis=1, keepdims=True) / number, 0.0)
        size = np.sqrt((centred**2).sum() / max(1, counted.sum()))
        rounding = _ZERO * np.abs(filled).max(initial=0.0)
        return cls(centred / size if size > rounding else np.zeros_like(centred), counted * 1.0)

    def differences(self) -> Floats:
        """Return the difference of means of each pair, first minus second."""
        first, second = np.triu_indices(self.values.shape[1], 1)
        sums = self.values.T @ self.counted
        return ((sums - sums.T) / (self.counted.T @ self.counted))[first, second]

    def largest(self, orders: NDArray[np.integer]) -> Floats:
        """Return the largest difference of means under each order."""
        n_queries, n_systems = self.values.shape
        cells = orders + n_systems * np.arange(n_queries)[:, None]
        values = self.values.ravel()[cells]
        of_all, of_any = self.counted.all(axis=1), self.counted.any(axis=1)
        sums = values[:, of_all].sum(axis=1)
        if (of_all == of_any).all():
            return np.asarray((sums.max(axis=1) - sums.min(axis=1)) / of_all.sum())
        of_some = of_any & ~of_all
        rows = np.ascontiguousarray(values[:, of_some].swapaxes(1, 2)).reshape(-1, of_some.sum())
        shared = sums[:, :, None] + (rows @ self.counted[of_some]).reshape(*sums.shape, n_systems)
        differences = np.abs(shared - shared.swapaxes(1, 2)) / (self.counted.T @ self.counted)
        return np.asarray(differences.max(axis=(1, 2)))


def _exchangeable(counted: NDArray[np.bool_]) -> _Groups:
    """Return the groups of systems of each query that have the same measures, at least one."""
    groups: _Groups = []
    for query in np.moveaxis(counted, 2, 0):
        patterns, pattern = np.unique(query, axis=1, return_inverse=True)
        groups.append(
            [np.flatnonzero(pattern.ravel() == p) for p, one in enumerate(patterns.T) if one.any()]
        )
    return groups


def _all_orders(groups: _Groups, n_systems: int) -> Iterator[NDArray[np.integer]]:
    """Yield all orders of the systems, some at once, shape (n, queries, systems)."""
    by_query = []
    for query in groups:
        rows = []
        for permuted in product(*(permutations(group) for group in query)):
            row = np.arange(n_systems)
            for group, members in zip(query, permuted, strict=True):
                row[group] = members
            rows.append(row)
        by_query.append(rows)
    every = product(*by_query)
    size = max(1, _ORDERED_AT_ONCE // (n_systems * len(groups)))
    while orders := list(islice(every, size)):
        yield np.array(orders)


def _drawn(
    groups: _Groups, n_systems: int, resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.integer]]:
    """Yield drawn orders of the systems, shape (n, queries, systems), that many in all."""
    n_queries = len(groups)
    whole = np.array([len(query) == 1 and len(query[0]) == n_systems for query in groups], bool)
    batch = max(1, _ORDERED_AT_ONCE // (n_systems * n_queries))
    for done in range(0, resamples, batch):
        size = min(batch, resamples - done)
        orders = np.tile(np.arange(n_systems), (size, n_queries, 1))
        orders[:, whole] = rng.permuted(orders[:, whole], axis=-1)
        for q in np.flatnonzero(~whole):
            for group in groups[q]:
                orders[:, q, group] = rng.permuted(np.tile(group, (size, 1)), axis=-1)
        yield orders
