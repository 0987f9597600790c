"""Why two measures disagree on two lists, and the lists on which they disagree most clearly.

    W_1(a) - W_1(b) = sum_k (W_1[k, a_k] - W_1[k, b_k])

Each term is the contribution of one rank. If both measures are DCGs, the gains of one are combined
with the discounts of the other: the part whose exchange reverses the verdict is the reason.

For the clearest disagreement W_1 and W_2 are divided by the largest difference of two lists, and

    x_k = W_1[k, a_k] - W_1[k, b_k]        y_k = W_2[k, b_k] - W_2[k, a_k]

have the largest min(sum x_k, sum y_k). Sums that no other exceeds in both are carried from rank to
rank.
"""

from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats, Integers
from dcglearn.coherence.verdict import two_runs
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import TIE_TOLERANCE, Measure
from dcglearn.measures.names import MeasureLike, as_measure
from dcglearn.measures.scale import ScaleLike, as_scale

SHORT = 5
"""Ranks of an example, where the depths of the measures do not ask for more."""

DEEPEST = 100
"""The largest number of ranks of an example."""

_MOST_SUMS = 10_000
"""Of more sums, those are kept that are largest in y among those of nearly the same x."""


def example_depth(first: Measure, second: Measure) -> int:
    """Return how many ranks two lists must have to show where two measures differ."""
    both = first, second
    cutoffs = [(isinstance(one, DCG) and one.cutoff) or 0 for one in both]
    deepest = max(cutoffs) + (0 if all(cutoffs) else SHORT)
    covered = [one.n_ranks for one, cutoff in zip(both, cutoffs, strict=True) if not cutoff]
    return min([deepest, *filter(None, covered)])


def clearest_example(
    first: Measure, second: Measure, n_ranks: int | None = None
) -> NDArray[np.int64] | None:
    """Return two lists (2, K), of which the first measure prefers a and the second b; or None."""
    if n_ranks is None:
        n_ranks = example_depth(first, second)
        if n_ranks > SHORT and first.n_ranks == second.n_ranks:
            short = clearest_example(first, second, SHORT)
            if short is not None:
                return short
    if n_ranks > DEEPEST:
        problem = f"an example of {n_ranks} ranks, and it can have at most {DEEPEST}"
        raise InputError(problem, "lower `n_ranks`, or give lists by `a` and `b`")
    grades = np.array(list(product(range(first.n_grades), repeat=2)))[::-1]  # first the worst twice
    leads = []
    for measure, sign in ((first, 1.0), (second, -1.0)):
        W = measure.matrix_for(n_ranks)
        lead = W[:, grades[:, 0]] - W[:, grades[:, 1]]
        leads.append(sign * lead / (np.ptp(W, axis=1).sum() or 1.0))
    sums, lists = np.zeros((1, 2)), np.zeros((1, 2, 0), np.int64)
    for step in np.stack(leads, axis=2):
        choices = _unexceeded(step)
        every = (sums[:, None] + step[choices]).reshape(-1, 2)
        kept = _unexceeded(every)
        above, choice = np.divmod(kept, len(choices))
        sums, lists = every[kept], np.dstack([lists[above], grades[choices[choice]]])
    clearest = int(sums.min(axis=1).argmax())
    return lists[clearest] if sums[clearest].min() > TIE_TOLERANCE else None


def _unexceeded(points: Floats) -> Integers:
    """Return the indices of the points that no other point exceeds in both coordinates."""
    order = np.lexsort((-points[:, 1], -points[:, 0]))
    y = points[order, 1]
    most = np.append(-np.inf, np.maximum.accumulate(y)[:-1])
    kept: Integers = order[y > most + TIE_TOLERANCE]
    if len(kept) > _MOST_SUMS:
        x = points[kept, 0]  # falling; y rises, so the last point of a cell has its largest y
        cell = np.floor((x - x[-1]) / (x[0] - x[-1]) * _MOST_SUMS)
        kept = kept[np.append(cell[1:] != cell[:-1], True)]
    return kept


