"""Judgments in packed files as the likelihood uses them, read again at every pass.

A first pass counts the judgments that a model uses, and numbers queries and judges. Later ones read
and encode a row group at a time, the same to the last bit each time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import Column
from dcglearn.base.threads import map_in_order
from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.inference.answers import BAD, GOOD, TIE, TieModel
from dcglearn.inference.evidence import Evidence, UsableRows
from dcglearn.judgments.packed import PackedPairs, RowGroup
from dcglearn.learning.codes import CodeLayout
from dcglearn.measures.scale import NO_DOCUMENT, Scale

SAMPLE = 40_000
"""About so many judgments, evenly spaced, are kept in memory: estimates begin with theirs."""


@dataclass(frozen=True, eq=False)
class IdNumbers:
    """The numbers of the queries or judges of a folder of packed files.

    Attributes
    ----------
    known : dict of str to int
        The number of each name, in the order in which they first occur.
    of_names : list of ndarray of int
        For each row group, the number of each of its names.
    """

    known: dict[str, int] = field(default_factory=dict)
    of_names: list[Integers] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.known)

    def add(self, names: list[str]) -> None:
        """Give the names of the next row group their numbers."""
        known = self.known
        numbers = [known.setdefault(name, len(known)) for name in names]
        self.of_names.append(np.array(numbers, np.int64))

    def numbers(self, group: int, ids: Column) -> Integers:
        """Return the number of each row of a row group, -1 where an id is missing."""
        return np.asarray(np.append(self.of_names[group], -1)[ids.codes])


_Shown: TypeAlias = tuple[Pairs, NDArray[np.int8], Floats]
"""The lists, answers and weights of judgments."""


class _Scan(NamedTuple):
    """What the first pass finds in a row group; of all ids, the names only."""

    used: int
    same_lists: int
    without_weight: int
    ties_left_out: int
    answers: frozenset[int]
    has_empty_ranks: bool
    all_judged: bool
    some_judges: frozenset[str]
    queries: list[str]
    judges: list[str]
    sample: _Shown


@dataclass(frozen=True, eq=False, repr=False)
class PackedEvidence:
    """Judgments in packed files whose lists differ. Use :meth:`of`.

    Attributes
    ----------
    pairs : PackedPairs
    ties : {"strict", "davidson", "rao-kupper"}
    layout, sum_layout, same_lists, without_weight, ties_left_out
        As those of :class:`~dcglearn.inference.evidence.Evidence`.
    n_judgments : int
        Those that are used.
    queries : IdNumbers
    judges : IdNumbers or None
        None unless every judgment that is used has a judge, and there are several.
    sample : Evidence
        Some of the judgments, in memory.
    sample_lists : ndarray of int8, shape (m, 2, K)
        Their lists.
    advance : callable
        Called with (judgments read in all passes, 0).
    """

    pairs: PackedPairs
    ties: TieModel
    layout: CodeLayout
    sum_layout: CodeLayout | None
    n_judgments: int
    same_lists: int
    without_weight: int
    ties_left_out: int
    queries: IdNumbers
    judges: IdNumbers | None
    sample: Evidence
    sample_lists: Pairs
    advance: Advance = silent
    _groups_read: list[int] = field(default_factory=lambda: [0])

    def __repr__(self) -> str:
        return f"PackedEvidence({counted(self.n_judgments, 'judgment')}, ties {self.ties!r})"

    @classmethod
    def of(
        cls, pairs: PackedPairs, ties: TieModel = "strict", advance: Advance = silent
    ) -> PackedEvidence:
        """Read all judgments once.

        Parameters
        ----------
        pairs : PackedPairs
        ties : {"strict", "davidson", "rao-kupper"}, default "strict"
        advance : callable
            Called with (row groups read, row groups in all).

        Returns
        -------
        PackedEvidence

        Raises
        ------
        InputError
            If sides are unknown, no judgment can be used, or ties are to be modelled and there are
            none.
        """
        pairs.check_sides()
        every = max(1, pairs.n_pairs // SAMPLE)
        done = 0

        def scan(group: RowGroup) -> _Scan:
            nonlocal done
            found = _scan(group, ties, every)
            done += 1
            advance(done, len(pairs.row_groups))
            return found

        queries, judges, scans = IdNumbers(), IdNumbers(), []
        for one in map_in_order(scan, pairs.row_groups):
            queries.add(one.queries)
            judges.add(one.judges)
            scans.append(one._replace(queries=[], judges=[]))
        answers = frozenset[int]().union(*(one.answers for one in scans))
        used = sum(one.used for one in scans)
        if not used:
            raise InputError("no judgment of lists that differ", "give judgments of other lists")
        if ties != "strict" and max(answers) < TIE:
            raise InputError("there are no ties", "leave `ties` out, or give some ties")
        levels = bool(answers & {GOOD, BAD}) and TIE not in answers
        shape = pairs.n_ranks, pairs.n_grades, any(one.has_empty_ranks for one in scans)
        judged = all(one.all_judged for one in scans)
        judged &= len(frozenset[str]().union(*(one.some_judges for one in scans))) > 1
        layout, sum_layout = CodeLayout(*shape), CodeLayout(*shape, sums=True) if levels else None
        samples = zip(*(one.sample for one in scans), strict=True)
        lists, codes, weights = map(np.concatenate, samples)
        shown, unknown = (lists, codes, weights), np.full(len(lists), -1)
        sample = _encoded(shown, ties, layout, sum_layout, unknown, None)
        return cls(
            pairs,
            ties,
            layout,
            sum_layout,
            used,
            sum(one.same_lists for one in scans),
            sum(one.without_weight for one in scans),
            sum(one.ties_left_out for one in scans),
            queries,
            judges if judged else None,
            sample,
            lists[sample.rows],
        )

    def with_progress(self, advance: Advance) -> PackedEvidence:
        """Return the same judgments, with another callable that is told how many were read.

        Parameters
        ----------
        advance : callable
        """
        return replace(self, advance=advance, _groups_read=[0])

    @property
    def scale(self) -> Scale:
        """The grades, best first."""
        return self.pairs.scale

    @property
    def n_ranks(self) -> int:
        """K."""
        return self.pairs.n_ranks

    def read(self, group: int, with_ids: bool = False) -> Evidence:
        """Read and encode the judgments of a row group.

        Parameters
        ----------
        group : int
            Its place in ``pairs.row_groups``.
        with_ids : bool, default False
            Whether queries and judges are read: otherwise all queries are -1.

        Returns
        -------
        Evidence
            A query of -1 is missing: the judgment is a cluster of its own.
        """
        judged = self.pairs.row_groups[group].read_judgments(with_ids, check=False)
        self._groups_read[0] += 1
        self.advance(self._groups_read[0] * self.pairs.n_pairs // len(self.pairs.row_groups), 0)
        queries = self.queries.numbers(group, judged.queries)
        judges = None if self.judges is None else self.judges.numbers(group, judged.judges)
        return _encoded(judged[:3], self.ties, self.layout, self.sum_layout, queries, judges)


def _scan(group: RowGroup, ties: TieModel, every: int) -> _Scan:
    judged = group.read_judgments()
    lists, answers, weights, queries, judges = judged
    usable = UsableRows.of(lists, answers, weights, ties)
    rows, some = usable.rows, slice(-group.before % every, None, every)
    used_judges = np.unique(judges.codes[rows])
    return _Scan(
        len(rows),
        *usable[1:],
        frozenset(np.unique(answers[rows]).tolist()),
        bool((lists[rows] == NO_DOCUMENT).any()),
        bool((used_judges >= 0).all()),
        frozenset(judges.values[code] for code in used_judges if code >= 0),
        queries.values,
        judges.values,
        (lists[some].copy(), answers[some].copy(), weights[some].copy()),
    )


def _encoded(
    shown: _Shown,
    ties: TieModel,
    layout: CodeLayout,
    sum_layout: CodeLayout | None,
    queries: Integers,
    judges: Integers | None,
) -> Evidence:
    """Return the judgments that are used."""
    lists, answers, weights = shown
    rows = UsableRows.of(lists, answers, weights, ties).rows
    return Evidence(
        layout,
        layout.encode(lists[rows]),
        answers[rows] if sum_layout else np.minimum(answers[rows], TIE),
        weights[rows],
        queries[rows],
        None if judges is None else judges[rows],
        rows,
        sum_layout,
    )
