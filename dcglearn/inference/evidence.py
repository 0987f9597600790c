"""Judgments as the likelihood uses them: encoded lists, answers, weights and clusters.

Lists are kept as codes (:mod:`dcglearn.learning.codes`). The features of a judgment, x J for the
encoded difference x of its lists and a matrix J of p columns, are sums of one row of a table per
code. Judgments are in memory, or in packed files whose row groups are read again at every pass.
Equal judgments are counted: what matters is the sum of their weights. An empty rank is one more
grade where lists of a pair differ in their empty ranks; where they do not, it cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import column_of, distinct_rows
from dcglearn.base.threads import map_in_order, one_blas_thread
from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.inference.answers import BAD, GOOD, TIE, B, TieModel
from dcglearn.judgments.packed import CodedJudgments, PackedPairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.codes import CodeLayout
from dcglearn.measures.scale import NO_DOCUMENT, Scale

Judgments: TypeAlias = "Preferences | PackedPairs | Evidence"
"""What models are fitted to: judgments in memory, in packed files, or as collected for a model."""

SAMPLE = 40_000
"""About so many judgments, evenly spaced, are kept of packed ones: estimates begin with theirs."""

MANY_JUDGES = 20
"""Fewer judges are not a sample of all that could have been asked."""

CHUNK = 1 << 15
"""Judgments that are processed at a time."""

_FEWEST_COUNTED = 2000
_PROBE = 1 << 15
_FEWEST_EQUAL = 0.02
_MAX_DISTINCT = 1 << 22
"""Equal judgments are counted if there are many, and at least this share of the first ones repeat
earlier ones; more distinct ones are not collected."""

_Statistic = TypeVar("_Statistic")


class Judged(NamedTuple):
    """Some judgments whose lists differ, as `codes` (codes per pair, n) of lists, a first.

    Numbers of queries and judges are -1 where one is missing: the judgment is a cluster of its own.
    Of judgments that are counted there are no `lists`.
    """

    codes: NDArray[np.unsignedinteger]
    answers: NDArray[np.int8]
    weights: Floats
    queries: Integers
    judges: Integers
    lists: Pairs

    def take(self, rows: slice | NDArray[np.bool_] | Integers) -> Judged:
        """Return some of the judgments; queries and judges keep their numbers."""
        kept = self._replace(**{name: getattr(self, name)[rows] for name in self._fields[1:-1]})
        lists = self.lists[rows] if len(self.lists) else self.lists
        return kept._replace(codes=self.codes[:, rows], lists=lists)


class Used(NamedTuple):
    """Which judgments a model uses, and how many it does not."""

    rows: Integers
    same_lists: int
    without_weight: int
    ties_left_out: int

    @classmethod
    def of(cls, judged: CodedJudgments | Preferences, ties: TieModel) -> Used:
        """Find the judgments that a model uses: those of lists that differ, with a weight."""
        differ = (judged.lists[:, 0] != judged.lists[:, 1]).any(axis=1)
        weighted = judged.weights > 0
        modelled = judged.answers <= B if ties == "strict" else np.ones(len(differ), bool)
        return cls(
            np.flatnonzero(differ & weighted & modelled),
            int((~differ & weighted & modelled).sum()),
            int((~weighted).sum()),
            int((~modelled & weighted).sum()),
        )


@dataclass(frozen=True)
class Layout:
    """How lists of K ranks and L grades become codes.

    Ties may have levels, and an empty rank may be a grade of its own, after the worst.
    """

    n_ranks: int
    n_grades: int
    levels: bool = False
    empty: bool = False

    @cached_property
    def differences(self) -> CodeLayout:
        """The codes as differences of lists."""
        return CodeLayout(self.n_ranks, self.n_grades + self.empty, False)

    @cached_property
    def sums(self) -> CodeLayout:
        """The same codes as sums of lists."""
        return CodeLayout(self.n_ranks, self.n_grades + self.empty, False, sums=True)

    def encode(self, lists: Pairs) -> NDArray[np.unsignedinteger]:
        """Return the codes of lists, (codes per pair, n); equal grades at a rank cancel out."""
        graded = np.where(lists == NO_DOCUMENT, self.n_grades, lists)
        if not self.levels:
            graded = np.where((lists[:, 0] == lists[:, 1])[:, None], 0, graded)
        return self.differences.encode(np.minimum(graded, self.n_grades + self.empty - 1))


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """Judgments whose lists differ; of packed ones, `judged` are some, and `parts` has all.

    `n_queries` and `n_judges` are the largest numbers plus 1, 0 judges unless every judgment has
    one; `rows` are those of the preferences, or of the sample. Not used are judgments of the
    `same_lists`, `without_weight`, and ties where only strict ones are modelled. `relative_lapses`,
    (judges,), is each judge's share of random answers, as a factor of the common one.
    """

    scale: Scale
    layout: Layout
    judged: Judged
    n_judgments: int
    n_queries: int
    n_judges: int
    rows: Integers
    same_lists: int = 0
    without_weight: int = 0
    ties_left_out: int = 0
    parts: PackedParts | None = None
    relative_lapses: Floats | None = None

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        ties: TieModel = "strict",
        advance: Advance = silent,
    ) -> Evidence:
        """Collect the judgments that a model uses."""
        if isinstance(judgments, Evidence):
            return judgments
        if isinstance(judgments, PackedPairs):
            return _packed_evidence(judgments, ties, advance)
        used = Used.of(judgments, ties)
        some = judgments[used.rows]
        layout = _layout(some.n_ranks, some.n_grades, ties, _facts(some.lists, some.answers))
        queries, judges = (column_of(np.asarray(one)) for one in (some.queries, some.judges))
        ids = (one.codes.astype(np.int64) for one in (queries, judges))
        judged = _encoded(layout, some.lists, some.answers, some.weights, *ids)
        n_judges = len(judges.values) if (judges.codes >= 0).all() else 0
        n_queries = len(queries.values)
        sizes = len(judged.answers), n_queries, n_judges
        return cls(judgments.scale, layout, judged, *sizes, used.rows, *used[1:])

    def __len__(self) -> int:
        return self.n_judgments

    def __repr__(self) -> str:
        return f"Evidence({self.n_judgments:,} judgments)"

    @property
    def n_ranks(self) -> int:
        """K, the length of lists."""
        return self.layout.n_ranks

    def with_progress(self, advance: Advance) -> Evidence:
        """Return the same judgments; if packed, `advance` is told how many were read."""
        if self.parts is None:
            return self
        return replace(self, parts=replace(self.parts, advance=advance, _groups_read=[0]))

    @property
    def has_query_ids(self) -> bool:
        """Whether some judgments share a query."""
        named = self.n_judgments if self.parts else int((self.judged.queries >= 0).sum())
        return 0 < self.n_queries < named

    @property
    def has_judges(self) -> bool:
        """Whether every judgment has a judge, and there are several."""
        return self.n_judges > 0 and (self.parts is not None or bool(np.ptp(self.judged.judges)))

    @cached_property
    def has_many_judges(self) -> bool:
        """Whether judgments are worth as many judges of equal weight as make a sample.

        (sum w)^2 / sum w^2 of their weights w: some who judged once make no sample of five.
        """
        if not self.has_judges:
            return False
        weights = np.bincount(self.judged.judges, self.judged.weights)
        return bool(weights.sum() ** 2 >= MANY_JUDGES * (weights**2).sum())

    def take(self, rows: slice | NDArray[np.bool_] | Integers) -> Evidence:
        """Return some of the judgments in memory; queries and judges keep their numbers."""
        judged = self.judged.take(rows)
        n, kept = len(judged.answers), self.rows[rows]
        return replace(self, judged=judged, n_judgments=n, rows=kept, parts=None)

    def map(
        self, statistic: Callable[[Judged], _Statistic], with_ids: bool = False
    ) -> Iterator[_Statistic]:
        """Yield a statistic of each chunk of judgments, in order, as many at once as threads."""

        def of_part(part: int) -> list[_Statistic]:
            judged = self._part(part, with_ids)
            begins = range(0, max(1, len(judged.answers)), CHUNK)
            return [statistic(judged.take(slice(at, at + CHUNK))) for at in begins]

        with one_blas_thread():
            yield from chain.from_iterable(map_in_order(of_part, self._all_parts))

    @property
    def _all_parts(self) -> range:
        """The numbers of row groups, or of chunks in memory."""
        chunks = max(1, -(-self.n_judgments // CHUNK))
        return range(chunks if self.parts is None else self.parts.n_parts)

    def _part(self, part: int, with_ids: bool) -> Judged:
        if self.parts is not None:
            return self.parts.read(part, with_ids)
        return self.judged.take(slice(part * CHUNK, (part + 1) * CHUNK))

    @cached_property
    def distinct(self) -> Evidence | None:
        """The distinct judgments, without queries and judges; None if too few are equal."""
        if self.n_judgments < _FEWEST_COUNTED or self.relative_lapses is not None:
            return None
        parts: Iterator[Judged] = iter([self.judged])
        if self.parts is not None:
            parts = map_in_order(lambda group: self._part(group, False), self._all_parts)
        judged = _distinct(parts)
        if judged is None:
            return None
        n, none = len(judged.answers), np.zeros(0, np.int64)
        return replace(
            self, judged=judged, n_judgments=n, n_queries=0, n_judges=0, rows=none, parts=None
        )


@dataclass(frozen=True, eq=False)
class PackedParts:
    """Row groups of packed files, which are read again at every pass.

    `numbers` are those of the names of queries and judges of each row group, and -1 for none.
    """

    pairs: PackedPairs
    ties: TieModel
    layout: Layout
    numbers: list[tuple[Integers, Integers]]
    advance: Advance = silent
    _groups_read: list[int] = field(default_factory=lambda: [0])

    @property
    def n_parts(self) -> int:
        """The number of row groups."""
        return len(self.pairs.row_groups)

    def read(self, group: int, with_ids: bool) -> Judged:
        """Read and encode the judgments of a row group; without ids, all are missing."""
        found = self.pairs.row_groups[group].read_judgments(with_ids, check=False)
        self._groups_read[0] += 1
        self.advance(self._groups_read[0] * self.pairs.n_pairs // self.n_parts, 0)
        rows = Used.of(found, self.ties).rows
        queries, judges = (
            of_names[column.codes[rows]]
            for of_names, column in zip(self.numbers[group], found[3:], strict=True)
        )
        shown = found.lists[rows], found.answers[rows], found.weights[rows]
        return _encoded(self.layout, *shown, queries, judges)


def _facts(lists: Pairs, answers: NDArray[np.int8]) -> set[int | str]:
    """Return what decides the layout: which answers there are, and empty ranks."""
    empty, found = lists == NO_DOCUMENT, set[int | str](np.unique(answers).tolist())
    if empty.any():
        found.add("empty")
    if (empty[:, 0] != empty[:, 1]).any():
        found.add("differs in empty")
    return found


def _layout(n_ranks: int, n_grades: int, ties: TieModel, facts: set[int | str]) -> Layout:
    if not facts:
        raise InputError("no judgment of lists that differ", "give judgments of other lists")
    if ties != "strict" and facts.isdisjoint((TIE, GOOD, BAD)):
        raise InputError("there are no ties", "leave `ties` out, or give some ties")
    levels = TIE not in facts and not facts.isdisjoint((GOOD, BAD))
    empty = "differs in empty" in facts or (levels and "empty" in facts)
    return Layout(n_ranks, n_grades, levels, empty)


def _encoded(
    layout: Layout,
    lists: Pairs,
    answers: NDArray[np.int8],
    weights: Floats,
    queries: Integers,
    judges: Integers,
) -> Judged:
    answers = answers if layout.levels else np.minimum(answers, TIE)
    return Judged(layout.encode(lists), answers, weights, queries, judges, lists)


class _Scan(NamedTuple):
    """What the first pass finds in a row group.

    `counts` are as in :class:`Used`; the `sample` are lists, answers, weights, and the places of
    queries and judges among the `names`.
    """

    counts: Integers
    facts: set[int | str]
    all_judged: bool
    names: tuple[list[str], list[str]]
    sample: tuple[Pairs, NDArray[np.int8], Floats, Integers, Integers]


def _packed_evidence(pairs: PackedPairs, ties: TieModel, advance: Advance) -> Evidence:
    """Read all judgments once: count those that are used, and number queries and judges."""
    pairs.check_sides()
    every = max(1, pairs.n_pairs // SAMPLE)
    done = 0

    def scan(group: int) -> _Scan:
        nonlocal done
        row_group = pairs.row_groups[group]
        lists, answers, weights, queries, judges = found = row_group.read_judgments()
        rows, *left_out = Used.of(found, ties)
        some = rows[(row_group.before + rows) % every == 0]
        done += 1
        advance(done, len(pairs.row_groups))
        return _Scan(
            np.array([len(rows), *left_out]),
            _facts(lists[rows], answers[rows]),
            bool((judges.codes[rows] >= 0).all()),
            (queries.values, judges.values),
            (lists[some], answers[some], weights[some], queries.codes[some], judges.codes[some]),
        )

    known: tuple[dict[str, int], dict[str, int]] = ({}, {})
    numbers, samples, counts, judged = [], [], np.zeros(4, np.int64), True
    facts = set[int | str]()
    for one in map_in_order(scan, range(len(pairs.row_groups))):
        queries, judges = (
            np.array([*(of_id.setdefault(name, len(of_id)) for name in names), -1])
            for of_id, names in zip(known, one.names, strict=True)
        )
        *shown, of_queries, of_judges = one.sample
        numbers.append((queries, judges))
        samples.append((*shown, queries[of_queries], judges[of_judges]))
        facts |= one.facts
        counts += one.counts
        judged = judged and one.all_judged
    layout = _layout(pairs.n_ranks, pairs.n_grades, ties, facts)
    sample = _encoded(layout, *(np.concatenate(part) for part in zip(*samples, strict=True)))
    n, same_lists, without_weight, ties_left_out = counts.tolist()
    return Evidence(
        pairs.scale,
        layout,
        sample,
        n,
        len(known[0]),
        len(known[1]) if judged and len(known[1]) > 1 else 0,
        np.arange(len(sample.answers)),
        same_lists,
        without_weight,
        ties_left_out,
        PackedParts(pairs, ties, layout, numbers),
    )


def _distinct(parts: Iterable[Judged]) -> Judged | None:
    """Return the distinct judgments of several parts; None if too few are equal."""
    kept: Judged | None = None
    for part in parts:
        rows, weights = np.vstack([part.answers, part.codes]), part.weights
        probe = rows[:, :_PROBE]
        if kept is None and len(distinct_rows(probe)[0]) > (1 - _FEWEST_EQUAL) * probe.shape[1]:
            return None
        if kept is not None:
            rows = np.hstack([np.vstack([kept.answers, kept.codes]), rows])
            weights = np.concatenate([kept.weights, weights])
        first, of_row = distinct_rows(rows)
        if len(first) > _MAX_DISTINCT:
            return None
        unknown, none = np.full(len(first), -1), part.lists[:0]
        codes, answers = rows[1:, first].astype(part.codes.dtype), rows[0, first].astype(np.int8)
        weights = np.bincount(of_row, weights).astype(float)
        kept = Judged(codes, answers, weights, unknown, unknown, none)
    return kept
