"""Branch and bound over boxes of gain ratios, for many pairs of runs at once.

A box in which the bounds leave only one sign is finished. Any other box is halved across the ratio
with which the mean difference changes the most, until that side is no longer than the resolution.
The mean difference is also evaluated at the middle of every box. Two points of opposite sign prove
that the order of a pair depends on the gains, which ends its search; with one free ratio the
search goes on, so that the whole line is divided by the sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.coherence.mean_ndcg_bounds import MeanDifference

UNDECIDED, FOR_A, FOR_B, EQUAL = range(4)
"""Labels of boxes. `FOR_A` and `FOR_B` are flags, and `EQUAL` has both."""

_Boxes = tuple[Floats, Floats, NDArray[np.intp]]  # low corners, high corners, pair of each


@dataclass(frozen=True)
class Leaves:
    """The boxes at which the search ended.

    They fill the space of ratios of each pair.

    Parameters
    ----------
    low, high : ndarray of float, shape (n, d)
        The corners of each box.
    pairs : ndarray of int, shape (n,)
        The pair of runs to which each box belongs.
    labels : ndarray of int, shape (n,)
        `FOR_A`: B is nowhere in the box ahead by more than the tolerance; `FOR_B`: A is not;
        `EQUAL`: neither is; `UNDECIDED`: the bounds allow both.
    lower, upper : ndarray of float, shape (n,)
        Bounds of the mean difference in the box.
    """

    low: Floats
    high: Floats
    pairs: NDArray[np.intp]
    labels: NDArray[np.intp]
    lower: Floats
    upper: Floats

    def select(self, rows: NDArray[np.bool_]) -> Leaves:
        """Return some of the boxes."""
        return Leaves(*(column[rows] for column in vars(self).values()))


@dataclass(frozen=True)
class ExtremePoints:
    """The largest and the smallest mean difference evaluated for each pair.

    Parameters
    ----------
    largest, smallest : ndarray of float, shape (n_pairs,)
    at_largest, at_smallest : ndarray of float, shape (n_pairs, d)
        The ratios there, all strictly between 0 and 1.
    """

    largest: Floats
    smallest: Floats
    at_largest: Floats
    at_smallest: Floats


@dataclass(frozen=True)
class RatioSearch:
    """The result of a search of the gain ratios of many pairs.

    Parameters
    ----------
    leaves : Leaves
    extremes : ExtremePoints
    """

    leaves: Leaves
    extremes: ExtremePoints


def search_ratios(
    difference: MeanDifference, n_pairs: int, resolution: float, max_boxes: int
) -> RatioSearch:
    """Search the gain ratios of all pairs for the sign of the mean difference.

    Parameters
    ----------
    difference : MeanDifference
    n_pairs : int
        1 or more.
    resolution : float
        Sides of boxes are not halved below it.
    max_boxes : int
        Boxes of a pair that are bounded before the remaining ones stay undecided.

    Returns
    -------
    RatioSearch
    """
    d = difference.n_ratios
    low, high, pairs = np.zeros((n_pairs, d)), np.ones((n_pairs, d)), np.arange(n_pairs)
    nowhere = np.full((n_pairs, d), np.nan)
    lowest = np.full(n_pairs, -np.inf)
    extremes = ExtremePoints(lowest, -lowest, nowhere, nowhere.copy())
    leaves, n_bounded = [], np.zeros(n_pairs, np.intp)
    while len(pairs):
        bounds = difference.bounds(low, high, pairs)
        _update_extremes(extremes, difference, (low + high) / 2, pairs)
        n_bounded += np.bincount(pairs, minlength=n_pairs)
        labels = FOR_A * (bounds.lower >= -difference.tolerance)
        labels += FOR_B * (bounds.upper <= difference.tolerance)
        ended = (labels != UNDECIDED) | (n_bounded >= max_boxes)[pairs]
        if d > 1:
            depends = extremes.largest > difference.tolerance
            depends &= extremes.smallest < -difference.tolerance
            ended |= depends[pairs]
        axis, width = _axis_to_halve(low, high, bounds.slopes)
        ended |= width <= resolution
        boxes = Leaves(low, high, pairs, labels, bounds.lower, bounds.upper)
        leaves.append(boxes.select(ended))
        low, high, pairs = _halves(low[~ended], high[~ended], pairs[~ended], axis[~ended])
    columns = zip(*(vars(boxes).values() for boxes in leaves), strict=True)
    return RatioSearch(Leaves(*map(np.concatenate, columns)), extremes)


def _update_extremes(
    extremes: ExtremePoints, difference: MeanDifference, points: Floats, pairs: NDArray[np.intp]
) -> None:
    """Evaluate the mean difference at points, and keep each pair's largest and smallest."""
    values = difference.values(points, pairs)
    order = np.lexsort((values, pairs))
    last = np.append(np.flatnonzero(np.diff(pairs[order])), len(order) - 1)
    for at, best, where, sign in (
        (order[last], extremes.largest, extremes.at_largest, 1),
        (order[np.append(0, last[:-1] + 1)], extremes.smallest, extremes.at_smallest, -1),
    ):
        better = at[sign * values[at] > sign * best[pairs[at]]]
        best[pairs[better]] = values[better]
        where[pairs[better]] = points[better]


def _axis_to_halve(low: Floats, high: Floats, slopes: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return the ratio with which the mean may change the most, and the width of that side."""
    if not low.shape[1]:
        return np.zeros(len(low), np.intp), np.zeros(len(low))
    axis = ((high - low) * slopes).argmax(axis=1)
    return axis, (high - low)[np.arange(len(low)), axis]


def _halves(low: Floats, high: Floats, pairs: NDArray[np.intp], axis: NDArray[np.intp]) -> _Boxes:
    """Halve each box across its `axis`."""
    rows = np.arange(len(low))
    middle = (low[rows, axis] + high[rows, axis]) / 2 if len(low) else np.zeros(0)
    left_high, right_low = high.copy(), low.copy()
    if len(low):
        left_high[rows, axis] = right_low[rows, axis] = middle
    return np.vstack([low, right_low]), np.vstack([left_high, high]), np.tile(pairs, 2)
