"""Similarity of a learned W to the truth it was learned from.

    precision   = share of test pairs ordered as the truth orders them
    similarity  = cos(T(W), T(W_hat)),   T(W) = W - W[:, worst]          (eq. 3)

(Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 6.2). Pairs that reorder one list determine W only
up to constants for each rank and each grade, so similarity does not tend to 1: the smallest
monotone W that agrees with them is (c - c_K) g', and cos(c g', (c - c_K) g') = cos(c, c - c_K),
which is .8917 for c = 1 / log(k + 1) and ten ranks. The identifiable similarity, the cosine of the
double-centred matrices, compares what such pairs determine, and tends to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import finite_array
from dcglearn.base.types import Floats
from dcglearn.learning.factorise import fix_gauge
from dcglearn.learning.record import Gauge


def similarity(W: ArrayLike, learned: ArrayLike) -> float:
    """Return the paper's similarity of two weight matrices (eq. 3).

    Parameters
    ----------
    W, learned : array-like of float, shape (K, L)
        The truth and what was learned; columns are grades, best first.

    Returns
    -------
    float
        In [-1, 1]; 0 if one of them gives all grades the same weight at every rank.

    Raises
    ------
    InputError
        If the shapes differ.

    Examples
    --------
    The limit for pairs that reorder one list, as in the paper:

    >>> c = 1 / np.log(np.arange(2, 12))
    >>> g = np.array([5, 4, 3, 2, 1])
    >>> round(similarity(np.outer(c, g), np.outer(c - c[-1], g)), 4)
    0.8917
    """
    return _compared(W, learned, "worst", -1)


def limit_on_permutations(n_ranks: int) -> float:
    """Return the limit of the similarity where all pairs reorder one list."""
    c = 1 / np.log(np.arange(2, n_ranks + 2))
    return cosine(c, c - c[-1])


def identifiable_similarity(W: ArrayLike, learned: ArrayLike) -> float:
    """Return the similarity of the part of W that pairs of permutations of one list determine.

    Parameters
    ----------
    W, learned : array-like of float, shape (K, L)

    Returns
    -------
    float
        In [-1, 1]; 0 if that part of one of them is 0.

    Raises
    ------
    InputError
        If the shapes differ.

    Examples
    --------
    >>> W = np.outer([1.0, 0.5, 0.2], [2.0, 1.0, 0.0])
    >>> offsets = np.array([[1.0], [2.0], [3.0]]) + np.array([[4.0, 0.0, -1.0]])
    >>> round(identifiable_similarity(W, W + offsets), 12)
    1.0
    """
    return _compared(W, learned, "worst order", None)  # double-centred


def _compared(W: ArrayLike, learned: ArrayLike, gauge: Gauge, worst: int | None) -> float:
    truth = finite_array(W, "weights", (None, None))
    found = finite_array(learned, "weights", truth.shape)
    return cosine(fix_gauge(truth, gauge, worst), fix_gauge(found, gauge, worst))


def cosine(a: Floats, b: Floats) -> float:
    """Return the cosine of two arrays of one shape; 0 if one of them is 0."""
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.sum(a * b)) / size if size else 0.0
