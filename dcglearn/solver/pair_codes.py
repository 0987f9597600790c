"""Pairs as codes, in blocks, and the products with X that solvers need: X is never built.

At one rank a pair of rankings is the code a (L + 1) + b of its two grades (L stands for no
document; it is left out where no list is empty). Neighbouring ranks share a code as long as
there are few of them. So <w, x> is one look-up a code in a table of gains, and X' V X
follows from how often two codes occur together: counts, which are exact where the weights
are whole numbers, in any order and on any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Grades

MOST_CODES = 1000
"""Ranks share a code up to this many codes: tables of gains stay in the cache."""

MOST_DENSE = 500_000
"""Entries of X up to which it is built: that is quicker then. With many grades four times as
many are."""

ROWS = 1 << 20
"""Pairs a block, at most."""

FEWEST_ROWS = 1 << 17
"""Fewer pairs are one block; more are two or more, for as many threads."""

_STRIPE = 1 << 17
"""Pairs that are worked on at a time, so that they stay in the cache."""

_ENCODED = 1 << 15
"""Pairs that are encoded at a time."""

_ALL = slice(None)

_DENSE_ROWS = 1 << 13
"""Rows of X that are built at a time, where they are built."""


@dataclass(frozen=True)
class Layout:
    """How grades become codes.

    Attributes
    ----------
    n_ranks, n_grades : int
        K and L.
    empty : bool
        Whether some ranking is empty at some rank.
    """

    n_ranks: int
    n_grades: int
    empty: bool

    @property
    def base(self) -> int:
        """Values that a grade can take, no document among them where it occurs."""
        return self.n_grades + self.empty

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first rank of each code, and K."""
        together = 1
        while together < self.n_ranks and self.base ** (2 * together + 2) <= MOST_CODES:
            together += 1
        return (*range(0, self.n_ranks, together), self.n_ranks)

    @property
    def together(self) -> int:
        """Ranks that share a code; the last code may have fewer."""
        return self.starts[1]

    @property
    def most_dense(self) -> int:
        """Entries of X up to which it is quicker than tables of gains, which may be larger."""
        values: int = self.base ** (2 * self.together)
        tables = values * (len(self.starts) - 1) * self.together * self.n_grades
        return min(max(MOST_DENSE, tables), 4 * MOST_DENSE)

    @property
    def rows(self) -> Floats:
        """X of every value of a code, at its ranks, shape (values, ranks L).

        A code of fewer ranks has the smaller values, whose rows are 0 but at the last ranks.
        """
        return _rows(self.base, self.n_grades, self.together)

    @cached_property
    def tables(self) -> list[tuple[Floats, slice]]:
        """X of every value of each code, and where in w its ranks are."""
        L, found = self.n_grades, []
        for first, last in pairwise(self.starts):
            values, columns = self.base ** (2 * (last - first)), (last - first) * L
            at = slice(first * L, last * L)
            found.append((self.rows[:values, self.rows.shape[1] - columns :], at))
        return found

    def farthest(self, w: Floats) -> float:
        """Return the largest <w, x> that any pair can have.

        Parameters
        ----------
        w : ndarray of float, shape (K L,)
        """
        W = w.reshape(self.n_ranks, self.n_grades)
        if self.empty:  # no document is worth 0
            W = np.hstack([W, np.zeros((self.n_ranks, 1))])
        return float(np.ptp(W, axis=1).sum())

    def encode(self, pairs: Grades) -> NDArray[np.unsignedinteger]:
        """Return the codes of pairs.

        Parameters
        ----------
        pairs : ndarray of int, shape (n, 2, K)

        Returns
        -------
        ndarray of unsigned int, shape (codes a pair, n)
        """
        at_rank = np.min_scalar_type(self.base**2 - 1)  # mostly a byte: quicker
        kind = np.min_scalar_type(self.base ** (2 * self.together) - 1)
        found = np.empty((len(self.starts) - 1, len(pairs)), kind)
        for begin in range(0, len(pairs), _ENCODED):
            stripe = pairs[begin : begin + _ENCODED].transpose(1, 2, 0).astype(at_rank, order="C")
            if self.empty:  # -1 has become the largest unsigned number
                np.minimum(stripe, at_rank.type(self.n_grades), out=stripe)
            ranks, second = stripe
            ranks *= at_rank.type(self.base)
            ranks += second
            codes = found[:, begin : begin + _ENCODED]
            for code, (first, last) in zip(codes, pairwise(self.starts), strict=True):
                code[:] = ranks[first]
                for rank in ranks[first + 1 : last]:
                    code *= kind.type(self.base**2)
                    code += rank
        return found


