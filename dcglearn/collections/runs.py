"""Qrels and runs: the grades of documents, the scores that systems give them, and their join.

Files hold TREC's text, tables in any usual format, or JSON of the form
``{query: {document: number}}``.

Documents get their grades here alone. A document of a query is one number: with D different
documents in the qrels, it is D times the number of the query, plus that of the document.
"""

import os
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, naming
from dcglearn.base.files import PathLike
from dcglearn.base.tables.columns import numbers_of_arrow, take_rows
from dcglearn.base.tables.sources import FrameLike
from dcglearn.base.types import Floats, Integers, ShortRepr
from dcglearn.collections.rows import QRELS, RUN, join_parts, part_of, read_parts
from dcglearn.measures.scale import Scale, ScaleLike, canonical_label, needed_scale


@dataclass(frozen=True, eq=False, repr=False)
class DocumentTable(ShortRepr):
    """One number per query and document: what qrels and runs have in common.

    Attributes
    ----------
    name : str
        The file's path for qrels, the system's name for a run.
    queries : tuple of str
        In the order in which they first occur.
    query : ndarray of int, shape (n,)
        The query of each document, an index into `queries`.
    documents : pyarrow.Array of text, n long
        Their ids.
    number : ndarray of float, shape (n,)
        The grade, or the score.
    names : tuple of str
        The grades that occur if they are names; `number` is then which of them.
    """

    name: str
    queries: tuple[str, ...]
    query: Integers
    documents: Any
    number: Floats
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.number)


class Qrels(DocumentTable):
    """The grades of documents: `number` is the grade as the file has it."""

    def scale(self) -> Scale:
        """Return the grades that occur, the highest first, and 0 for documents not listed."""
        if self.names:
            problem = f"its grades are names ({', '.join(sorted(self.names)[:6])})"
            raise InputError(problem, "order them, best first: `scale`")
        grades = np.unique(self.number)[::-1].tolist()
        return Scale(tuple(map(canonical_label, grades if grades[-1] <= 0 else [*grades, 0])))


class Run(DocumentTable):
    """The documents that a system retrieved: `number` is the score."""


def read_qrels(path: PathLike) -> Qrels:
    r"""Read qrels.

    Parameters
    ----------
    path : path-like
        TREC's text, a table (CSV, TSV, JSON lines, JSON, Parquet, Arrow, Excel), or JSON of the
        form ``{query: {document: grade}}``, also compressed; a folder or pattern of files that are
        read as one; or ``ir_datasets:ID``.

    Returns
    -------
    Qrels
        With the grades of the file: fractions and negative ones, or names.

    Raises
    ------
    InputError
        Naming the file and line of a wrong number of fields, a grade that is not a finite number,
        or a document that appears twice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels")
    ...     _ = path.write_text("301 0 d1 2\n301 0 d2 0\n302 0 d1 1\n")
    ...     qrels = read_qrels(path)
    >>> qrels.queries, qrels.number, str(qrels.scale())
    (('301', '302'), array([2., 0., 1.]), '2 > 1 > 0')
    """
    return Qrels(str(path), *join_parts(read_parts(path, QRELS), QRELS, str(path)))


def read_run(path: PathLike, queries: Container[str] | None = None) -> Run:
    r"""Read the documents that a system retrieved.

    Parameters
    ----------
    path : path-like
        As for :func:`read_qrels`.
    queries : container of str, optional
        The documents of other queries are left out; the `queries` of the run name these, too.

    Returns
    -------
    Run
        Named by the first tag of the text, or by the file if there is none.

    Raises
    ------
    InputError
        As :func:`read_qrels`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run")
    ...     _ = path.write_text("301 Q0 d1 1 2.5 bm25\n301 Q0 d2 2 1.5 bm25\n")
    ...     run = read_run(path)
    >>> run.name, run.queries, run.number
    ('bm25', ('301',), array([2.5, 1.5]))
    """
    parts = read_parts(path, RUN)
    name = next((part.tag for part in parts), "") or name_of_file(path)
    return Run(name, *join_parts(parts, RUN, str(path), queries))


