"""The pair-wise loss of a ranking, and its relation to linear NDCG.

    R(f) = sum over g_x < g_y of (g_y - g_x) [f(y) < f(x)]

f are the scores of the documents of a query and g their gains (Jin & Geng, arXiv 1303.2417).
The linear DCG sums over all pairs of documents the gain of the upper one, and its ideal the
gain of the better one. Hence ``ideal - DCG = R`` (theorem 3) for any gains, if no scores are
tied. With ties, let T be the same sum over the tied pairs. The error then lies between R and
R + T, and its mean over the orders of tied documents is R + T / 2.

With the paper's gains, ``R = sum_k R_k`` (theorem 1), where R_k is the number of inversions of
the two-grade problem "value above k". With other gains, R_k is weighted by the step of the gain
from value k to value k + 1.

Arrays hold one row per query; -1 fills up rows with fewer documents.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.overflow import multiplied, usual_size
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.dcg import Gains
from dcglearn.measures.grade_indices import checked_grades
from dcglearn.measures.ideal import divide_or_zero
from dcglearn.measures.linear_ndcg import checked_gains, linear_gains, n_grades_of
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT

TieOrder = Literal["mean", "best", "worst"]
"""The order assumed for tied documents: the mean over all orders, the best, or the worst."""


def pairwise_loss(
    grades: ArrayLike,
    scores: ArrayLike,
    ties: TieOrder = "mean",
    gains: Gains | None = None,
    normalise: bool = False,
) -> Floats:
    """Return the pair-wise loss R(f) of each query, in time N (L + log N).

    Parameters
    ----------
    grades : array-like of int, shape (n, N) or (N,)
        Grade index of each document, -1 for none.
    scores : array-like of float, same shape
        f; documents with equal scores are tied. Scores of no document (-1) are ignored.
    ties : {"mean", "best", "worst"}, default "mean"
        R + T / 2, the mean over all orders of tied documents; R, the loss of the best order;
        or R + T, the loss of the worst.
    gains : sequence of float, or mapping from grade to float, optional
        One per grade, best grade first, of any size. By default the paper's: the weight of a
        pair is the number of grades between its documents.
    normalise : bool, default False
        If True, divide by Z, the number of pairs of different grades. With three or more
        grades some pairs weigh more than 1, and the quotient may be above 1.

    Returns
    -------
    ndarray of float, shape (n,) or ()
        If normalised, 0 where all documents have the same grade.

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
    given = linear_gains(n_grades_of(grades)) if gains is None else checked_gains(gains)
    values, exponent = usual_size(given)
    rows = checked_grades(grades, len(values), "grades")
    order = np.argsort(-values, kind="stable")  # the best grade is that of the largest gain
    position = np.empty(len(values) + 1, np.int64)
    position[order], position[-1] = np.arange(len(values)), NO_DOCUMENT
    losses = two_grade_losses(position[rows], scores, len(values), ties)
    steps = -np.diff(values[order])
    loss: Floats = losses @ steps[::-1]
    loss = divide_or_zero(loss, count_graded_pairs(rows)) if normalise else loss
    return multiplied(loss, exponent, "pair-wise loss")


def two_grade_losses(
    grades: ArrayLike, scores: ArrayLike, n_grades: int, ties: TieOrder = "mean"
) -> Floats:
    """Return R_0, ..., R_{L-2}, the number of inversions of each two-grade problem.

    Parameters
    ----------
    grades : array-like of int, shape (n, N) or (N,)
        Grade index of each document, -1 for none.
    scores : array-like of float, same shape
    n_grades : int
        L.
    ties : {"mean", "best", "worst"}, default "mean"
        As for :func:`pairwise_loss`.

    Returns
    -------
    ndarray of float, shape (n, L - 1) or (L - 1,)
        Column k separates the grades with a value above k from the others, and the last
        column the best grade from all others.

    Examples
    --------
    >>> two_grade_losses([2, 0, 1], [3, 2, 1], 3)
    array([2., 1.])
    """
    if not is_one_of(ties, get_args(TieOrder)):
        raise unknown_name("order of ties", ties, get_args(TieOrder))
    rows = checked_grades(grades, n_grades, "grades")
    ranked, start, end = _ranked(rows, _checked_scores(scores, rows))
    losses = np.zeros((*rows.shape[:-1], n_grades - 1))
    for k in range(n_grades - 1):
        last = n_grades - 2 - k  # the index of the grade with value k + 1
        before = _counts_before(ranked > last)
        above = np.take_along_axis(before, start, axis=-1)  # worse documents with higher scores
        not_below = np.take_along_axis(before, end, axis=-1)  # and with equal scores
        inverted = {"best": above, "worst": not_below, "mean": (above + not_below) / 2}[ties]
        better = (ranked != NO_DOCUMENT) & (ranked <= last)
        losses[..., k] = np.sum(inverted, axis=-1, where=better)
    return losses


def count_graded_pairs(grades: ArrayLike) -> Floats:
    """Return Z, the number of pairs of documents of different grades.

    >>> float(count_graded_pairs([0, 1, 1, 2]))
    5.0
    """
    rows = checked_grades(grades, MAX_GRADES, "grades")
    sizes = np.array([(rows == grade).sum(axis=-1) for grade in range(n_grades_of(rows))])
    pairs: Floats = (sizes.sum(axis=0) ** 2 - (sizes**2).sum(axis=0)) / 2
    return pairs


def _ranked(grades: Grades, scores: Floats) -> tuple[Grades, NDArray[np.int64], NDArray[np.int64]]:
    """Sort by score; return the grades, and the start and end of each one's group of ties.

    Entries without a document are somewhere in between; the caller does not count them.
    """
    width = grades.shape[-1]
    order = np.argsort(-scores, axis=-1)
    ranked = np.take_along_axis(grades, order, axis=-1)
    ordered = np.take_along_axis(scores, order, axis=-1)
    first = np.ones(grades.shape, bool)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ranks = np.arange(width)
    start = np.maximum.accumulate(np.where(first, ranks, 0), axis=-1)
    last = np.roll(
        first, -1, axis=-1
    )  # ends where the next group starts; the roll closes the last group
    ends = np.where(last, ranks + 1, width)
    end = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    return ranked, start, end


def _counts_before(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the marked among the first 0, 1, ..., N entries; shape (..., N + 1)."""
    counts = np.zeros((*marked.shape[:-1], marked.shape[-1] + 1), np.int64)
    np.cumsum(marked, axis=-1, out=counts[..., 1:])
    return counts


def _checked_scores(scores: ArrayLike, grades: Grades) -> Floats:
    try:
        array = np.asarray(scores, float)
    except (TypeError, ValueError) as error:
        raise InputError("scores are not numbers", "give one number per document") from error
    if array.shape != grades.shape:
        raise InputError(
            f"scores of shape {array.shape} for grades of shape {grades.shape}",
            "give one score per document",
        )
    array = np.where(grades == NO_DOCUMENT, 0.0, array)
    wrong = np.isnan(array)
    if wrong.any():
        place = f"row {int(np.argwhere(wrong)[0][0])}"
        raise InputError("a score is nan", "give every document a score", place)
    return array
