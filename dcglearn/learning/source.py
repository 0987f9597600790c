"""Pairs as codes, in blocks, in memory or in packed files; the products X w, X' y and X' V X.

At one rank, a pair of rankings is the code a (L + 1) + b of its two grades, where L means that
there is no document; without empty ranks it is a L + b. Neighbouring ranks share one code. Then
<w, x> is one table look-up per code, and X is never built. X' V X is added up over some rows of X
at a time.

A pass over files reads their row groups in bounded memory, on threads or on workers. Sums over
blocks are taken in the order of the blocks, so the answer does not depend on where they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial, reduce
from operator import add
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance
from dcglearn.base.threads import map_in_order, map_threads, one_blas_thread
from dcglearn.base.types import Floats, Grades, Integers, ShortRepr
from dcglearn.base.workers import Workers
from dcglearn.judgments.packed import PackedPairs, RowGroup
from dcglearn.measures.agreement import outcomes
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import NO_DOCUMENT

MAX_CODE_VALUES = 1000
"""Ranks are joined into one code while it takes at most this many values, for the cache."""

Codes = NDArray[np.unsignedinteger]
"""Numbers of n pairs, one row per code."""

_AT_ONCE = 1 << 15
"""Numbers of a product that are added up at a time, for the cache."""

MAX_BLOCK_PAIRS = 1 << 17
_DENSE_ROWS = 1 << 13
"""Pairs that are at most processed or built at a time, for the cache."""


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
    def ranks_per_code(self) -> int:
        """Number of ranks that share a code; the last code may have fewer."""
        together = 1
        while (
            together < self.n_ranks
            and self.values_per_rank ** (2 * together + 2) <= MAX_CODE_VALUES
        ):
            together += 1
        return together

    @cached_property
    def value_rows(self) -> Floats:
        """The columns of X at a code's ranks, shape (values, ranks L); fewer ranks are the last."""
        values = self.values_per_rank
        grades = np.arange(self.n_grades)
        one = np.zeros((values, values, self.n_grades))
        one[grades, :, grades] += 1.0
        one[:, grades, grades] += 1.0 if self.sums else -1.0
        rank = one.reshape(-1, self.n_grades)
        rows = np.zeros((1, 0))
        for _ in range(self.ranks_per_code):
            left = np.repeat(rows, len(rank), axis=0)
            rows = np.hstack([left, np.tile(rank, (len(rows), 1))])
        return rows

    @cached_property
    def tables(self) -> list[tuple[Floats, slice]]:
        """For each code, the rows of X of its values, and which columns of X they are."""
        L = self.n_grades
        tables = []
        for first in range(0, self.n_ranks, self.ranks_per_code):
            together = min(self.ranks_per_code, self.n_ranks - first)
            values = self.value_rows[: self.values_per_rank ** (2 * together), -together * L :]
            tables.append((values, slice(first * L, (first + together) * L)))
        return tables

    def product(self, codes: Codes, w: Floats) -> Floats:
        """Return X w, (..., n, p), of pairs whose codes are given, for w of shape (..., K L, p)."""
        utilities = [values @ w[..., columns, :] for values, columns in self.tables]
        total = np.zeros((*w.shape[:-2], len(codes[0]), w.shape[-1]))
        size = 1 + _AT_ONCE * w.shape[-2] // w.size
        for some in (slice(at, at + size) for at in range(0, len(codes[0]), size)):
            for utility, code in zip(utilities, codes, strict=True):
                # mode="clip" because take buffers its result in the other modes
                total[..., some, :] += utility.take(code[some], axis=-2, mode="clip")
        return total

    def transposed_product(self, codes: Codes, y: Floats | None) -> Floats:
        """Return X' y, shape (..., K L), for y (..., n), or 1 by default."""
        if y is not None and y.ndim > 1:
            return np.array([self.transposed_product(codes, one) for one in y])
        sums = [
            np.bincount(code, y, len(values)) @ values
            for code, (values, _) in zip(codes, self.tables, strict=True)
        ]
        return np.concatenate(sums)

    def encode(self, pairs: Grades) -> Codes:
        """Return the codes of pairs (n, 2, K), shape (codes per pair, n)."""
        base = self.values_per_rank
        together = self.ranks_per_code
        code_type = np.min_scalar_type(base ** (2 * together) - 1)
        grades = pairs.transpose(1, 2, 0).astype(code_type, order="C")
        if self.has_empty_ranks:  # -1 has become the largest unsigned number
            np.minimum(grades, code_type.type(self.n_grades), out=grades)
        ranks = grades[0] * code_type.type(base) + grades[1]
        codes: Codes = ranks[::together].copy()
        for rank in range(1, together):
            more = ranks[rank::together]  # the last code may have fewer ranks
            code = codes[: len(more)]
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
    codes: Codes
    margins: Floats | None
    weights: Floats | None
    kept: tuple[Floats, Floats] | None = None

    def __len__(self) -> int:
        return len(self.codes[0])

    def matvec(self, w: Floats) -> Floats:
        """Return X w, shape (n,)."""
        return self.layout.product(self.codes, w[:, None])[:, 0]

    def residuals(self, w: Floats) -> Floats:
        """Return m - X w, shape (n,), which is kept until that of another w is asked for."""
        kept = self.kept
        if kept is None or kept[0].tobytes() != w.tobytes():  # faster than to compare numbers
            r = (1.0 if self.margins is None else self.margins) - self.matvec(w)
            self.kept = kept = w.copy(), r  # in one step: threads share blocks
        return kept[1]

    def rmatvec(self, y: Floats | None, rows: Integers | slice) -> Floats:
        """Return X' y of some pairs, shape (K L,); y is 1 by default."""
        # take is faster
        codes = self.codes[:, rows] if isinstance(rows, slice) else self.codes.take(rows, axis=1)
        return self.layout.transposed_product(codes, y)

    def weighted(self, y: Floats, rows: Integers | slice = slice(None)) -> Floats:
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
            some = slice(begin, begin + _DENSE_ROWS)
            codes = self.codes.take(rows[some], axis=1).T
            X = table.take(codes, axis=0, mode="clip").reshape(len(codes), width)
            gram += X.T @ (X if weights is None else X * weights[some, None])
        last = width - table.shape[1]  # the last code may have fewer ranks, and columns before them
        columns = self.layout.n_ranks * self.layout.n_grades
        if width == columns:
            return gram
        kept = np.r_[:last, last + width - columns : width]
        return np.asarray(gram[np.ix_(kept, kept)])


