"""From W to discounts and gains: the rank-1 part of W in a stated gauge.

    W = U diag(s) V',    discounts = +-U[:, 0],    gains = +-V[:, 0]

(Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 6.3). Many W order lists alike; the learned one is
the smallest, whose rows sum to 0. A gauge that states which grade is worth 0 is fixed first:

* ``worst``: T(W) = W - W[:, worst]. The worst grade is worth 0 at every rank.
* ``absolute``: W itself. Lists of different length were compared, and an empty rank is
  worth 0. An undetermined offset is chosen to fit the gains of the other ranks.

Lists of the same content determine discounts only up to an affine map. In the gauges
``worst order`` and ``absolute order`` the mean over ranks is subtracted from each column
before the factorisation, the largest discount is 1 and the smallest 0.

Documents have no worst grade: the mean of each row is subtracted instead.

Sign: a better grade gains more (for documents: earlier ranks count more). Scale: the
best gain and the first discount have absolute value 1; each factor keeps its sign, so that
c g' always orders lists as the rank-1 part does.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.types import Booleans, Floats
from dcglearn.learning.record import Factors, Gauge, is_affine


def factorise(
    W: ArrayLike,
    gauge: Gauge = "worst",
    determined_offsets: ArrayLike = True,
    constant_grades: Sequence[int] = (),
    ordered: bool = True,
) -> Factors:
    """Factorise W, shape (K, L), into discounts and gains; InputError if it ties all lists.

    For ``absolute``, `determined_offsets` (K,) names the ranks whose offset is determined; all by
    default. The best and the worst grade are taken from those that are not constant. Columns that
    are not `ordered` are documents, of which the most and the least relevant one get 1 and 0.
    """
    matrix = np.asarray(W, float)
    varying = [grade for grade in range(matrix.shape[1]) if grade not in constant_grades]
    best = varying[0]
    worst = varying[-1]
    T = fix_gauge(matrix, gauge, worst if ordered else None, determined_offsets)
    if np.abs(T).max() <= 1e-12 * np.abs(matrix).max():
        raise InputError(
            "the learned weights tie all lists",
            "give judgments that do not cancel out, and margins above 0",
        )
    U, s, Vt = np.linalg.svd(T, full_matrices=False)
    discounts = U[:, 0]
    gains = Vt[0]
    ranks = np.arange(len(discounts))
    direction = gains[best] - gains[worst] if ordered else (ranks.mean() - ranks) @ discounts
    if direction < 0 or (direction == 0 and gains[best] < 0):
        discounts = -discounts
        gains = -gains
    affine = is_affine(gauge)
    discounts, fixed_discounts = _to_unit_range(discounts) if affine else _scaled(discounts, 0)
    gains, fixed_gains = _scaled(gains, best) if ordered else _to_unit_range(gains)
    if ordered and gauge.startswith("worst"):
        fixed_gains = (*fixed_gains, worst)
    # Rounding errors are removed, so that equal values are equal; 0.0 + x turns -0 into 0.
    factors = (0.0 + np.round(one, 12) for one in (discounts, gains))
    return Factors(gauge, fixed_discounts, fixed_gains, s, *factors)


def fix_gauge(
    W: Floats, gauge: Gauge, worst: int | None, determined_offsets: ArrayLike = True
) -> Floats:
    """Return the matrix that orders lists as W does and satisfies the gauge.

    `worst` is the grade worth 0 where the gauge is not ``absolute``; None is for documents.
    """
    if gauge.startswith("absolute"):
        T = _aligned(W, np.broadcast_to(determined_offsets, len(W)))
    else:
        T = W - (W.mean(axis=1, keepdims=True) if worst is None else W[:, [worst]])
    return T - T.mean(axis=0) if is_affine(gauge) else T


def rank_one(W: ArrayLike) -> Floats:
    """Return the matrix of rank 1 that is nearest to W, without fixing a gauge."""
    U, s, Vt = np.linalg.svd(np.asarray(W, float), full_matrices=False)
    return np.asarray(0.0 + s[0] * np.outer(U[:, 0], Vt[0]))  # -0 becomes 0


def _aligned(W: Floats, determined: Booleans) -> Floats:
    """Shift the ranks with an undetermined offset so that they fit the gains of the others."""
    if determined.all() or not determined.any():
        return W
    gains = np.linalg.svd(W[determined], full_matrices=False)[2][0]
    centred = gains - gains.mean()
    size = centred @ centred
    T = W.copy()
    for k in np.flatnonzero(~determined):
        discount = (W[k] @ centred / size) if size > 0 else 0.0
        T[k] += (discount * gains - W[k]).mean()
    return T


def _scaled(values: Floats, anchor: int) -> tuple[Floats, tuple[int, ...]]:
    """Give the anchor (the largest value, where the anchor is about 0) absolute value 1."""
    sizes = np.abs(values)
    if sizes[anchor] <= 1e-9 * sizes.max():
        anchor = int(np.argmax(sizes))
    return values / (sizes[anchor] or 1.0), (anchor,)


def _to_unit_range(values: Floats) -> tuple[Floats, tuple[int, ...]]:
    """Map the smallest value to 0 and the largest to 1 (equal values: to 0); name both."""
    above = values - values.min()
    return above / (above.max() or 1.0), (int(np.argmax(values)), int(np.argmin(values)))
