"""Judgments that name documents or runs, turned into judgments of graded lists.

``{"query": "q1", "a": ["d3", "d1"], "b": ["d2"], "answer": "a"}`` needs the qrels;
``{"query": "q1", "run_a": "one", "run_b": "two", "answer": "a"}`` also needs the runs, whose first
K documents were shown. Documents are looked up as those of runs are when systems are evaluated
(:mod:`dcglearn.collections.join`), with the same rules for documents without a judgment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.numbers import counted
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Integers, Rankings
from dcglearn.collections.join import GradedRun, IndexedQrels, grade_run, index_qrels
from dcglearn.collections.runs import Qrels, Run, distinct_names, read_qrels, read_run
from dcglearn.judgments.meaning.judgment_fields import is_id
from dcglearn.judgments.meaning.unjudged_documents import (
    DROPPED,
    UnjudgedRule,
    counts_as,
    unjudged_meaning,
)
from dcglearn.judgments.reading.blocks import NumberedRecord
from dcglearn.judgments.reading.field_columns import RUN_FIELDS
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

_BATCH = 4096
"""The number of judgments whose documents are looked up at a time."""


@dataclass(frozen=True)
class _RunLists:
    """The first K documents of a run for each query.

    grades (Q, K) holds grade indices, L for a document without a judgment and -1 for none; held,
    considered and unjudged (Q,) count the documents of the run, those down to rank K, and those of
    them without a judgment.
    """

    grades: Rankings
    held: Integers
    considered: Integers
    unjudged: Integers

    def of_query(self, query: int) -> tuple[list[int], int, int]:
        """Return the grades of a query's list, and what is considered and unjudged."""
        row = self.grades[query]
        length = int(np.count_nonzero(row != NO_DOCUMENT))  # empty ranks are at the end
        return row[:length].tolist(), int(self.considered[query]), int(self.unjudged[query])


@dataclass(frozen=True)
class _Prepared:
    """A checked judgment: its fields, and per side document ids, the name of a run, or None."""

    number: int
    fields: dict[str, Any]
    query: int
    sides: tuple[list[str | None] | str | None, ...]


