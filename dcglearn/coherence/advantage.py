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
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.discounts import rule_discounts
from dcglearn.measures.grade_indices import checked_grades
from dcglearn.measures.measure import TIE_TOLERANCE
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT

Discounts = str | Sequence[float] | Floats
"""A rule (see :mod:`dcglearn.measures.discounts`) or one number per rank."""

WorstGain = Literal["nonnegative", "zero"]
"""What the gain of the worst grade may be where gains are free: 0 or more, or 0."""

WORST_GAINS: tuple[WorstGain, ...] = ("nonnegative", "zero")


def cumulative_counts(rankings: ArrayLike, n_grades: int) -> NDArray[np.int32]:
    """Count the documents of grade j or better in the top i of each ranking.

    Rankings of shape (..., K) give counts of shape (..., K, L); the difference of the counts of two
    rankings is their advantage table D.

    >>> cumulative_counts([1, -1, 0], 2).tolist()
    [[0, 1], [0, 1], [1, 2]]
    """
    rows = checked_grades(rankings, checked_count(n_grades, "`n_grades`", high=MAX_GRADES))
    counts = np.empty((*rows.shape, n_grades), np.int32)
    for grade in range(n_grades):
        at_least = (rows <= grade) & (rows > NO_DOCUMENT)
        np.cumsum(at_least, axis=-1, out=counts[..., grade])
    return counts


def total_counts(run: Grades, n_grades: int) -> NDArray[np.int64]:
    """Sum the cumulative counts of all rankings of a run, shape (Q, K) or (K,); shape (K, L)."""
    rows = run.reshape(-1, run.shape[-1])
    total: NDArray[np.int64] = cumulative_counts(rows, n_grades).sum(axis=0, dtype=np.int64)
    return total


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
    """Check two rankings, or two runs over the same queries, and stack them."""
    checked_count(n_grades, "`n_grades`", high=MAX_GRADES)
    first = checked_grades(a, n_grades, "rankings a")
    second = checked_grades(b, n_grades, "rankings b")
    if first.shape != second.shape:
        raise InputError(
            f"rankings of shape {first.shape} against {second.shape}",
            "give the same queries and ranks, short lists padded with -1",
        )
    return np.stack([first, second])


def advantage_by_step(
    D: ArrayLike,
    gains: ArrayLike | None,
    discounts: Discounts | None,
    worst_gain: WorstGain = "nonnegative",
) -> Floats:
    """Compute the advantage of A for each free step of the discounts and the gains.

    The result has a row per rank and a column per grade, except the worst where its gain is 0;
    given discounts leave a single row, given gains a single column. A weighted sum is exactly 0
    where it is at most :data:`~dcglearn.measures.measure.TIE_TOLERANCE` times the sum of its
    absolute terms.

    >>> advantage_by_step([[0, 1, 0], [-1, 0, 0]], None, [1.5, 0.5])
    array([[-0.5,  1. ,  0. ]])
    """
    table = checked_advantage(D, many=True)
    n_ranks, n_grades = table.shape[-2:]
    if not is_one_of(worst_gain, WORST_GAINS):
        raise unknown_name("worst gain", worst_gain, WORST_GAINS)
    found = table
    if discounts is not None:
        found = np.diff(found, axis=-2, prepend=0.0)
    if gains is not None:
        found = np.diff(found, axis=-1, prepend=0.0)
    size = np.abs(found)
    if discounts is not None:
        c = discount_vector(discounts, n_ranks)
        found, size = c[None, :] @ found, np.abs(c)[None, :] @ size
    if gains is not None:
        g = gain_vector(gains, n_grades)
        found, size = found @ g[:, None], size @ np.abs(g)[:, None]
    if gains is None and worst_gain == "zero":
        found, size = found[..., :-1], size[..., :-1]
    return np.where(np.abs(found) <= TIE_TOLERANCE * size, 0.0, found)


def checked_advantage(D: ArrayLike, many: bool = False) -> Floats:
    """Check an advantage table of shape (K, L), or many of shape (..., K, L)."""
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
    """Return the discounts of a rule, or check that a vector has one finite number per rank."""
    if isinstance(discounts, str):
        return rule_discounts(discounts, n_ranks)
    return finite_array(discounts, "discounts", (n_ranks,), "give one number per rank")


def gain_vector(gains: ArrayLike, n_grades: int) -> Floats:
    """Check that there is one finite gain per grade."""
    return finite_array(gains, "gains", (n_grades,), "give one number per grade")
