"""Encoded pairs in blocks, and the products X w, X' y and X' V X without building X.

At one rank, a pair of rankings is the code a (L + 1) + b of its two grades, where L means
that there is no document; without empty ranks it is a L + b. Neighbouring ranks share one
code as long as it takes few values. Then <w, x> is one table look-up per code. X' V X is added up
over some rows of X at a time; with integer weights it is exact, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Grades

MAX_CODE_VALUES = 1000
"""Ranks are joined into one code while it takes at most this many values, for the cache."""

MAX_DENSE_ENTRIES = 500_000
"""X is built if it has at most this many entries, because that is faster then."""

MIN_BLOCK_PAIRS, MAX_BLOCK_PAIRS = 1 << 17, 1 << 20
"""Up to the first number pairs are one block; more are at least two, for as many threads."""

_CHUNK_PAIRS, _ENCODED_PAIRS, _DENSE_ROWS = 1 << 17, 1 << 15, 1 << 13
"""Pairs that are processed, encoded or built at a time, for the cache."""

_ALL = slice(None)


@dataclass(frozen=True)
class CodeLayout:
    """How the grades of a pair become codes; with `sums`, x adds the two encoded rankings."""

    n_ranks: int
    n_grades: int
    has_empty_ranks: bool
    sums: bool = False

    @property
    def values_per_rank(self) -> int:
        """Number of values at one rank: L grades, and no document if that occurs."""
        return self.n_grades + self.has_empty_ranks

    @cached_property
    def rank_bounds(self) -> tuple[int, ...]:
        """The first rank of each code, and K."""
        together = 1
        while (
            together < self.n_ranks
            and self.values_per_rank ** (2 * together + 2) <= MAX_CODE_VALUES
        ):
            together += 1
        return (*range(0, self.n_ranks, together), self.n_ranks)

    @property
    def ranks_per_code(self) -> int:
        """Number of ranks that share a code; the last code may have fewer."""
        return self.rank_bounds[1]

    @property
    def value_rows(self) -> Floats:
        """The columns of X at a code's ranks, shape (values, ranks L); fewer ranks are the last."""
        sign = 1.0 if self.sums else -1.0
        return _value_rows(self.values_per_rank, self.n_grades, self.ranks_per_code, sign)

    @cached_property
    def tables(self) -> list[tuple[Floats, slice]]:
        """For each code, the rows of X of its values, and which columns of X they are."""
        L, tables = self.n_grades, []
        for first, last in pairwise(self.rank_bounds):
            values, width = self.values_per_rank ** (2 * (last - first)), (last - first) * L
            columns = slice(first * L, last * L)
            tables.append((self.value_rows[:values, -width:], columns))
        return tables

    def encode(self, pairs: Grades) -> NDArray[np.unsignedinteger]:
        """Return the codes of pairs (n, 2, K), shape (codes per pair, n)."""
        base = self.values_per_rank
        rank_type = np.min_scalar_type(base**2 - 1)  # mostly one byte, which is faster
        code_type = np.min_scalar_type(base ** (2 * self.ranks_per_code) - 1)
        codes = np.empty((len(self.rank_bounds) - 1, len(pairs)), code_type)
        for begin in range(0, len(pairs), _ENCODED_PAIRS):
            end = begin + _ENCODED_PAIRS
            grades = pairs[begin:end].transpose(1, 2, 0).astype(rank_type, order="C")
            if self.has_empty_ranks:  # -1 has become the largest unsigned number
                np.minimum(grades, rank_type.type(self.n_grades), out=grades)
            ranks, second = grades
            ranks *= rank_type.type(base)
            ranks += second
            codes[:, begin:end] = ranks[:: self.ranks_per_code]
            for rank in range(1, self.ranks_per_code):
                more = ranks[rank :: self.ranks_per_code]  # the last code may have fewer ranks
                code = codes[: len(more), begin:end]
                code *= code_type.type(base**2)
                code += more
        return codes


layout_of = lru_cache(8)(CodeLayout)
"""A layout, with its tables, that many small problems share."""


@lru_cache(8)
def _value_rows(values_per_rank: int, n_grades: int, n_ranks: int, sign: float) -> Floats:
    one = np.zeros((values_per_rank, values_per_rank, n_grades))
    grades = np.arange(n_grades)
    one[grades, :, grades] += 1.0
    one[:, grades, grades] += sign
    rank = one.reshape(-1, n_grades)
    rows = np.zeros((1, 0))
    for _ in range(n_ranks):
        left = np.repeat(rows, len(rank), axis=0)
        rows = np.hstack([left, np.tile(rank, (len(rows), 1))])
    return rows


