"""Expected reciprocal rank, ERR, of a person who reads down until a document satisfies.

    ERR = sum_i (1 / i) R_i prod_{j < i} (1 - R_j)

R_i is the probability that the document at rank i satisfies, by its grade (Chapelle, Metzler, Zhang
& Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009). ERR is not a DCG: what a
document adds depends on the documents above it. By default R = (2^g - 1) / 2^4, as in gdeval and
ir_measures, where 4 is the largest grade.

Of documents with equal scores, ERR is the mean over their orders. With q_j = 1 - R_j of the m
documents of such a group, the probability to pass the first t of them is, on average, the mean
product of t of the m numbers,

    E_t = e_t(q) / binom(m, t)      e_t the elementary symmetric polynomial

so that rank t of the group acts as a document with R = 1 - E_t / E_{t-1}.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcglearn.base.checks import checked_count, checked_number
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.evaluation.gain_measures import (
    Fractions,
    checked_fractions,
    fractions_on_scale,
    fractions_text,
)
from dcglearn.evaluation.ranked import Ranked
from dcglearn.measures.dcg import Gains
from dcglearn.measures.discounts import format_number
from dcglearn.measures.scale import Label, Scale

LARGEST_GRADE = 4.0
"""The largest grade in gdeval, whatever the grades of the qrels."""

_CELLS_AT_ONCE = 2**20


@dataclass(frozen=True)
class ERR:
    """Expected reciprocal rank.

    Parameters
    ----------
    probabilities : sequence of float, or mapping from grade to float, optional
        The probability R that a document of each grade satisfies, best grade first. By default
        (2^g - 1) / 2^max_rel for a grade of value g, and 0 for values below 0.
    cutoff : int, optional
        Lower ranks do not count.
    grades : sequence of labels, optional
        The label of each grade, best first.
    max_rel : float, default 4
        The largest value of a grade, where `probabilities` are not given.

    Raises
    ------
    InputError
        If a probability is not in 0 ... 1, or `cutoff` or `max_rel` is out of range.

    Examples
    --------
    >>> ERR({2: 0.9, 1: 0.3, 0: 0}) @ 20
    ERR({2: 0.9, 1: 0.3, 0: 0}) @ 20
    """

    probabilities: Fractions | None = None
    cutoff: int | None = None
    grades: tuple[Label, ...] | None = None
    max_rel: float = LARGEST_GRADE

    def __init__(
        self,
        probabilities: Gains | None = None,
        cutoff: int | None = None,
        grades: Sequence[Label] | None = None,
        max_rel: float = LARGEST_GRADE,
    ) -> None:
        set_ = object.__setattr__
        if probabilities is None:
            set_(self, "probabilities", None)
            set_(self, "grades", None)
        else:
            numbers, labels = checked_fractions(probabilities, "probabilities", grades)
            set_(self, "probabilities", numbers)
            set_(self, "grades", labels)
        set_(self, "cutoff", None if cutoff is None else checked_count(cutoff, "`cutoff`"))
        set_(self, "max_rel", checked_number(max_rel, "`max_rel`", 0, 1000, above=True))

    @property
    def n_ranks(self) -> int | None:
        """The number of ranks that count; None for all."""
        return self.cutoff

    def __matmul__(self, cutoff: int) -> ERR:
        """Return the same measure with another cutoff: ``ERR() @ 20``."""
        return replace(self, cutoff=cutoff)

    def on_scale(self, scale: Scale) -> ERR:
        """Return the measure with one probability for each grade of a scale.

        Parameters
        ----------
        scale : Scale

        Returns
        -------
        ERR

        Raises
        ------
        InputError
            If there is no probability for a grade, or a grade is above `max_rel`.

        Examples
        --------
        >>> ERR().on_scale(Scale((2, 1, 0)))
        ERR({2: 0.1875, 1: 0.0625, 0: 0})
        """
        if self.probabilities is not None:
            fitted = fractions_on_scale(self.probabilities, self.grades, scale)
            return replace(self, probabilities=fitted, grades=scale.labels)
        largest = max(scale.values)
        if largest > self.max_rel:
            raise InputError(
                f"has {format_number(self.max_rel)} for the largest grade, and the grades are "
                f"{scale}",
                f"write ERR(max_rel={format_number(largest)})",
            )
        values = np.maximum(scale.values, 0.0)
        probabilities = (2.0**values - 1) / 2.0**self.max_rel
        return replace(self, probabilities=tuple(probabilities.tolist()), grades=scale.labels)

    def __str__(self) -> str:
        if self.probabilities is None:
            inside = f"max_rel={format_number(self.max_rel)}"
        else:
            inside = fractions_text(self.probabilities, self.grades)
        return f"ERR({inside})" + ("" if self.cutoff is None else f" @ {self.cutoff}")

    __repr__ = __str__


def score_err(measure: ERR, ranked: Ranked, unjudged: float | None = None) -> Floats:
    """Return the ERR of each query.

    Parameters
    ----------
    measure : ERR
        On the scale of the rankings.
    ranked : Ranked
        Documents with equal scores count by the mean over their orders.
    unjudged : float, optional
        The probability that a document without a judgment satisfies; by default that of the worst
        grade.

    Returns
    -------
    ndarray of float, shape (Q,)

    Raises
    ------
    InputError
        If the number of grades differs.

    Examples
    --------
    >>> ranked = Ranked(np.array([0, 2]), np.array([1, 0]), np.array([[1, 1]]))
    >>> score_err(ERR([0.5, 0.25]), ranked)  # .25 + .75 * .5 / 2
    array([0.4375])
    """
    probabilities = measure.probabilities
    if probabilities is None or len(probabilities) != ranked.n_grades:
        raise InputError("ERR on another scale", "give ERR(...).on_scale(scale)")
    by_grade = np.array([*probabilities, probabilities[-1] if unjudged is None else unjudged])
    longest = int(ranked.lengths.max(initial=0))
    n_ranks = longest if measure.cutoff is None else min(longest, measure.cutoff)
    found = np.zeros(len(ranked.lengths))
    rows = max(1, _CELLS_AT_ONCE // max(n_ranks, 1))
    for begin in range(0, len(found), rows):
        block = slice(begin, begin + rows)
        found[block] = _of_block(ranked.of_queries(block), by_grade, n_ranks)
    return found


def _of_block(ranked: Ranked, by_grade: Floats, n_ranks: int) -> Floats:
    stops = _stopping(ranked, by_grade[ranked.grades], n_ranks)
    matrix = np.zeros((len(ranked.lengths), n_ranks))
    kept = ranked.ranks < n_ranks
    query = np.repeat(np.arange(len(matrix)), ranked.lengths)
    matrix[query[kept], ranked.ranks[kept]] = stops[kept]
    reached = np.ones_like(matrix)
    np.cumprod(1 - matrix[:, :-1], axis=1, out=reached[:, 1:])
    value: Floats = np.sum(matrix * reached / np.arange(1, n_ranks + 1), axis=1)
    return value


def _stopping(ranked: Ranked, R: Floats, n_ranks: int) -> Floats:
    """Return the mean probability to stop at each rank, if it is reached."""
    rows, groups, sizes = ranked.tied_documents
    if not len(rows):
        return R
    stops = R.copy()
    first = np.searchsorted(groups, np.arange(len(sizes)))
    mixed = np.maximum.reduceat(R[rows], first) > np.minimum.reduceat(R[rows], first)
    for group in np.flatnonzero(mixed & (ranked.ranks[rows[first]] < n_ranks)):
        start, size = int(rows[first[group]]), int(sizes[group])
        most = min(size, n_ranks - int(ranked.ranks[start]))
        passed = mean_products(1 - R[start : start + size], most)
        ratios = np.divide(
            passed[1:], passed[:-1], out=np.ones(most), where=passed[:-1] > 0
        )  # once nobody passes, the ranks below are not reached
        stops[start : start + most] = 1 - ratios
    return stops


def mean_products(q: Floats, most: int) -> Floats:
    """Return the mean product of t of the numbers, over all choices of t, for t = 0 ... `most`.

    Parameters
    ----------
    q : ndarray of float, shape (m,)
        In 0 ... 1.
    most : int
        At most m.

    Returns
    -------
    ndarray of float, shape (most + 1,)

    Examples
    --------
    >>> mean_products(np.array([0.5, 1.0]), 2)
    array([1.  , 0.75, 0.5 ])
    """
    t = np.arange(most + 1)
    means = np.zeros(most + 1)
    means[0] = 1.0
    for m, number in enumerate(q.tolist(), start=1):
        # a choice of t of m numbers leaves out the last one, or holds it
        share = np.minimum(t / m, 1.0)
        means[1:] = (1 - share[1:]) * means[1:] + share[1:] * number * means[:-1]
    return means
