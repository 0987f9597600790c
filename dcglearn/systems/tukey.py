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

from dcglearn.base.types import Booleans, Floats, Integers
from dcglearn.systems.paired_tests import RESAMPLES, parts

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

    All orders are taken if there are at most `resamples`. Across measures, p is corrected for the
    pairs of all measures, in standard deviations within queries.
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
        return TukeyTest(reached / every, 0)
    return TukeyTest((reached + 1) / (resamples + 1), resamples)


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
    found: Floats = (sums - sums.swapaxes(-1, -2)) / (counted.T @ counted)
    return found


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
