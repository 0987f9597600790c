"""Judgments that name documents or runs, turned into judgments of graded lists by qrels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.numbers import counted
from dcglearn.base.tables.columns import Column, parse_id, take_rows, text_array
from dcglearn.base.types import Integers, Rankings
from dcglearn.collections.join import GradedRun, IndexedQrels, grade_run, index_qrels
from dcglearn.collections.runs import Qrels, Run, distinct_names, read_qrels, read_run
from dcglearn.judgments.meaning.unjudged import (
    DROPPED,
    UnjudgedRule,
    apply_unjudged,
    unjudged_meaning,
    warn_of_unjudged,
)
from dcglearn.judgments.reading.fields import Records
from dcglearn.measures.scale import NO_DOCUMENT, Scale


@dataclass(frozen=True)
class DocumentGrades:
    r"""The grades of documents and runs, by query.

    Parameters
    ----------
    qrels : IndexedQrels
        The grade of each judged document, and the scale.
    runs : dict
        The grades of each run's documents, by its name: shape (queries, documents), best first;
        L without a judgment, -1 below the last.

    Examples
    --------
    >>> from dcglearn import qrels_of, run_of
    >>> qrels = qrels_of({"q1": {"d1": 2, "d2": 0}})
    >>> grades = DocumentGrades.of(qrels, [run_of({"q1": {"d2": 2.5, "d1": 1.0}}, "mine")])
    >>> str(grades.qrels.scale), list(grades.runs)
    ('2 > 0', ['mine'])
    """

    qrels: IndexedQrels
    runs: dict[str, Rankings]

    @classmethod
    def read(
        cls,
        qrels: str | Path,
        runs: Sequence[str | Path] = (),
        scale: Scale | None = None,
    ) -> DocumentGrades:
        """Read qrels and runs; the arguments are those of :meth:`of`, and paths."""
        read = [read_run(path) for path in runs]
        names = distinct_names([run.name for run in read], runs)
        named = [replace(run, name=name) for run, name in zip(read, names, strict=True)]
        return cls.of(read_qrels(qrels), named, scale)

    @classmethod
    def of(
        cls, qrels: Qrels, runs: Sequence[Run] = (), scale: Scale | None = None
    ) -> DocumentGrades:
        """Join runs with qrels.

        Parameters
        ----------
        qrels : Qrels
        runs : sequence of Run
        scale : Scale, optional
            The grades, best first; by default those of the qrels.

        Returns
        -------
        DocumentGrades

        Raises
        ------
        InputError
            If a grade is off the scale.
        """
        indexed = index_qrels(qrels, scale)
        return cls(indexed, {run.name: _table(grade_run(run, indexed)) for run in runs})


def _table(graded: GradedRun) -> Rankings:
    lengths = graded.lengths
    table = np.full((len(lengths), int(lengths.max(initial=0))), NO_DOCUMENT, np.int8)
    table[np.arange(table.shape[1]) < lengths[:, None]] = graded.grades
    return table


class DocumentLookup:
    """Looks up the documents and runs of judgments; counts those without a grade.

    `n_ranks` documents of a run were shown; `rule` says what an unjudged document counts as.
    """

    def __init__(self, grades: DocumentGrades, n_ranks: int | None, rule: UnjudgedRule) -> None:
        if grades.runs and n_ranks is None:
            raise InputError("runs without K", "give `n_ranks`, the number of documents shown")
        self._qrels, self._runs, self._n_ranks = grades.qrels, grades.runs, n_ranks or 0
        self._rule, self._documents, self._unjudged = rule, 0, 0

    def lists(self, records: Records) -> dict[str, Column]:
        """Return the lists of both sides by their grades."""
        queries = records.ids("query")
        numbers = self._qrels.number_queries(queries.values)
        query = np.append(numbers, -1)[queries.codes]
        if (query < 0).any():
            row = int(np.argmax(query < 0))
            name = queries.decoded()[row]
            problem = '"query" is missing' if name is None else f"the query {name} has no qrels"
            raise InputError(problem, "documents are looked up by query", records.place(row))
        return {side: self._side(records, side, query) for side in "ab"}

    def warn_of_unjudged(self) -> None:
        """Say what unjudged documents count as; refuse judgments without any judged."""
        if 0 < self._documents == self._unjudged:
            raise InputError(
                f"none of {counted(self._documents, 'document')} is in the qrels",
                "give the qrels that go with them; where lists hold grades, leave out `qrels`",
            )
        if self._unjudged:
            of = f"{self._unjudged} of {self._documents}"
            warn_of_unjudged("documents without a judgment", of, self._rule, self._qrels.scale)

    def counts(self) -> dict[str, int | str | None]:
        """Return what is said about them, as numbers."""
        _, words = unjudged_meaning(self._rule, self._qrels.scale)
        counted_as = words if self._unjudged else None
        return {"documents": self._documents, "unjudged": self._unjudged, "counted_as": counted_as}

    def _side(self, records: Records, side: str, query: Integers) -> Column:
        grades, runs = self._of_documents(records, side, query), records.ids(f"run_{side}")
        for code, name in enumerate(runs.values):
            rows = np.flatnonzero(runs.codes == code)
            shown = self._shown(name, side, records.place(int(rows[0])))[query[rows]]
            empty = (shown == NO_DOCUMENT).all(axis=1)
            if empty.any():
                place = records.place(int(rows[np.argmax(empty)]))
                problem = f"the run {name} holds nothing for the query"
                raise InputError(problem, "leave the judgment out", place)
            more = max(shown.shape[1] - grades.shape[1], 0)
            grades = np.pad(grades, ((0, 0), (0, more)), constant_values=NO_DOCUMENT)
            grades[rows] = NO_DOCUMENT
            grades[rows, : shown.shape[1]] = shown
        scale = self._qrels.scale
        unjudged = grades == len(scale)
        self._documents += int(np.count_nonzero(grades != NO_DOCUMENT))
        self._unjudged += int(np.count_nonzero(unjudged))
        graded = apply_unjudged(grades, unjudged, scale, self._rule)
        K = np.flatnonzero((graded != NO_DOCUMENT).any(axis=0)).max(initial=-1) + 1
        return Column(graded[:, :K], list(scale.labels))

    def _of_documents(self, records: Records, side: str, query: Integers) -> Rankings:
        """Return the grades of lists, shape (n, K), L without a judgment and -1 for no document."""
        if side not in records.columns:
            return np.full((records.rows, 0), NO_DOCUMENT, np.int8)
        found = records.columns[side]
        K = found.codes.shape[1]
        ids = found.parsed(
            lambda value: parse_id(value, "document"), lambda at: records.place(at // K)
        )
        ordered = np.sort(ids.codes, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        if twice.any():
            row, at = np.argwhere(twice)[0].tolist()
            problem = f'"{side}": the document {ids.values[ordered[row, at]]} appears twice'
            raise InputError(problem, "keep one", records.place(row))
        rows, ranks = np.nonzero(ids.codes >= 0)
        documents = take_rows(text_array(ids.values), ids.codes[rows, ranks].astype(np.int64))
        grades = np.full(ids.codes.shape, NO_DOCUMENT, np.int8)
        grades[rows, ranks] = self._qrels.find_grades_of_ids(query[rows], documents)
        return grades

    def _shown(self, run: str, side: str, place: str) -> Rankings:
        """Return the grades of the first K documents of a run that are part of its lists."""
        if not self._runs:
            problem = f'"run_{side}": the run {run}, and no runs'
            raise InputError(problem, "give its file: `run`", place)
        if run not in self._runs:
            raise unknown_name("run", run, self._runs, place)
        held = self._runs[run]
        left_out = (held == len(self._qrels.scale)) & (self._rule in DROPPED)
        counts = (held != NO_DOCUMENT) & ~left_out
        below = np.cumsum(counts, axis=1) - counts >= self._n_ranks
        return np.where(below, NO_DOCUMENT, held)
