"""Qrels and runs: the grades of documents, and the scores that systems give them.

Files hold TREC's text, tables in any usual format, or JSON of the form
``{query: {document: number}}``.
"""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.files import PathLike
from dcglearn.base.representation import ShortRepr
from dcglearn.base.tables.sources import FrameLike
from dcglearn.base.types import Floats, Integers
from dcglearn.collections.rows import QRELS, RUN, join_parts, part_of, read_parts
from dcglearn.measures.scale import Scale, canonical_label


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
    name = parts[0].tag if parts and parts[0].tag else name_of_file(path)
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
