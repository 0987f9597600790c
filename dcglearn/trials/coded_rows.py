"""Sums over the differences x of encoded lists, by the values of their codes.

x consists of parts, of which each is one of few values that a code numbers
(:mod:`dcglearn.learning.codes`). For a number y of each x,

    sum y x = sum_codes (sum of y at each value of the code) x(value),

and sum y x x' likewise from pairs of codes, so that no row of X is needed. Of few rows, X itself is
kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dcglearn.base.types import Floats, Integers
from dcglearn.learning.codes import CodeLayout

_DENSE_ROWS = 4000
"""Up to this many, products with X take less time than counting."""


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows x, and products with them.

    Parameters
    ----------
    layout : CodeLayout
    codes : ndarray of int, shape (codes per pair, n)

    Examples
    --------
    >>> layout = CodeLayout(2, 2, False)
    >>> rows = CodedRows(layout, layout.encode(np.array([[[0, 1], [1, 1]]], np.int8)))
    >>> rows.products(np.eye(4)).T
    array([[ 1., -1.,  0.,  0.]])
    >>> rows.sums(np.array([[2.0]]))[0]
    array([[ 2., -2.,  0.,  0.]])
    """

    layout: CodeLayout
    codes: Integers

    @cached_property
    def X(self) -> Floats | None:
        """The rows, shape (n, K L), if there are few."""
        if self.codes.shape[1] > _DENSE_ROWS:
            return None
        tables = zip(self.codes, self.layout.tables, strict=True)
        return np.hstack([values.take(code, axis=0) for code, (values, _) in tables])

    def products(self, J: Floats) -> Floats:
        """Return (X J)', shape (p, n), for J of shape (K L, p)."""
        if self.X is not None:
            return np.asarray(J.T @ self.X.T)
        total = np.zeros((J.shape[1], self.codes.shape[1]))
        for code, (values, columns) in zip(self.codes, self.layout.tables, strict=True):
            for row, table in zip(total, (values @ J[columns]).T.copy(), strict=True):
                row += table.take(code)
        return total

    def sums(self, y: Floats) -> tuple[Floats, Floats]:
        """Return Y X, shape (m, K L), for Y of shape (m, n), and X' diag(y) X for the last y."""
        if self.X is not None:
            return y @ self.X, self.X.T @ (self.X * y[-1][:, None])
        tables, m = self.layout.tables, len(y)
        n_columns = self.layout.n_ranks * self.layout.n_grades
        sums, gram = np.empty((m, n_columns)), np.empty((n_columns, n_columns))
        for i, (left, at_i) in enumerate(tables):
            counts = np.stack([np.bincount(self.codes[i], row, len(left)) for row in y])
            sums[:, at_i] = counts @ left
            gram[at_i, at_i] = left.T @ (left * counts[-1][:, None])
            for j, (right, at_j) in enumerate(tables[:i]):
                joint = self.codes[i] * len(right) + self.codes[j]
                table = np.bincount(joint, y[-1], len(left) * len(right)).reshape(len(left), -1)
                gram[at_i, at_j] = left.T @ table @ right
                gram[at_j, at_i] = gram[at_i, at_j].T
        return sums, gram
