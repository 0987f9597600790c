"""Linear NDCG and its pair-wise loss (Jin & Geng, arXiv 1303.2417).

    DCG  = sum_{i = 1}^{|S|} g_i (|S| - i)                  NDCG = DCG / ideal
    R(f) = sum over g_x < g_y of (g_y - g_x) [f(y) < f(x)]

S are all documents of a query, ranked by their scores f; g_i is the gain at rank i, in the
paper the grade's value r = L - 1, ..., 1, 0. |S| - i counts the documents below rank i, so a
DCG adds up the gain of the upper document of every pair, and the ideal that of the better
one. Hence ``ideal - DCG = R`` (theorem 3), for any gains, where no scores are tied. With T
the same sum over tied pairs, the error lies between R and R + T; its mean over the orders of
tied documents is R + T / 2.

For the paper's r, ``R = sum_k R_k`` (theorem 1): R_k counts the inversions of the two-grade
problem "value above k". With other gains each R_k weighs what the gain steps up there.

An array may hold many queries, a row each; -1 fills up rows of fewer documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.dcg import DCG, Normalisation
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT, Label, checked_grades

Gains = Sequence[float] | Floats | Mapping[Label, float]
"""One gain a grade, best grade first, as :class:`DCG` takes them."""

TieOrder = Literal["half", "best", "worst"]
"""What a pair with equal scores counts: the half, nothing, or all of an inverted one."""


def linear_gains(n_grades: int) -> Floats:
    """Return the paper's gains: the value r of each of L grades, best grade first.

    >>> linear_gains(3)
    array([2., 1., 0.])
    """
    return np.arange(n_grades - 1, -1, -1, dtype=float)


def linear_measure(gains: Gains, n_documents: int, normalise: Normalisation | None = None) -> DCG:
    """Return linear (N)DCG of queries of one size as a :class:`DCG`.

    Its discounts are a vector, for they depend on the number of documents. Divided by
    |S| - 1 they are the rule ``linear(|S| - 1)``.

    Parameters
    ----------
    gains : sequence of float, or mapping from grade to float
        One a grade, best grade first.
    n_documents : int
        Of each query.
    normalise : {None, "ideal", "minmax"}, default None

    Returns
    -------
    DCG

    Raises
    ------
    InputError
        If there is no document, or the gains do not fit.

    Examples
    --------
    >>> linear_measure([2, 1, 0], 4, "ideal")
    nDCG([2, 1, 0], [3, 2, 1, 0])
    """
    if n_documents < 1:
        raise InputError(f"{n_documents} documents", "give the size of a query, 1 or more")
    return DCG(gains, np.arange(n_documents - 1.0, -1.0, -1.0), normalise=normalise)


def linear_dcg(rankings: ArrayLike, gains: Gains) -> Floats:
    """Return the linear DCG of each ranking.

    Parameters
    ----------
    rankings : array-like of int, shape (n, N) or (N,)
        Grade indices of all documents of a query, the first rank first; -1 below the
        last document.
    gains : sequence of float, or mapping from grade to float
        One a grade, best grade first; :func:`linear_gains` are the paper's.

    Returns
    -------
    ndarray of float, shape (n,) or ()

    Raises
    ------
    InputError
        If a grade has no gain, or a rank above a document is empty: this is a measure
        of rankings of all documents.

    Examples
    --------
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
    return _add_up(np.where(missing, 0.0, np.append(values, 0.0)[rows]), missing)


def linear_ideal(grades: ArrayLike, gains: Gains) -> Floats:
    """Return the largest linear DCG of each query: that of its documents sorted by gain.

    Parameters
    ----------
    grades : array-like of int, shape (n, N) or (N,)
        Grade indices in any order, -1 for no document.
    gains : sequence of float, or mapping from grade to float
        One a grade, best grade first.

    Returns
    -------
    ndarray of float, shape (n,) or ()

    Examples
    --------
    Three relevant documents of six, m n + m (m - 1) / 2:

    >>> float(linear_ideal([0, 1, 0, 1, 1, 0], [1, 0]))
    12.0
    """
    values = _checked_gains(gains)
    rows = checked_grades(grades, len(values), "grades")
    gained = np.append(values, -np.inf)[rows]  # what is no document comes last
    ranked = -np.sort(-gained, axis=-1)
    missing = np.isneginf(ranked)
    return _add_up(np.where(missing, 0.0, ranked), missing)


