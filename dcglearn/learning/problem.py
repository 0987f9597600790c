"""The learning problem: what every solver is given and every certificate judges.

    min_W  <W, W> + C sum_i v_i max(0, m_i - <W, x_i>)^2
    s.t.   W[k, l] >= W[k, l + 1]                            (where grades are ordered)

with x_i = s(preferred) - s(other). The problems of Zhou, Zha, Xue & Yu (arXiv
1212.5650) are eq. 1 with m = 1, eq. 4 with m the Hamming distance, and eq. 6
without the monotone rows, on the K x K encoding of rankings without grades.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from dcglearn.base.errors import InputError
from dcglearn.learning.encoding import difference_operator
from dcglearn.learning.margins import margins, one_a_pair
from dcglearn.measures.agreement import as_pairs
from dcglearn.measures.discounts import Floats
from dcglearn.measures.scale import Grades


@dataclass(frozen=True)
class Problem:
    """One problem, checked. Use :meth:`of` to build it.

    Attributes
    ----------
    pairs : ndarray of int, shape (n, 2, K)
        The preferred ranking first.
    n_grades : int
        L, or the number of documents.
    margins, weights : ndarray of float, shape (n,)
        m and v.
    C : float
        What a violated margin costs beside the size of W.
    monotone : bool
        Whether a better grade may not be worth less than a worse one at any rank.
    """

    pairs: Grades
    n_grades: int
    margins: Floats
    weights: Floats
    C: float
    monotone: bool

    @classmethod
    def of(
        cls,
        pairs: ArrayLike,
        n_grades: int,
        margin: str | ArrayLike = "unit",
        weights: ArrayLike | None = None,
        C: float = 1.0,
        monotone: bool = True,
    ) -> Problem:
        """Check the parts and build the problem.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K)
        n_grades : int
        margin : {"unit", "hamming"} or array-like of float, shape (n,)
        weights : array-like of float, shape (n,), optional
            0 or more; 1 by default.
        C : float, default 1
            Positive and finite.
        monotone : bool, default True

        Returns
        -------
        Problem

        Raises
        ------
        InputError
            If a part is not as above, or there is no pair.
        """
        rows = as_pairs(pairs, n_grades)
        if not len(rows):
            raise InputError("no pair to learn from", "give at least one strict preference")
        v = (
            np.ones(len(rows))
            if weights is None
            else one_a_pair(weights, len(rows), "weights", 0.0)
        )
        return cls(rows, n_grades, margins(rows, margin), v, _checked_C(C), monotone)

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L), the shape of W."""
        return self.pairs.shape[2], self.n_grades

    @cached_property
    def differences(self) -> LinearOperator:
        """X, of shape (n, K L), as products."""
        return difference_operator(self.pairs, self.n_grades)

    def slacks(self, W: Floats) -> Floats:
        """Return max(0, m - <W, x>) of each pair, shape (n,).

        Parameters
        ----------
        W : ndarray of float, shape (K, L)
        """
        found: Floats = np.maximum(0.0, self.margins - self.differences @ W.ravel())
        return found


def _checked_C(C: object) -> float:
    if not isinstance(C, bool) and isinstance(C, Real) and 0 < float(C) < math.inf:
        return float(C)
    raise InputError(f"C is {C!r}", "use a finite number above 0")
