"""All pairs of systems at once: Tukey's HSD test by randomisation.

If no system differs from another, each order of the systems' values within a query is as likely as
any other. A pair differs significantly if few such orders give any pair as large a difference of
means. Hence the chance that any of the pairs is called significant by mistake is at most the level
(Carterette, ACM TOIS 30, 2012, section 4; Sakai, Laboratory Experiments in Information Retrieval,
2018, section 4.4). The difference of two systems is over the queries that both have, and only
systems that have all measures at a query are exchanged there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.significance import RESAMPLES
from dcglearn.base.types import Floats
from dcglearn.systems.paired_tests import parts

_ORDERED_AT_ONCE = 2_000_000
_ZERO = 1e-12
"""Differences of means closer than this, in standard deviations, are equal but for rounding."""


class TukeyTest(NamedTuple):
    """P-values (measures, pairs), as ``triu_indices`` orders pairs, and how many orders were drawn.

    0 if all orders were taken; else p is at least 1 / (drawn + 1).
    """

    p: Floats
    drawn: int


def tukey_test(
    values: Floats,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    across_measures: bool = False,
) -> TukeyTest:
    """Compare all pairs of systems; values (measures, systems, queries) are nan where left out.

    All orders within the queries are taken if there are at most `resamples`. Across measures, p is
    corrected for the pairs of all of them, in standard deviations within the queries.
    """
    values = values[:, :, ~np.isnan(values).all(axis=(0, 1))]
    measures = [_Measure.of(one) for one in values]
    complete = np.logical_not(np.isnan(values).any(axis=0)).T
    every = math.prod(math.factorial(int(n)) for n in complete.sum(axis=1))
    exact = every <= resamples
    orders = _all_orders(complete) if exact else _drawn(complete, resamples, rng)
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


class _Measure(NamedTuple):
    """The values (queries, systems) of one measure, in standard deviations from their query's mean.

    What is left out is 0 in `values` and in `counted`.
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


def _all_orders(complete: NDArray[np.bool_]) -> Iterator[NDArray[np.integer]]:
    """Yield all orders of the systems, some at once, shape (n, queries, systems)."""
    by_query = []
    for members in map(np.flatnonzero, complete):
        rows = np.tile(np.arange(complete.shape[1]), (math.factorial(len(members)), 1))
        rows[:, members] = list(permutations(members))
        by_query.append(rows)
    every = product(*by_query)
    while orders := list(islice(every, max(1, _ORDERED_AT_ONCE // complete.size))):
        yield np.array(orders)


def _drawn(
    complete: NDArray[np.bool_], resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.integer]]:
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
