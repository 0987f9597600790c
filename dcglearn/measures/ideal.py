"""Pools: all documents of a query, and what the best and worst rankings of them are worth.

A pool is a row of grade indices in any order, -1 for none. A ranking takes its documents
from the pool and fills the first min(K, N) ranks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.scale import NO_DOCUMENT


def ideal_dcg(discounts: Floats, gains: Floats) -> float:
    """Return max over assignments of sum_k c_k g_{d(k)}, every rank taking one document.

    Positive discounts take the largest gains, negative ones the smallest, each in
    order (the rearrangement inequality, with documents to spare left out of the middle).

    Parameters
    ----------
    discounts : ndarray of float, shape (K,)
    gains : ndarray of float, shape (N,)
        N documents, of which min(K, N) are ranked.

    Returns
    -------
    float

    Examples
    --------
    >>> ideal_dcg(np.array([1.0, 0.5, -1.0]), np.array([0.0, 4.0, 1.0, 2.0]))
    5.0
    """
    ranked = np.sort(gains)[::-1]
    weights = np.sort(discounts[: len(gains)])[::-1]
    positive = int((weights > 0).sum())
    negative = len(weights) - positive
    top = float(weights[:positive] @ ranked[:positive])
    return top + float(weights[positive:] @ ranked[len(ranked) - negative :])


def map_distinct_pools(pools: Grades, best: Callable[[Grades], float]) -> Floats:
    """Apply a function of one pool's documents to every distinct pool once.

    Parameters
    ----------
    pools : ndarray of int, shape (..., N)
        Order does not matter; -1 is no document.
    best : callable
        From the grades of one pool, ascending by index, to a number.

    Returns
    -------
    ndarray of float, shape (n,)
    """
    rows: Grades = np.sort(pools.reshape(-1, pools.shape[-1]), axis=1)
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    values = np.array([best(row[row != NO_DOCUMENT]) for row in distinct], dtype=float)
    return values[inverse.reshape(-1)] if len(values) else np.zeros(0)


def check_pools(rankings: Grades, pools: Grades, n_grades: int) -> None:
    """Refuse a ranking that holds more documents of a grade than its pool.

    Parameters
    ----------
    rankings : ndarray of int, shape (..., K)
    pools : ndarray of int, shape (..., N)
    n_grades : int

    Raises
    ------
    InputError
        Naming the row.
    """
    more = np.zeros(rankings.shape[:-1], bool)
    for grade in range(n_grades):
        more |= (rankings == grade).sum(axis=-1) > (pools == grade).sum(axis=-1)
    if more.any():
        raise InputError(
            "a ranking holds documents that its pool does not",
            "give the grades of all documents of the query",
            f"row {int(np.argmax(more))}",
        )


def leaves_rank_empty(
    rankings: Grades, pools: Grades, n_ranks: int | None = None
) -> NDArray[np.bool_]:
    """Return which rankings leave a rank empty that a document of the pool could fill.

    Parameters
    ----------
    rankings : ndarray of int, shape (..., K)
    pools : ndarray of int, shape (..., N)
    n_ranks : int, optional
        Ranks below it do not count. Ranks that a narrow array does not have are empty.

    Returns
    -------
    ndarray of bool, shape (...)
    """
    could = (pools != NO_DOCUMENT).sum(axis=-1)
    if n_ranks is not None:
        could = np.minimum(could, n_ranks)
    ranks = np.arange(rankings.shape[-1])
    filled = ((rankings != NO_DOCUMENT) & (ranks < could[..., None])).sum(axis=-1)
    found: NDArray[np.bool_] = filled < could
    return found