Preferred = Literal["a", "b", "equal"]

_PREFERRED: dict[int, Preferred] = {1: "a", -1: "b", 0: "equal"}


@dataclass(frozen=True, eq=False)
class Explanation:
    """The verdicts of two measures on two lists, and what causes their difference.

    Attributes
    ----------
    contributions : ndarray of float, shape (2, K)
        What each rank contributes to the difference of the lists, by measure: above 0 for a, as a
        share of the sum of absolute values.
    differences : pair of float
        The value of a minus that of b by each measure, in its own units.
    winners : pair of {"a", "b", "equal"}
        The list that each measure prefers.
    exchanged : pair of {"a", "b", "equal"}, or None
        The list preferred by the first measure's gains with the second's discounts, and the
        reverse; None where one of the measures is not a DCG.
    """

    contributions: Floats
    differences: tuple[float, ...]
    winners: tuple[Preferred, ...]
    exchanged: tuple[Preferred, ...] | None

    @property
    def agree(self) -> bool:
        """Whether both measures prefer the same list."""
        return self.winners[0] == self.winners[1]

    @property
    def reason(self) -> Literal["", "gains", "discounts", "either", "both together"]:
        """The part whose exchange reverses the verdict; "" where the measures agree.

        "either": each alone reverses it. "both together": neither does alone. Also "" where a
        measure is not a DCG.
        """
        if self.agree or self.exchanged is None:
            return ""
        gains_of_first, gains_of_second = self.exchanged
        discounts_alone = gains_of_first == self.winners[1]
        if gains_of_second == self.winners[1]:
            return "either" if discounts_alone else "gains"
        return "discounts" if discounts_alone else "both together"


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
        On the same grades. A normalised DCG is replaced by the plain one.
    a, b : array-like of int, shape (K,)
        Grade indices, the first rank first, -1 for no document.
    labels : Scale, str or sequence of labels, optional
        The labels of the grades, best first, which a preset needs.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> steep, flat = DCG([3, 1, 0], "zipf"), DCG([3, 2, 0], "zipf")
    >>> found = explain(steep, flat, [0, 2, 2], [1, 1, 2])
    >>> found.winners, found.reason
    (('a', 'equal'), 'gains')
    >>> explain("linear-log2", "zipf", [0, 2, 2], [2, 0, 0], labels=[2, 1, 0]).reason
    'discounts'
    """
    scale = as_scale(labels)
    first, second = as_measure(first, scale, np.size(a)), as_measure(second, scale, np.size(a))
    if first.n_grades != second.n_grades:
        raise InputError(
            f"measures of {first.n_grades} and {counted(second.n_grades, 'grade')}", "use one scale"
        )
    lists = two_runs(a, b, first.n_grades)
    if lists.ndim != 2:
        raise InputError(f"lists of shape {lists.shape[1:]}", "give two lists, of shape (K,)")
    K = lists.shape[1]
    measures = [first, second]
    if isinstance(first, DCG) and isinstance(second, DCG):
        c, d = first.discounts_for(K), second.discounts_for(K)
        measures += [DCG(first.gains, d), DCG(second.gains, c)]
    # The last column, index -1, is no document.
    weights = (np.pad(measure.matrix_for(K), ((0, 0), (0, 1))) for measure in measures)
    terms = np.array([np.subtract(*W[np.arange(K), lists]) for W in weights])
    sizes, differences = np.abs(terms).sum(axis=1), terms.sum(axis=1)
    sides = np.where(np.abs(differences) <= TIE_TOLERANCE * sizes, 0, np.sign(differences))
    winners = tuple(_PREFERRED[side] for side in sides.tolist())
    contributions = terms[:2] / np.where(sizes > 0, sizes, 1.0)[:2, None]
    return Explanation(
        contributions, tuple(differences[:2].tolist()), winners[:2], winners[2:] or None
    )
