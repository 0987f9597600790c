"""Pools, and the ideal DCG of a pool.

    ideal = max over assignments d of sum_k c_k g[d(k)]

A pool holds the grades of all documents of a query: a row of N grade indices in any order, -1
for no document. A ranking takes its documents from the pool and fills the first min(K, N)
ranks. The maximum follows from the rearrangement inequality: sort gains and discounts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Grades, Integers
from dcglearn.measures.scale import NO_DOCUMENT

NO_IDEAL = ("no gain above 0: the ideal is 0", "correct the grades or the gains, or use minmaxDCG")
"""Problem and remedy where no document can make an ideal."""


def ideal_dcg(discounts: Floats, gains: Floats) -> float:
    """Return the largest DCG of any ranking of a pool, for discounts and gains of any sign.

    Positive discounts take the largest gains and negative discounts the smallest, each in
    sorted order. Where N > K, the documents left out have the gains in the middle.

    >>> ideal_dcg(np.array([1.0, 0.5, -1.0]), np.array([0.0, 4.0, 1.0, 2.0]))
    5.0
    """
    ranked = np.sort(gains)[::-1]
    weights = np.sort(discounts[: len(gains)])[::-1]
    positive = int((weights > 0).sum())
    negative = len(weights) - positive
    top = float(weights[:positive] @ ranked[:positive])
    return top + float(weights[positive:] @ ranked[len(ranked) - negative :])


def best_run(discounts: Floats, gains: Floats, counts: Integers) -> Floats:
    """Return the largest DCG of any run of each pool, which may leave out documents.

    `counts` (..., G) holds the number of documents in each pool that have each of the `gains`
    (G,). With positive and negative parts apart, the largest gains above 0 are at the largest
    discounts above 0, and the smallest below 0 at the smallest below 0.

    >>> best_run(np.array([1.0, 0.5]), np.array([2.0, 1.0, -1.0]), np.array([[1, 0, 3], [0, 3, 0]]))
    array([2. , 1.5])
    """
    return _positive_part(discounts, gains, counts) + _positive_part(-discounts, -gains, counts)


def _positive_part(discounts: Floats, gains: Floats, counts: Integers) -> Floats:
    order = np.argsort(-gains, kind="stable")
    order = order[gains[order] > 0]
    cumulative = np.cumsum(counts[..., order], axis=-1)
    positive = np.sort(discounts[discounts > 0])[::-1]
    total = np.concatenate([[0.0], np.cumsum(positive)])[np.minimum(cumulative, len(positive))]
    value: Floats = np.diff(total, axis=-1, prepend=0.0) @ gains[order]
    return value


def map_distinct_pools(pools: Grades, function: Callable[[Grades], float]) -> Floats:
    """Evaluate a function of grade indices once for each distinct pool (..., N): shape (n,)."""
    rows: Grades = np.sort(pools.reshape(-1, pools.shape[-1]), axis=1)
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    values = np.array([function(row[row != NO_DOCUMENT]) for row in distinct], dtype=float)
    return values[inverse.reshape(-1)] if len(values) else np.zeros(0)


def check_pools(rankings: Grades, pools: Grades, n_grades: int) -> None:
    """Refuse other than one pool (..., N) per ranking (..., K), or a ranking of other documents."""
    if pools.shape[:-1] != rankings.shape[:-1]:
        problem = f"{pools.shape[:-1]} pools for {rankings.shape[:-1]} rankings"
        raise InputError(problem, "give one pool per ranking")
    more = np.zeros(rankings.shape[:-1], bool)
    for grade in range(n_grades):
        more |= (rankings == grade).sum(axis=-1) > (pools == grade).sum(axis=-1)
    if more.any():
        raise InputError(
            "a ranking holds documents that its pool does not hold",
            "give the grades of all documents of the query",
            f"row {int(np.argmax(more))}",
        )


def leaves_rank_empty(
    rankings: Grades, pools: Grades, n_ranks: int | None = None
) -> NDArray[np.bool_]:
    """Find rankings with an empty rank above a cutoff that a document of their pool could fill."""
    fillable = (pools != NO_DOCUMENT).sum(axis=-1)
    if n_ranks is not None:
        fillable = np.minimum(fillable, n_ranks)
    ranks = np.arange(rankings.shape[-1])
    filled = ((rankings != NO_DOCUMENT) & (ranks < fillable[..., None])).sum(axis=-1)
    incomplete: NDArray[np.bool_] = filled < fillable
    return incomplete


def divide_or_zero(numerator: Floats, denominator: Floats) -> Floats:
    """Divide element by element; 0 where the denominator is not above 0."""
    ratio: Floats = np.zeros_like(numerator)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return ratio


def check_ideal(
    best: Floats, values: Floats | None = None, place: Callable[[int], str] = "row {}".format
) -> None:
    """Refuse ideals whose quotient reverses the order of two rankings.

    >>> check_ideal(np.array([2.0, 0.0]), np.array([-1.0, 0.0]))
    >>> check_ideal(np.array([2.0, -0.5]))
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: row 1: the ideal is -0.5: dividing by it reverses the order;
    use minmaxDCG, or gains of 0 or more
    """
    wrong = best < 0
    if values is not None:
        wrong |= (best == 0) & (values < 0)
    if wrong.any():
        raise InputError(
            f"the ideal is {best[wrong][0]:g}: dividing by it reverses the order",
            "use minmaxDCG, or gains of 0 or more",
            place(int(np.argmax(wrong))),
        )
