"""Qrels and runs: the grades of documents, and the scores that systems give them.

TREC's text has one document per line, its fields separated by blanks, or by tabs if only these give
the right number of fields: ``query 0 document grade`` in
qrels, ``query Q0 document rank score tag`` in runs (the rank is not used: the order follows from
the scores). JSON holds ``{query: {document: number}}``; Parquet and pandas have the columns
``query``, ``document`` and ``grade`` or ``score``, or the names of ir_measures and PyTerrier, and
so has text whose first line names its columns (``.csv``, or separated by tabs); its grades may be
names. Compressed files are decompressed; lines of TREC's text that begin with ``#`` are comments.

Ids are turned into numbers and hashes once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dcglearn.base.arrow_arrays import numbers_of_arrow, take_rows
from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Floats, Integers
from dcglearn.collections.id_hashes import DocumentHashes
from dcglearn.collections.ir_datasets_qrels import dataset_qrels, names_dataset
from dcglearn.collections.qrels_formats import document_columns_of, read_document_columns
from dcglearn.collections.qrels_tables import QRELS, RUN, DocumentColumns, FileKind
from dcglearn.measures.scale import Label, Scale

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class DocumentTable(ShortRepr):
    """One number per query and document: the part that qrels and runs have in common.

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
    hashes : DocumentHashes
        Two hashes of query and document, see :mod:`dcglearn.collections.id_hashes`.
    """

    name: str
    queries: tuple[str, ...]
    query: Integers
    documents: Any
    number: Floats
    hashes: DocumentHashes

    def __len__(self) -> int:
        return len(self.number)

    @property
    def longest(self) -> int:
        """The largest number of documents of one query."""
        return int(np.bincount(self.query).max(initial=0))


@dataclass(frozen=True, repr=False)
class Qrels(DocumentTable):
    """The grades of documents: `number` is the grade as the file has it.

    Attributes
    ----------
    names : tuple of str
        If the grades are names, those that occur; `number` is then which of them.
    """

    names: tuple[str, ...] = ()

    def scale(self) -> Scale:
        """Return the grades that occur, the highest first; names need a scale of their own."""
        if self.names:
            shown = ", ".join(sorted(self.names)[:6])
            raise InputError(f"its grades are names ({shown})", "order them, best first: `scale`")
        return Scale(tuple(_label(value) for value in np.unique(self.number)[::-1].tolist()))


class Run(DocumentTable):
    """The documents that a system retrieved: `number` is the score."""


def read_qrels(path: str | Path, ignored: IgnoredInput | None = None) -> Qrels:
    r"""Read qrels.

    Parameters
    ----------
    path : path-like
        ``.json`` (``{query: {document: grade}}``, or records), ``.jsonl``, ``.parquet``,
        ``.arrow``, ``.csv`` (whose first line names the columns), or TREC's text, or columns with
        names and tabs between them, under any other name; each also compressed: ``.gz``, ``.zst``,
        ``.bz2``, ``.xz``. ``ir_datasets:ID`` names a dataset of ir_datasets.
    ignored : IgnoredInput, optional
        If given, a document may appear several times for a query: the first one is used, the
        others are counted there. By default, and always in JSON, they are refused.

    Returns
    -------
    Qrels
        With the grades of the file, fractions and negative ones included.

    Raises
    ------
    InputError
        Naming the file and line: a wrong number of fields, a grade that is not a finite number,
        a document that appears twice, text that is not UTF-8, a run instead of qrels.

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
    if names_dataset(path):
        return qrels_of(dataset_qrels(str(path)), str(path))
    table, _ = read_document_columns(Path(path), QRELS)
    return Qrels(*_coded(str(path), str(path), QRELS, table, ignored), table.names)


def read_run(
    path: str | Path,
    ignored: IgnoredInput | None = None,
    queries: Container[str] | None = None,
    warn: Callable[[str], None] = warn_of_input,
) -> Run:
    r"""Read the documents that a system retrieved.

    Parameters
    ----------
    path : path-like
        As for :func:`read_qrels`.
    ignored : IgnoredInput, optional
        As for :func:`read_qrels`.
    queries : container of str, optional
        The documents of other queries are left out, once they are read; by default none are. The
        `queries` of the run name these, too.
    warn : callable, optional
        Called with a message if the lines have several tags. By default it is a warning.

    Returns
    -------
    Run
        Named by the tag of the text, or by the file if there is none.

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
    table, tags = read_document_columns(Path(path), RUN)
    if len(tags) > 1:
        first, second = tags[:2]
        text = f"{len(tags)} tags ({first}, {second}{', ...' * (len(tags) > 2)})"
        remedy = "give each system its own file if they are several"
        warn(str(InputError(f"{text}, read as one system, {first}", remedy, str(path))))
    name = next(iter(tags), "") or Path(path).name.partition(".")[0] or str(path)
    return Run(*_coded(name, str(path), RUN, table, ignored, queries))


def qrels_of(content: pd.DataFrame | dict[str, dict[str, float]], name: str = "qrels") -> Qrels:
    """Build qrels from a frame or nested dicts.

    Parameters
    ----------
    content : pandas.DataFrame, polars.DataFrame, DuckDB relation, pyarrow.Table or dict
        Columns as in a Parquet file, or ``{query: {document: grade}}``.
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
    table = document_columns_of(content, name, QRELS)
    return Qrels(*_coded(name, name, QRELS, table, None), table.names)