@dataclass(frozen=True)
class DocumentGrades:
    r"""The grades of documents and runs, by query.

    Attributes
    ----------
    scale : Scale
        The grades of the judgments that are made, best first.
    qrels : IndexedQrels
        On the scale of the qrels.
    runs : dict
        From the name of a run to its lists.
    unjudged : {"worst", "nothing", "drop"} or label
        What a document without a judgment counts as: one of the worst grade of `scale`; a rank
        without a document; not part of the list, so that those below it move up; or one of the
        given grade.
    counts : Counter
        ``"documents"`` of the judgments read so far, and how many of them are ``"unjudged"``.

    Examples
    --------
    >>> import tempfile
    >>> from dcglearn.judgments.reading.judgment_files import read_preferences
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qrels, judgments = Path(folder, "qrels"), Path(folder, "judgments.csv")
    ...     _ = qrels.write_text("q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\n")
    ...     _ = judgments.write_text("query,a,b,answer\nq1,d1 d2,d9 d3,a\n")
    ...     grades = DocumentGrades.read(qrels)
    ...     read_preferences(judgments, document_grades=grades).to_frame()[["a", "b"]]
            a       b
    0  [2, 0]  [0, 1]
    >>> dict(grades.counts)
    {'documents': 4, 'unjudged': 1}
    """

    scale: Scale
    qrels: IndexedQrels
    runs: dict[str, _RunLists]
    unjudged: UnjudgedRule = "worst"
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(
        cls,
        qrels: str | Path,
        runs: Sequence[str | Path] = (),
        n_ranks: int | None = None,
        ignored: IgnoredInput | None = None,
        scale: Scale | None = None,
        unjudged: UnjudgedRule = "worst",
    ) -> DocumentGrades:
        """Read qrels and runs.

        Parameters
        ----------
        qrels : path-like
            As for :func:`dcglearn.collections.runs.read_qrels`.
        runs : sequence of path-like
            As for :func:`dcglearn.collections.runs.read_run`.
        n_ranks : int, optional
            K, the number of documents of a run that were shown; needed with runs.
        ignored : IgnoredInput, optional
            As for :func:`dcglearn.collections.runs.read_qrels`.
        scale : Scale, optional
            The grades, best first; by default those of the qrels.
        unjudged : {"worst", "nothing", "drop"} or label, default "worst"
            What a document without a judgment counts as.

        Returns
        -------
        DocumentGrades

        Raises
        ------
        InputError
            If a file cannot be read, K is missing, or the rule for unjudged documents does not
            give each of them one grade.
        """
        read = [read_run(path) for path in runs]
        names = distinct_names([run.name for run in read], runs)
        named = [replace(run, name=name) for run, name in zip(read, names, strict=True)]
        return cls.of(read_qrels(qrels), named, n_ranks, scale, unjudged)

    @classmethod
    def of(
        cls,
        qrels: Qrels,
        runs: Sequence[Run] = (),
        n_ranks: int | None = None,
        scale: Scale | None = None,
        unjudged: UnjudgedRule = "worst",
    ) -> DocumentGrades:
        """Join runs with qrels.

        Parameters
        ----------
        qrels : Qrels
        runs : sequence of Run
            Of different names.
        n_ranks, scale, unjudged
            As for :meth:`read`.

        Returns
        -------
        DocumentGrades

        Raises
        ------
        InputError
            As :meth:`read`.
        """
        if runs and n_ranks is None:
            raise InputError("runs without K", "give `n_ranks`, the number of documents shown")
        indexed = index_qrels(qrels, scale if qrels.names else None)
        scale = indexed.scale if scale is None else scale
        unjudged_meaning(unjudged, scale)  # refuses an unknown rule
        removed = unjudged in DROPPED
        lists = {
            run.name: _first_ranks(
                grade_run(run, indexed), len(indexed.scale), n_ranks or 0, removed
            )
            for run in runs
        }
        return cls(scale, indexed, lists, unjudged)

    def grade_records(
        self, records: Iterator[NumberedRecord], where: str
    ) -> Iterator[NumberedRecord]:
        """Replace the documents or runs of judgments by lists of grades.

        Documents are looked up many judgments at a time; an error is raised after the judgments
        before it.

        Parameters
        ----------
        records : iterator of (int, dict)
            The number and the fields of each judgment, with ``a`` and ``b`` as lists of ids, or
            ``run_a`` and ``run_b``.
        where : str
            For messages: the file, and what the numbers count, such as ``prefs.csv, line``.

        Yields
        ------
        number : int
        fields : dict
            With ``a`` and ``b`` as lists of grades, None for a rank without a document.

        Raises
        ------
        InputError
            Naming the place: a query or run is unknown, a document appears twice in a list, or no
            document of a list has a grade.
        """
        failed: InputError | None = None
        while failed is None:
            batch: list[_Prepared] = []
            try:
                while len(batch) < _BATCH:
                    number, record = next(records)
                    batch.append(self._prepare(number, record, where))
            except StopIteration:
                yield from self._grade(batch, where)
                return
            except InputError as error:
                failed = error
            yield from self._grade(batch, where)
        raise failed

    def check_any_judged(self) -> None:
        """Refuse judgments none of whose documents is judged; most likely they hold grades.

        Raises
        ------
        InputError
            If the judgments read so far hold documents, and all of them are unjudged.
        """
        if 0 < self.counts["documents"] == self.counts["unjudged"]:
            raise InputError(
                f"none of {counted(self.counts['documents'], 'document')} is in the qrels",
                "give the qrels that go with them; where lists hold grades, leave out `qrels`",
            )

    def _prepare(self, number: int, record: dict[str, Any], where: str) -> _Prepared:
        try:
            query = record.get("query")
            if query is None:
                raise InputError('"query" is missing', "documents are looked up by query")
            (row,) = self.qrels.number_queries([str(query)]).tolist()
            if row < 0:
                raise InputError(
                    f"the query {query} has no qrels", "documents are looked up by query"
                )
            fields = {name: value for name, value in record.items() if name not in RUN_FIELDS}
            sides = tuple(
                self._side(record, side, run_field, str(query), row)
                for side, run_field in zip("ab", RUN_FIELDS, strict=True)
            )
        except InputError as error:
            raise error.at(f"{where} {number}") from error
        return _Prepared(number, fields, row, sides)

    def _side(
        self, record: dict[str, Any], side: str, run_field: str, query: str, number: int
    ) -> list[str | None] | str | None:
        """Return the document ids of a side, the name of its run, or None if it has no list."""
        documents, name = record.get(side), record.get(run_field)
        if name is None:
            return _checked_ids(documents, side) if isinstance(documents, list) else None
        if documents:
            raise InputError(f'"{side}" and "{run_field}"', "give one of them")
        if not is_id(name):
            raise InputError(f'"{run_field}": {name!r} is not a name', "write text")
        if not self.runs:
            raise InputError(f'"{run_field}": the run {name}, and no runs', "give its file: `run`")
        if str(name) not in self.runs:
            raise unknown_name("run", str(name), self.runs, f'"{run_field}"')
        if not self.runs[str(name)].held[number]:
            raise InputError(
                f"the run {name} holds nothing for the query {query}", "leave the judgment out"
            )
        return str(name)

    def _grade(self, batch: list[_Prepared], where: str) -> Iterator[NumberedRecord]:
        lists = [(one.query, side) for one in batch for side in one.sides if isinstance(side, list)]
        named = [[document for document in ids if document is not None] for _, ids in lists]
        query = np.repeat([number for number, _ in lists], [len(ids) for ids in named])
        found = self.qrels.find_grades_of_ids(query.astype(np.int64), list(chain(*named))).tolist()
        missing, used = len(self.qrels.scale), 0
        for one in batch:
            for name, side in zip("ab", one.sides, strict=True):
                if side is None:
                    continue
                if isinstance(side, list):
                    documents = len(side) - side.count(None)
                    grades = found[used : used + documents]
                    used += documents
                    unjudged = grades.count(missing)
                    for rank in (rank for rank, document in enumerate(side) if document is None):
                        grades.insert(rank, NO_DOCUMENT)
                else:
                    grades, documents, unjudged = self.runs[side].of_query(one.query)
                self.counts["documents"] += documents
                self.counts["unjudged"] += unjudged
                if self._unjudged_label is None and 0 < documents == unjudged:
                    raise InputError(
                        f'"{name}": no document of the list is judged',
                        "leave the judgment out, or use `unjudged='worst'`",
                        f"{where} {one.number}",
                    )
                if self.unjudged in DROPPED:
                    grades = [grade for grade in grades if grade != missing]
                one.fields[name] = [self._label_table[grade] for grade in grades]
            yield one.number, one.fields

    @cached_property
    def _label_table(self) -> tuple[Label | None, ...]:
        """The label of each grade index, of an unjudged document (L) and of none (-1, the last)."""
        return (*self.qrels.scale.labels, self._unjudged_label, None)

    def unjudged_note(self) -> str:
        """Return what is said about documents without a judgment; empty if there are none."""
        count = self.counts["unjudged"]
        if not count:
            return ""
        _, words = unjudged_meaning(self.unjudged, self.scale)
        of = counted(self.counts["documents"], "document")
        is_or_are = "is" if count == 1 else "are"
        return f"{count:,} of {of} {is_or_are} unjudged and {counts_as(count, words)}"

    def unjudged_counts(self) -> dict[str, int | str | None]:
        """Return what :meth:`unjudged_note` says, as numbers."""
        _, words = unjudged_meaning(self.unjudged, self.scale)
        found = {name: self.counts[name] for name in ("documents", "unjudged")}
        return {**found, "counted_as": words if found["unjudged"] else None}

    @cached_property
    def _unjudged_label(self) -> Label | None:
        index, _ = unjudged_meaning(self.unjudged, self.scale)
        return None if index == NO_DOCUMENT else self.scale.labels[index]


