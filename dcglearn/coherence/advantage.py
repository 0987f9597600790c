"""The advantage of one ranking, or run, over another in the counts of good documents at the top.

    D[i, j] = (documents of grade j or better in the top i of A) - (the same of B)

Non-increasing discounts are sums of steps, c = sum_i a_i (1 on the first i ranks), and
non-increasing gains are sums of steps, g = sum_j b_j (1 on grades j or better). Therefore

    DCG(A) - DCG(B) = sum_ij a_i b_j D[i, j]

Given discounts combine the rows of D with their weights, given gains the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count, finite_array
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.base.overflow import multiplied, usual_size
from dcglearn.base.types import Floats
from dcglearn.measures.discounts import rule_discounts
from dcglearn.measures.grade_indices import checked_grades
from dcglearn.measures.measure import TIE_TOLERANCE
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT

Discounts = str | Sequence[float] | Floats
"""A rule (see :mod:`dcglearn.measures.discounts`) or one number per rank."""

WorstGain = Literal["nonnegative", "zero", "free"]
"""What the gain of the worst grade may be where gains are free: 0 or more, 0, or any number."""

WORST_GAINS: tuple[WorstGain, ...] = ("nonnegative", "zero", "free")


def cumulative_counts(rankings: ArrayLike, n_grades: int) -> NDArray[np.int32]:
    """Count the documents of grade j or better in the top i of each ranking.

    Parameters
    ----------
    rankings : array-like of int, shape (..., K)
        Grade indices, -1 for no document.
    n_grades : int
        L.

    Returns
    -------
    ndarray of int32, shape (..., K, L)
        The difference of the counts of two rankings is their advantage table D.

    Raises
    ------
    InputError
        If an entry is not a grade index.

    Examples
    --------
    >>> cumulative_counts([1, -1, 0], 2).tolist()
    [[0, 1], [0, 1], [1, 2]]
    """
    rows = checked_grades(rankings, checked_count(n_grades, "`n_grades`", high=MAX_GRADES))
    counts = np.empty((*rows.shape, n_grades), np.int32)
    for grade in range(n_grades):
        at_least = (rows <= grade) & (rows > NO_DOCUMENT)
        np.cumsum(at_least, axis=-1, out=counts[..., grade])
    return counts


def total_counts(run: ArrayLike, n_grades: int) -> NDArray[np.int64]:
    """Sum the cumulative counts of all rankings of a run.

    Parameters
    ----------
    run : array-like of int, shape (Q, K) or (K,)
        One ranking per query; grade indices, -1 for no document.
    n_grades : int
        L.

    Returns
    -------
    ndarray of int64, shape (K, L)
        The difference of the total counts of two runs is their advantage table D.

    Raises
    ------
    InputError
        If an entry is not a grade index.

    Examples
    --------
    >>> total_counts([[0, 1], [1, 0]], 2).tolist()
    [[1, 2], [2, 4]]
    """
    rows = checked_grades(run, checked_count(n_grades, "`n_grades`", high=MAX_GRADES))
    rows = rows.reshape(-1, rows.shape[-1])
    counts = np.empty((rows.shape[1], n_grades), np.int64)
    for grade in range(n_grades):
        counts[:, grade] = np.add.reduce(rows == grade, axis=0, dtype=np.int32)
    return counts.cumsum(axis=0).cumsum(axis=1)


def advantage(a: ArrayLike, b: ArrayLike, n_grades: int) -> NDArray[np.int64]:
    """Compute the advantage table D of two rankings, or of two runs over the same queries.

    Parameters
    ----------
    a, b : array-like of int, shape (K,) or (Q, K)
        Grade indices, -1 for no document.
    n_grades : int
        L.

    Returns
    -------
    ndarray of int64, shape (K, L)
        Documents of grade j or better in the top i of `a`, minus those of `b`, summed over
        the queries.

    Raises
    ------
    InputError
        If the shapes differ or an entry is not a grade index.

    Examples
    --------
    >>> advantage([1, 2], [2, 0], 3)
    array([[ 0,  1,  0],
           [-1,  0,  0]])
    """
    first, second = two_runs(a, b, n_grades)
    return total_counts(first, n_grades) - total_counts(second, n_grades)


def two_runs(a: ArrayLike, b: ArrayLike, n_grades: int) -> NDArray[np.integer]:
    """Check two rankings, or two runs over the same queries, and stack them.

    Parameters
    ----------
    a, b : array-like of int, shape (K,) or (Q, K)
        Grade indices, -1 for no document.
    n_grades : int
        L.

    Returns
    -------
    ndarray of int, shape (2, K) or (2, Q, K)

    Raises
    ------
    InputError
        If the shapes differ or an entry is not a grade index.
    """
    checked_count(n_grades, "`n_grades`", high=MAX_GRADES)
    first = checked_grades(a, n_grades, "rankings a")
    second = checked_grades(b, n_grades, "rankings b")
    if first.shape != second.shape:
        raise InputError(
            f"rankings of shape {first.shape} against {second.shape}",
            "give the same queries and ranks, short lists padded with -1",
        )
    return np.stack([first, second])


def gain_steps(
    n_grades: int, gains: ArrayLike | None = None, worst_gain: WorstGain = "nonnegative"
) -> Floats:
    """Return the gains that each column of :func:`advantage_by_step` represents.

    Parameters
    ----------
    n_grades : int
        L.
    gains : array-like of float, shape (L,), optional
        Given gains; free by default.
    worst_gain : {"nonnegative", "zero", "free"}
        As in :func:`advantage_by_step`.

    Returns
    -------
    ndarray of float, shape (columns, L)
        Free gains are sums of these rows with weights of 0 or more.

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
    """Compute the advantage of A for each free step of the discounts and the gains.

    Parameters
    ----------
    D : array-like, shape (..., K, L)
        Advantage of A over B (see :func:`advantage`).
    gains : array-like of float, shape (L,), optional
        In any order and of any sign; free by default.
    discounts : str or array-like of float, shape (K,), optional
        A rule or any vector; free by default.
    worst_gain : {"nonnegative", "zero", "free"}
        What the gain of the worst grade may be where gains are free. ``"zero"`` removes its
        step, ``"free"`` adds the opposite step as one more column.

    Returns
    -------
    ndarray of float, shape (..., rows, columns)
        One row per rank, or a single row where the discounts are given. One column per row
        of :func:`gain_steps`. Exactly 0 where a weighted sum is at most
        :data:`~dcglearn.measures.measure.TIE_TOLERANCE` times the sum of its absolute terms.

    Raises
    ------
    InputError
        If shapes do not fit, numbers are not finite, or an advantage is too large for a
        floating-point number.

    Examples
    --------
    >>> advantage_by_step([[0, 1, 0], [-1, 0, 0]], discounts=[1.5, 0.5])
    array([[-0.5,  1. ,  0. ]])
    """
    found, exponent = rescaled_advantage(D, gains, discounts, worst_gain)
    return multiplied(found, exponent, "advantages")


