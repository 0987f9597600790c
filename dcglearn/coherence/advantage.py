"""Leads: how far one ranking is ahead of another by each step of the discounts and the gains.

Discounts that do not rise are sums of steps (1 on the first i ranks), gains that do not rise
from grade to grade are sums of steps (1 on grade j or better). A step of each counts the
documents of grade j or better in the top i, so two rankings, or two runs, are compared by

    D[i, j] = (documents of grade j or better in the top i of A) - (the same of B)

and with c = sum_i a_i step_i and g = sum_j b_j step_j, DCG(A) - DCG(B) = sum_ij a_i b_j D[i, j].
Discounts that are given add the rows up with their weights, gains that are given the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Floats
from dcglearn.measures.discounts import rule_discounts
from dcglearn.measures.measure import TIE_TOLERANCE
from dcglearn.measures.scale import NO_DOCUMENT, checked_grades

Discounts = str | Sequence[float] | Floats
"""A rule (see :mod:`dcglearn.measures.discounts`) or a number a rank."""

WorstGain = Literal["nonnegative", "zero", "free"]
"""What free gains may give the worst grade: 0 or more, 0 or any number."""

WORST_GAINS = ("nonnegative", "zero", "free")


def cumulative_counts(rankings: ArrayLike, n_grades: int) -> NDArray[np.int32]:
    """Return how many documents of grade j or better stand in the top i of each ranking.

    Parameters
    ----------
    rankings : array-like of int, shape (..., K)
        Grade indices, -1 for no document.
    n_grades : int
        L.

    Returns
    -------
    ndarray of int32, shape (..., K, L)

    Raises
    ------
    InputError
        If an entry is no grade index.

    Examples
    --------
    >>> cumulative_counts([1, -1, 0], 2).tolist()
    [[0, 1], [0, 1], [1, 2]]
    """
    rows = checked_grades(rankings, n_grades)
    found = np.empty((*rows.shape, n_grades), np.int32)
    for grade in range(n_grades):
        better = (rows <= grade) & (rows > NO_DOCUMENT)
        np.cumsum(better, axis=-1, out=found[..., grade])
    return found


def total_counts(run: ArrayLike, n_grades: int) -> NDArray[np.int64]:
    """Return the tables of all rankings of a run, added up.

    Parameters
    ----------
    run : array-like of int, shape (Q, K) or (K,)
        One ranking a query.
    n_grades : int
        L.

    Returns
    -------
    ndarray of int64, shape (K, L)
        The lead of one run over another is the difference of their tables.

    Raises
    ------
    InputError
        If an entry is no grade index.

    Examples
    --------
    >>> total_counts([[0, 1], [1, 0]], 2).tolist()
    [[1, 2], [2, 4]]
    """
    rows = checked_grades(run, n_grades)
    rows = rows.reshape(-1, rows.shape[-1])
    found = np.empty((rows.shape[1], n_grades), np.int64)
    for grade in range(n_grades):
        found[:, grade] = np.add.reduce(rows == grade, axis=0, dtype=np.int32)
    return found.cumsum(axis=0).cumsum(axis=1)


def advantage(a: ArrayLike, b: ArrayLike, n_grades: int) -> NDArray[np.int64]:
    """Return D of two rankings, or of two runs over the same queries.

    Parameters
    ----------
    a, b : array-like of int, shape (K,) or (Q, K)
        Grade indices, -1 for no document.
    n_grades : int
        L.

    Returns
    -------
    ndarray of int64, shape (K, L)
        Documents of grade j or better in the top i of `a`, less those of `b`, added up
        over the queries.

    Raises
    ------
    InputError
        If the shapes differ or an entry is no grade index.

    Examples
    --------
    >>> advantage([1, 2], [2, 0], 3)
    array([[ 0,  1,  0],
           [-1,  0,  0]])
    """
    first, second = (
        checked_grades(a, n_grades, "rankings a"),
        checked_grades(b, n_grades, "rankings b"),
    )
    if first.shape != second.shape:
        raise InputError(
            f"rankings of shape {first.shape} against {second.shape}",
            "give the same queries and ranks, short lists filled up with -1",
        )
    return total_counts(first, n_grades) - total_counts(second, n_grades)


def gain_steps(
    n_grades: int, gains: ArrayLike | None = None, worst_gain: WorstGain = "nonnegative"
) -> Floats:
    """Return the gains that the columns of :func:`advantage_by_step` stand for.

    Parameters
    ----------
    n_grades : int
        L.
    gains, worst_gain
        As of :func:`advantage_by_step`.

    Returns
    -------
    ndarray of float, shape (columns, L)

    Examples
    --------
    >>> gain_steps(3, worst_gain="zero")
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    if gains is not None:
        return np.asarray(gains, float)[None, :]
    steps = np.tri(n_grades)  # row j: 1 on grade j or better
    if worst_gain == "zero":
        return steps[:-1]
    return np.vstack([steps, -steps[-1:]]) if worst_gain == "free" else steps


