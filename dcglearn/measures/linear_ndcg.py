"""Linear NDCG: DCG over all documents of a query, with linear discounts.

    DCG = sum_{i = 1}^{|S|} g_i (|S| - i)        NDCG = DCG / ideal        error = ideal - DCG

S is the set of all documents of a query and g_i the gain at rank i, in the paper the value
r = L - 1, ..., 1, 0 of the grade (Jin & Geng, arXiv 1303.2417). The discount |S| - i is the
number of documents below rank i. The error is the pair-wise loss of
:mod:`dcglearn.correlation.pairwise_loss`.

Arrays hold one row per query; -1 fills up rows with fewer documents.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.overflow import multiplied, usual_size
from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG, Gains, Normalisation
from dcglearn.measures.grade_indices import checked_grades
from dcglearn.measures.ideal import divide_or_zero
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT


def linear_gains(n_grades: int) -> Floats:
    """Return the gains of the paper, L - 1, ..., 1, 0.

    Parameters
    ----------
    n_grades : int
        L, the number of grades.

    Returns
    -------
    ndarray of float, shape (L,)
        Best grade first.

    Examples
    --------
    >>> linear_gains(3)
    array([2., 1., 0.])
    """
    return np.arange(n_grades - 1, -1, -1, dtype=float)


def linear_measure(gains: Gains, n_documents: int, normalise: Normalisation | None = None) -> DCG:
    """Return linear DCG or NDCG as a :class:`DCG`, for queries with equally many documents.

    Its discounts are the vector |S| - 1, ..., 1, 0. Divided by |S| - 1 they are the rule
    ``linear(|S| - 1)``.

    Parameters
    ----------
    gains : sequence of float, or mapping from grade to float
        One per grade, best grade first.
    n_documents : int
        |S|, the number of documents per query.
    normalise : {None, "ideal", "minmax"}, default None

    Returns
    -------
    DCG

    Raises
    ------
    InputError
        If there is no document, or a gain is not finite.

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
        Grade indices of all documents of a query in rank order; -1 after the last document.
    gains : sequence of float, or mapping from grade to float
        One per grade, best grade first; :func:`linear_gains` returns the paper's.

    Returns
    -------
    ndarray of float, shape (n,) or ()

    Raises
    ------
    InputError
        If a grade has no gain, or there is an empty rank above a document: linear DCG is
        defined for rankings of all documents.

    Examples
    --------
    >>> float(linear_dcg([1, 2, 1, 2, 2, 0], [2, 1, 0]))
    8.0
    """
    values, exponent = usual_size(checked_gains(gains))
    rows = checked_grades(rankings, len(values))
    missing = rows == NO_DOCUMENT
    gap = (missing[..., :-1] & ~missing[..., 1:]).any(axis=-1)
    if gap.any():
        raise InputError(
            "an empty rank above a document",
            "rank all documents of the query, -1 after the last",
            f"row {int(np.argmax(gap))}",
        )
    gained = np.where(missing, 0.0, np.append(values, 0.0)[rows])
    return multiplied(_dcg(gained, missing), exponent, "linear DCG")


def linear_ideal(grades: ArrayLike, gains: Gains) -> Floats:
    """Return the largest linear DCG of each query, that of its documents sorted by gain.

    Parameters
    ----------
    grades : array-like of int, shape (n, N) or (N,)
        Grade indices in any order, -1 for no document.
    gains : sequence of float, or mapping from grade to float
        One per grade, best grade first.

    Returns
    -------
    ndarray of float, shape (n,) or ()

    Examples
    --------
    With m relevant and n other documents it is m n + m (m - 1) / 2:

    >>> float(linear_ideal([0, 1, 0, 1, 1, 0], [1, 0]))
    12.0
    """
    values, exponent = usual_size(checked_gains(gains))
    rows = checked_grades(grades, len(values), "grades")
    gained = np.append(values, -np.inf)[rows]  # no document: sorted last
    ranked = -np.sort(-gained, axis=-1)
    missing = np.isneginf(ranked)
    gained = np.where(missing, 0.0, ranked)
    return multiplied(_dcg(gained, missing), exponent, "linear DCG")


def linear_error(rankings: ArrayLike, gains: Gains | None = None) -> Floats:
    """Return the error of each ranking: the ideal linear DCG minus its linear DCG.

    Parameters
    ----------
    rankings : array-like of int, shape (n, N) or (N,)
        As for :func:`linear_dcg`.
    gains : sequence of float, or mapping from grade to float, optional
        One per grade, best grade first. By default the paper's; the number of grades has no
        effect, because a constant added to all gains cancels.

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
        gains = linear_gains(n_grades_of(rankings, "rankings"))
    values, exponent = usual_size(checked_gains(gains))
    error = linear_ideal(rankings, values) - linear_dcg(rankings, values)
    return multiplied(error, exponent, "linear DCG")


def linear_ndcg(rankings: ArrayLike, gains: Gains) -> Floats:
    """Return linear NDCG of each ranking, its linear DCG divided by the ideal.

    Parameters
    ----------
    rankings : array-like of int, shape (n, N) or (N,)
        As for :func:`linear_dcg`.
    gains : sequence of float, or mapping from grade to float
        One per grade, best grade first, 0 or more. Unlike the error, NDCG changes if a
        constant is added to all gains.

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
    values = checked_gains(gains)
    if values.min() < 0:
        raise InputError(f"a gain of {values.min():g}", "use linear_error, or gains of 0 or more")
    values, _ = usual_size(values)
    ideal = linear_ideal(rankings, values)
    return divide_or_zero(linear_dcg(rankings, values), ideal)


def _dcg(gained: Floats, missing: NDArray[np.bool_]) -> Floats:
    """Sum the gain at each rank times the number of documents below it."""
    size = (~missing).sum(axis=-1, keepdims=True)
    ranks = np.arange(1, gained.shape[-1] + 1)
    dcg: Floats = (gained * (size - ranks)).sum(axis=-1)
    return dcg


def checked_gains(gains: Gains) -> Floats:
    """Return gains as an array.

    Parameters
    ----------
    gains : sequence of float, or mapping from grade to float
        One per grade, best grade first.

    Returns
    -------
    ndarray of float, shape (L,)

    Raises
    ------
    InputError
        If there are none, or one is not finite.
    """
    return np.array(DCG(gains).gains)


def n_grades_of(grades: ArrayLike, name: str = "grades") -> int:
    """Return the smallest number of grades with these indices.

    Parameters
    ----------
    grades : array-like of int
        Grade indices, -1 for no document.
    name : str
        What to call the array in an error.

    Returns
    -------
    int
    """
    return int(checked_grades(grades, MAX_GRADES, name).max(initial=0)) + 1