@dataclass(eq=False)
class Block:
    """Encoded pairs; margins and weights, shape (n,), are None where all are 1.

    `kept` are the last residuals that were, after the w that they are of.
    """

    layout: CodeLayout
    codes: NDArray[np.unsignedinteger]
    margins: Floats | None
    weights: Floats | None
    kept: tuple[Floats, Floats] | None = None

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_columns(self) -> int:
        """K L, the number of columns of X."""
        return self.layout.n_ranks * self.layout.n_grades

    @cached_property
    def dense(self) -> Floats | None:
        """X, shape (n, K L), if it is small, otherwise None."""
        if len(self) * self.n_columns > MAX_DENSE_ENTRIES:
            return None
        tables = zip(self.codes, self.layout.tables, strict=True)
        return np.hstack([rows.take(code, axis=0, mode="clip") for code, (rows, _) in tables])

    def chunks(self) -> Iterator[slice]:
        """Cut the pairs into chunks that stay in the cache."""
        step = _CHUNK_PAIRS if self.dense is None else max(1, len(self))
        for begin in range(0, max(1, len(self)), step):  # an empty block has one empty chunk
            yield slice(begin, min(begin + step, len(self)))

    def matvec(self, w: Floats, rows: NDArray[np.intp] | slice = _ALL) -> Floats:
        """Return X w of some pairs, shape (m,)."""
        if self.dense is not None:  # the product of a subset may differ in the last bit
            return np.asarray((self.dense @ w)[rows])
        utilities = [values @ w[columns] for values, columns in self.layout.tables]
        # mode="clip" because np.take buffers its result in the other modes
        product = np.take(utilities[0], _select(self.codes[0], rows), mode="clip")
        for utility, code in zip(utilities[1:], self.codes[1:], strict=True):
            product += np.take(utility, _select(code, rows), mode="clip")
        return product

    def residuals(self, w: Floats, rows: NDArray[np.intp] | slice = _ALL) -> Floats:
        """Return m - X w of some pairs, shape (m,)."""
        if isinstance(rows, slice) and rows == _ALL and self.dense is None:
            r = np.empty(len(self))
            for part in self.chunks():
                r[part] = self.residuals(w, part)
            return r
        product = self.matvec(w, rows)
        margins = 1.0 if self.margins is None else self.margins[rows]
        return np.subtract(margins, product, out=product)

    def residuals_kept(self, w: Floats) -> Floats:
        """Return m - X w of all pairs, which are kept until those of another w are asked for."""
        kept = self.kept
        if kept is None or not np.array_equal(kept[0], w):
            self.kept = kept = w.copy(), self.residuals(w)  # in one step: threads share blocks
        return kept[1]

    def rmatvec(self, y: Floats | None, rows: NDArray[np.intp] | slice) -> Floats:
        """Return X' y of some pairs, shape (K L,); y is 1 by default."""
        if self.dense is not None:
            X = self.dense[rows]
            return np.asarray(X.sum(axis=0) if y is None else X.T @ y)
        sums = [
            np.bincount(_select(code, rows), y, len(values)) @ values
            for code, (values, _) in zip(self.codes, self.layout.tables, strict=True)
        ]
        return np.concatenate(sums)

    def gram(self, rows: NDArray[np.intp], weights: Floats | None = None) -> Floats:
        """Return X' V X of some pairs, shape (K L, K L); weights, the diagonal of V, are 1."""
        if self.dense is not None:
            X = self.dense[rows]
            return np.asarray(X.T @ (X if weights is None else X * weights[:, None]))
        values, together = len(self.layout.value_rows), self.layout.ranks_per_code
        by_rank = self.layout.value_rows.reshape(values, together, -1)
        # Single precision is exact for sums of integers up to 2^24.
        table: NDArray[Any] = by_rank[:, :, : self._independent_grades].reshape(values, -1)
        table = table.astype(np.float32 if weights is None else np.float64)
        width = len(self.codes) * table.shape[1]
        gram = np.zeros((width, width))
        for begin in range(0, len(rows), _DENSE_ROWS):
            codes = self.codes.take(rows[begin : begin + _DENSE_ROWS], axis=1).T
            X = table.take(codes, axis=0, mode="clip").reshape(len(codes), width)
            V = None if weights is None else weights[begin : begin + _DENSE_ROWS, None]
            gram += X.T @ (X if V is None else X * V)
        return self._with_dependent_columns(gram)

    @property
    def _independent_grades(self) -> int:
        """Number of grades whose columns determine X; without empty ranks all but the worst."""
        return self.layout.n_grades - (not self.layout.has_empty_ranks)

    def _with_dependent_columns(self, gram: Floats) -> Floats:
        """Return X' V X of all columns from that of the independent ones."""
        K, L, independent = self.layout.n_ranks, self.layout.n_grades, self._independent_grades
        real = np.ones((len(self.codes), self.layout.ranks_per_code), bool)
        real[-1, : real.size - K] = False  # the last code has fewer ranks
        at = np.flatnonzero(np.repeat(real.ravel(), independent))
        full = np.zeros((K, L, K, L))
        shape = (K, independent, K, independent)
        full[:, :independent, :, :independent] = gram[np.ix_(at, at)].reshape(shape)
        if independent < L:
            full[:, -1] = -full[:, :-1].sum(axis=1)
            full[:, :, :, -1] = -full[:, :, :, :-1].sum(axis=3)
        return full.reshape(self.n_columns, self.n_columns)


def taken(values: Floats | None, rows: NDArray[np.intp] | slice) -> Floats | None:
    """Return the weights or margins of some rows; None, where all are 1, stays None."""
    return None if values is None else values[rows]


def _select(code: NDArray[Any], rows: NDArray[np.intp] | slice) -> NDArray[Any]:
    return code[rows] if isinstance(rows, slice) else code.take(rows)  # the faster of the two
