"""Coherence: who is ahead whatever the gains and discounts are.

    DCG(A) - DCG(B) = sum_ij a_i b_j D[i, j],  a and b >= 0   (:mod:`dcglearn.coherence.advantage`)

is 0 or more for *every* decreasing discount and compatible gain iff D >= 0. Where the
discounts are given the rows of D are added up with their weights, where the gains are, the
columns. Otherwise two entries of opposite sign prove that it depends: the steps that they
stand for disagree, and so do strictly falling parameters near them. D of two runs is the sum
over their queries. The question is that of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 4);
with two grades, full lists and given discounts it never depends, which is their theorem.

Counts (both free) are compared exactly. Sums with given numbers are tied where they differ by
at most :data:`~dcglearn.measures.measure.TIE_TOLERANCE` of what their terms add up to.
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
    as_advantage,
    gain_steps,
)
from dcglearn.measures.dcg import DCG

Winner = Literal["a", "b", "equal", "depends"]


@dataclass(frozen=True)
class AdvantageEntry:
    """One entry of the table: how far A leads by one step of the discounts and the gains.

    Parameters
    ----------
    depth : int or None
        The step counts the top `depth` ranks; None where the discounts are given.
    grade : int or None
        The step counts this grade index or better; None where the gains are given.
    value : float
        The lead of A, negative where B leads.
    worth : {1, -1}
        What the step gives a document that it counts: -1 only where the worst gain is
        free, and then to all documents.
    """

    depth: int | None
    grade: int | None
    value: float
    worth: int = 1


@dataclass(frozen=True)
class Verdict:
    """Who is ahead whatever the free parameters are, and why if that depends.

    Parameters
    ----------
    winner : {"a", "b", "equal", "depends"}
        ``"a"``: never behind, and ahead wherever the free parameters fall strictly.
        ``"equal"``: tied for all of them.
    entries : pair of AdvantageEntry, or empty
        For ``"depends"``: a step by which A leads, and one by which B does.
    witnesses : pair of DCG, or empty
        For ``"depends"``: strictly falling parameters under which A is ahead, and some
        under which B is.
    margins : pair of float, or empty
        DCG(A) - DCG(B) under each witness: above 0, then below.
    """

    winner: Winner
    entries: tuple[AdvantageEntry, ...] = ()
    witnesses: tuple[DCG, ...] = ()
    margins: tuple[float, ...] = ()


def winners(
    D: ArrayLike,
    gains: ArrayLike | None = None,
    discounts: Discounts | None = None,
    worst_gain: WorstGain = "nonnegative",
) -> NDArray[np.str_]:
    """Return who is ahead whatever the free parameters are, for many tables at once.

    Parameters
    ----------
    D : array-like, shape (..., K, L)
        Leads of A over B.
    gains : array-like of float, shape (L,), optional
        Free where not given.
    discounts : str or array-like of float, shape (K,), optional
        A rule or a vector; free where not given.
    worst_gain : {"nonnegative", "zero", "free"}
        What free gains may give the worst grade. Lists that all fill the same ranks get
        the same verdict from all three.

    Returns
    -------
    ndarray of str, shape (...)
        ``"a"``, ``"b"``, ``"equal"`` or ``"depends"``.

    Raises
    ------
    InputError
        If shapes do not fit or numbers are not finite.

    Examples
    --------
    >>> print(winners([[[1], [0]], [[1], [-1]], [[0], [-1]]]))
    ['a' 'depends' 'b']
    """
    found = advantage_by_step(as_advantage(D, many=True), gains, discounts, worst_gain)
    for_a, for_b = (found > 0).any(axis=(-2, -1)), (found < 0).any(axis=(-2, -1))
    return np.array(["equal", "a", "b", "depends"])[for_a + 2 * for_b]


def verdict(
    D: ArrayLike,
    gains: ArrayLike | None = None,
    discounts: Discounts | None = None,
    worst_gain: WorstGain = "nonnegative",
) -> Verdict:
    """Return who is ahead whatever the free parameters are, with a proof if it depends.

    Parameters
    ----------
    D : array-like, shape (K, L)
        The lead of A over B (see :func:`advantage`).
    gains : array-like of float, shape (L,), optional
        In any order and of any sign; where not given, all that do not rise from grade to
        grade.
    discounts : str or array-like of float, shape (K,), optional
        A rule or any vector; where not given, all that do not rise and are 0 or more.
    worst_gain : {"nonnegative", "zero", "free"}
        What free gains may give the worst grade: 0 or more, 0 (an empty rank is worth as
        much as a worst document), or any number, negative ones too.

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
    >>> found.margins
    (1.5, -1.5)
    """
    table = as_advantage(D)
    found = advantage_by_step(table, gains, discounts, worst_gain)
    if not ((found > 0).any() and (found < 0).any()):
        return Verdict("a" if (found > 0).any() else "b" if (found < 0).any() else "equal")
    n_ranks, n_grades = table.shape
    steps = gain_steps(n_grades, gains, worst_gain)
    entries, measures, margins = [], [], []
    for at in (found.argmax(), found.argmin()):
        row, column = divmod(int(at), found.shape[1])
        u, v = _strict(found, row, column, discounts is None, gains is None)
        depth = row + 1 if discounts is None else None
        grade = min(column, n_grades - 1) if gains is None else None
        worth = -1 if column == n_grades else 1
        entries.append(AdvantageEntry(depth, grade, float(found[row, column]), worth))
        falling = u[::-1].cumsum()[::-1] if discounts is None else discounts
        cutoff = n_ranks if isinstance(falling, str) else None
        measures.append(DCG(v @ steps, falling, cutoff))
        margins.append(float(u @ found @ v))
    return Verdict("depends", tuple(entries), tuple(measures), tuple(margins))


def _strict(
    found: Floats, row: int, column: int, rows_free: bool, columns_free: bool
) -> tuple[Floats, Floats]:
    """Return weights of all steps, the chosen ones the most, that keep its sign.

    The sum of all steps falls strictly. `weight` of the chosen step is added to it: the
    first power of 2 with which at least half of the chosen lead is left.
    """
    sign, weight = np.sign(found[row, column]), 1.0
    while True:
        u, v = np.ones(found.shape[0]), np.ones(found.shape[1])
        u[row] += weight if rows_free else 0.0
        v[column] += weight if columns_free else 0.0
        if sign * (u @ found @ v) >= sign * u[row] * v[column] * found[row, column] / 2:
            return u, v
        weight *= 2