def rescaled_advantage(
    D: ArrayLike,
    gains: ArrayLike | None,
    discounts: Discounts | None,
    worst_gain: WorstGain,
) -> tuple[Floats, int]:
    """Compute :func:`advantage_by_step` divided by a power of 2, so that it does not overflow.

    Parameters
    ----------
    D, gains, discounts, worst_gain
        As in :func:`advantage_by_step`.

    Returns
    -------
    scaled : ndarray of float
    exponent : int
        The advantages are `scaled` times 2^exponent; 0 unless gains or discounts are very large
        or very small.
    """
    table = checked_advantage(D, many=True)
    n_ranks, n_grades = table.shape[-2:]
    exponents = [0, 0]
    if not is_one_of(worst_gain, WORST_GAINS):
        raise unknown_name("worst gain", worst_gain, WORST_GAINS)
    found = table
    if discounts is not None:
        found = np.diff(found, axis=-2, prepend=0.0)
    if gains is not None:
        found = np.diff(found, axis=-1, prepend=0.0)
    size = np.abs(found) if found is not table else np.zeros(())
    if discounts is not None:
        c, exponents[0] = usual_size(discount_vector(discounts, n_ranks))
        found, size = c[None, :] @ found, np.abs(c)[None, :] @ size
    if gains is not None:
        g, exponents[1] = usual_size(gain_vector(gains, n_grades))
        found, size = found @ g[:, None], size @ np.abs(g)[:, None]
    found = np.where(np.abs(found) <= TIE_TOLERANCE * size, 0.0, found)
    if gains is None and worst_gain == "zero":
        found = found[..., :-1]
    if gains is None and worst_gain == "free":
        found = np.concatenate([found, -found[..., -1:]], axis=-1)
    return found, sum(exponents)


def checked_advantage(D: ArrayLike, many: bool = False) -> Floats:
    """Check an advantage table, or many of them.

    Parameters
    ----------
    D : array-like, shape (K, L), or (..., K, L) if `many`
    many : bool, default False

    Returns
    -------
    ndarray of float
        Of the same shape.

    Raises
    ------
    InputError
        If the shape is different, or a number is not finite or above 2^53.
    """
    remedy = "give an advantage table of shape (ranks, grades)"
    try:
        n_axes = max(np.ndim(D), 2) if many else 2
    except ValueError:  # rows of different lengths, which the check below refuses
        n_axes = 2
    table = finite_array(D, "advantages", (None,) * n_axes, remedy)
    if 0 in table.shape[-2:]:
        raise InputError(f"advantages of shape {table.shape}", remedy)
    if np.abs(table).max(initial=0.0) > MAX_EXACT:
        raise InputError("advantages above 2^53", "give numbers of documents")
    return table


def discount_vector(discounts: Discounts, n_ranks: int) -> Floats:
    """Return the discounts of a rule, or check those of a vector.

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
    return finite_array(discounts, "discounts", (n_ranks,), "give one number per rank")


def gain_vector(gains: ArrayLike, n_grades: int) -> Floats:
    """Check that there is one finite gain per grade.

    Parameters
    ----------
    gains : array-like of float, shape (L,)
    n_grades : int
        L.

    Returns
    -------
    ndarray of float, shape (L,)

    Raises
    ------
    InputError
        If there are not L finite numbers.
    """
    return finite_array(gains, "gains", (n_grades,), "give one number per grade")
