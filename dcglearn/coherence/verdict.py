"""The verdict on two rankings, or runs, that holds for all gains and discounts.

    DCG(A) - DCG(B) = sum_ij a_i b_j D[i, j],  a and b >= 0   (:mod:`dcglearn.coherence.advantage`)

is 0 or more for *every* decreasing discount and compatible gain if and only if D >= 0. Given
discounts combine the rows of D with their weights, given gains the columns. Otherwise two entries
of opposite sign prove that the verdict depends on the parameters: the two steps that the entries
represent disagree, and so do strictly decreasing parameters near these steps. D of two runs is the
sum over their queries. The question is that of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 4);
with two grades, full lists and given discounts the verdict never depends, which is their theorem.

Counts (both free) are compared exactly. Sums with given numbers are tied where they differ by
at most :data:`~dcglearn.measures.measure.TIE_TOLERANCE` times the sum of their absolute terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.types import Floats
from dcglearn.coherence.advantage import (
    Discounts,
    WorstGain,
    advantage_by_step,
    checked_advantage,
)
from dcglearn.measures.dcg import DCG

Winner = Literal["a", "b", "equal", "depends"]
"""Who has the higher DCG for all free parameters, or that it depends on them."""


@dataclass(frozen=True)
class AdvantageEntry:
    """The advantage of A for one step of the discounts and one of the gains.

    Parameters
    ----------
    depth : int or None
        The step counts the top `depth` ranks; None where the discounts are given.
    grade : int or None
        The step counts this grade index or better; None where the gains are given.
    value : float
        The advantage of A; negative where B is ahead.
    """

    depth: int | None
    grade: int | None
    value: float


@dataclass(frozen=True)
class Verdict:
    """Who is ahead for all free parameters, with a proof if that depends on them.

    Parameters
    ----------
    winner : {"a", "b", "equal", "depends"}
        ``"a"``: A is never behind, and ahead wherever the free parameters decrease strictly.
        ``"equal"``: tied for all of them.
    entries : pair of AdvantageEntry, or empty
        For ``"depends"``: a step for which A is ahead, and one for which B is.
    witnesses : pair of DCG, or empty
        For ``"depends"``: strictly decreasing parameters under which A is ahead, and others
        under which B is.
    differences : pair of float, or empty
        DCG(A) - DCG(B) under each witness: above 0, then below.
    """

    winner: Winner
    entries: tuple[AdvantageEntry, ...] = ()
    witnesses: tuple[DCG, ...] = ()
    differences: tuple[float, ...] = ()


def winners(
    D: ArrayLike,
    gains: ArrayLike | None = None,
    discounts: Discounts | None = None,
    worst_gain: WorstGain = "nonnegative",
) -> NDArray[np.str_]:
    """Decide who is ahead for all free parameters, for many tables at once and without proofs.

    Tables of shape (..., K, L) give names of shape (...): "a", "b", "equal" or "depends".

    >>> print(winners([[[1], [0]], [[1], [-1]], [[0], [-1]]]))
    ['a' 'depends' 'b']
    """
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
        Advantage of A over B (see :func:`~dcglearn.coherence.advantage.advantage`).
    gains : array-like of float, shape (L,), optional
        In any order and of any sign. By default all gains that do not increase from grade to
        grade.
    discounts : str or array-like of float, shape (K,), optional
        A rule or any vector. By default all discounts that are 0 or more and do not increase.
    worst_gain : {"nonnegative", "zero"}
        What the gain of the worst grade may be where gains are free: 0 or more, or 0 (an empty
        rank is then worth as much as a worst document). The verdict on lists that fill the same
        ranks is the same for both.

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        If shapes do not fit or numbers are not finite.

    Examples
    --------
    The example of Zhou et al.: gains 3, 2, 1/2 and discounts 1.5, .5.

    >>> from dcglearn.coherence.advantage import advantage
    >>> D = advantage([1, 2], [2, 0], 3)
    >>> verdict(D, [3, 2, 0.5], [1.5, 0.5]).winner
    'a'
    >>> found = verdict(D, discounts=[1.5, 0.5])
    >>> found.winner, found.entries[1].grade, found.entries[1].value
    ('depends', 0, -0.5)
    >>> found.witnesses
    (DCG([4, 3, 1], [1.5, 0.5]), DCG([7, 2, 1], [1.5, 0.5]))
    >>> found.differences
    (1.5, -1.5)
    """
    table = checked_advantage(D)
    by_step = advantage_by_step(table, gains, discounts, worst_gain)
    a_ahead, b_ahead = bool((by_step > 0).any()), bool((by_step < 0).any())
    if not (a_ahead and b_ahead):
        return Verdict("a" if a_ahead else "b" if b_ahead else "equal")
    n_ranks, n_grades = table.shape
    entries, measures, differences = [], [], []
    for at in (by_step.argmax(), by_step.argmin()):
        row, column = divmod(int(at), by_step.shape[1])
        u, v = _strict_weights(by_step, row, column, discounts is None, gains is None)
        value = float(by_step[row, column])
        depth = row + 1 if discounts is None else None
        entries.append(AdvantageEntry(depth, column if gains is None else None, value))
        c = _decreasing(u, n_ranks) if discounts is None else discounts
        g = _decreasing(v, n_grades) if gains is None else np.asarray(gains, float)
        measures.append(DCG(g, c, n_ranks if isinstance(c, str) else None))
        differences.append(float(u @ by_step @ v))
    return Verdict("depends", tuple(entries), tuple(measures), tuple(differences))


def _decreasing(steps: Floats, size: int) -> Floats:
    """Return the sum of steps, each 1 on the first entries; the last entries of no step are 0."""
    return np.pad(steps[::-1].cumsum()[::-1], (0, size - len(steps)))


def _strict_weights(
    by_step: Floats, row: int, column: int, rows_free: bool, columns_free: bool
) -> tuple[Floats, Floats]:
    """Return weights above 0 of all steps under which the sum has the sign of one entry.

    The sum of all steps decreases strictly. The entry's step is added to it, multiplied by the
    first power of 2 that keeps at least half of what the entry contributes alone.
    """
    sign, weight = np.sign(by_step[row, column]), 1.0
    while True:
        u, v = np.ones(by_step.shape[0]), np.ones(by_step.shape[1])
        u[row] += weight if rows_free else 0.0
        v[column] += weight if columns_free else 0.0
        if sign * (u @ by_step @ v) >= sign * u[row] * v[column] * by_step[row, column] / 2:
            return u, v
        weight *= 2
