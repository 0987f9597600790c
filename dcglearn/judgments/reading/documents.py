"""Judgments that name documents or runs, turned into judgments of graded lists.

The qrels give the grades of the documents of each list by query, and of the first K documents of
each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.numbers import counted
from dcglearn.base.tables.columns import Column, parse_id
from dcglearn.base.types import Grades, Integers, Rankings
from dcglearn.collections.join import GradedRun, IndexedQrels, grade_run, index_qrels
from dcglearn.collections.runs import Qrels, Run, distinct_names, read_qrels, read_run
from dcglearn.judgments.meaning.unjudged import (
    DROPPED,
    UnjudgedRule,
    unjudged_meaning,
    unjudged_words,
)
from dcglearn.judgments.reading.fields import FieldBlock
from dcglearn.judgments.reading.lists import ListColumn
from dcglearn.measures.scale import NO_DOCUMENT, Scale


@dataclass(frozen=True)
class _RunLists:
    """The first K documents of a run for each query: grades, and how many there are of which."""

    grades: Rankings
    held: Integers
    considered: Integers
    unjudged: Integers


@dataclass(frozen=True)
class DocumentGrades:
    r"""The grades of documents and runs, by query.

    Parameters
    ----------
    scale : Scale
        The grades, best first.
    qrels : IndexedQrels
        The grade of each judged document.
    runs : dict
        The lists of each run, by its name.
    unjudged : str, int or float
        What a document without a judgment counts as, as for :func:`read_preferences`.

    Examples
    --------
    >>> from dcglearn import qrels_of, run_of
    >>> qrels = qrels_of({"q1": {"d1": 2, "d2": 0}})
    >>> grades = DocumentGrades.of(qrels, [run_of({"q1": {"d2": 2.5, "d1": 1.0}}, "mine")], 10)
    >>> str(grades.scale), list(grades.runs)
    ('2 > 0', ['mine'])
    """

    scale: Scale
    qrels: IndexedQrels
    runs: dict[str, _RunLists]
    unjudged: UnjudgedRule = "worst"

    @classmethod
    def read(
        cls,
        qrels: str | Path,
        runs: Sequence[str | Path] = (),
        n_ranks: int | None = None,
        scale: Scale | None = None,
        unjudged: UnjudgedRule = "worst",
    ) -> DocumentGrades:
        """Read qrels and runs; the arguments are those of :meth:`of`, and paths."""
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
        n_ranks : int, optional
            K, the number of documents of a run that were shown; needed where there are runs.
        scale : Scale, optional
            The grades, best first; by default those of the qrels.
        unjudged : str, int or float
            As for :func:`read_preferences`.

        Returns
        -------
        DocumentGrades

        Raises
        ------
        InputError
            If there are runs and no K, or a grade is off the scale.
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


class DocumentLookup:
    """Looks up the documents and runs of blocks of judgments; counts those without a grade."""

    def __init__(self, grades: DocumentGrades) -> None:
        self._grades, self._documents, self._unjudged = grades, 0, 0

    def lists(self, block: FieldBlock) -> tuple[ListColumn, ListColumn]:
        """Return the lists of both sides by their grades."""
        queries = block.ids("query")
        if queries is None:
            raise InputError(
                '"query" is missing', "documents are looked up by query", block.place(0)
            )
        numbers = self._grades.qrels.number_queries(queries.values)
        query = np.append(numbers, -2)[queries.codes]
        if (query < 0).any():
            row = int(np.argmax(query < 0))
            name = queries.decoded()[row]
            problem = '"query" is missing' if name is None else f"the query {name} has no qrels"
            raise InputError(problem, "documents are looked up by query", block.place(row))
        return self._side(block, "a", query), self._side(block, "b", query)

    def note(self) -> str:
        """Return what is said about unjudged documents; refuse judgments none of whose is judged."""
        if 0 < self._documents == self._unjudged:
            raise InputError(
                f"none of {counted(self._documents, 'document')} is in the qrels",
                "give the qrels that go with them; where lists hold grades, leave out `qrels`",
            )
        if not self._unjudged:
            return ""
        of = f"of {self._documents:,} without a judgment"
        return unjudged_words(self._unjudged, of, self._grades.unjudged, self._grades.scale)

    def counts(self) -> dict[str, int | str | None]:
        """Return what :meth:`note` says, as numbers."""
        _, words = unjudged_meaning(self._grades.unjudged, self._grades.scale)
        counted_as = words if self._unjudged else None
        return {"documents": self._documents, "unjudged": self._unjudged, "counted_as": counted_as}

    def _side(self, block: FieldBlock, side: str, query: Integers) -> ListColumn:
        """Return the lists of a side: of documents, of the runs that are named, or of both."""
        runs = block.ids(f"run_{side}")
        if runs is None:
            return self._labelled(block, side, *self._of_documents(block, side, query))
        named = runs.codes >= 0
        tables = [(named, self._of_runs(block, side, runs, query))]
        if not named.all():
            rest = block.take(np.flatnonzero(~named))
            tables.append((~named, self._of_documents(rest, side, query[~named])))
        K = max(table.shape[1] for _, (table, _, _) in tables)
        grades = np.full((block.rows, K), NO_DOCUMENT, np.int16)
        documents, unjudged = np.zeros((2, block.rows), np.int64)
        for rows, (table, held, without) in tables:
            grades[rows, : table.shape[1]] = table
            documents[rows], unjudged[rows] = held, without
        return self._labelled(block, side, grades, documents, unjudged)

    def _of_documents(
        self, block: FieldBlock, side: str, query: Integers
    ) -> tuple[Grades, Integers, Integers]:
        """Return grades, shape (n, K), L for an unjudged document, and counts by list."""
        found = block.lists_of(side)
        ids = Column(found.codes, found.values).parsed(
            lambda value: parse_id(value, "document"), lambda at: block.place(found.position(at)[0])
        )
        table = np.full((len(found), int(found.lengths.max(initial=0))), -1, np.int64)
        table[np.arange(table.shape[1]) < found.lengths[:, None]] = ids.codes
        ordered = np.sort(table, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        if twice.any():
            row, at = np.argwhere(twice)[0].tolist()
            name = ids.values[ordered[row, at]]
            problem = f'"{side}": the document {name} appears twice'
            raise InputError(problem, "keep one", block.place(row))
        filled = table >= 0
        entries = np.repeat(query, filled.sum(axis=1))
        documents = _names(ids, table[filled])
        grades = np.full(table.shape, NO_DOCUMENT, np.int16)
        grades[filled] = self._grades.qrels.find_grades_of_ids(entries, documents)
        unjudged = (grades == len(self._grades.qrels.scale)).sum(axis=1)
        return grades, filled.sum(axis=1), unjudged

    def _of_runs(
        self, block: FieldBlock, side: str, runs: Column, query: Integers
    ) -> tuple[Grades, Integers, Integers]:
        """Return the same for the rows that name a run."""
        where = f'"run_{side}"'
        known = self._grades.runs
        for code, name in enumerate(runs.values):
            place = block.place(int(np.argmax(runs.codes == code)))
            if not known:
                problem = f"{where}: the run {name}, and no runs"
                raise InputError(problem, "give its file: `run`", place)
            if name not in known:
                raise unknown_name("run", name, known, place)
        lists = [known[name] for name in runs.values]
        named = np.flatnonzero(runs.codes >= 0)
        which, of = runs.codes[named], query[named]
        held = np.stack([one.held for one in lists])[which, of]
        if not held.all():
            at = int(np.argmax(held == 0))
            problem = f"the run {runs.values[which[at]]} holds nothing for the query"
            raise InputError(problem, "leave the judgment out", block.place(int(named[at])))
        return (
            np.stack([one.grades for one in lists])[which, of].astype(np.int16),
            np.stack([one.considered for one in lists])[which, of],
            np.stack([one.unjudged for one in lists])[which, of],
        )

    def _labelled(
        self, block: FieldBlock, side: str, grades: Grades, documents: Integers, unjudged: Integers
    ) -> ListColumn:
        """Return lists by their labels, with the rule for unjudged documents."""
        L = len(self._grades.qrels.scale)
        index, _ = unjudged_meaning(self._grades.unjudged, self._grades.scale)
        nothing = (documents > 0) & (documents == unjudged)
        if index == NO_DOCUMENT and nothing.any():
            problem = f'"{side}": no document of the list is judged'
            remedy = "leave the judgment out, or use `unjudged='worst'`"
            raise InputError(problem, remedy, block.place(int(np.argmax(nothing))))
        self._documents += int(documents.sum())
        self._unjudged += int(unjudged.sum())
        if self._grades.unjudged in DROPPED:
            order = np.argsort(grades == L, axis=1, kind="stable")
            grades = np.take_along_axis(grades, order, axis=1)
        values = list(self._grades.qrels.scale.labels)
        if index != NO_DOCUMENT:
            values.append(self._grades.scale.labels[index])
        codes = np.where(grades == L, L if index != NO_DOCUMENT else NO_DOCUMENT, grades)
        lengths = np.full(len(codes), codes.shape[1], np.int64)
        return ListColumn(codes.astype(np.int32).ravel(), lengths, values)


def _names(ids: Column, codes: Grades) -> list[str]:
    found: list[str] = np.array([*ids.values, None], object)[codes].tolist()
    return found


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
