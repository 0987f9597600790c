"""Linear NDCG, and the pair-wise loss that is its error.

    DCG = sum_{i = 1}^{|S|} g_i (|S| - i)        NDCG = DCG / ideal        error = ideal - DCG
    R(f) = sum over g_x < g_y of (g_y - g_x) [f(y) < f(x)]

S is the set of all documents of a query, g_i the gain at rank i, in the paper the value L - 1, ...,
1, 0 of the grade, and f are scores (Jin & Geng, arXiv 1303.2417). The discount |S| - i is the
number of documents below rank i, so that the DCG sums over all pairs of documents the gain of the
upper one, and its ideal the gain of the better one: error = R (theorem 3), for any gains. Documents
with equal scores may be in any order; the mean over all orders is that of the best and the worst.

Arrays hold one row per query; -1 fills up rows with fewer documents.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG, Gains
from dcglearn.measures.grade_indices import checked_grades
from dcglearn.measures.ideal import divide_or_zero
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT

TieOrder = Literal["mean", "best", "worst"]
"""The order assumed for tied documents: the mean over all orders, the best, or the worst."""


def linear_ndcg(rankings: ArrayLike, gains: Gains) -> Floats:
    """Return linear NDCG of each ranking, its linear DCG divided by the ideal.

    Parameters
    ----------
    rankings : array-like of int, shape (n, N) or (N,)
        Grade indices of all documents of a query in rank order; -1 after the last document.
    gains : sequence of float, or mapping from grade to float
        One per grade, best grade first, 0 or more.

    Returns
    -------
    ndarray of float, shape (n,) or ()
        0 where the ideal is 0.

    Raises
    ------
    InputError
        If a grade has no gain, a gain is below 0, or there is an empty rank above a document.

    See Also
    --------
    dcglearn.DCG : With N documents per query it is ``nDCG(gains, linear(N - 1))``.

    Examples
    --------
    >>> float(linear_ndcg([0, 0, 2, 2, 2, 1], [2, 1, 0]).round(6))
    0.857143
    """
    values = _checked_gains(gains)
    if values.min() < 0:
        raise InputError(f"a gain of {values.min():g}", "use linear_error, or gains of 0 or more")
    return divide_or_zero(linear_dcg(rankings, values), linear_ideal(rankings, values))


def linear_dcg(rankings: ArrayLike, gains: Gains) -> Floats:
    """Return the linear DCG of each ranking of all documents of a query.

    >>> float(linear_dcg([1, 2, 1, 2, 2, 0], [2, 1, 0]))
    8.0
    """
    values = _checked_gains(gains)
    rows = checked_grades(rankings, len(values))
    missing = rows == NO_DOCUMENT
    gap = (missing[..., :-1] & ~missing[..., 1:]).any(axis=-1)
    if gap.any():
        raise InputError(
            "an empty rank above a document",
            "rank all documents of the query, -1 after the last",
            f"row {int(np.argmax(gap))}",
        )
    below = (~missing).sum(axis=-1, keepdims=True) - np.arange(1, rows.shape[-1] + 1)
    dcg: Floats = (np.append(values, 0.0)[rows] * below).sum(axis=-1)
    return dcg


def linear_ideal(grades: ArrayLike, gains: Gains) -> Floats:
    """Return the largest linear DCG of each query; with two grades, m n + m (m - 1) / 2.

    >>> float(linear_ideal([0, 1, 0, 1, 1, 0], [1, 0]))
    12.0
    """
    values = _checked_gains(gains)
    rows = checked_grades(grades, len(values), "grades")
    order = np.argsort(-np.append(values, -np.inf)[rows], axis=-1)  # no document: sorted last
    return linear_dcg(np.take_along_axis(rows, order, axis=-1), values)


def linear_error(rankings: ArrayLike, gains: Gains | None = None) -> Floats:
    """Return the ideal linear DCG of each ranking minus its own, by default with the paper's gains.

    >>> float(linear_error([0, 0, 2, 2, 2, 1]))
    3.0
    """
    values = _gains_of(rankings) if gains is None else _checked_gains(gains)
    return linear_ideal(rankings, values) - linear_dcg(rankings, values)


def pairwise_loss(
    grades: ArrayLike, scores: ArrayLike, ties: TieOrder = "mean", gains: Gains | None = None
) -> Floats:
    """Return the pair-wise loss of each query, the error of the ranking by scores.

    Parameters
    ----------
    grades : array-like of int, shape (n, N) or (N,)
        Grade index of each document, -1 for none.
    scores : array-like of float, same shape
        f; documents with equal scores are tied. Scores of no document (-1) are ignored.
    ties : {"mean", "best", "worst"}, default "mean"
        The mean loss over all orders of tied documents, that of the best order, or of the worst.
    gains : sequence of float, or mapping from grade to float, optional
        One per grade, best grade first, of any size. By default the paper's: the weight of a
        pair is the number of grades between its documents.

    Returns
    -------
    ndarray of float, shape (n,) or ()

    Raises
    ------
    InputError
        If grades and scores differ in shape, or a score is NaN (naming the row).

    Examples
    --------
    >>> grades, scores = [0, 1, 1, 2], [0.3, 0.9, 0.3, 0.1]
    >>> [float(pairwise_loss(grades, scores, ties)) for ties in ("best", "mean", "worst")]
    [1.0, 1.5, 2.0]
    """
    if not is_one_of(ties, get_args(TieOrder)):
        raise unknown_name("order of ties", ties, get_args(TieOrder))
    values = _gains_of(grades) if gains is None else _checked_gains(gains)
    rows = checked_grades(grades, len(values), "grades")
    f = np.asarray(scores, float)
    if f.shape != rows.shape:
        problem = f"scores of shape {f.shape} for grades of shape {rows.shape}"
        raise InputError(problem, "give one score per document")
    missing = rows == NO_DOCUMENT
    if (unknown := np.isnan(f) & ~missing).any():
        place = f"row {int(np.argwhere(unknown)[0][0])}"
        raise InputError("a score is nan", "give every document a score", place)
    of_row = np.append(values, 0.0)[rows]

    def loss(sign: float) -> Floats:
        """Rank tied documents by their gains, the largest first if the sign is 1."""
        order = np.lexsort((-sign * of_row, -np.where(missing, 0.0, f), missing), axis=-1)
        return linear_error(np.take_along_axis(rows, order, axis=-1), values)

    if ties == "mean":
        return (loss(1.0) + loss(-1.0)) / 2
    return loss(1.0 if ties == "best" else -1.0)


def _checked_gains(gains: Gains) -> Floats:
    return np.array(DCG(gains).gains)


def _gains_of(grades: ArrayLike) -> Floats:
    """Return the gains of the paper, L - 1, ..., 1, 0, for the grades that occur."""
    return np.arange(int(checked_grades(grades, MAX_GRADES).max(initial=0)), -1.0, -1.0)
