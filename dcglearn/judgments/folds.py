"""Groups of judgments, such as those of a query, and folds that keep them whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError
from dcglearn.base.types import Booleans, Ids, Integers


def count_true(found: Booleans) -> int:
    """Return how many are true, as a number that JSON can hold."""
    return int(found.sum())


def group_numbers(groups: ArrayLike) -> Integers:
    """Return numbers (n,) of groups, by first appearance; None or NaN is a group of its own."""
    values = np.asarray(groups).ravel().tolist()
    keys = [object() if one is None or one != one else one for one in values]
    numbers = dict(zip(dict.fromkeys(keys), count(), strict=False))
    return np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))


def query_counts(queries: Ids) -> tuple[int, int]:
    """Return the number of queries, and of judgments without one."""
    ids = queries.tolist()
    return len({*ids} - {None}), ids.count(None)


def query_folds(
    groups: NDArray[np.integer], n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split judgments into folds that keep a query whole, as ``GroupKFold(shuffle=True)`` does.

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
    queries = np.unique(groups)
    if len(queries) < 2:
        raise InputError(
            "judgments of one query cannot be divided into folds", "judge more than one query"
        )
    checked_count(n_folds, "`n_folds`", 2, len(queries))
    shuffler = np.random.RandomState(int(rng.integers(2**31)))
    for held_out in np.array_split(shuffler.permutation(queries), n_folds):
        in_test = np.isin(groups, held_out)
        yield np.flatnonzero(~in_test), np.flatnonzero(in_test)
