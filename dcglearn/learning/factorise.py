"""From W to discounts and gains: the rank-1 part, read in a stated gauge.

    W = U diag(s) V',    discounts = +-U[:, 0],    gains = +-V[:, 0]

(Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 6.3). Many W order lists alike, and the
smallest of them, which learning returns, has rows that sum to 0: its singular vectors
are centred gains. So the gauge is fixed first. Where the worth of a grade is counted from:

``worst``     T(W) = W - W[:, worst]: the worst grade is worth 0 at every rank.
``absolute``  W itself: lists of different length were compared, and an empty rank is
              worth 0. Ranks at which none was have a free offset; it is chosen to fit
              the gains of the other ranks.

and, where lists of the same content were compared, which determines discounts only up to
an affine map, the mean over ranks is taken off each column before the factorisation:
``worst order`` and ``absolute order``. Discounts are then given with 1 for the largest
and 0 for the smallest.

Documents have no worst grade: there the mean of each row is taken off.

Sign: a better grade gains more (for documents: earlier ranks count more). Scale: the
best gain is 1 and the first discount is 1 in size; each factor keeps its sign, so c g'
always orders lists as the rank-1 part does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats

Gauge = Literal["worst", "absolute", "worst order", "absolute order"]


@dataclass(frozen=True)
class Factors:
    """The rank-1 reading of a W.

    Attributes
    ----------
    discounts : ndarray of float, shape (K,)
    gains : ndarray of float, shape (L,)
    singular_values : ndarray of float
        Of the W in its gauge, descending.
    gauge : {"worst", "absolute", "worst order", "absolute order"}
    fixed_discounts, fixed_gains : tuple of int
        Which of them (from 0) are what they are by convention of sign and scale, 0 or 1
        in size; the others are measured against these.
    """

    discounts: Floats
    gains: Floats
    singular_values: Floats
    gauge: Gauge
    fixed_discounts: tuple[int, ...]
    fixed_gains: tuple[int, ...]

    @property
    def first_share(self) -> float:
        """The share of the rank-1 part in the sum of squares of W (in its gauge)."""
        return float(self.singular_values[0] ** 2 / np.sum(self.singular_values**2))

    @property
    def second_ratio(self) -> float:
        """sigma_2 / sigma_1; 0 where W has rank 1."""
        values = self.singular_values
        return float(values[1] / values[0]) if len(values) > 1 else 0.0


def factorise(
    W: ArrayLike,
    gauge: Gauge = "worst",
    seen_offsets: ArrayLike | None = None,
    still_grades: Sequence[int] = (),
    ordered: bool = True,
) -> Factors:
    """Read discounts and gains from W.

    Parameters
    ----------
    W : array-like of float, shape (K, L)
    gauge : {"worst", "absolute", "worst order", "absolute order"}, default "worst"
    seen_offsets : array-like of bool, shape (K,), optional
        For ``absolute``: ranks whose offset is determined; all by default.
    still_grades : sequence of int
        Grades that no pair shows; the worst and the best are sought among the others.
    ordered : bool, default True
        Whether columns are grades, best first; otherwise they are documents, and the
        most and the least relevant one get 1 and 0.

    Returns
    -------
    Factors

    Raises
    ------
    InputError
        If W, in this gauge, is 0: it prefers nothing to anything.

    Examples
    --------
    >>> factors = factorise(np.outer([1, 0.5], [1, 0.6, 0]) - [[0.5], [0.3]])
    >>> factors.discounts.round(6), factors.gains.round(6)
    (array([1. , 0.5]), array([1. , 0.6, 0. ]))
    """
    matrix = np.asarray(W, float)
    shown = [grade for grade in range(matrix.shape[1]) if grade not in still_grades]
    best, worst = (shown[0], shown[-1]) if shown else (0, -1)
    T = fix_gauge(matrix, gauge, worst if ordered else None, seen_offsets)
    if np.abs(T).max() <= 1e-12 * np.abs(matrix).max():
        raise InputError(
            "the learned weights prefer nothing to anything",
            "give judgments that do not cancel out, and margins above 0",
        )
    U, s, Vt = np.linalg.svd(T, full_matrices=False)
    discounts, gains = U[:, 0], Vt[0]
    ranks = np.arange(len(discounts))
    upright = gains[best] - gains[worst] if ordered else (ranks.mean() - ranks) @ discounts
    if upright < 0 or (upright == 0 and gains[best] < 0):
        discounts, gains = -discounts, -gains
    discounts, fixed_discounts = _spread(discounts) if is_order(gauge) else _scaled(discounts, 0)
    gains, fixed_gains = _scaled(gains, best) if ordered else _spread(gains)
    if ordered and gauge.startswith("worst"):
        fixed_gains = (*fixed_gains, worst)
    return Factors(_clean(discounts), _clean(gains), s, gauge, fixed_discounts, fixed_gains)


def is_order(gauge: str) -> bool:
    """Whether a gauge gives discounts up to an affine map only."""
    return gauge.endswith("order")


def fix_gauge(
    W: Floats, gauge: Gauge, worst: int | None = -1, seen_offsets: ArrayLike | None = None
) -> Floats:
    """Return the member of W's gauge class that is factorised.

    Parameters
    ----------
    W : ndarray of float, shape (K, L)
    gauge : {"worst", "absolute", "worst order", "absolute order"}
    worst : int or None, default -1
        The grade worth 0 where the gauge is not ``absolute``; None takes the mean of each
        row off instead, for documents, none of which is known to be the worst.
    seen_offsets : array-like of bool, shape (K,), optional
        For ``absolute``; all by default.

    Returns
    -------
    ndarray of float, shape (K, L)
    """
    if gauge.startswith("absolute"):
        T = _aligned(W, np.ones(len(W), bool) if seen_offsets is None else seen_offsets)
    else:
        T = W - (W.mean(axis=1, keepdims=True) if worst is None else W[:, [worst]])
    return T - T.mean(axis=0) if is_order(gauge) else T


def rank_one(W: ArrayLike) -> Floats:
    """Return the nearest matrix of rank 1 to W, in no gauge.

    Parameters
    ----------
    W : array-like of float, shape (K, L)

    Returns
    -------
    ndarray of float, shape (K, L)

    Examples
    --------
    >>> rank_one([[2.0, 0.0], [0.0, 1.0]])
    array([[2., 0.],
           [0., 0.]])
    """
    U, s, Vt = np.linalg.svd(np.asarray(W, float), full_matrices=False)
    found: Floats = s[0] * np.outer(U[:, 0], Vt[0])
    return 0.0 + found


def _aligned(W: Floats, seen_offsets: ArrayLike) -> Floats:
    """Give ranks with a free offset the one that fits the gains of the other ranks best."""
    seen: NDArray[np.bool_] = np.asarray(seen_offsets, bool)
    if seen.all() or not seen.any():
        return W
    gains = np.linalg.svd(W[seen], full_matrices=False)[2][0]
    centred = gains - gains.mean()
    size = centred @ centred
    T = W.copy()
    for k in np.flatnonzero(~seen):
        discount = (W[k] @ centred / size) if size > 0 else 0.0
        T[k] += (discount * gains - W[k]).mean()
    return T


def _scaled(values: Floats, anchor: int) -> tuple[Floats, tuple[int, ...]]:
    """Make the anchor 1 in size, or the largest value where the anchor is about 0."""
    sizes = np.abs(values)
    if sizes[anchor] <= 1e-9 * sizes.max():
        anchor = int(np.argmax(sizes))
    found: Floats = values / sizes[anchor] if sizes[anchor] else values
    return found, (anchor,)


def _clean(values: Floats) -> Floats:
    """Take off what rounding adds, so that ties are ties; 0.0 + x turns -0 into 0."""
    found: Floats = 0.0 + np.round(values, 12)
    return found


def _spread(values: Floats) -> tuple[Floats, tuple[int, ...]]:
    """Map the smallest value to 0 and the largest to 1 (all alike: all 0); say which they are."""
    low = values - values.min()
    largest = low.max()
    found: Floats = low / largest if largest > 0 else low
    return found, (int(np.argmax(values)), int(np.argmin(values)))
