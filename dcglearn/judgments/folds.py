"""Judgments grouped by query: numbers for the groups, and folds that keep a query whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError
from dcglearn.base.types import Ids, Integers
from dcglearn.judgments.numbering import id_numbers


def group_numbers(groups: ArrayLike) -> Integers:
    """Return numbers (n,) of groups, by first appearance; None or NaN is a group of its own."""
    codes, _ = id_numbers(np.asarray(groups).ravel().tolist())
    if (codes >= 0).all():
        return codes
    return id_numbers(np.where(codes < 0, -1 - np.arange(len(codes)), codes).tolist())[0]


def query_counts(queries: Ids) -> tuple[int, int]:
    """Return the number of queries, and of judgments without one."""
    ids = queries.tolist()
    return len(set(ids) - {None}), ids.count(None)


def query_folds(
    groups: NDArray[np.integer], n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split judgments into folds that keep a query whole.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        The query of each judgment.
    n_folds : int
        At least 2, at most the number of queries.
    rng : numpy.random.Generator
        Shuffles the queries.

    Yields
    ------
    train, test : ndarrays of int
        Row numbers, ascending.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> for train, test in query_folds(np.array([0, 0, 1, 1]), 2, rng):
    ...     print(train, test)
    [0 1] [2 3]
    [2 3] [0 1]
    """
    from sklearn.model_selection import GroupKFold

    n_queries = len(np.unique(groups))
    if n_queries < 2:
        problem = "judgments of one query cannot be divided into folds"
        raise InputError(problem, "judge more than one query")
    checked_count(n_folds, "`n_folds`", 2, n_queries)
    folds = GroupKFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
    yield from folds.split(groups, groups=groups)
