"""Pools, and the ideal DCG of a pool: max over assignments d of sum_k c_k g[d(k)].

A pool holds the grades of all documents of a query, -1 for no document. By the rearrangement
inequality the best ranking gives the largest gain to the largest discount.
"""

from __future__ import annotations

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Grades, Integers

NO_IDEAL = ("no gain above 0: the ideal is 0", "correct the grades or the gains")


def best_run(discounts: Floats, gains: Floats, counts: Integers) -> Floats:
    """Return the largest DCG of runs, which may leave out documents; counts (..., L) by gain."""
    size = counts.sum(axis=-1, keepdims=True)
    most = int(size.max(initial=0))
    # A rank that is left empty holds a document without a gain.
    filled = np.concatenate([counts, most - size + len(discounts)], axis=-1)
    order = np.argsort(-np.append(gains, 0.0), kind="stable")
    slots = np.sort(np.append(discounts, np.zeros(most)))[::-1]
    total = np.append(0.0, np.cumsum(slots))[np.cumsum(filled[..., order], axis=-1)]
    value: Floats = np.diff(total, prepend=0.0) @ np.append(gains, 0.0)[order]
    return value


def counts_by_grade(pools: Grades, n_grades: int) -> Integers:
    """Count the documents of each grade of pools (..., N): shape (..., L)."""
    return np.stack([(pools == grade).sum(axis=-1) for grade in range(n_grades)], axis=-1)


def check_pools(rankings: Grades, pools: Grades, n_grades: int) -> None:
    """Refuse other than one pool (..., N) per ranking (..., K), or a ranking of other documents."""
    if pools.shape[:-1] != rankings.shape[:-1]:
        problem = f"{pools.shape[:-1]} pools for {rankings.shape[:-1]} rankings"
        raise InputError(problem, "give one pool per ranking")
    found = counts_by_grade(rankings, n_grades) > counts_by_grade(pools, n_grades)
    more = found.any(axis=-1)
    if more.any():
        raise InputError(
            "a ranking holds documents that its pool does not hold",
            "give the grades of all documents of the query",
            f"row {int(np.argmax(more))}",
        )


def ratio(numerator: Floats, denominator: Floats, otherwise: float = 0.0) -> Floats:
    """Divide where the denominator is above 0; elsewhere the ratio is `otherwise`."""
    quotient = np.full(np.shape(numerator), otherwise)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient
