"""The verdict on two rankings, or runs, that holds for all gains and discounts of DCG.

    D[i, j] = (documents of grade j or better in the top i of A) - (the same of B)
    DCG(A) - DCG(B) = sum_ij a_i b_j D[i, j],  a and b >= 0

where non-increasing discounts are sums of steps, c = sum_i a_i (1 on the first i ranks), and so are
gains, g = sum_j b_j (1 on grades j or better). It is 0 or more for *every* decreasing discount and
compatible gain if and only if the advantage D >= 0. Given discounts combine the rows of D, given
gains the columns. Otherwise two entries of opposite sign prove that the verdict depends on the
parameters. D of two runs is the sum over their queries. With two grades, full lists and given
discounts the verdict never depends (Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count, finite_array
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import rule_discounts
from dcglearn.measures.measure import TIE_TOLERANCE
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT, checked_grades

Discounts = str | Sequence[float] | Floats
"""A rule (see :mod:`dcglearn.measures.discounts`) or one number per rank."""

WorstGain = Literal["nonnegative", "zero"]

WORST_GAINS: tuple[WorstGain, ...] = ("nonnegative", "zero")


def cumulative_counts(rankings: ArrayLike, n_grades: int) -> NDArray[np.int32]:
    """Count the documents of grade j or better in the top i of rankings (..., K): (..., K, L)."""
    rows = checked_grades(rankings, n_grades)
    counts = np.empty((*rows.shape, n_grades), np.int32)
    for grade in range(n_grades):
        at_least = (rows <= grade) & (rows > NO_DOCUMENT)
        np.cumsum(at_least, axis=-1, out=counts[..., grade])
    return counts


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

    Examples
    --------
    >>> advantage([1, 2], [2, 0], 3)
    array([[ 0,  1,  0],
           [-1,  0,  0]])
    """
    counts = cumulative_counts(two_runs(a, b, n_grades), n_grades)
    first, second = counts.reshape(2, -1, *counts.shape[-2:]).sum(axis=1, dtype=np.int64)
    return np.asarray(first - second)


def two_runs(a: ArrayLike, b: ArrayLike, n_grades: int) -> Grades:
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

    One row per rank and one column per grade; given discounts leave one row, given gains a column.
    """
    table = checked_advantage(D, many=True)
    n_ranks, n_grades = table.shape[-2:]
    check_name(worst_gain, "worst gain", WORST_GAINS)
    rows, columns = np.eye(n_ranks), np.eye(n_grades)
    if discounts is not None:
        table = np.diff(table, axis=-2, prepend=0.0)
        rows = discount_vector(discounts, n_ranks)[None, :]
    if gains is not None:
        table = np.diff(table, axis=-1, prepend=0.0)
        columns = gain_vector(gains, n_grades)[:, None]
    elif worst_gain == "zero":
        columns = columns[:, :-1]
    found, size = rows @ table @ columns, np.abs(rows) @ np.abs(table) @ np.abs(columns)
    return np.where(np.abs(found) <= TIE_TOLERANCE * size, 0.0, found)


def checked_advantage(D: ArrayLike, many: bool = False) -> Floats:
    """Check an advantage table of shape (K, L), or many of shape (..., K, L)."""
    shape = (None,) * (np.ndim(D) if many else 2)
    remedy = "give an advantage table of shape (ranks, grades)"
    return finite_array(D, "advantages", shape, remedy)


def discount_vector(discounts: Discounts, n_ranks: int) -> Floats:
    """Return the discounts of a rule, or check that a vector has one finite number per rank."""
    if isinstance(discounts, str):
        return rule_discounts(discounts, n_ranks)
    return finite_array(discounts, "discounts", (n_ranks,), "give one number per rank")


def gain_vector(gains: ArrayLike, n_grades: int) -> Floats:
    """Check that there is one finite gain per grade."""
    return finite_array(gains, "gains", (n_grades,), "give one number per grade")


Winner = Literal["a", "b", "equal", "depends"]


@dataclass(frozen=True)
class Verdict:
    """Who is ahead for all free parameters, with a proof if that depends on them.

    Parameters
    ----------
    winner : {"a", "b", "equal", "depends"}
        ``"a"``: A is never behind, and ahead wherever the free parameters decrease strictly.
    witnesses : pair of DCG, or empty
        For ``"depends"``: strictly decreasing parameters under which A is ahead, and others under
        which B is.
    differences : pair of float, or empty
        DCG(A) - DCG(B) under each witness: above 0, then below.
    """

    winner: Winner
    witnesses: tuple[DCG, ...] = ()
    differences: tuple[float, ...] = ()


def winners(
    D: ArrayLike,
    gains: ArrayLike | None = None,
    discounts: Discounts | None = None,
    worst_gain: WorstGain = "nonnegative",
) -> NDArray[Any]:
    """Decide who is ahead for all free parameters, for tables (..., K, L), without proofs."""
    by_step = advantage_by_step(D, gains, discounts, worst_gain)
    a_ahead, b_ahead = ((sign * by_step > 0).any(axis=(-2, -1)) for sign in (1, -1))
    return np.array(["equal", "a", "b", "depends"])[a_ahead + 2 * b_ahead]


def verdict(
    D: ArrayLike,
    gains: ArrayLike | None = None,
    discounts: Discounts | None = None,
    worst_gain: WorstGain = "nonnegative",
) -> Verdict:
    """Decide who is ahead for all free parameters, with a proof if that depends on them.

    Parameters
    ----------
    D : array-like, shape (K, L)
        Advantage of A over B (see :func:`~dcglearn.coherence.verdict.advantage`).
    gains : array-like of float, shape (L,), optional
        In any order and of any sign. By default all gains that do not increase with the grade.
    discounts : str or array-like of float, shape (K,), optional
        A rule or any vector. By default all discounts that are 0 or more and do not increase.
    worst_gain : {"nonnegative", "zero"}
        What the gain of the worst grade may be where gains are free: 0 or more, or 0.

    Returns
    -------
    Verdict

    Examples
    --------
    The example of Zhou et al.: gains 3, 2, 1/2 and discounts 1.5, .5.

    >>> from dcglearn import advantage
    >>> D = advantage([1, 2], [2, 0], 3)
    >>> verdict(D, [3, 2, 0.5], [1.5, 0.5]).winner
    'a'
    >>> verdict(D, discounts=[1.5, 0.5]).witnesses
    (DCG([4, 3, 1], [1.5, 0.5]), DCG([7, 2, 1], [1.5, 0.5]))
    """
    table = checked_advantage(D)
    winner: Winner = winners(table, gains, discounts, worst_gain).item()
    if winner != "depends":
        return Verdict(winner)
    by_step = advantage_by_step(table, gains, discounts, worst_gain)
    n_ranks, n_grades = table.shape
    measures, differences = [], []
    for at in (by_step.argmax(), by_step.argmin()):
        row, column = divmod(int(at), by_step.shape[1])
        u, v = _strict_weights(by_step, row, column, discounts is None, gains is None)
        c = _decreasing(u, n_ranks) if discounts is None else discounts
        g = _decreasing(v, n_grades) if gains is None else np.asarray(gains, float)
        measures.append(DCG(g, c, n_ranks if isinstance(c, str) else None))
        differences.append(float(u @ by_step @ v))
    return Verdict(winner, tuple(measures), tuple(differences))


def _decreasing(steps: Floats, size: int) -> Floats:
    """Return the sum of steps, each 1 on the first entries; the last entries of no step are 0."""
    return np.pad(steps[::-1].cumsum()[::-1], (0, size - len(steps)))


def _strict_weights(
    by_step: Floats, row: int, column: int, rows_free: bool, columns_free: bool
) -> tuple[Floats, Floats]:
    """Return weights above 0 of all steps under which the sum has the sign of one entry."""
    sign, weight = np.sign(by_step[row, column]), 1.0
    while True:
        u, v = np.ones(by_step.shape[0]), np.ones(by_step.shape[1])
        u[row] += weight if rows_free else 0.0
        v[column] += weight if columns_free else 0.0
        if sign * (u @ by_step @ v) >= sign * u[row] * v[column] * by_step[row, column] / 2:
            return u, v
        weight *= 2
