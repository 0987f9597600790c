"""From W to discounts and gains: the rank-1 part, read in a stated gauge.

    W = U diag(s) V',    discounts = +-U[:, 0],    gains = +-V[:, 0]

(Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 6.3). Many W order lists alike, and the
smallest of them, which learning returns, has rows that sum to 0: its singular vectors
are centred gains. So the gauge is fixed first:

``worst``     T(W) = W - W[:, worst]: the worst grade is worth 0 at every rank; for full
              lists of different content.
``order``     T(W), and then the mean over ranks is taken off each column: lists of the
              same content determine discounts only up to an affine map. They are
              given with 1 at the first rank and 0 at the last.
``absolute``  W itself: lists of different length, where an empty rank is worth 0. Ranks
              at which no list is empty have a free offset; it is chosen to fit the rest.

Sign: a better grade gains more (for documents: earlier ranks count more). Scale: the
best gain is 1, the first discount is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.measures.discounts import Floats

Gauge = Literal["worst", "order", "absolute"]


@dataclass(frozen=True)
class Factors:
    """The rank-1 reading of a W.

    Attributes
    ----------
    discounts : ndarray of float, shape (K,)
    gains : ndarray of float, shape (L,)
    singular_values : ndarray of float
        Of the W in its gauge, descending.
    gauge : {"worst", "order", "absolute"}
    """

    discounts: Floats
    gains: Floats
    singular_values: Floats
    gauge: Gauge

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
    gauge : {"worst", "order", "absolute"}, default "worst"
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
    if not shown:
        raise InputError("no grade ever differs", "give pairs whose lists differ")
    best, worst = shown[0], shown[-1]
    T = fix_gauge(matrix, gauge, worst, seen_offsets)
    if np.abs(T).max() <= 1e-12 * max(1.0, np.abs(matrix).max()):
        raise InputError(
            "the learned weights prefer nothing: the judgments cancel out",
            "give judgments that agree more with each other",
        )
    U, s, Vt = np.linalg.svd(T, full_matrices=False)
    discounts, gains = U[:, 0], Vt[0]
    if _sign(discounts, gains, best, worst, gauge, ordered) < 0:
        discounts, gains = -discounts, -gains
    if gauge == "order":
        discounts = _scaled(discounts - discounts[-1], discounts[0] - discounts[-1])
    else:
        discounts = _scaled(discounts, discounts[0])
    if not ordered:
        gains = _scaled(gains - gains.min(), gains.max() - gains.min())
    else:
        gains = _scaled(gains, gains[best])
    # 0.0 + x turns -0 into 0, which would print with a sign.
    return Factors(0.0 + discounts, 0.0 + gains, s, gauge)


def fix_gauge(
    W: Floats, gauge: Gauge, worst: int = -1, seen_offsets: ArrayLike | None = None
) -> Floats:
    """Return the member of W's gauge class that is factorised.

    Parameters
    ----------
    W : ndarray of float, shape (K, L)
    gauge : {"worst", "order", "absolute"}
    worst : int, default -1
        The grade worth 0 in the gauges ``worst`` and ``order``.
    seen_offsets : array-like of bool, shape (K,), optional
        For ``absolute``; all by default.

    Returns
    -------
    ndarray of float, shape (K, L)
    """
    if gauge == "absolute":
        return _aligned(W, np.ones(len(W), bool) if seen_offsets is None else seen_offsets)
    T = W - W[:, [worst]]
    return T - T.mean(axis=0) if gauge == "order" else T


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


def _sign(
    discounts: Floats, gains: Floats, best: int, worst: int, gauge: Gauge, ordered: bool
) -> float:
    if not ordered:
        return float(discounts @ (np.arange(len(discounts))[::-1] - (len(discounts) - 1) / 2))
    if gauge == "absolute" and best == worst:
        return float(gains[best])
    return float(gains[best] - gains[worst])


def _scaled(values: Floats, by: float) -> Floats:
    """Divide by the value that shall be 1, or by the largest where that one is about 0."""
    largest = float(np.abs(values).max())
    if abs(by) <= 1e-9 * largest:
        by = largest
    return values / by if by else values