def taken(values: Floats | None, rows: Integers | slice) -> Floats | None:
    """Return the weights or margins of some rows; None, where all are 1, stays None."""
    return None if values is None else values[rows]


def unless_ones(weights: Floats) -> Floats | None:
    """Return weights, or None, which needs no memory, if all are 1."""
    return None if (weights == 1).all() else weights


MarginOf = Callable[[Grades], Floats | None]
"""Returns the margins of pairs (n, 2, K); None where all are 1."""

Statistic = TypeVar("Statistic")


class Additive(ShortRepr):
    """Statistics that are added field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, vars(self).values(), vars(other).values()))


@dataclass(frozen=True, eq=False, repr=False)
class Arrays(ShortRepr):
    """Pairs (n, 2, K) in memory; margins and weights, shape (n,), are None where all are 1."""

    pairs: Grades
    n_grades: int
    margins: Floats | None = None
    weights: Floats | None = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.pairs)

    @property
    def given_weights(self) -> Floats:
        """The weights, if need be ones."""
        return np.ones(self.n_pairs) if self.weights is None else self.weights

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L)."""
        return self.pairs.shape[2], self.n_grades

    @cached_property
    def has_empty_ranks(self) -> bool:
        """Whether some list has no document at some rank."""
        return bool(self.pairs.min(initial=0) == NO_DOCUMENT)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The encoded pairs, in blocks whose sizes depend on n only, not on the machine."""
        layout = layout_of(*self.shape, self.has_empty_ranks)
        n = self.n_pairs
        count = -(-n // MAX_BLOCK_PAIRS) or 1
        cuts = [slice(n * i // count, n * (i + 1) // count) for i in range(count)]

        def block(cut: slice) -> Block:
            codes = layout.encode(self.pairs[cut])
            return Block(layout, codes, taken(self.margins, cut), taken(self.weights, cut))

        return tuple(map_threads(block, cuts))

    def sum_over_blocks(self, statistic: Callable[..., Statistic], *arguments: Any) -> Statistic:
        """Return the sum of ``statistic(block, *arguments)`` over all blocks, in their order."""
        return reduce(add, map_threads(lambda block: statistic(block, *arguments), self.blocks))

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Apply a function to these arrays, as :meth:`RowGroups.map` to those of each group."""
        return [function(self, *arguments)]

    def some(self, rows: Any) -> Arrays:
        """Return some of the pairs, copied, so that later passes read less memory."""
        pairs = np.ascontiguousarray(self.pairs[rows])
        return Arrays(pairs, self.n_grades, taken(self.margins, rows), taken(self.weights, rows))

    def agreed_weights(self, measures: Sequence[Measure]) -> Floats:
        """Return the weight of pairs that each measure agrees with, ties by half, and of all."""
        weights = self.given_weights
        agreed = (weights @ outcomes(measure, self.pairs) for measure in measures)
        return np.array([*agreed, weights.sum()])


