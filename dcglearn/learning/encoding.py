"""Binary encodings of rankings, and of the differences between two.

A ranking becomes one unit vector a rank, one after the other (position-major):
with five grades, the 1st, 5th and 3rd grade in that order are

    s(pi) = 10000 00001 00100        so that        u(pi) = <W, s(pi)>

(Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 5.1, K x L). Rankings of K documents
without grades take one unit vector of length K a rank (section 8, K x K): it is
the same encoding with document numbers in the place of grades. An empty rank, -1,
is a zero vector.

A pair of rankings enters learning only as x = s(first) - s(second), which has at
most 2 K entries that are not zero; the products that solvers need are taken from
the codes without building it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from dcglearn.measures.agreement import as_pairs
from dcglearn.measures.discounts import Floats
from dcglearn.measures.scale import NO_DOCUMENT, Grades, as_grades
from dcglearn.measures.utility import add_up

MOST_DENSE = 2_000_000
"""Entries of X up to which it is built dense."""


def encode(rankings: ArrayLike, n_grades: int) -> Floats:
    """Return s(pi) of each ranking as a dense array.

    Parameters
    ----------
    rankings : array-like of int, shape (n, K)
        Grade indices (or document numbers), -1 for none.
    n_grades : int
        L (or K, the number of documents).

    Returns
    -------
    ndarray of float, shape (n, K L)

    Raises
    ------
    InputError
        If an index is out of range.

    Examples
    --------
    >>> encode([[0, 2]], 3)
    array([[1., 0., 0., 0., 0., 1.]])
    """
    return encode_sparse(rankings, n_grades).toarray()


def encode_sparse(rankings: ArrayLike, n_grades: int) -> csr_array:
    """Return s(pi) of each ranking as a sparse array.

    Parameters
    ----------
    rankings : array-like of int, shape (n, K)
    n_grades : int
        L.

    Returns
    -------
    scipy.sparse.csr_array of float, shape (n, K L)
    """
    rows = np.atleast_2d(as_grades(rankings, n_grades))
    filled = rows != NO_DOCUMENT
    starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    columns = _columns(rows, n_grades)[filled]
    shape = (len(rows), rows.shape[1] * n_grades)
    return csr_array((np.ones(len(columns)), columns, starts), shape=shape)


def difference_matrix(pairs: ArrayLike, n_grades: int) -> csr_array:
    """Return x = s(first) - s(second) of each pair as a sparse array.

    Parameters
    ----------
    pairs : array-like of int, shape (n, 2, K)
    n_grades : int
        L.

    Returns
    -------
    scipy.sparse.csr_array of float, shape (n, K L)
        Ranks at which both lists hold the same grade leave no entry.

    Examples
    --------
    >>> difference_matrix([[[0, 1], [1, 1]]], 2).toarray()
    array([[ 1., -1.,  0.,  0.]])
    """
    rows = as_pairs(pairs, n_grades)
    matrix: csr_array = encode_sparse(rows[:, 0], n_grades) - encode_sparse(rows[:, 1], n_grades)
    matrix.eliminate_zeros()
    return matrix


def difference_rows(pairs: ArrayLike, n_grades: int) -> Floats | csr_array:
    """Return :func:`difference_matrix`, dense where it is small: that is quicker then.

    Parameters
    ----------
    pairs : array-like of int, shape (n, 2, K)
    n_grades : int
        L.

    Returns
    -------
    ndarray or csr_array of float, shape (n, K L)

    Examples
    --------
    >>> difference_rows([[[0, 1], [1, 1]]], 2)
    array([[ 1., -1.,  0.,  0.]])
    """
    rows = as_pairs(pairs, n_grades)
    n, _, n_ranks = rows.shape
    if n * n_ranks * n_grades > MOST_DENSE:
        return difference_matrix(rows, n_grades)
    found = np.zeros((n, n_ranks * n_grades + 1))  # the last column takes what is no document
    each = np.arange(n)[:, None]
    columns = np.where(rows == NO_DOCUMENT, -1, _columns(rows, n_grades))
    found[each, columns[:, 0]] += 1.0  # a rank has columns of its own, so none comes twice
    found[each, columns[:, 1]] -= 1.0
    return found[:, :-1]


def difference_operator(pairs: ArrayLike, n_grades: int) -> LinearOperator:
    """Return the matrix of :func:`difference_matrix` as products only; it is never built.

    Parameters
    ----------
    pairs : array-like of int, shape (n, 2, K)
    n_grades : int
        L.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator of shape (n, K L)
        ``X @ w`` takes n K look-ups, ``X.T @ r`` as many additions.

    Examples
    --------
    >>> X = difference_operator([[[0, 1], [1, 1]]], 2)
    >>> X @ np.array([3.0, 1.0, 0.0, 0.0])
    array([2.])
    """
    rows = as_pairs(pairs, n_grades)
    n, _, n_ranks = rows.shape

    def forward(w: Floats) -> Floats:
        weights = np.reshape(w, (n_ranks, n_grades))
        return add_up(weights, rows[:, 0]) - add_up(weights, rows[:, 1])

    def backward(r: Floats) -> Floats:
        return _counts(rows[:, 0], np.ravel(r), n_grades) - _counts(
            rows[:, 1], np.ravel(r), n_grades
        )

    return LinearOperator(
        dtype=np.float64, shape=(n, n_ranks * n_grades), matvec=forward, rmatvec=backward
    )


def gram(pairs: ArrayLike, n_grades: int, weights: ArrayLike | None = None) -> Floats:
    """Return X' V X, the curvature that pairs give to each direction of W.

    Parameters
    ----------
    pairs : array-like of int, shape (n, 2, K)
    n_grades : int
        L.
    weights : array-like of float, shape (n,), optional
        The diagonal of V, 1 by default.

    Returns
    -------
    ndarray of float, shape (K L, K L)
        Exact where the weights are whole numbers.
    """
    X = difference_rows(pairs, n_grades)
    return gram_of(X, np.ones(X.shape[0]) if weights is None else np.asarray(weights, float))


def gram_of(X: Floats | csr_array, weights: Floats) -> Floats:
    """Return X' V X of rows that are already built.

    Parameters
    ----------
    X : ndarray or csr_array of float, shape (n, d)
    weights : ndarray of float, shape (n,)

    Returns
    -------
    ndarray of float, shape (d, d)
    """
    found: Any = X.T @ (X * weights[:, None])
    return np.asarray(found if isinstance(found, np.ndarray) else found.toarray())


def _columns(rows: Grades, n_grades: int) -> NDArray[np.int64]:
    offsets = np.arange(rows.shape[-1]) * n_grades
    return offsets + rows.astype(np.int64)


def _counts(rows: Grades, weights: Floats, n_grades: int) -> Floats:
    """Return sum_i r_i s(pi_i), rank by rank."""
    filled = rows != NO_DOCUMENT
    ranks = [np.bincount(rows[keep, k], weights[keep], n_grades) for k, keep in enumerate(filled.T)]
    return np.concatenate(ranks)