def run_of(content: pd.DataFrame | dict[str, dict[str, float]], name: str = "run") -> Run:
    """Build a run from a frame or nested dicts.

    Parameters
    ----------
    content : pandas.DataFrame, polars.DataFrame, DuckDB relation, pyarrow.Table or dict
        Columns as in a Parquet file, or ``{query: {document: score}}``.
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
    return Run(*_coded(name, name, RUN, document_columns_of(content, name, RUN), None))


def distinct_names(names: Sequence[str], paths: Sequence[str | Path]) -> list[str]:
    """Replace equal names of runs by as much of their paths as distinguishes them.

    Parameters
    ----------
    names : sequence of str
        The tags of the runs.
    paths : sequence of path-like
        The file of each run.

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If a file appears twice.

    Examples
    --------
    >>> distinct_names(["bm25", "dense", "bm25"], ["a/run", "run", "b/run"])
    ['a/run', 'dense', 'b/run']
    """
    whole = check_distinct_paths(paths)
    found = list(names)
    parts = 0
    while len(set(found)) < len(found) and parts < max(len(path.parts) for path in whole):
        parts += 1
        found = [
            name if found.count(name) == 1 else "/".join(path.parts[-parts:])
            for name, path in zip(found, whole, strict=True)
        ]
    return found


def check_distinct_paths(paths: Sequence[str | Path]) -> list[Path]:
    """Check that no file appears twice among runs, before they are read.

    Parameters
    ----------
    paths : sequence of path-like

    Returns
    -------
    list of pathlib.Path
        The absolute paths.

    Raises
    ------
    InputError
        If a file appears twice.
    """
    whole = [Path(path).resolve() for path in paths]
    for path, one in zip(paths, whole, strict=True):
        if whole.count(one) > 1:
            raise InputError("appears twice among the runs", "name it once", str(path))
    return whole


def _coded(
    name: str,
    path: str,
    kind: FileKind,
    rows: DocumentColumns,
    ignored: IgnoredInput | None,
    wanted: Container[str] | None = None,
) -> tuple[str, tuple[str, ...], Integers, Any, Floats, DocumentHashes]:
    if not len(rows.number):
        raise InputError("is empty", f"give {kind.article} of at least one document", path)
    queries, query = _numbered(rows.query)
    documents, number = _whole(rows.document), rows.number
    if kind is QRELS and np.abs(number).max() >= MAX_EXACT:
        row = int(np.argmax(np.abs(number)))
        problem = f"the grade {number[row]:.17g} is too large to tell from its neighbours"
        raise InputError(problem, "use grades below 2^53", rows.place(row))
    names = tuple(queries.to_pylist())
    at = None
    if wanted is not None and not all(one in wanted for one in names):
        at = np.flatnonzero(np.array([one in wanted for one in names])[query])
        query, number = query[at], number[at]
        documents = take_rows(documents, at)
    hashes = DocumentHashes(queries, query, documents)
    ordered = np.sort(hashes.first)
    if (ordered[1:] == ordered[:-1]).any():
        pairs = np.stack([hashes.of(0), hashes.of(1)], axis=1)
        _, kept = np.unique(pairs, axis=0, return_index=True)
        again = np.ones(len(pairs), bool)
        again[kept] = False
        if again.any() and ignored is None:
            row = int(np.argmax(again))
            raise InputError(
                f"the document {documents[row]} appears twice for query {names[query[row]]}",
                "keep one",
                rows.place(row if at is None else int(at[row])),
            )
        if ignored is not None:
            ignored.counts[f"documents that appear twice in {path}"] += int(again.sum())
        kept.sort()
        documents = take_rows(documents, kept)
        query, number, hashes = query[kept], number[kept], hashes.take(kept)
    return name, names, query, documents, number, hashes


def _numbered(column: Any) -> tuple[Any, Integers]:
    """Return the distinct ids of a column, and the number of the id in each row."""
    import pyarrow as pa

    found = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if isinstance(found, pa.ChunkedArray):
        found = found.unify_dictionaries()
    found = _whole(found)
    return found.dictionary, numbers_of_arrow(found.indices).astype(np.int64)


def _whole(column: Any) -> Any:
    """Return a column as one array."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    found = column.combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found


def _label(value: float) -> Label:
    return int(value) if value.is_integer() else value


def scale_of_qrels(qrels: Qrels) -> Scale:
    """Return the scale of qrels: the grades that occur, and 0 if all are above it.

    Qrels that list only relevant documents mean 0 for the others.

    Parameters
    ----------
    qrels : Qrels

    Returns
    -------
    Scale

    Examples
    --------
    >>> from dcglearn.collections.qrels_runs import qrels_of
    >>> str(scale_of_qrels(qrels_of({"q": {"d1": 1, "d2": 3}})))
    '3 > 1 > 0'
    """
    try:
        found = qrels.scale()
    except InputError as error:
        raise error.at(qrels.name) from error
    return found if qrels.number.min() <= 0 else Scale((*found.labels, 0))