def qrels_of(content: FrameLike, name: str = "qrels") -> Qrels:
    """Build qrels from a frame or nested dicts.

    Parameters
    ----------
    content : pandas.DataFrame, polars.DataFrame, DuckDB relation, pyarrow.Table or dict
        Columns as in a table that is read, or ``{query: {document: grade}}``.
    name : str
        What to call them in a message.

    Returns
    -------
    Qrels

    Raises
    ------
    InputError
        As :func:`read_qrels`, naming the row.

    Examples
    --------
    >>> len(qrels_of({"301": {"d1": 2, "d2": 0}}))
    2
    """
    return Qrels(name, *join_parts([part_of(content, QRELS, name)], QRELS, name))


def run_of(content: FrameLike, name: str = "run") -> Run:
    """Build a run from a frame or nested dicts.

    Parameters
    ----------
    content : pandas.DataFrame, polars.DataFrame, DuckDB relation, pyarrow.Table or dict
        Columns as in a table that is read, or ``{query: {document: score}}``.
    name : str
        The name of the system.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        As :func:`read_run`, naming the row.

    Examples
    --------
    >>> run_of({"301": {"d1": 2.5, "d2": 1.5}}, "bm25").name
    'bm25'
    """
    return Run(name, *join_parts([part_of(content, RUN, name)], RUN, name))


def name_of_file(path: PathLike) -> str:
    """Return what a run without a name of its own is called."""
    return Path(path).name.partition(".")[0] or str(path)


def distinct_names(names: Sequence[str], paths: Sequence[PathLike]) -> list[str]:
    """Replace equal names of runs by their paths below the folder that all of them are in."""
    whole = check_distinct_paths(paths)
    return [
        os.path.relpath(path, os.path.commonpath(whole)) if names.count(name) > 1 else name
        for name, path in zip(names, whole, strict=True)
    ]


def check_qrels_and_runs(qrels: PathLike, runs: Sequence[PathLike]) -> None:
    """Refuse a file that appears twice among the runs, or as qrels and as a run."""
    if os.path.realpath(qrels) in check_distinct_paths(runs):
        remedy = "give the qrels first, then runs"
        raise InputError("is given as qrels and as a run", remedy, str(qrels))


def check_distinct_paths(paths: Sequence[PathLike]) -> list[str]:
    """Return absolute paths; refuse a file that appears twice among the runs."""
    whole = [os.path.realpath(path) for path in paths]
    for path, one in zip(paths, whole, strict=True):
        if whole.count(one) > 1:
            raise InputError("appears twice among the runs", "name it once", str(path))
    return whole


Unjudged = Literal["nothing", "worst", "removed", "bounds"]
"""What a document without a judgment counts as: a rank that gains nothing; one of the worst grade;
not part of the ranking, so that the documents below it move up; or any grade, which gives the
lowest and the highest possible value."""


@dataclass(frozen=True, eq=False, repr=False)
class IndexedQrels(ShortRepr):
    """Qrels in which documents can be looked up.

    Attributes
    ----------
    scale : Scale
        The L grades, best first.
    queries : tuple of str
        The Q queries, in the order of the qrels.
    pools : ndarray of int, shape (Q, L)
        The number of judged documents of each grade, per query.
    documents : pyarrow.Array of text
        The D different documents.
    keys : ndarray of int, shape (n,)
        The numbers of the judged documents, ascending.
    grades : ndarray of int8, shape (n,)
        The grade index of each.
    """

    scale: Scale
    queries: tuple[str, ...]
    pools: Integers
    documents: Any
    keys: Integers
    grades: NDArray[np.int8]

    def number_queries(self, queries: Sequence[str]) -> Integers:
        """Return the number of each query, -1 for one that the qrels do not hold, shape (n,)."""
        numbers = {query: number for number, query in enumerate(self.queries)}
        return np.array([numbers.get(query, -1) for query in queries], np.int64)

    def find_grades_of_ids(self, query: Integers, documents: Any) -> NDArray[np.int8]:
        """Return the grade index of each document, L without a judgment, shape (n,).

        `query` (n,) holds numbers of queries, or -1; `documents` is Arrow text.
        """
        import pyarrow.compute as pc

        found = pc.index_in(documents, value_set=self.documents)
        rows = numbers_of_arrow(pc.indices_nonzero(found.is_valid()))
        keys = query[rows] * len(self.documents) + numbers_of_arrow(found.drop_null())
        at = np.searchsorted(self.keys[1:], keys, "right")
        grades = np.full(len(query), len(self.scale), np.int8)
        grades[rows] = np.where(self.keys[at] == keys, self.grades[at], len(self.scale))
        return grades


