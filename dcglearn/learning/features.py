"""Binary encodings of rankings, and of the difference between two rankings.

The encoding of a ranking has one unit vector per rank, one after the other
(position-major). With five grades, the 1st, 5th and 3rd grade in that order are

    s(pi) = 10000 00001 00100        so that        u(pi) = <W, s(pi)>

(Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 5.1, K x L). Rankings of K documents
without grades have one unit vector of length K per rank (section 8, K x K): this is the
same encoding with document numbers instead of grades. An empty rank, -1, is a zero vector.

Learning uses a pair of rankings only as x = s(first) - s(second), which has at most 2 K
nonzero entries. The matrix X of these rows is for the solvers that use cvxpy; Newton's method
does without it (:mod:`dcglearn.learning.codes`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from dcglearn.base.types import Floats, Grades
from dcglearn.correlation.agreement import checked_pairs
from dcglearn.measures.grade_indices import checked_grades
from dcglearn.measures.scale import NO_DOCUMENT


def encode(rankings: ArrayLike, n_grades: int) -> Floats:
    """Return s(pi) of each ranking as a dense array.

    Parameters
    ----------
    rankings : array-like of int, shape (n, K)
        Grade indices (or document numbers); -1 means no document.
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
    rows = np.atleast_2d(checked_grades(rankings, n_grades))
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
        Without entries for ranks at which both lists have the same grade.

    Examples
    --------
    >>> difference_matrix([[[0, 1], [1, 1]]], 2).toarray()
    array([[ 1., -1.,  0.,  0.]])
    """
    rows = checked_pairs(pairs, n_grades)
    matrix: csr_array = encode_sparse(rows[:, 0], n_grades) - encode_sparse(rows[:, 1], n_grades)
    matrix.eliminate_zeros()
    return matrix


def _columns(rows: Grades, n_grades: int) -> NDArray[np.int64]:
    offsets = np.arange(rows.shape[-1]) * n_grades
    return offsets + rows.astype(np.int64)
