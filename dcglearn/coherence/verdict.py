"""The verdict on two rankings, or runs, that holds for all gains and discounts of DCG.

    D[i, j] = (documents of grade j or better in the top i of A) - (the same of B)
    DCG(A) - DCG(B) = sum_ij a_i b_j D[i, j],  a and b >= 0

where non-increasing discounts are sums of steps, c = sum_i a_i (1 on the first i ranks), and so are
gains, g = sum_j b_j (1 on grades j or better). It is 0 or more for *every* decreasing discount and
compatible gain if and only if the advantage D >= 0. Given discounts combine the rows of D, given
gains the columns. Otherwise two entries of opposite sign prove that the verdict depends on the
parameters. D of two runs is the sum over their queries. With two grades, full lists and given
discounts the verdict never depends (Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 4).

The smallest change that reverses a verdict: DCG(A) - DCG(B) = w'x is linear in the gains x = g and
in the discounts x = c. The nearest tie is

    min |y - x|   s.t.   w'y = 0,  y_1 = x_1 >= y_2 >= ... >= y_n >= 0

As only ratios matter, the best gain, or the first discount, keeps its value. The projection on the
hyperplane and the cone is y(t), the non-increasing vector nearest to x - t w, clipped to its
bounds; w'y(t) does not increase with t, which is its root. A tie on the boundary, with no reversal
beyond it, does not count.
"""

from collections.abc import Callable, Sequence
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


