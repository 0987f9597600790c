"""Linear NDCG, and the pair-wise loss that is its error.

    DCG = sum_{i = 1}^{|S|} g_i (|S| - i)        NDCG = DCG / ideal        error = ideal - DCG
    R(f) = sum over g_x < g_y of (g_y - g_x) [f(y) < f(x)]

S is the set of all documents of a query, g_i the gain at rank i, in the paper the value L - 1, ...,
0 of the grade, and f are scores (Jin & Geng, arXiv 1303.2417). The discount |S| - i is the number
of documents below rank i, so that the DCG sums over all pairs the gain of the upper document, and
its ideal that of the better one: error = R (theorem 3), for any gains. The mean over all orders of
documents with equal scores is that of the best and the worst.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, check_name
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.dcg import DCG, Gains, ratio
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT, checked_grades

TieOrder = Literal["mean", "best", "worst"]


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

    Examples
    --------
    >>> float(linear_ndcg([0, 0, 2, 2, 2, 1], [2, 1, 0]).round(6))
    0.857143
    """
    values = np.array(DCG(gains).gains)
    if values.min() < 0:
        raise InputError(f"a gain of {values.min():g}", "give gains of 0 or more")
    rows = checked_grades(rankings, len(values))
    return ratio(_dcg(rows, values), _ideal(rows, values))


def _dcg(rows: Grades, gains: Floats) -> Floats:
    missing = rows == NO_DOCUMENT
    gap = (missing[..., :-1] & ~missing[..., 1:]).any(axis=-1)
    if gap.any():
        remedy = "rank all documents of the query, -1 after the last"
        raise InputError("an empty rank above a document", remedy, f"row {int(np.argmax(gap))}")
    below = (~missing).sum(axis=-1, keepdims=True) - np.arange(1, rows.shape[-1] + 1)
    return np.asarray((np.append(gains, 0.0)[rows] * below).sum(axis=-1))


def _ideal(rows: Grades, gains: Floats) -> Floats:
    order = np.argsort(-np.append(gains, -np.inf)[rows], axis=-1)  # no document: sorted last
    return _dcg(np.take_along_axis(rows, order, axis=-1), gains)


def pairwise_loss(
    grades: ArrayLike, scores: ArrayLike, ties: TieOrder = "mean", gains: Gains | None = None
) -> Floats:
    """Return the pair-wise loss of each query, the error of the ranking by scores.

    Parameters
    ----------
    grades : array-like of int, shape (n, N) or (N,)
        Grade index of each document, -1 for none.
    scores : array-like of float, same shape
        f; documents with equal scores are tied.
    ties : {"mean", "best", "worst"}, default "mean"
        The mean loss over all orders of tied documents, that of the best order, or of the worst.
    gains : sequence of float, or mapping from grade to float, optional
        One per grade, best grade first; by default the paper's, L - 1, ..., 0.

    Returns
    -------
    ndarray of float, shape (n,) or ()

    Examples
    --------
    >>> grades, scores = [0, 1, 1, 2], [0.3, 0.9, 0.3, 0.1]
    >>> [float(pairwise_loss(grades, scores, ties)) for ties in ("best", "mean", "worst")]
    [1.0, 1.5, 2.0]
    """
    check_name(ties, "order of ties", get_args(TieOrder))
    # The loss has only differences of gains: those of L - 1, ..., 0 are the same for any L.
    values = np.arange(MAX_GRADES, 0.0, -1.0) if gains is None else np.array(DCG(gains).gains)
    rows = checked_grades(grades, len(values), "grades")
    f = np.asarray(scores, float)
    if f.shape != rows.shape:
        problem = f"scores of shape {f.shape} for grades of shape {rows.shape}"
        raise InputError(problem, "give one score per document")
    missing = rows == NO_DOCUMENT
    if (unknown := np.isnan(f) & ~missing).any():
        place = f"row {int(np.argwhere(unknown)[0][0])}"
        raise InputError("a score is nan", "give every document a score", place)
    of_row, ideal = np.append(values, 0.0)[rows], _ideal(rows, values)

    def loss(sign: float) -> Floats:
        """Rank tied documents by their gains, the largest first if the sign is 1."""
        order = np.lexsort((-sign * of_row, -np.where(missing, 0.0, f), missing), axis=-1)
        return ideal - _dcg(np.take_along_axis(rows, order, axis=-1), values)

    if ties == "mean":
        return (loss(1.0) + loss(-1.0)) / 2
    return loss(1.0 if ties == "best" else -1.0)