def _checked_ids(documents: list[Any], side: str) -> list[str | None]:
    """Return the ids of a list as text, None where a rank holds no document."""
    ids = [one if type(one) is str else _checked_id(one, side) for one in documents]
    named = [document for document in ids if document is not None]
    if len(set(named)) < len(named):
        twice = next(document for document in named if named.count(document) > 1)
        raise InputError(f'"{side}": the document {twice} appears twice', "keep one")
    try:
        "".join(named).encode()
    except UnicodeEncodeError as error:
        raise InputError(f'"{side}": an id is not valid text', "correct it") from error
    return ids


def _checked_id(document: Any, side: str) -> str | None:
    if document is not None and not is_id(document):
        raise InputError(f'"{side}": {document!r} is not a document', "write its id")
    return None if document is None else str(document)


def _first_ranks(graded: GradedRun, n_grades: int, n_ranks: int, removed: bool) -> _RunLists:
    """Return the first K documents of each query; K judged ones where the others are removed."""
    lengths = graded.lengths
    query = np.repeat(np.arange(len(lengths)), lengths)
    judged = graded.grades < n_grades
    kept = judged if removed else np.ones(len(judged), bool)
    before = np.cumsum(kept) - kept  # kept documents above each one, of all queries
    rank = before - np.repeat(np.append(before, 0)[graded.starts[:-1]], lengths)
    considered = rank < n_ranks
    shown = considered & kept
    grades = np.full((len(lengths), n_ranks), NO_DOCUMENT, np.int8)
    grades[query[shown], rank[shown]] = graded.grades[shown]
    return _RunLists(
        grades,
        lengths,
        np.bincount(query[considered], minlength=len(lengths)),
        np.bincount(query[considered & ~judged], minlength=len(lengths)),
    )
