"""Judgments as the likelihood uses them: encoded lists, answers, weights and clusters.

Lists are kept as codes (:mod:`dcglearn.learning.source`). The features of a judgment, x J for the
encoded difference x of its lists and a matrix J of p columns, are sums of one row of a table per
code. Judgments are in memory, or in packed files whose row groups are read again at every pass.
Equal judgments are counted: what matters is the sum of their weights. Judgments of one query, or of
one judge, are a cluster; one without a query is a cluster of its own. An empty rank is one more
grade where lists of a pair differ in their empty ranks; where they do not, it cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import column_of, distinct_rows
from dcglearn.base.threads import map_in_order, one_blas_thread
from dcglearn.base.types import Booleans, Floats, Integers, Pairs
from dcglearn.inference.answers import BAD, TIE, B, TieModel
from dcglearn.judgments.packed import CodedJudgments, PackedPairs, RowGroup
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.source import CodeLayout, Statistic, layout_of
from dcglearn.measures.scale import NO_DOCUMENT, Scale

Judgments: TypeAlias = "Preferences | PackedPairs | Evidence"
"""What models are fitted to: judgments in memory, in packed files, or as collected for a model."""

SAMPLE = 40_000
"""About so many judgments, evenly spaced, are kept of packed ones: estimates begin with theirs."""

MANY_JUDGES = 20
"""Fewer judges are not a sample of all that could have been asked."""

CHUNK = 1 << 14
"""Judgments that are processed at a time."""

np.empty(31 << 20, np.uint8)  # once that much is freed, glibc keeps the memory of chunks for others

_FEWEST_COUNTED = 2000
_FEWEST_EQUAL = 0.02
_MAX_DISTINCT = 1 << 22
"""Equal judgments are counted if there are many, and at least this share repeat earlier ones; more
distinct ones are not collected."""


class Judged(NamedTuple):
    """Some judgments whose lists differ, as `codes` (codes per pair, n) of lists, a first.

    Numbers of queries and judges are -1 where one is missing: the judgment is a cluster of its own.
    """

    codes: NDArray[np.unsignedinteger]
    answers: NDArray[np.int8]
    weights: Floats
    queries: Integers
    judges: Integers
    lists: Pairs

    @property
    def query_and_judge(self) -> Integers:
        """A number for each query with each judge, -1 without a query."""
        return np.where(self.queries < 0, -1, (self.queries << 32) + self.judges)

    def take(self, rows: slice | Booleans | Integers) -> Judged:
        """Return some of the judgments; queries and judges keep their numbers."""
        columns: tuple[Any, ...] = self[1:]
        if isinstance(rows, slice):
            return Judged(self.codes[:, rows], *(one[rows] for one in columns))
        rows = np.arange(len(self.answers))[rows]  # taking rows is several times faster
        return Judged(self.codes.take(rows, axis=1), *(one.take(rows, axis=0) for one in columns))

    def parts(self, size: int) -> list[Judged]:
        """Return them in parts, or one."""
        n = len(self.answers)
        return [self.take(slice(at, at + size)) for at in range(0, n or 1, size)]


def _used(judged: CodedJudgments | Preferences, ties: TieModel) -> tuple[Integers, Integers]:
    """Return the rows of judgments that a model uses: of lists that differ, with a weight; counts.

    These are of judgments that are not used, as their lists are alike or they have no weight; and
    of each answer among those that are; and whether these have empty ranks, and different ones.
    """
    items = judged.lists.view(f"V{judged.lists.shape[2]}")[..., 0]  # of K bytes, which is faster
    differ = items[:, 0] != items[:, 1]
    weighted = judged.weights > 0
    modelled = weighted & (judged.answers <= (B if ties == "strict" else BAD))
    rows = np.flatnonzero(differ & modelled)
    empty = judged.lists.take(rows, axis=0) == NO_DOCUMENT
    unused = np.sum(~differ & modelled), np.sum(~weighted)
    answers = np.bincount(judged.answers[rows], minlength=BAD + 1)
    return rows, np.array([*unused, *answers, empty.any(), (empty[:, 0] != empty[:, 1]).any()])


@dataclass(frozen=True)
class Layout:
    """How lists of K ranks and L grades become codes.

    Ties may have levels, and an empty rank may be a grade of its own, after the worst.
    """

    n_ranks: int
    n_grades: int
    levels: bool
    empty: bool

    @cached_property
    def differences(self) -> CodeLayout:
        """The codes as differences of lists."""
        return layout_of(self.n_ranks, self.n_grades + self.empty, False)

    @cached_property
    def sums(self) -> CodeLayout:
        """The same codes as sums of lists."""
        return replace(self.differences, sums=True)

    def encode(self, lists: Pairs) -> NDArray[np.unsignedinteger]:
        """Return the codes of lists, (codes per pair, n); equal grades at a rank cancel out."""
        graded = lists.transpose(1, 2, 0).copy()  # long rows are faster than ranks of one list
        graded[graded == NO_DOCUMENT] = self.n_grades
        if not self.levels:
            graded *= graded[0] != graded[1]
        np.minimum(graded, self.n_grades + self.empty - 1, out=graded)
        return self.differences.encode(graded.transpose(2, 0, 1))


class Way(NamedTuple):
    """One way to group judgments into clusters: ``query``, ``judge`` or ``both``.

    `n_clusters` may hold several judgments; `keys` are -1 and those of a query with a judge,
    ascending, where both decide.
    """

    name: str
    n_clusters: int
    keys: Integers

    def number_of(self, judged: Judged) -> Integers:
        """Return the cluster of each judgment, -1 for one of its own."""
        if self.name != "both":
            return judged.queries if self.name == "query" else judged.judges
        return np.searchsorted(self.keys, judged.query_and_judge) - 1


class ClusterSums:
    """Sums over the clusters of a way of q numbers of each judgment.

    `known`, (clusters + 1, q), has in its last row the sum over judgments that are clusters of
    their own; of these, `squares`, (q, q), is the sum of products.
    """

    def __init__(self, way: Way, q: int) -> None:
        self.way, self.known = way, np.zeros((way.n_clusters + 1, q))
        self.squares = np.zeros((q, q))

    def add(self, judged: Judged, values: Floats) -> None:
        """Add values (n, q) of some judgments to the sums of their clusters."""
        numbers = self.way.number_of(judged)
        alone = numbers < 0
        if alone.any():
            own = values if alone.all() else values[alone]
            self.known[-1] += own.sum(axis=0)
            self.squares += own.T @ own
            numbers, values = numbers[~alone], values[~alone]
        if n := len(numbers):
            first, end = numbers.min(), numbers.max() + 1
            rows = np.ones(n), numbers - first, np.arange(n + 1)
            of_clusters: Any = csc_array(rows, shape=(end - first, n))
            self.known[first:end] += of_clusters @ values

    @property
    def of_all(self) -> tuple[Floats, Floats]:
        """The sum over all clusters, and that of products."""
        known = self.known[:-1]
        return self.known.sum(axis=0), known.T @ known + self.squares


def cluster_sums(ways: list[Way], chunks: Iterable[tuple[Judged, Floats]]) -> list[ClusterSums]:
    """Sum values (n, q) of the judgments of each chunk over the clusters of each way."""
    found = list[ClusterSums]()
    for judged, values in chunks:
        found = found or [ClusterSums(way, values.shape[1]) for way in ways]
        for one in found:
            one.add(judged, values)
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """Judgments whose lists differ; of packed ones, `judged` are some, and `parts` has all.

    `n_queries` and `n_judges` are the largest numbers plus 1, 0 judges unless every judgment has
    one; `rows` are those of the preferences. Not used are judgments of the `same_lists`,
    `without_weight`, and ties where only strict ones are modelled. `relative_lapses`, (judges,), is
    each judge's share of random answers, as a factor of the common one.
    """

    scale: Scale
    layout: Layout
    judged: Judged
    n_judgments: int
    n_queries: int
    n_judges: int
    rows: Integers
    same_lists: int
    without_weight: int
    parts: PackedParts | None
    relative_lapses: Floats | None = None

    @classmethod
    def of(cls, judgments: Judgments, ties: TieModel = "strict") -> Evidence:
        """Collect the judgments that a model uses."""
        if isinstance(judgments, Evidence):
            return judgments
        numbers = [dict[str, int](), dict[str, int]()]
        counted, places, kept = zip(*_scanned(judgments, ties), strict=True)
        for some in kept:
            for known, column in zip(numbers, some[3:], strict=True):
                for name in column.values:
                    known.setdefault(name, len(known))
        counts = np.sum(counted, axis=0)
        layout = _layout(judgments, ties, counts[:-1])
        codes, *others = zip(*(_encoded(layout, one, numbers) for one in kept), strict=True)
        judged = Judged(np.hstack(codes), *map(np.concatenate, others))
        sizes = int(counts[2:7].sum()), len(numbers[0]), 0 if counts[-1] else len(numbers[1])
        parts = None
        if isinstance(judgments, PackedPairs):
            parts = PackedParts(judgments, ties, layout, numbers)
        (alike, weightless), rows = counts[:2].tolist(), np.concatenate(places)
        return cls(judgments.scale, layout, judged, *sizes, rows, alike, weightless, parts)

    def __len__(self) -> int:
        return self.n_judgments

    def __repr__(self) -> str:
        return f"Evidence({self.n_judgments:,} judgments)"

    @property
    def has_query_ids(self) -> bool:
        """Whether some judgments share a query."""
        named = self.n_judgments if self.parts else int((self.judged.queries >= 0).sum())
        return 0 < self.n_queries < named

    @property
    def has_judges(self) -> bool:
        """Whether every judgment has a judge, and there are several."""
        return self.n_judges > 1 and (self.parts is not None or bool(np.ptp(self.judged.judges)))

    @cached_property
    def has_many_judges(self) -> bool:
        """Whether judgments are worth as many judges of equal weight as make a sample.

        (sum w)^2 / sum w^2 of their weights w: some who judged once make no sample of five.
        """
        if not self.has_judges:
            return False
        weights = np.bincount(self.judged.judges, self.judged.weights)
        return bool(weights.sum() ** 2 >= MANY_JUDGES * (weights**2).sum())

    def take(self, rows: slice | Booleans | Integers) -> Evidence:
        """Return some of the judgments in memory; queries and judges keep their numbers."""
        judged = self.judged.take(rows)
        n, kept = len(judged.answers), self.rows[rows]
        return replace(self, judged=judged, n_judgments=n, rows=kept, parts=None)

    @cached_property
    def by_cluster(self) -> Evidence:
        """The same judgments; in memory, those of a cluster together, which are summed faster."""
        if self.parts is not None or not self.n_queries + self.n_judges:
            return self
        return self.take(np.lexsort((self.judged.judges, self.judged.queries)))

    def sample(self, n: int) -> Evidence:
        """Return about n of the judgments in memory, evenly spaced, or all."""
        return self.take(slice(None, None, max(1, len(self.judged.answers) // n)))

    def map(
        self, statistic: Callable[[Judged], Statistic], with_ids: bool = True
    ) -> Iterator[Statistic]:
        """Yield a statistic of each chunk of judgments, in order.

        Row groups are read in threads; statistics in threads would wait for each other.
        """
        with one_blas_thread():
            for some in self._read(with_ids):
                yield from map(statistic, some.parts(CHUNK))

    def _read(self, with_ids: bool) -> Iterable[Judged]:
        return [self.judged] if self.parts is None else self.parts.read(with_ids)

    @cached_property
    def ways(self) -> list[Way]:
        """The ways to group judgments: by query; by judge and by both, if judges are many.

        With few judges, what is said is said of them.
        """
        none = np.zeros(0, np.int64)
        ways = [Way("query", self.n_queries, none)]
        if self.has_many_judges:
            found = self.map(lambda judged: np.unique(judged.query_and_judge))
            keys = np.unique(np.concatenate([[-1], *found]))
            ways += [Way("judge", self.n_judges, none), Way("both", len(keys) - 1, keys)]
        return ways

    @cached_property
    def effective(self) -> list[float]:
        """So many queries, or judges, of equal weight are as uneven: (sum w)^2 / sum w^2."""
        weights = self.map(lambda judged: (judged, judged.weights[:, None]))
        sums = (one.of_all for one in cluster_sums(self.ways[:2], weights))
        return [float(total[0] ** 2 / squares[0, 0]) for total, squares in sums]

    @property
    def counted(self) -> Evidence:
        """The distinct judgments, without lists and ids; these, if too few are equal."""
        return self if self._distinct is None else self._distinct  # a cache of itself is a cycle

    @cached_property
    def _distinct(self) -> Evidence | None:
        if self.n_judgments < _FEWEST_COUNTED or self.relative_lapses is not None:
            return None
        rows: NDArray[Any] = np.zeros(0)
        weights, n_read = rows, 0
        for part in self._read(with_ids=False):
            more = np.vstack([part.answers, part.codes])
            rows = np.hstack([rows, more]) if n_read else more
            weights, n_read = np.append(weights, part.weights), n_read + more.shape[1]
            first, of_row = distinct_rows(rows)
            if len(first) > min((1 - _FEWEST_EQUAL) * n_read, _MAX_DISTINCT):
                return None
            rows, weights = rows[:, first], np.bincount(of_row, weights)
        n, none = len(weights), np.zeros(0, np.int64)
        codes, answers = rows[1:].astype(self.judged.codes.dtype), rows[0].astype(np.int8)
        unknown, lists = np.full(n, -1), np.zeros((n, 2, 0), np.int8)
        judged = Judged(codes, answers, weights, unknown, unknown, lists)
        return replace(
            self, judged=judged, n_judgments=n, n_queries=0, n_judges=0, rows=none, parts=None
        )


class PackedParts(NamedTuple):
    """Row groups of packed files, which are read again at every pass.

    `numbers` are those of the names of queries and judges.
    """

    pairs: PackedPairs
    ties: TieModel
    layout: Layout
    numbers: list[dict[str, int]]

    def read(self, with_ids: bool) -> Iterable[Judged]:
        """Yield the judgments of each row group; without ids, all are missing."""

        def of_group(group: RowGroup) -> Judged:
            found = group.read_judgments(with_ids, check=False)
            some = _some(found, _used(found, self.ties)[0])
            return _encoded(self.layout, some, self.numbers)

        return map_in_order(of_group, self.pairs.row_groups)


def _layout(judgments: Preferences | PackedPairs, ties: TieModel, counts: Integers) -> Layout:
    """Return how judgments with the counts of :func:`_used` become codes."""
    alike, weightless, _, _, tie, good, bad, empty, different = (counts > 0).tolist()
    if not counts[2:7].any():
        if len(judgments) and not alike:
            problem = "all judgments are ties" + " or have weight 0" * weightless
            raise InputError(problem, "add some with the answer a or b")
        raise InputError("no judgment of lists that differ", "give judgments of other lists")
    if judgments.n_grades == 1:
        raise InputError("only one grade occurs", "judge lists of different grades")
    if ties != "strict" and not (tie or good or bad):
        raise InputError("there are no ties", "leave `ties` out, or give some ties")
    levels = (good or bad) and not tie
    return Layout(judgments.n_ranks, judgments.n_grades, levels, different or (levels and empty))


def _some(judged: CodedJudgments, rows: Integers) -> CodedJudgments:
    lists, answers, weights, queries, judges = judged
    ids = queries.take(rows), judges.take(rows)
    return CodedJudgments(lists[rows], answers[rows], weights[rows], *ids)


def _encoded(layout: Layout, found: CodedJudgments, numbers: list[dict[str, int]]) -> Judged:
    """Return judgments as codes, with queries and judges by the numbers of their names."""
    lists, answers, weights, *ids = found
    answers = answers if layout.levels else np.minimum(answers, TIE)
    queries, judges = (
        np.array([*map(known.get, column.values), -1])[column.codes]
        for known, column in zip(numbers, ids, strict=True)
    )
    return Judged(layout.encode(lists), answers, weights, queries, judges, lists)


def _scanned(
    judgments: Preferences | PackedPairs, ties: TieModel
) -> Iterable[tuple[Integers, Integers, CodedJudgments]]:
    """Read all judgments: yield the counts of those that are used, and those kept in memory.

    The last count is of those without a judge.
    """
    if isinstance(judgments, PackedPairs):
        judgments.check_sides()
        every = max(1, judgments.n_pairs // SAMPLE)

        def scan(group: RowGroup) -> tuple[Integers, Integers, CodedJudgments]:
            found = group.read_judgments()
            rows, counts = _used(found, ties)
            nobody = np.sum(found.judges.codes[rows] < 0)
            some = rows[(group.before + rows) % every == 0]
            return np.append(counts, nobody), group.before + some, _some(found, some)

        return map_in_order(scan, judgments.row_groups)
    rows, counts = _used(judgments, ties)
    some = judgments[rows]
    ids = map(column_of, (some.queries, some.judges))
    found = CodedJudgments(some.lists, some.answers, some.weights, *ids)
    return [(np.append(counts, np.sum(found.judges.codes < 0)), rows, found)]
