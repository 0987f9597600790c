"""Encoded pairs in blocks, and the products X w, X' y and X' V X without building X.

At one rank, a pair of rankings is the code a (L + 1) + b of its two grades, where L means
that there is no document; without empty ranks it is a L + b. Neighbouring ranks share one
code as long as it takes few values. Then <w, x> is one table look-up per code. X' V X is added up
over some rows of X at a time; with integer weights it is exact, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Grades, Integers

MAX_CODE_VALUES = 1000
"""Ranks are joined into one code while it takes at most this many values, for the cache."""

Codes = Sequence[NDArray[Any]] | NDArray[Any]
"""Unsigned numbers of n pairs, one row per code."""

MIN_BLOCK_PAIRS, MAX_BLOCK_PAIRS = 1 << 17, 1 << 18
"""Up to the first number pairs are one block; more are at least two, for as many threads."""

_CHUNK_PAIRS, _ENCODED_PAIRS, _DENSE_ROWS = 1 << 17, 1 << 15, 1 << 13
"""Pairs that are processed, encoded or built at a time, for the cache."""


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

    @cached_property
    def value_rows(self) -> Floats:
        """The columns of X at a code's ranks, shape (values, ranks L); fewer ranks are the last."""
        values, grades = self.values_per_rank, np.arange(self.n_grades)
        one = np.zeros((values, values, self.n_grades))
        one[grades, :, grades] += 1.0
        one[:, grades, grades] += 1.0 if self.sums else -1.0
        rank, rows = one.reshape(-1, self.n_grades), np.zeros((1, 0))
        for _ in range(self.ranks_per_code):
            left = np.repeat(rows, len(rank), axis=0)
            rows = np.hstack([left, np.tile(rank, (len(rows), 1))])
        return rows

    @cached_property
    def tables(self) -> list[tuple[Floats, slice]]:
        """For each code, the rows of X of its values, and which columns of X they are."""
        L, tables = self.n_grades, []
        for first, last in pairwise(self.rank_bounds):
            values, width = self.values_per_rank ** (2 * (last - first)), (last - first) * L
            columns = slice(first * L, last * L)
            tables.append((self.value_rows[:values, -width:], columns))
        return tables

    def product(self, codes: Codes, w: Floats) -> Floats:
        """Return X w of pairs whose codes are given, for w of shape (K L,) or (K L, p)."""
        utilities = [values @ w[columns] for values, columns in self.tables]
        # mode="clip" because take buffers its result in the other modes
        total = utilities[0].take(codes[0], axis=0, mode="clip")
        for utility, code in zip(utilities[1:], codes[1:], strict=True):
            total += utility.take(code, axis=0, mode="clip")
        return total

    def transposed_product(self, codes: Codes, y: Floats | None) -> Floats:
        """Return X' y, shape (K L,); y is 1 by default."""
        sums = [
            np.bincount(code, y, len(values)) @ values
            for code, (values, _) in zip(codes, self.tables, strict=True)
        ]
        return np.concatenate(sums)

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

    def chunks(self) -> Iterator[slice]:
        """Cut the pairs into chunks that stay in the cache."""
        for begin in range(0, max(1, len(self)), _CHUNK_PAIRS):  # one, if it is empty
            yield slice(begin, min(begin + _CHUNK_PAIRS, len(self)))

    def matvec(self, w: Floats, rows: slice = slice(None)) -> Floats:
        """Return X w of some pairs, shape (m,)."""
        return self.layout.product(self._some(rows), w)

    def residuals(self, w: Floats, rows: slice) -> Floats:
        """Return m - X w of some pairs, shape (m,)."""
        product = self.matvec(w, rows)
        margins = 1.0 if self.margins is None else self.margins[rows]
        return np.subtract(margins, product, out=product)

    def residuals_kept(self, w: Floats) -> Floats:
        """Return m - X w of all pairs, which are kept until those of another w are asked for."""
        kept = self.kept
        if kept is None or not np.array_equal(kept[0], w):
            r = np.concatenate([self.residuals(w, part) for part in self.chunks()])
            self.kept = kept = w.copy(), r  # in one step: threads share blocks
        return kept[1]

    def rmatvec(self, y: Floats | None, rows: Integers | slice) -> Floats:
        """Return X' y of some pairs, shape (K L,); y is 1 by default."""
        return self.layout.transposed_product(self._some(rows), y)

    def weighted(self, y: Floats, rows: Integers | slice) -> Floats:
        """Return V y of some pairs, shape (m,)."""
        return y if self.weights is None else self.weights[rows] * y

    def gram(self, rows: Integers, weights: Floats | None = None) -> Floats:
        """Return X' V X of some pairs, shape (K L, K L); weights, the diagonal of V, are 1."""
        # Single precision is exact for sums of integers up to 2^24.
        table: NDArray[Any] = self.layout.value_rows
        table = table.astype(np.float32 if weights is None else np.float64)
        width = len(self.codes) * table.shape[1]
        gram = np.zeros((width, width))
        for begin in range(0, len(rows), _DENSE_ROWS):
            codes = self.codes.take(rows[begin : begin + _DENSE_ROWS], axis=1).T
            X = table.take(codes, axis=0, mode="clip").reshape(len(codes), width)
            V = None if weights is None else weights[begin : begin + _DENSE_ROWS, None]
            gram += X.T @ (X if V is None else X * V)
        last = width - table.shape[1]  # the last code may have fewer ranks, and columns before them
        columns = self.layout.n_ranks * self.layout.n_grades
        kept = np.r_[:last, last + width - columns : width]
        return np.asarray(gram[np.ix_(kept, kept)])

    def _some(self, rows: Integers | slice) -> list[NDArray[Any]]:
        if isinstance(rows, slice):
            return [code[rows] for code in self.codes]
        return [code.take(rows) for code in self.codes]  # faster than an index


def taken(values: Floats | None, rows: Integers | slice) -> Floats | None:
    """Return the weights or margins of some rows; None, where all are 1, stays None."""
    return None if values is None else values[rows]
