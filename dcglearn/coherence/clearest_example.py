"""Two lists on which two measures disagree most clearly.

W_1 and W_2 hold what a grade contributes at each rank, divided by the largest difference of two
lists under that measure. Grades a_k and b_k at rank k give

    x_k = W_1[k, a_k] - W_1[k, b_k]        y_k = W_2[k, b_k] - W_2[k, a_k]

and the clearest disagreement is the largest min(sum x_k, sum y_k). Of short lists all pairs are
tried. For longer ones the sums that no other sum exceeds in both x and y are carried from rank to
rank: no other sum can be part of the largest minimum.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import TIE_TOLERANCE, Measure
from dcglearn.measures.scale import NO_DOCUMENT

MOST_LISTS = 400
"""Short examples are sought among all lists of n ranks, n the largest for which there are at most
this many."""

SHORT = 5
"""Ranks of an example, where the depths of the measures do not ask for more."""

DEEPEST = 100
"""The largest number of ranks of an example."""

_MOST_SUMS = 10_000
"""Of more sums, those are kept that are largest in y among those of nearly the same x."""


def example_depth(first: Measure, second: Measure) -> int:
    """Return how many ranks two lists must have to show where two measures differ.

    The larger cutoff; :data:`SHORT` more than the cutoff if only one measure has one; no more than
    a vector of discounts, or weights by rank, cover.

    >>> measure = DCG([1, 0], "log2")
    >>> example_depth(measure @ 5, measure @ 10), example_depth(measure @ 3, measure)
    (10, 8)
    """
    cutoffs, covered = [], []
    for measure in (first, second):
        cutoff = measure.cutoff if isinstance(measure, DCG) else None
        if cutoff is not None:
            cutoffs.append(cutoff)
        elif measure.n_ranks is not None:
            covered.append(measure.n_ranks)
    deepest = max(cutoffs, default=0) + (0 if len(cutoffs) == 2 else SHORT)
    return min([deepest, *covered])


def clearest_example(
    first: Measure, second: Measure, n_ranks: int | None = None
) -> NDArray[np.int64] | None:
    """Find the two lists on which two measures disagree most clearly.

    Shape (2, K): the first measure prefers list a, the second list b. Of all such pairs, the one
    with the largest difference by the measure that is less sure, relative to the largest difference
    by that measure; None where the measures disagree on no pair. By default K is that of
    :func:`example_depth`, and :data:`SHORT` for measures of the same depth, if they disagree on so
    few ranks. Lists in which only the first ranks hold documents are tried first, at most
    :data:`MOST_LISTS` of them.

    >>> clearest_example(DCG([3, 1, 0], "zipf"), DCG([3, 2.9, 0], "zipf"), 2)
    array([[0, 2],
           [1, 1]])
    """
    depth = example_depth(first, second) if n_ranks is None else n_ranks
    short = None
    if depth <= SHORT or first.n_ranks == second.n_ranks:
        short = _of_short_lists(first, second, min(depth, SHORT) if n_ranks is None else depth)
    return _of_long_lists(first, second, depth) if short is None else short


def _of_short_lists(first: Measure, second: Measure, n_ranks: int) -> NDArray[np.int64] | None:
    L, filled = first.n_grades, 1
    while filled < min(n_ranks, SHORT) and L ** (filled + 1) <= MOST_LISTS:
        filled += 1
    some = np.array(list(product(range(L), repeat=filled)))
    lists = np.full((len(some), n_ranks), NO_DOCUMENT)
    lists[:, :filled] = some
    relative = []
    for measure in (first, second):
        value = plain(measure).score(lists)
        difference = value[:, None] - value
        relative.append(difference / (np.abs(difference).max() or 1.0))
    clearness = np.minimum(relative[0], -relative[1])
    if clearness.max() <= TIE_TOLERANCE:
        return None
    pair = np.unravel_index(int(clearness.argmax()), clearness.shape)
    return lists[list(pair)]


def _of_long_lists(first: Measure, second: Measure, n_ranks: int) -> NDArray[np.int64] | None:
    weights = [plain(one).matrix_for(n_ranks) for one in (first, second)]
    L = first.n_grades
    grades = np.array(list(product(range(L), repeat=2)))[::-1]  # the worst twice comes first
    sums, chosen = np.zeros((1, 2)), []
    steps = np.stack(
        [
            sign * (W[:, grades[:, 0]] - W[:, grades[:, 1]]) / (np.ptp(W, axis=1).sum() or 1.0)
            for W, sign in zip(weights, (1.0, -1.0), strict=True)
        ],
        axis=2,
    )
    for step in steps:
        choices = _unexceeded(step)
        every = (sums[:, None] + step[choices]).reshape(-1, 2)
        kept = _unexceeded(every)
        sums = every[kept]
        chosen.append((kept // len(choices), choices[kept % len(choices)]))
    at = int(sums.min(axis=1).argmax())
    if sums[at].min() <= TIE_TOLERANCE:
        return None
    lists = np.empty((2, n_ranks), np.int64)
    for rank in range(n_ranks - 1, -1, -1):
        before, choice = chosen[rank]
        lists[:, rank] = grades[choice[at]]
        at = int(before[at])
    return lists


def _unexceeded(points: Floats) -> NDArray[np.intp]:
    """Return the indices of the points that no other point exceeds in both coordinates."""
    order = np.lexsort((-points[:, 1], -points[:, 0]))
    y = points[order, 1]
    most = np.concatenate([[-np.inf], np.maximum.accumulate(y)[:-1]])
    kept: NDArray[np.intp] = order[y > most + TIE_TOLERANCE]
    if len(kept) > _MOST_SUMS:
        x = points[kept, 0]  # falling; y rises, so the last point of a cell has its largest y
        cell = np.floor((x - x[-1]) / (x[0] - x[-1]) * _MOST_SUMS)
        kept = kept[np.append(cell[1:] != cell[:-1], True)]
    return kept


def plain(measure: Measure) -> Measure:
    """Return a measure as it orders the lists of one query: a DCG without normalisation.

    >>> plain(DCG([1, 0], "zipf", normalise="ideal"))
    DCG([1, 0], zipf)
    """
    return measure.plain() if isinstance(measure, DCG) else measure