def linear_error(rankings: ArrayLike, gains: Gains | None = None) -> Floats:
    """Return how far each ranking's linear DCG is below the ideal one.

    Parameters
    ----------
    rankings : array-like of int, shape (n, N) or (N,)
        As those of :func:`linear_dcg`.
    gains : sequence of float, or mapping from grade to float, optional
        One a grade, best grade first. By default the values r, whose number of grades
        does not matter here: a constant added to all gains cancels.

    Returns
    -------
    ndarray of float, shape (n,) or ()
        0 or more.

    Examples
    --------
    >>> float(linear_error([0, 0, 2, 2, 2, 1]))
    3.0
    """
    if gains is None:
        gains = linear_gains(_n_grades(rankings, "rankings"))
    return linear_ideal(rankings, gains) - linear_dcg(rankings, gains)


def linear_ndcg(rankings: ArrayLike, gains: Gains) -> Floats:
    """Return linear NDCG, DCG / ideal, of each ranking of all documents of a query.

    Parameters
    ----------
    rankings : array-like of int, shape (n, N) or (N,)
        As those of :func:`linear_dcg`.
    gains : sequence of float, or mapping from grade to float
        One a grade, best grade first, none below 0. A constant added to them changes
        the value, unlike the error.

    Returns
    -------
    ndarray of float, shape (n,) or ()
        0 where the ideal is 0.

    Raises
    ------
    InputError
        As :func:`linear_dcg`, and if a gain is below 0.

    Examples
    --------
    >>> float(linear_ndcg([0, 0, 2, 2, 2, 1], [2, 1, 0]).round(6))
    0.857143
    """
    values = _checked_gains(gains)
    if values.min() < 0:
        raise InputError(f"a gain of {values.min():g}", "use linear_error, or gains of 0 or more")
    ideal = linear_ideal(rankings, values)
    return _share(linear_dcg(rankings, values), ideal)


def pairwise_loss(
    grades: ArrayLike,
    scores: ArrayLike,
    ties: TieOrder = "half",
    gains: Gains | None = None,
    normalise: bool = False,
) -> Floats:
    """Return the pair-wise loss R(f) of each query, in time N (L + log N).

    Parameters
    ----------
    grades : array-like of int, shape (n, N) or (N,)
        Grade index of each document, -1 for none.
    scores : array-like of float, same shape
        f; documents with equal scores are tied. What stands beside -1 is not looked at.
    ties : {"half", "best", "worst"}, default "half"
        R + T / 2, the mean over all orders of tied documents; R, that of the best order;
        or R + T, that of the worst.
    gains : sequence of float, or mapping from grade to float, optional
        One a grade, best grade first, in any order. By default the values r: a pair then
        weighs by how many grades its documents are apart.
    normalise : bool, default False
        Whether to divide by Z, the number of pairs of different grades. With three
        grades or more pairs weigh more than 1, so the quotient may be above 1.

    Returns
    -------
    ndarray of float, shape (n,) or ()
        Normalised, 0 where all documents have one grade.

    Raises
    ------
    InputError
        If grades and scores do not match, or a score is no number (naming the row).

    Examples
    --------
    >>> grades, scores = [0, 1, 1, 2], [0.3, 0.9, 0.3, 0.1]
    >>> [float(pairwise_loss(grades, scores, ties)) for ties in ("best", "half", "worst")]
    [1.0, 1.5, 2.0]
    """
    values = linear_gains(_n_grades(grades)) if gains is None else _checked_gains(gains)
    rows = checked_grades(grades, len(values), "grades")
    order = np.argsort(-values, kind="stable")  # best is what gains most, whatever its label
    place = np.empty(len(values) + 1, np.int64)
    place[order], place[-1] = np.arange(len(values)), NO_DOCUMENT
    parts = two_grade_losses(place[rows], scores, len(values), ties)
    steps = -np.diff(values[order])
    loss: Floats = parts @ steps[::-1]
    return _share(loss, count_graded_pairs(rows)) if normalise else loss


