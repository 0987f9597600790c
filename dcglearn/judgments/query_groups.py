"""Judgments grouped by query: group numbers, and folds that keep a query whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.types import Ids, Integers
from dcglearn.judgments.numbering import id_numbers


def group_numbers(groups: ArrayLike) -> Integers:
    """Return a number for the group of each row, in the order in which groups first occur.

    Parameters
    ----------
    groups : array-like, shape (n,)
        The group of each row, such as a query id. None or NaN is a group of its own.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> group_numbers(["q", None, "p", "q", None])
    array([0, 1, 2, 0, 3])
    """
    codes, names = id_numbers(np.asarray(groups).ravel().tolist())
    in_order = not names or codes.max() < len(names)
    return codes if in_order else id_numbers(codes.tolist())[0]


def query_counts(queries: Ids) -> tuple[int, int]:
    """Count queries, and judgments without one.

    Parameters
    ----------
    queries : ndarray of object, shape (n,)
        The query of each judgment, None where unknown.

    Returns
    -------
    n_queries, without : int

    Examples
    --------
    >>> query_counts(np.array(["q", None, "p", "q"], object))
    (2, 1)
    """
    ids = queries.tolist()
    return len(set(ids) - {None}), ids.count(None)


def query_folds(
    groups: NDArray[np.integer], n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split judgments into folds that keep a query whole.

    They are those of scikit-learn's ``GroupKFold(n_folds, shuffle=True)``, which takes longer to
    load than most fits take.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        The query of each judgment, such as
        :attr:`~dcglearn.judgments.preferences.Preferences.pair_groups`.
    n_folds : int
        At least 2, at most the number of queries.
    rng : numpy.random.Generator
        Shuffles the queries.

    Yields
    ------
    train, test : ndarrays of int
        Row numbers, ascending.

    Raises
    ------
    InputError
        If there are fewer queries than folds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> for train, test in query_folds(np.array([0, 0, 1, 1]), 2, rng):
    ...     print(train, test)
    [0 1] [2 3]
    [2 3] [0 1]
    """
    checked_count(n_folds, "`n_folds`", 0)
    distinct = np.unique(groups)
    n_groups = len(distinct)
    if not 2 <= n_folds <= n_groups:
        held = counted(len(groups), "judgment")
        if n_groups < len(groups):
            held = f"judgments of {counted(n_groups, 'query', 'queries')}"
        remedy = f"use 2 to {n_groups} folds" if n_groups > 1 else "judge more than one query"
        raise InputError(f"{n_folds} folds for {held}", remedy)
    shuffler = np.random.RandomState(int(rng.integers(2**31)))
    for held_out in np.array_split(shuffler.permutation(distinct), n_folds):
        in_test = np.isin(groups, held_out)
        yield np.flatnonzero(~in_test), np.flatnonzero(in_test)