def advantage_by_step(
    D: ArrayLike,
    gains: ArrayLike | None = None,
    discounts: Discounts | None = None,
    worst_gain: WorstGain = "nonnegative",
) -> Floats:
    """Return the lead of A by each free step of the discounts and the gains.

    Parameters
    ----------
    D : array-like, shape (..., K, L)
        See :func:`advantage`.
    gains : array-like of float, shape (L,), optional
        In any order and of any sign; free where not given.
    discounts : str or array-like of float, shape (K,), optional
        A rule or any vector; free where not given.
    worst_gain : {"nonnegative", "zero", "free"}
        What free gains may give the worst grade. ``"zero"`` leaves its step out,
        ``"free"`` adds the step downwards as one more column.

    Returns
    -------
    ndarray of float, shape (..., rows, columns)
        K rows, or 1 where the discounts are given; L columns, give or take the step of
        the worst grade, or 1 where the gains are given. Exactly 0 where weighted sums
        differ by at most :data:`~dcglearn.measures.measure.TIE_TOLERANCE` of what their terms
        add up to.

    Raises
    ------
    InputError
        If shapes do not fit or numbers are not finite.

    Examples
    --------
    >>> advantage_by_step([[0, 1, 0], [-1, 0, 0]], discounts=[1.5, 0.5])
    array([[-0.5,  1. ,  0. ]])
    """
    table = as_advantage(D, many=True)
    n_ranks, n_grades = table.shape[-2:]
    if worst_gain not in WORST_GAINS:
        raise unknown_name("worst gain", worst_gain, WORST_GAINS)
    found = table
    if discounts is not None:
        found = np.diff(found, axis=-2, prepend=0.0)
    if gains is not None:
        found = np.diff(found, axis=-1, prepend=0.0)
    size = np.abs(found) if found is not table else np.zeros(())
    if discounts is not None:
        c = given_discounts(discounts, n_ranks)
        found, size = c[None, :] @ found, np.abs(c)[None, :] @ size
    if gains is not None:
        g = given_numbers(gains, n_grades, "gains", "grade")
        found, size = found @ g[:, None], size @ np.abs(g)[:, None]
    found = np.where(np.abs(found) <= TIE_TOLERANCE * size, 0.0, found)
    if gains is None and worst_gain == "zero":
        return found[..., :-1]
    if gains is None and worst_gain == "free":
        return np.concatenate([found, -found[..., -1:]], axis=-1)
    return found


def as_advantage(D: ArrayLike, many: bool = False) -> Floats:
    """Check a table of leads, or many of them.

    Parameters
    ----------
    D : array-like, shape (K, L), or (..., K, L) if `many`
    many : bool

    Returns
    -------
    ndarray of float

    Raises
    ------
    InputError
        If the shape is another or a number is not finite.
    """
    try:
        table = np.asarray(D, float)
    except (TypeError, ValueError) as error:
        raise InputError("a table that is not of numbers", "give (ranks, grades)") from error
    if (table.ndim < 2 if many else table.ndim != 2) or 0 in table.shape[-2:]:
        raise InputError(f"a table of shape {table.shape}", "give (ranks, grades)")
    if not np.isfinite(table).all():
        raise InputError("a table with numbers that are not finite", "give counts of documents")
    return table


def given_discounts(discounts: Discounts, n_ranks: int) -> Floats:
    """Return K given discounts, of a rule or a vector.

    Parameters
    ----------
    discounts : str or array-like of float, shape (K,)
    n_ranks : int
        K.

    Returns
    -------
    ndarray of float, shape (K,)

    Raises
    ------
    InputError
        If the rule is unknown, or there are not K finite numbers.
    """
    if isinstance(discounts, str):
        return rule_discounts(discounts, n_ranks)
    return given_numbers(discounts, n_ranks, "discounts", "rank")


def given_numbers(values: ArrayLike, n: int, name: str, each: str) -> Floats:
    """Check that there is one finite number a grade, or a rank.

    Parameters
    ----------
    values : array-like of float
    n : int
    name, each : str
        What to call them, and what has one, in an error.

    Returns
    -------
    ndarray of float, shape (n,)

    Raises
    ------
    InputError
        If there are not `n` finite numbers.
    """
    try:
        numbers = np.asarray(values, float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} are not numbers", f"give one number a {each}") from error
    if numbers.shape != (n,) or not np.isfinite(numbers).all():
        raise InputError(f"{name} {numbers.tolist()} for {n} {each}s", f"give one number a {each}")
    return numbers
