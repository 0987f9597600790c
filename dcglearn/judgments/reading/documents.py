"""Judgments that name documents or runs, turned into judgments of graded lists by qrels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcglearn.base.errors import InputError, did_you_mean
from dcglearn.base.files import PathLike
from dcglearn.base.numbers import counted
from dcglearn.base.tables.columns import Column, parse_id, table_of, take_rows, text_array
from dcglearn.base.types import Integers, Rankings
from dcglearn.collections.runs import (
    GradedRun,
    IndexedQrels,
    Qrels,
    Run,
    distinct_names,
    grade_run,
    index_qrels,
    read_qrels,
    read_run,
)
from dcglearn.judgments.options import ReadOptions, apply_unjudged, padded, warn_of_unjudged
from dcglearn.judgments.preferences import count_true
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
        qrels: PathLike,
        runs: Sequence[PathLike] = (),
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
        """Join runs with qrels, whose grades, the highest first, are the scale by default."""
        indexed = index_qrels(qrels, scale)
        return cls(indexed, {run.name: _table(grade_run(run, indexed)) for run in runs})


def _table(graded: GradedRun) -> Rankings:
    return table_of(Column(graded.grades, []), np.diff(graded.starts)).codes.astype(np.int8)


def look_up(
    records: Records, grades: DocumentGrades, options: ReadOptions
) -> tuple[dict[str, Column], int, int]:
    """Return the lists of both sides by their grades, and the numbers of documents and unjudged.

    A note counts the unjudged.
    """
    if grades.runs and options.n_ranks is None:
        raise InputError("runs without K", "give `n_ranks`, the number of documents shown")
    queries = records.ids("query")
    query = np.append(grades.qrels.number_queries(queries.values), -1)[queries.codes]
    if (query < 0).any():
        row = int(np.argmax(query < 0))
        name = queries.decoded()[row]
        problem = f"the query {name} has no qrels" if name else '"query" is missing'
        raise InputError(problem, "documents are looked up by query", records.place(row))
    scale, rule = grades.qrels.scale, options.unjudged
    lists, documents, unjudged = dict[str, Column](), 0, 0
    for side in "ab":
        found = _shown_grades(records, side, query, grades, options)
        without = found == len(scale)
        documents += count_true(found != NO_DOCUMENT)
        unjudged += count_true(without)
        graded = apply_unjudged(found, without, scale, rule)
        K = np.flatnonzero((graded != NO_DOCUMENT).any(axis=0)).max(initial=-1) + 1
        lists[side] = Column(graded[:, :K], list(scale.labels))
    if 0 < documents == unjudged:
        raise InputError(
            f"none of {counted(documents, 'document')} is in the qrels",
            "give the qrels that go with them; where lists hold grades, leave out `qrels`",
        )
    if unjudged:
        warn_of_unjudged(f"{unjudged} of {documents}", rule, scale, "documents without a judgment")
    return lists, documents, unjudged


def _of_documents(records: Records, side: str, query: Integers, qrels: IndexedQrels) -> Rankings:
    """Return the grades of lists, shape (n, K), L without a judgment and -1 for no document."""
    ids = records.column(side).parsed(
        lambda value: parse_id(value, "document"), lambda row, rank: records.place(row)
    )
    codes = ids.codes.reshape(records.rows, -1)
    ordered = np.sort(codes, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        row, at = np.argwhere(twice)[0].tolist()
        problem = f'"{side}": the document {ids.values[ordered[row, at]]} appears twice'
        raise InputError(problem, "keep one", records.place(row))
    rows, ranks = np.nonzero(codes >= 0)
    documents = take_rows(text_array(ids.values), codes[rows, ranks])
    found = np.full(codes.shape, NO_DOCUMENT, np.int8)
    found[rows, ranks] = qrels.find_grades_of_ids(query[rows], documents)
    return found


def _shown_grades(
    records: Records,
    side: str,
    query: Integers,
    grades: DocumentGrades,
    options: ReadOptions,
) -> Rankings:
    """Return the grades of lists, and of the first K documents of runs where they are named."""
    found = _of_documents(records, side, query, grades.qrels)
    names, K = records.ids(f"run_{side}"), options.n_ranks or 0
    for code, name in enumerate(names.values):
        rows = np.flatnonzero(names.codes == code)
        if name not in grades.runs:
            place = records.place(int(rows[0]))
            remedy = f"{did_you_mean(name, grades.runs)}give its file: `run`"
            raise InputError(f'"run_{side}" is {name!r:.60}, not a known run', remedy, place)
        held = grades.runs[name]
        left_out = (held == len(grades.qrels.scale)) & (options.unjudged == "drop")
        counts = (held != NO_DOCUMENT) & ~left_out
        below = np.cumsum(counts, axis=1) - counts >= K
        shown = np.where(below, NO_DOCUMENT, held)[query[rows]]
        empty = (shown == NO_DOCUMENT).all(axis=1)
        if empty.any():
            place = records.place(int(rows[np.argmax(empty)]))
            raise InputError(
                f"the run {name} holds nothing for the query", "leave the judgment out", place
            )
        found = padded(found, shown.shape[1])
        found[rows] = padded(shown, found.shape[1])
    return found