def index_qrels(qrels: Qrels, scale: ScaleLike | None = None) -> IndexedQrels:
    """Index qrels, so that documents of runs and judgments can be looked up.

    Parameters
    ----------
    qrels : Qrels
    scale : Scale, str or sequence of labels, optional
        The grades, best first; by default those of the qrels, the highest first, and 0.

    Returns
    -------
    IndexedQrels

    Raises
    ------
    InputError
        If a grade of the qrels is off the scale.

    Examples
    --------
    >>> indexed = index_qrels(qrels_of({"q": {"d1": 2, "d2": 0, "d3": 0}}))
    >>> str(indexed.scale), indexed.pools.tolist()
    ('2 > 0', [[1, 2]])
    """
    numbers, which = np.unique(qrels.number, return_inverse=True)
    labels = [qrels.names[int(n)] if qrels.names else canonical_label(n) for n in numbers.tolist()]
    with naming(qrels.name):
        scale = qrels.scale() if scale is None else needed_scale(scale)
        indices = np.array([scale.index(label) for label in labels], np.int8)
    grades, shape = indices[which], (len(qrels.queries), len(scale))
    cells = np.bincount(qrels.query * shape[1] + grades, minlength=shape[0] * shape[1])
    coded = qrels.documents.dictionary_encode()
    keys = qrels.query * len(coded.dictionary) + numbers_of_arrow(coded.indices)
    order = np.argsort(keys)
    return IndexedQrels(
        scale, qrels.queries, cells.reshape(shape), coded.dictionary, keys[order], grades[order]
    )


class GradedRun(NamedTuple):
    """The documents of a run by query of the qrels, best score first.

    `starts` (Q + 1,) holds the first row of each query; `rows` (n,) those of the run; `grades` (n,)
    grade indices, L without a judgment; `tied` (n,) numbers of groups of equal scores, None where
    all differ.
    """

    starts: Integers
    rows: Integers
    grades: NDArray[np.int8]
    tied: Integers | None


def grade_run(
    run: Run, indexed: IndexedQrels, by_id: bool = False, single: bool = False
) -> GradedRun:
    """Order the documents of a run and look up their grades.

    Equal scores, in single precision if `single`, keep the order of the run; or, `by_id`, the
    larger id is first, as in trec_eval.
    """
    query = indexed.number_queries(run.queries)[run.query]
    with np.errstate(over="ignore"):  # scores beyond single precision are tied there
        score = run.number.astype(np.float32) if single else run.number
    falls = score[1:] <= score[:-1]
    in_order = (2 * np.diff(query) + falls > 0).all()  # as runs mostly are
    rows = np.arange(len(query)) if in_order else np.lexsort((-score, query))
    rows = rows[np.count_nonzero(query < 0) :]
    ordered, score = query[rows], score[rows]
    new = np.ones(len(rows), bool)
    new[1:] = (ordered[1:] != ordered[:-1]) | (score[1:] != score[:-1])
    tied = None
    if not new.all():
        tied = np.cumsum(new, dtype=np.int32) - np.int32(1)  # kept for every run: half the memory
        if by_id:
            import pyarrow.compute as pc

            shared = np.flatnonzero(~new | ~np.append(new[1:], True))
            ids = take_rows(run.documents, rows[shared])
            place = np.argsort(numbers_of_arrow(pc.sort_indices(ids)))
            rows[shared] = rows[shared][np.lexsort((-place, tied[shared]))]
    starts = np.searchsorted(ordered, np.arange(len(indexed.queries) + 1))
    return GradedRun(starts, rows, indexed.find_grades_of_ids(query, run.documents)[rows], tied)
