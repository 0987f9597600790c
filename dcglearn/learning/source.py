"""Where pairs are: in arrays, or in packed files that are read again at every pass.

Arrays are encoded once. A pass over files reads their row groups in bounded memory, on threads or
on workers. Sums over blocks (:mod:`dcglearn.learning.sums`) are taken in the order of the blocks,
so the answer does not depend on where they are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from operator import add
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, silent
from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import map_in_order, map_threads, one_blas_thread
from dcglearn.base.types import Floats, Grades
from dcglearn.base.workers import Workers
from dcglearn.judgments.packed import PackedPairs, RowGroup
from dcglearn.learning.codes import (
    MAX_BLOCK_PAIRS,
    MIN_BLOCK_PAIRS,
    Block,
    layout_of,
    taken,
)
from dcglearn.measures.agreement import outcomes, weighted_mean
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import NO_DOCUMENT

_Statistic = TypeVar("_Statistic")


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
        size = min(MAX_BLOCK_PAIRS, max(MIN_BLOCK_PAIRS, -(-self.n_pairs // 2)))
        cuts = [slice(begin, begin + size) for begin in range(0, max(1, self.n_pairs), size)]

        def block(cut: slice) -> Block:
            codes = layout.encode(self.pairs[cut])
            return Block(layout, codes, taken(self.margins, cut), taken(self.weights, cut))

        return tuple(map_threads(block, cuts))

    def sum_over_blocks(self, statistic: Callable[..., _Statistic], *arguments: Any) -> _Statistic:
        """Return the sum of ``statistic(block, *arguments)`` over all blocks, in their order."""
        if len(self.blocks) == 1:  # few pairs: every microsecond counts
            return statistic(self.blocks[0], *arguments)
        parts: list[Any] = map_threads(lambda block: statistic(block, *arguments), self.blocks)
        total: _Statistic = reduce(add, parts)
        return total

    def some(self, rows: Any) -> Arrays:
        """Return some of the pairs, copied, so that later passes read less memory."""
        pairs = np.ascontiguousarray(self.pairs[rows])
        return Arrays(pairs, self.n_grades, taken(self.margins, rows), taken(self.weights, rows))

    def agreements(self, measures: Sequence[Measure]) -> list[float]:
        """Return the share of the pairs' weight that each measure agrees with; ties count 1/2."""
        return [weighted_mean(outcomes(measure, self.pairs), self.weights) for measure in measures]


def in_threads(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Read on threads of this process, as workers do."""
    return enumerate(map_in_order(function, items))


class Summary(NamedTuple):
    """What the first pass over row groups finds; the weight is the sum of all."""

    n_pairs: int
    weight: float
    has_empty_ranks: bool


@dataclass(frozen=True, eq=False, repr=False)
class RowGroups(ShortRepr):
    """The strict judgments of packed files, read at every pass; the first compares their digests.

    `advance` is called with (pairs read in all passes, 0).
    """

    packed: PackedPairs
    margin_of: Callable[[Grades], Floats | None] = field(repr=False)
    workers: Workers = field(default=in_threads, repr=False)
    advance: Advance = field(default=silent, repr=False)
    _read: Counter[str] = field(default_factory=Counter, repr=False)

    @cached_property
    def summary(self) -> Summary:
        """What all row groups hold; an InputError if nothing can be learned from it."""
        parts = np.array(self._map(_summarise, check=True), float)
        (n, weight), (empty, differ, above, worst) = (
            parts[:, :2].sum(axis=0),
            parts[:, 2:].max(axis=0),
        )
        if worst < 0:
            problem = "there are no strict preferences, or all weights are 0"
            raise InputError(problem, "pack some judgments")
        if not differ:
            raise InputError(
                f"all strict preferences ({int(n):,}) are between identical lists",
                "give pairs whose lists differ",
            )
        if above == -worst:
            raise InputError("only one grade occurs", "judge lists of different grades")
        return Summary(int(n), float(weight), bool(empty))

    @property
    def n_pairs(self) -> int:
        """Number of strict judgments."""
        return self.summary.n_pairs

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L)."""
        return self.packed.n_ranks, self.packed.n_grades

    @property
    def has_empty_ranks(self) -> bool:
        """Whether some list has no document at some rank."""
        return self.summary.has_empty_ranks

    def sum_over_blocks(self, statistic: Callable[..., _Statistic], *arguments: Any) -> _Statistic:
        """As :meth:`Arrays.sum_over_blocks`; each row group is read."""
        total: _Statistic = reduce(add, self._map(Arrays.sum_over_blocks, statistic, *arguments))
        return total

    def some(self, rows: slice) -> Arrays:
        """As :meth:`Arrays.some`, of each row group."""
        parts = self._map(Arrays.some, rows)
        pairs = np.concatenate([part.pairs for part in parts])
        given = [np.ones(part.n_pairs) if part.weights is None else part.weights for part in parts]
        weights = np.concatenate(given)
        shared = None if (weights == 1).all() else weights
        return Arrays(pairs, self.packed.n_grades, self.margin_of(pairs), shared)

    def agreements(self, measures: Sequence[Measure]) -> list[float]:
        """As :meth:`Arrays.agreements`, in one pass."""
        agreed: Floats = reduce(add, self._map(_agreed_weight, tuple(measures)))
        return [float(share) for share in agreed / self.summary.weight]

    def _map(self, function: Callable[..., Any], *arguments: Any, check: bool = False) -> list[Any]:
        """Apply a function to the arrays of every row group, in the order of the groups."""
        groups, results = self.packed.row_groups, dict[int, Any]()
        read = partial(_run, function, arguments, self.packed.n_grades, self.margin_of, check)
        for index, result in self.workers(read, groups):
            results[index] = result
            self._read["pairs"] += groups[index].n_rows
            self.advance(self._read["pairs"], 0)
        in_order = [results[index] for index in range(len(groups))]
        for result in in_order:
            if isinstance(result, Exception):
                raise result
        return in_order


Source = Arrays | RowGroups
"""Pairs, with their margins and weights, wherever they are."""


def _run(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    n_grades: int,
    margin_of: Callable[[Grades], Floats | None],
    check: bool,
    group: RowGroup,
) -> Any:
    """Apply a function to one row group; return errors instead of raising them on a worker."""
    try:
        pairs, weights = group.read(check)
        with one_blas_thread():
            return function(Arrays(pairs, n_grades, margin_of(pairs), weights), *arguments)
    except InputError as error:
        return error
    except (MemoryError, OSError) as error:
        return InputError(f"cannot be used ({type(error).__name__}: {error})", "", group.path)


def _summarise(part: Arrays) -> tuple[float, ...]:
    """Return numbers to add: pairs and their weight; and to compare: what is there, and grades."""
    pairs, weights = part.pairs, part.weights
    counted = pairs if weights is None else pairs[weights > 0]
    return (
        len(pairs),
        len(pairs) if weights is None else weights.sum(),
        part.has_empty_ranks,
        (counted[:, 0] != counted[:, 1]).any(),
        -int(counted.min(where=counted >= 0, initial=127)),
        counted.max(initial=-1),
    )


def _agreed_weight(part: Arrays, measures: Sequence[Measure]) -> Floats:
    agreed = [outcomes(measure, part.pairs) for measure in measures]
    return np.array([one.sum() if part.weights is None else part.weights @ one for one in agreed])
