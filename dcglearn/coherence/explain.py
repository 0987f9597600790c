"""Why two measures disagree on two lists: rank by rank, and gains separately from discounts.

    W_1(a) - W_1(b) = sum_k (W_1[k, a_k] - W_1[k, b_k])

Each term is the contribution of one rank. If both measures are DCGs, the gains of one are combined
with the discounts of the other: the part whose exchange reverses the verdict is the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.coherence.clearest_example import plain
from dcglearn.measures.dcg import DCG
from dcglearn.measures.grade_indices import checked_grades
from dcglearn.measures.measure import TIE_TOLERANCE, Measure
from dcglearn.measures.scale import ScaleLike, needed_scale
from dcglearn.naming.names import MeasureLike, as_measure

Preferred = Literal["a", "b", "equal"]
"""The list that one measure prefers."""


@dataclass(frozen=True)
class Explanation:
    """The verdicts of two measures on two lists, and what causes their difference.

    Attributes
    ----------
    contributions : ndarray of float, shape (2, K)
        What each rank contributes to the difference of the lists, by measure: above 0 for a,
        below 0 for b. The absolute values of a row sum to 1, or are 0 where no rank
        contributes.
    differences : pair of float
        The value of a minus that of b by each measure, in its own units.
    winners : pair of {"a", "b", "equal"}
        The list that each measure prefers.
    exchanged : pair of {"a", "b", "equal"}, or None
        The list preferred by the first measure's gains with the second's discounts, and the
        reverse; None where one of the measures is not a DCG.
    """

    contributions: Floats
    differences: tuple[float, float]
    winners: tuple[Preferred, Preferred]
    exchanged: tuple[Preferred, Preferred] | None

    @property
    def agree(self) -> bool:
        """Whether both measures prefer the same list."""
        return self.winners[0] == self.winners[1]

    @property
    def reason(self) -> Literal["", "gains", "discounts", "either", "both together"]:
        """The part whose exchange reverses the verdict; "" where the measures agree.

        "either": exchanging the gains alone reverses it, and so does exchanging the discounts
        alone. "both together": neither does alone. Also "" where a measure is not a DCG.
        """
        if self.agree or self.exchanged is None:
            return ""
        second = self.winners[1]
        gains_of_first, gains_of_second = self.exchanged
        discounts_alone = gains_of_first == second  # only the discounts are the second's
        gains_alone = gains_of_second == second
        if gains_alone and discounts_alone:
            return "either"
        if gains_alone or discounts_alone:
            return "gains" if gains_alone else "discounts"
        return "both together"


def explain(
    first: MeasureLike,
    second: MeasureLike,
    a: ArrayLike,
    b: ArrayLike,
    labels: ScaleLike | None = None,
) -> Explanation:
    """Explain why two measures agree or disagree on two lists.

    Parameters
    ----------
    first, second : DCG, LinearUtility, MeasureFile, or its name
        On the same grades. A preset needs `labels`. A normalised DCG is replaced by the plain
        one, which orders lists of one query in the same way.
    a, b : array-like of int, shape (K,)
        Grade indices, the first rank first, -1 for no document.
    labels : Scale, str or sequence of labels, optional
        The labels of the grades, best first.

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        If the lists have different lengths, a measure does not fit them, or a preset comes
        without labels.

    Examples
    --------
    >>> steep, flat = DCG([3, 1, 0], "zipf"), DCG([3, 2, 0], "zipf")
    >>> found = explain(steep, flat, [0, 2, 2], [1, 1, 2])
    >>> found.winners, found.reason
    (('a', 'equal'), 'gains')
    >>> explain("linear-log2", "zipf", [0, 2, 2], [2, 0, 0], labels=[2, 1, 0]).reason
    'discounts'
    """
    if labels is not None:
        scale, n_ranks = needed_scale(labels), np.size(a)
        first, second = (as_measure(measure, scale, n_ranks) for measure in (first, second))
    first, second = as_measure(first), as_measure(second)
    if first.n_grades != second.n_grades:
        raise InputError(
            f"measures of {first.n_grades} and {counted(second.n_grades, 'grade')}", "use one scale"
        )
    lists = [
        checked_grades(rows, first.n_grades, f"list {name}") for name, rows in (("a", a), ("b", b))
    ]
    if lists[0].ndim != 1 or lists[0].shape != lists[1].shape:
        raise InputError(
            f"lists of shape {lists[0].shape} and {lists[1].shape}",
            "give two lists of the same length, padded with -1",
        )
    terms = np.array([_terms(measure, *lists) for measure in (first, second)])
    sizes = np.abs(terms).sum(axis=1)
    exchanged = None
    if isinstance(first, DCG) and isinstance(second, DCG):
        K = len(lists[0])
        c, d = first.discounts_for(K), second.discounts_for(K)
        mixed = DCG(first.gains, d), DCG(second.gains, c)
        by_first, by_second = (_preferred(_terms(measure, *lists)) for measure in mixed)
        exchanged = by_first, by_second
    return Explanation(
        contributions=terms / np.where(sizes > 0, sizes, 1.0)[:, None],
        differences=(float(terms[0].sum()), float(terms[1].sum())),
        winners=(_preferred(terms[0]), _preferred(terms[1])),
        exchanged=exchanged,
    )


def _terms(measure: Measure, a: NDArray[np.integer], b: NDArray[np.integer]) -> Floats:
    """Return what each rank contributes to the difference of a and b, shape (K,)."""
    matrix = plain(measure).matrix_for(len(a))
    W = np.column_stack([matrix, np.zeros(len(a))])  # the last column, index -1: no document
    ranks = np.arange(len(a))
    found: Floats = W[ranks, a] - W[ranks, b]
    return found


def _preferred(terms: Floats) -> Preferred:
    difference, size = float(terms.sum()), float(np.abs(terms).sum())
    if abs(difference) <= TIE_TOLERANCE * size:
        return "equal"
    return "a" if difference > 0 else "b"
