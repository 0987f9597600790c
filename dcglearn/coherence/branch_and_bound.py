"""Branch and bound over boxes of gain ratios, for many pairs of runs at once.

A box where the bounds leave one sign is done. Any other is halved across the ratio that moves
the mean difference the most, until that side is no longer than the resolution. The middle of
every box is looked at; points of both signs prove that a pair's order depends, which ends
its search, except where one ratio is free and the whole line is to be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.coherence.mean_ndcg_bounds import MeanDifference

UNDECIDED, FOR_A, FOR_B, EQUAL = range(4)

Boxes = tuple[Floats, Floats, NDArray[np.intp]]
"""Low corners, high corners, and whose boxes they are."""


@dataclass(frozen=True)
class Leaves:
    """The boxes at which the search ended, which fill the space of a pair if it ran to its end.

    Parameters
    ----------
    low, high : ndarray of float, shape (n, d)
    pairs : ndarray of int, shape (n,)
    labels : ndarray of int, shape (n,)
        `FOR_A`: B is nowhere ahead in the box by more than the slack; `FOR_B`; `EQUAL`:
        both; `UNDECIDED`: neither is certain.
    least, most : ndarray of float, shape (n,)
        Between which the mean difference is in the box.
    """

    low: Floats
    high: Floats
    pairs: NDArray[np.intp]
    labels: NDArray[np.intp]
    least: Floats
    most: Floats

    def chosen(self, rows: NDArray[np.bool_]) -> Leaves:
        """Return some of the boxes."""
        return Leaves(*(part[rows] for part in vars(self).values()))


@dataclass(frozen=True)
class ExtremePoints:
    """The points where the largest and the smallest mean difference of each pair was seen.

    Parameters
    ----------
    most, least : ndarray of float, shape (n_pairs,)
    at_most, at_least : ndarray of float, shape (n_pairs, d)
        The ratios, all strictly between 0 and 1.
    """

    most: Floats
    least: Floats
    at_most: Floats
    at_least: Floats


def search_ratios(
    difference: MeanDifference, n_pairs: int, resolution: float, max_boxes: int
) -> tuple[Leaves, ExtremePoints]:
    """Search the ratios of all pairs.

    Parameters
    ----------
    difference : MeanDifference
    n_pairs : int
        1 or more.
    resolution : float
        No side is cut below it.
    max_boxes : int
        How many boxes of a pair are looked at before what is left stays undecided.

    Returns
    -------
    Leaves
    ExtremePoints
    """
    d = difference.n_ratios
    low, high, pairs = np.zeros((n_pairs, d)), np.ones((n_pairs, d)), np.arange(n_pairs)
    nowhere = np.full((n_pairs, d), np.nan)
    lowest = np.full(n_pairs, -np.inf)
    seen = ExtremePoints(lowest, -lowest, nowhere, nowhere.copy())
    leaves, looked_at = [], np.zeros(n_pairs, np.intp)
    while len(pairs):
        bounds = difference.bounds(low, high, pairs)
        _look(seen, difference, (low + high) / 2, pairs)
        looked_at += np.bincount(pairs, minlength=n_pairs)
        labels = FOR_A * (bounds.low >= -difference.slack)
        labels += FOR_B * (bounds.high <= difference.slack)
        ended = (labels != UNDECIDED) | (looked_at >= max_boxes)[pairs]
        if d > 1:
            both = (seen.most > difference.slack) & (seen.least < -difference.slack)
            ended |= both[pairs]
        axis, width = _widest(low, high, bounds.slopes)
        ended |= width <= resolution
        leaves.append(Leaves(low, high, pairs, labels, bounds.low, bounds.high).chosen(ended))
        low, high, pairs = _halves(low[~ended], high[~ended], pairs[~ended], axis[~ended])
    parts = zip(*(vars(part).values() for part in leaves), strict=True)
    return Leaves(*map(np.concatenate, parts)), seen


def _look(
    found: ExtremePoints, difference: MeanDifference, points: Floats, pairs: NDArray[np.intp]
) -> None:
    """Remember the points where the mean difference of a pair is the largest or smallest."""
    values = difference.values(points, pairs)
    order = np.lexsort((values, pairs))
    last = np.append(np.flatnonzero(np.diff(pairs[order])), len(order) - 1)
    for at, seen, where, sign in (
        (order[last], found.most, found.at_most, 1),
        (order[np.append(0, last[:-1] + 1)], found.least, found.at_least, -1),
    ):
        better = at[sign * values[at] > sign * seen[pairs[at]]]
        seen[pairs[better]] = values[better]
        where[pairs[better]] = points[better]


def _widest(low: Floats, high: Floats, slopes: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return the ratio across which the mean may move the most, and the width of that side."""
    if not low.shape[1]:
        return np.zeros(len(low), np.intp), np.zeros(len(low))
    axis = ((high - low) * slopes).argmax(axis=1)
    return axis, (high - low)[np.arange(len(low)), axis]


def _halves(low: Floats, high: Floats, pairs: NDArray[np.intp], axis: NDArray[np.intp]) -> Boxes:
    """Cut each box in two across its `axis`."""
    rows = np.arange(len(low))
    middle = (low[rows, axis] + high[rows, axis]) / 2 if len(low) else np.zeros(0)
    left_high, right_low = high.copy(), low.copy()
    if len(low):
        left_high[rows, axis] = right_low[rows, axis] = middle
    return np.vstack([low, right_low]), np.vstack([left_high, high]), np.tile(pairs, 2)
