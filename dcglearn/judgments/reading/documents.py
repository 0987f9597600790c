"""Judgments that name documents or runs, turned into judgments of graded lists.

The qrels give the grades of the documents of each list by query, and of the first K documents of
each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
class DocumentGrades:
    r"""The grades of documents and runs, by query.

    Parameters
    ----------
    scale : Scale
        The grades, best first.
    qrels : IndexedQrels
        The grade of each judged document.
    runs : dict
        The grades of each run's documents, by its name: shape (queries, documents), best first;
        L without a judgment, -1 below the last.
    n_ranks : int, optional
        K, the number of documents of a run that were shown.
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
    runs: dict[str, Rankings]
    n_ranks: int | None = None
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
        tables = {run.name: _table(grade_run(run, indexed)) for run in runs}
        return cls(scale, indexed, tables, n_ranks, unjudged)


def _table(graded: GradedRun) -> Rankings:
    lengths = graded.lengths
    table = np.full((len(lengths), int(lengths.max(initial=0))), NO_DOCUMENT, np.int8)
    table[np.arange(table.shape[1]) < lengths[:, None]] = graded.grades
    return table


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
        """Return what is said about unjudged documents; refuse judgments without any judged."""
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
        if runs is None or not runs.values:
            return self._labelled(block, side, self._of_documents(block, side, query))
        named = runs.codes >= 0
        grades = self._of_runs(block, side, runs, query)
        if not named.all():
            rest = block.take(np.flatnonzero(~named))
            lists = self._of_documents(rest, side, query[~named])
            K = max(grades.shape[1], lists.shape[1])
            grades = np.pad(grades, ((0, 0), (0, K - grades.shape[1])), constant_values=NO_DOCUMENT)
            grades[~named, : lists.shape[1]] = lists
        return self._labelled(block, side, grades)

    def _of_documents(self, block: FieldBlock, side: str, query: Integers) -> Grades:
        """Return the grades of lists, shape (n, K), L without a judgment and -1 for no document."""
        found = block.lists_of(side)
        ids = Column(found.codes, found.values).parsed(
            lambda value: parse_id(value, "document"), lambda at: block.place(int(found.positions(np.array(at))[0]))
        )
        table = np.full((len(found), int(found.lengths.max(initial=0))), -1, np.int64)
        table[np.arange(table.shape[1]) < found.lengths[:, None]] = ids.codes
        ordered = np.sort(table, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        if twice.any():
            row, at = np.argwhere(twice)[0].tolist()
            problem = f'"{side}": the document {ids.values[ordered[row, at]]} appears twice'
            raise InputError(problem, "keep one", block.place(row))
        filled = table >= 0
        names = np.array([*ids.values, None], object)[table[filled]].tolist()
        entries = np.repeat(query, filled.sum(axis=1))
        grades = np.full(table.shape, NO_DOCUMENT, np.int8)
        grades[filled] = self._grades.qrels.find_grades_of_ids(entries, names)
        return grades

    def _of_runs(self, block: FieldBlock, side: str, runs: Column, query: Integers) -> Grades:
        """Return the same for the rows that name a run; the others are empty."""
        tables = self._grades.runs
        for code, name in enumerate(runs.values):
            place = block.place(int(np.argmax(runs.codes == code)))
            if not tables:
                problem = f'"run_{side}": the run {name}, and no runs'
                raise InputError(problem, "give its file: `run`", place)
            if name not in tables:
                raise unknown_name("run", name, tables, place)
        K = max(tables[name].shape[1] for name in runs.values)
        grades = np.full((block.rows, K), NO_DOCUMENT, np.int8)
        for code, name in enumerate(runs.values):
            rows = np.flatnonzero(runs.codes == code)
            grades[rows, : tables[name].shape[1]] = tables[name][query[rows]]
        empty = (runs.codes >= 0) & (grades == NO_DOCUMENT).all(axis=1)
        if empty.any():
            row = int(np.argmax(empty))
            problem = f"the run {runs.values[runs.codes[row]]} holds nothing for the query"
            raise InputError(problem, "leave the judgment out", block.place(row))
        shown = (grades != NO_DOCUMENT) & ~self._dropped(grades)
        grades[np.cumsum(shown, axis=1) - shown >= (self._grades.n_ranks or 0)] = NO_DOCUMENT
        return grades

    def _dropped(self, grades: Grades) -> NDArray[np.bool_]:
        """Return which documents are no part of their list."""
        rule = self._grades.unjudged in DROPPED
        return np.asarray((grades == len(self._grades.qrels.scale)) & rule)

    def _labelled(self, block: FieldBlock, side: str, grades: Grades) -> ListColumn:
        """Return lists by their labels, with the rule for unjudged documents."""
        L, labels = len(self._grades.qrels.scale), list(self._grades.qrels.scale.labels)
        index, _ = unjudged_meaning(self._grades.unjudged, self._grades.scale)
        documents, unjudged = (grades != NO_DOCUMENT).sum(axis=1), (grades == L).sum(axis=1)
        none = (documents > 0) & (documents == unjudged)
        if index == NO_DOCUMENT and none.any():
            problem = f'"{side}": no document of the list is judged'
            remedy = "leave the judgment out, or use `unjudged='worst'`"
            raise InputError(problem, remedy, block.place(int(np.argmax(none))))
        self._documents += int(documents.sum())
        self._unjudged += int(unjudged.sum())
        dropped = self._dropped(grades)
        order = np.argsort(dropped, axis=1, kind="stable")
        grades = np.take_along_axis(np.where(dropped, NO_DOCUMENT, grades), order, axis=1)
        used = np.flatnonzero((grades != NO_DOCUMENT).any(axis=0))
        grades = grades[:, : used.max(initial=-1) + 1]
        if index != NO_DOCUMENT:
            labels.append(self._grades.scale.labels[index])
        codes = np.where(grades < len(labels), grades, NO_DOCUMENT).astype(np.int32)
        occurring = [label if code in codes else None for code, label in enumerate(labels)]
        lengths = np.full(len(codes), codes.shape[1], np.int64)
        return ListColumn(codes.ravel(), lengths, occurring)