def in_threads(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Read on threads of this process, as workers do."""
    return enumerate(map_in_order(function, items))


@dataclass(eq=False, repr=False)
class RowGroups(ShortRepr):
    """The strict judgments of packed files, read at every pass; the first compares their digests.

    `advance` is called with (pairs read in all passes, 0). InputError if nothing can be learned.
    """

    packed: PackedPairs
    margin_of: MarginOf = field(repr=False)
    workers: Workers = field(repr=False)
    advance: Advance = field(repr=False)
    n_read: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        self.shape = self.packed.n_ranks, self.packed.n_grades
        parts = np.array(self.map(_summarise), float)
        n, (empty, differ, above, worst) = int(parts[:, 0].sum()), parts[:, 1:].max(axis=0)
        if worst < 0:
            problem = "there are no strict preferences, or all weights are 0"
            raise InputError(problem, "pack some judgments")
        if not differ:
            raise InputError(
                f"all strict preferences ({n:,}) are between identical lists",
                "give pairs whose lists differ",
            )
        if above == -worst:
            raise InputError("only one grade occurs", "judge lists of different grades")
        self.n_pairs = n
        self.has_empty_ranks = bool(empty)

    def some(self, rows: slice) -> Arrays:
        """As :meth:`Arrays.some`, of each row group."""
        parts = self.map(Arrays.some, rows)
        pairs = np.concatenate([part.pairs for part in parts])
        weights = unless_ones(np.concatenate([part.given_weights for part in parts]))
        return Arrays(pairs, self.packed.n_grades, self.margin_of(pairs), weights)

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Apply a function to the arrays of every row group, in the order of the groups."""
        groups = self.packed.row_groups
        check = not self.n_read
        results: list[Any] = [None] * len(groups)
        read = partial(_run, function, arguments, self.packed.n_grades, self.margin_of, check)
        for index, result in self.workers(read, groups):
            results[index] = result
            self.n_read += groups[index].n_rows
            self.advance(self.n_read, 0)
        for result in results:
            if isinstance(result, Exception):
                raise result
        return results


Source = Arrays | RowGroups


def _run(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    n_grades: int,
    margin_of: MarginOf,
    check: bool,
    group: RowGroup,
) -> Any:
    """Apply a function to one row group; return errors instead of raising them on a worker."""
    try:
        pairs, weights, _ = group.read(check)
        with one_blas_thread():
            part = Arrays(pairs, n_grades, margin_of(pairs), unless_ones(weights))
            return function(part, *arguments)
    except InputError as error:
        return error


def _summarise(part: Arrays) -> tuple[float, ...]:
    """Return a number to add: of pairs; and to compare: what is there, and grades."""
    counted = part.pairs[part.given_weights > 0]
    return (
        part.n_pairs,
        part.has_empty_ranks,
        (counted[:, 0] != counted[:, 1]).any(),
        -counted.min(where=counted >= 0, initial=127),
        counted.max(initial=-1),
    )