def cumulative_counts(rankings: Grades, n_grades: int) -> NDArray[np.int32]:
    """Count the documents of grade j or better in the top i of rankings (..., K): (..., K, L)."""
    rows = rankings[..., None]
    at_least = (rows <= np.arange(n_grades)) & (rows > NO_DOCUMENT)
    return np.cumsum(at_least, axis=-2, dtype=np.int32)


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

    `D` is (..., K, L). One row per rank and one column per grade; given discounts leave one row,
    given gains a column.
    """
    table = np.asarray(D, float)
    n_ranks, n_grades = table.shape[-2:]
    check_name(worst_gain, "worst gain", WORST_GAINS)
    rows, columns = np.eye(n_ranks), np.eye(n_grades)
    if discounts is not None:
        table = np.diff(table, axis=-2, prepend=0.0)
        rows = discount_vector(discounts, n_ranks)[None, :]
    if gains is not None:
        table = np.diff(table, axis=-1, prepend=0.0)
        columns = _gain_vector(gains, n_grades)[:, None]
    elif worst_gain == "zero":
        columns = columns[:, :-1]
    found, size = rows @ table @ columns, np.abs(rows) @ np.abs(table) @ np.abs(columns)
    return np.where(np.abs(found) <= TIE_TOLERANCE * size, 0.0, found)


def _checked_advantage(D: ArrayLike) -> Floats:
    remedy = "give an advantage table of shape (ranks, grades)"
    return finite_array(D, "advantages", (None, None), remedy)


def discount_vector(discounts: Discounts, n_ranks: int) -> Floats:
    """Return the discounts of a rule, or check that a vector has one finite number per rank."""
    if isinstance(discounts, str):
        return rule_discounts(discounts, n_ranks)
    return finite_array(discounts, "discounts", (n_ranks,), "give one number per rank")


def _gain_vector(gains: ArrayLike, n_grades: int) -> Floats:
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


def winners(by_step: Floats) -> NDArray[Any]:
    """Decide who is ahead for all free parameters, by the advantages (..., K, L) of their steps."""
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
    table = _checked_advantage(D)
    by_step = advantage_by_step(table, gains, discounts, worst_gain)
    winner: Winner = winners(by_step).item()
    if winner != "depends":
        return Verdict(winner)
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


@dataclass(frozen=True)
class SmallestChange:
    """The nearest parameters that tie two lists or runs, and parameters just beyond them."""

    tie: tuple[float, ...]
    distance: float
    beyond: DCG | None
    difference: float


def smallest_change_of_gains(
    D: ArrayLike, gains: ArrayLike, discounts: Discounts, worst_gain: WorstGain | None = None
) -> SmallestChange | None:
    """Find the nearest compatible gains beyond which the other list, or run, is ahead.

    Parameters
    ----------
    D : array-like, shape (K, L)
        Advantage of A over B (see :func:`~dcglearn.coherence.verdict.advantage`).
    gains : array-like of float, shape (L,)
        Not increasing from grade to grade. The best gain keeps its value.
    discounts : str or array-like of float, shape (K,)
        A rule or any vector; they stay.
    worst_gain : {None, "zero", "nonnegative"}, default None
        The worst gain keeps its value; is 0 and stays 0; or may be anything from 0 on.

    Returns
    -------
    SmallestChange or None
        None where no such gains reverse the verdict; a distance of 0 where the two are tied.

    Examples
    --------
    Gains 3, 2, 1/2 and discounts 1.5, .5: the middle gain must fall below 4/3.

    >>> change = smallest_change_of_gains([[0, 1, 0], [-1, 0, 0]], [3, 2, 0.5], [1.5, 0.5])
    >>> [round(gain, 6) for gain in change.tie], round(change.distance, 6), change.difference < 0
    ([3.0, 1.333333, 0.5], 0.666667, True)
    """
    net, g, c = _net_counts(D, gains, discounts)
    _check_falling(g, "gains", worst_gain)
    terms = c @ net, np.abs(c) @ np.abs(net)
    cutoff = len(c) if isinstance(discounts, str) else None
    free, low = slice(1, max(len(g) - 1, 1)), float(g[-1])
    if worst_gain == "nonnegative":
        free, low = slice(1, None), 0.0
    return _smallest_change(*terms, g, free, low, lambda y: DCG(y, discounts, cutoff))


def smallest_change_of_discounts(
    D: ArrayLike, gains: ArrayLike, discounts: Discounts
) -> SmallestChange | None:
    """Find the nearest decreasing discounts beyond which the other list, or run, is ahead.

    Parameters
    ----------
    D : array-like, shape (K, L)
        Advantage of A over B (see :func:`~dcglearn.coherence.verdict.advantage`).
    gains : array-like of float, shape (L,)
        In any order and of any sign; they stay.
    discounts : str or array-like of float, shape (K,)
        A rule or a vector, 0 or more and not increasing. The first discount keeps its value.

    Returns
    -------
    SmallestChange or None
        As of :func:`smallest_change_of_gains`.

    Examples
    --------
    >>> change = smallest_change_of_discounts([[0, 1, 0], [-1, 0, 0]], [3, 2, 0.5], [1.5, 0.5])
    >>> [round(discount, 6) for discount in change.tie], round(change.distance, 6)
    ([1.5, 0.9], 0.4)
    """
    net, g, c = _net_counts(D, gains, discounts)
    _check_falling(c, "discounts", "nonnegative")
    terms = net @ g, np.abs(net) @ np.abs(g)
    return _smallest_change(*terms, c, slice(1, None), 0.0, lambda y: DCG(g, y))


def _net_counts(
    D: ArrayLike, gains: ArrayLike, discounts: Discounts
) -> tuple[Floats, Floats, Floats]:
    """Return the documents of A minus those of B by rank and grade, the gains and the discounts."""
    table = _checked_advantage(D)
    n_ranks, n_grades = table.shape
    net = np.diff(np.diff(table, axis=0, prepend=0.0), axis=1, prepend=0.0)
    return net, _gain_vector(gains, n_grades), discount_vector(discounts, n_ranks)


def _check_falling(values: Floats, name: str, worst: WorstGain | None) -> None:
    check_name(worst, "worst gain", (None, *WORST_GAINS))
    ends, least = {
        None: (True, ""),
        "nonnegative": (values[-1] >= 0, " and are 0 or more"),
        "zero": (values[-1] == 0, " and end with 0"),
    }[worst]
    if (np.diff(values) > 0).any() or not ends:
        raise InputError(f"{name} are {values.tolist()}", f"give {name} that never increase{least}")


def _smallest_change(
    w: Floats, size: Floats, x: Floats, free: slice, low: float, measure: Callable[[Floats], DCG]
) -> SmallestChange | None:
    """Change the free entries of x, within [low, x_1], until w'y has the other sign.

    `size` has the sums of the absolute terms of w, which scale its rounding errors.
    """

    def value(y: Floats) -> float:
        found = float(w @ y)
        return 0.0 if abs(found) <= TIE_TOLERANCE * float(size @ np.abs(y)) else found

    def changed(entries: Floats) -> Floats:
        y = x.copy()
        y[free] = entries
        return y

    lead = value(x)
    if lead == 0:
        return SmallestChange(tuple(x.tolist()), 0.0, None, 0.0)
    sign = float(np.sign(lead))
    w = sign * w  # A is ahead at x
    # The smallest w'y of all non-increasing y: x_1 in the first free entries, then the lowest.
    sums = np.append(0.0, np.cumsum(w[free]))
    at = (x[0] * sums + low * (sums[-1] - sums)).argmin()
    far = changed(np.where(np.arange(len(sums) - 1) < at, x[0], low))
    if value(far) >= 0:
        return None

    from scipy.optimize import brentq, isotonic_regression

    def projected(t: float) -> Floats:
        fitted = isotonic_regression((x - t * w)[free], increasing=False).x
        return changed(np.clip(fitted, low, x[0]))

    def remaining(t: float) -> float:
        return float(w @ projected(t))

    upper = remaining(0.0) / float(w[free] @ w[free])
    while remaining(upper) > 0:  # ends, because `far` is reached at a finite t
        upper *= 2
    near = projected(brentq(remaining, 0.0, upper, xtol=1e-16 * upper, rtol=1e-15))
    rest = float(w @ near)  # within the solver's tolerance of 0
    other = far if rest > 0 else x
    tie = near + rest / (rest - float(w @ other)) * (other - near)
    step, beyond = 2.0**-10, tie
    while value(beyond) >= 0:
        step, beyond = 2 * step, tie + step * (far - tie)
    distance = float(np.linalg.norm(tie - x))
    return SmallestChange(tuple(tie.tolist()), distance, measure(beyond), sign * value(beyond))