def two_grade_losses(
    grades: ArrayLike, scores: ArrayLike, n_grades: int, ties: TieOrder = "half"
) -> Floats:
    """Return R_0, ..., R_{L-2}: the inversions of each two-grade problem.

    Parameters
    ----------
    grades : array-like of int, shape (n, N) or (N,)
        Grade index of each document, -1 for none.
    scores : array-like of float, same shape
    n_grades : int
        L.
    ties : {"half", "best", "worst"}, default "half"
        As for :func:`pairwise_loss`.

    Returns
    -------
    ndarray of float, shape (n, L - 1) or (L - 1,)
        Column k is about the grades whose value is above k against the rest; the last
        column is about the best grade.

    Examples
    --------
    >>> two_grade_losses([2, 0, 1], [3, 2, 1], 3)
    array([2., 1.])
    """
    if ties not in get_args(TieOrder):
        raise unknown_name("rule for ties", ties, get_args(TieOrder))
    rows = checked_grades(grades, n_grades, "grades")
    ranked, start, end = _ranked(rows, _checked_scores(scores, rows))
    found = np.zeros((*rows.shape[:-1], n_grades - 1))
    for k in range(n_grades - 1):
        last = n_grades - 2 - k  # the index whose value is k + 1
        before = _counted_before(ranked > last)
        above = np.take_along_axis(before, start, axis=-1)  # worse documents, scored higher
        not_below = np.take_along_axis(before, end, axis=-1)  # and those with the same score
        inverted = {"best": above, "worst": not_below, "half": (above + not_below) / 2}[ties]
        better = (ranked != NO_DOCUMENT) & (ranked <= last)
        found[..., k] = np.sum(inverted, axis=-1, where=better)
    return found


def count_graded_pairs(grades: ArrayLike) -> Floats:
    """Return Z, the number of pairs of documents of different grades.

    Parameters
    ----------
    grades : array-like of int, shape (n, N) or (N,)
        Grade indices, -1 for no document.

    Returns
    -------
    ndarray of float, shape (n,) or ()

    Examples
    --------
    >>> float(count_graded_pairs([0, 1, 1, 2]))
    5.0
    """
    rows = checked_grades(grades, MAX_GRADES, "grades")
    sizes = np.array([(rows == grade).sum(axis=-1) for grade in range(_n_grades(rows))])
    found: Floats = (sizes.sum(axis=0) ** 2 - (sizes**2).sum(axis=0)) / 2
    return found


def _add_up(gained: Floats, missing: NDArray[np.bool_]) -> Floats:
    """Weigh the gain at each rank by the number of documents below it."""
    size = (~missing).sum(axis=-1, keepdims=True)
    ranks = np.arange(1, gained.shape[-1] + 1)
    found: Floats = (gained * (size - ranks)).sum(axis=-1)
    return found


def _ranked(grades: Grades, scores: Floats) -> tuple[Grades, NDArray[np.int64], NDArray[np.int64]]:
    """Sort by score; return the grades, and where each one's group of ties begins and ends.

    What is no document stands somewhere in between, and is counted nowhere.
    """
    width = grades.shape[-1]
    order = np.argsort(-scores, axis=-1)
    ranked = np.take_along_axis(grades, order, axis=-1)
    ordered = np.take_along_axis(scores, order, axis=-1)
    first = np.ones(grades.shape, bool)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ranks = np.arange(width)
    start = np.maximum.accumulate(np.where(first, ranks, 0), axis=-1)
    last = np.roll(first, -1, axis=-1)  # the first document of all is the first of its group
    ends = np.where(last, ranks + 1, width)
    end = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    return ranked, start, end


def _counted_before(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many of the first 0, 1, ..., N entries are marked, shape (..., N + 1)."""
    found = np.zeros((*marked.shape[:-1], marked.shape[-1] + 1), np.int64)
    np.cumsum(marked, axis=-1, out=found[..., 1:])
    return found


def _checked_gains(gains: Gains) -> Floats:
    return np.array(DCG(gains).gains)


def _checked_scores(scores: ArrayLike, grades: Grades) -> Floats:
    try:
        found = np.asarray(scores, float)
    except (TypeError, ValueError) as error:
        raise InputError("scores are not numbers", "give one number a document") from error
    if found.shape != grades.shape:
        raise InputError(
            f"scores of shape {found.shape} for grades of shape {grades.shape}",
            "give one score a document",
        )
    found = np.where(grades == NO_DOCUMENT, 0.0, found)
    wrong = np.isnan(found)
    if wrong.any():
        place = f"row {int(np.argwhere(wrong)[0][0])}"
        raise InputError("a score is nan", "score every document", place)
    return found


def _n_grades(grades: ArrayLike, name: str = "grades") -> int:
    """Return the least L of which all these are grade indices."""
    return int(checked_grades(grades, MAX_GRADES, name).max(initial=0)) + 1


def _share(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.zeros_like(part)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