@lru_cache(8)  # many small problems share a layout
def _rows(base: int, n_grades: int, together: int) -> Floats:
    one = np.zeros((base, base, n_grades))
    grades = np.arange(n_grades)
    one[grades, :, grades] += 1.0
    one[:, grades, grades] -= 1.0
    rank = one.reshape(-1, n_grades)
    found = np.zeros((1, 0))
    for _ in range(together):
        left = np.repeat(found, len(rank), axis=0)
        found = np.hstack([left, np.tile(rank, (len(found), 1))])
    return found


class Known(NamedTuple):
    """What was found of pairs at some W.

    Attributes
    ----------
    w : ndarray of float, shape (K L,)
    rows : ndarray of int, shape (m,), or None
        Which pairs, or all.
    missed : ndarray of float, shape (m,)
        Their m - X w.
    radius : float
        The m - X w of all other pairs keep their signs as long as no X w changes by more.
    """

    w: Floats
    rows: NDArray[np.intp] | None
    missed: Floats
    radius: float


@dataclass(frozen=True)
class Block:
    """Some pairs, as codes.

    Attributes
    ----------
    layout : Layout
    codes : ndarray of unsigned int, shape (codes a pair, n)
    margins, weights : ndarray of float, shape (n,)
        A value that all pairs share takes no memory if the array is a broadcast one.
    """

    layout: Layout
    codes: NDArray[np.unsignedinteger]
    margins: Floats
    weights: Floats

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    @property
    def size(self) -> int:
        """K L."""
        return self.layout.n_ranks * self.layout.n_grades

    @cached_property
    def X(self) -> Floats:
        """The rows x, shape (n, K L)."""
        return np.hstack(
            [
                values.take(code, axis=0, mode="clip")
                for code, (values, _) in zip(self.codes, self.layout.tables, strict=True)
            ]
        )

    @cached_property
    def dense(self) -> Floats | None:
        """X, where it is small."""
        return self.X if len(self) * self.size <= self.layout.most_dense else None

    @cached_property
    def known(self) -> tuple[Known, ...]:
        """What was found when all pairs were last looked at, and when some were after that."""
        return ()

    def remember(self, *known: Known) -> None:
        """Keep what was found, at once: other threads may ask for it.

        Parameters
        ----------
        *known : Known
            Of all pairs, and of some.
        """
        vars(self)["known"] = known

    def stripes(self) -> Iterator[slice]:
        """Cut the pairs into parts whose numbers stay in the cache."""
        step = _STRIPE if self.dense is None else max(1, len(self))
        for begin in range(0, max(1, len(self)), step):  # one that is empty, where there is none
            yield slice(begin, min(begin + step, len(self)))

    def reached(self, w: Floats, rows: NDArray[np.intp] | slice = _ALL) -> Floats:
        """Return X w of some pairs, shape (m,).

        Parameters
        ----------
        w : ndarray of float, shape (K L,)
        rows : ndarray of int, shape (m,), or slice
            All of them by default.
        """
        if self.dense is not None:  # a product of some rows may differ in the last bit
            return np.asarray((self.dense @ w)[rows])
        gains = [values @ w[at] for values, at in self.layout.tables]
        # unclipped, it is buffered
        found = np.take(gains[0], _some(self.codes[0], rows), mode="clip")
        for gain, code in zip(gains[1:], self.codes[1:], strict=True):
            found += np.take(gain, _some(code, rows), mode="clip")
        return found

    def pulled(self, forces: Floats | None, rows: NDArray[np.intp] | slice) -> Floats:
        """Return X' y of some pairs, shape (K L,).

        Parameters
        ----------
        forces : ndarray of float, shape (m,), optional
            y; 1 by default.
        rows : ndarray of int, shape (m,), or slice
            Their pairs.
        """
        if self.dense is not None:
            X = self.dense[rows]
            return np.asarray(X.sum(axis=0) if forces is None else X.T @ forces)
        sums = [
            np.bincount(_some(code, rows), forces, len(values)) @ values
            for code, (values, _) in zip(self.codes, self.layout.tables, strict=True)
        ]
        return np.concatenate(sums)

    def gram(self, rows: NDArray[np.intp], weights: Floats | None = None) -> Floats:
        """Return X' V X of some pairs, shape (K L, K L).

        Parameters
        ----------
        rows : ndarray of int, shape (m,)
        weights : ndarray of float, shape (m,), optional
            The diagonal of V; 1 by default.
        """
        if self.dense is not None:
            X = self.dense[rows]
            return np.asarray(X.T @ (X if weights is None else X * weights[:, None]))
        if self._counting_is_quicker(len(rows)):
            return self._gram_by_counting(rows, weights)
        return self._gram_of_rows(rows, weights)

    def _counting_is_quicker(self, n: int) -> bool:
        """Compare, in nanoseconds, counts of two codes with products of rows."""
        values, n_codes = len(self.layout.rows), len(self.codes)
        columns = n_codes * self.layout.together * self._told
        counting = n_codes * (n_codes - 1) / 2 * (9.0 * n + 4.0 * values**2)
        return values <= MOST_CODES and counting < n * (9.0 * n_codes + 0.028 * columns**2)

    def _gram_by_counting(self, rows: NDArray[np.intp], weights: Floats | None) -> Floats:
        codes = [code.take(rows) for code in self.codes]
        tables = self.layout.tables
        found = np.zeros((self.size, self.size))
        both = np.empty(len(rows), np.intp)
        for i, (left, at_i) in enumerate(tables):
            alone = np.bincount(codes[i], weights, len(left))
            found[at_i, at_i] = left.T @ (left * alone[:, None])
            shifted = codes[i].astype(np.intp)
            shifted *= len(self.layout.rows)  # all but the last code have as many values
            for j, (right, at_j) in enumerate(tables[:i]):
                np.add(shifted, codes[j], out=both)
                counts = np.bincount(both, weights, len(left) * len(right)).astype(float)
                found[at_i, at_j] = left.T @ counts.reshape(len(left), -1) @ right
                found[at_j, at_i] = found[at_i, at_j].T
        return found

    def _gram_of_rows(self, rows: NDArray[np.intp], weights: Floats | None) -> Floats:
        # Sums of up to 2^24 whole numbers are exact in single precision.
        kind = np.float32 if weights is None else np.float64
        values, together = len(self.layout.rows), self.layout.together
        table = self.layout.rows.reshape(values, together, -1)[:, :, : self._told]
        table = table.reshape(values, -1).astype(kind)
        width = len(self.codes) * table.shape[1]
        found = np.zeros((width, width))
        for begin in range(0, len(rows), _DENSE_ROWS):
            codes = self.codes.take(rows[begin : begin + _DENSE_ROWS], axis=1).T
            X = table.take(codes, axis=0, mode="clip").reshape(len(codes), width)
            V = None if weights is None else weights[begin : begin + _DENSE_ROWS, None]
            found += X.T @ (X if V is None else X * V)
        return self._completed(found)

    @property
    def _told(self) -> int:
        """Grades whose columns of X tell all of it.

        Where no list is empty, the entries of a pair at a rank add up to 0: the worst
        grade's follows from the others.
        """
        return self.layout.n_grades - (not self.layout.empty)

    def _completed(self, gram: Floats) -> Floats:
        """Return X' V X of all columns from that of those that tell them."""
        K, L = self.layout.n_ranks, self.layout.n_grades
        real = np.ones((len(self.codes), self.layout.together), bool)
        real[-1, : real.size - K] = False  # the last code has fewer ranks
        at = np.flatnonzero(np.repeat(real.ravel(), self._told))
        found = np.zeros((K, L, K, L))
        found[:, : self._told, :, : self._told] = gram[np.ix_(at, at)].reshape(
            K, self._told, K, self._told
        )
        if self._told < L:
            found[:, -1] = -found[:, :-1].sum(axis=1)
            found[:, :, :, -1] = -found[:, :, :, :-1].sum(axis=3)
        return found.reshape(self.size, self.size)


def _some(code: NDArray[Any], rows: NDArray[np.intp] | slice) -> NDArray[Any]:
    return code[rows] if isinstance(rows, slice) else code.take(rows)  # which is quicker
