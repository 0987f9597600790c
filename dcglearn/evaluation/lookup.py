"""Runs looked up in qrels: the grade of each ranked document, as measures need them.

Ids are looked up once for all measures: a run becomes :class:`dcglearn.evaluation.ranked.Ranked`.
The join itself is :mod:`dcglearn.collection.qrels_index`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Integers
from dcglearn.collection.graded_runs import grade_run
from dcglearn.collection.qrels_index import IndexedQrels
from dcglearn.collection.qrels_runs import Run
from dcglearn.evaluation.ranked import Ranked
from dcglearn.evaluation.rules import Ties


@dataclass(frozen=True)
class LookedUpRun:
    """A run with the grades of its documents.

    Attributes
    ----------
    name : str
        The system's name.
    ranked : Ranked
        The graded documents of each query of the qrels.
    missing : ndarray of bool, shape (Q,)
        Which queries of the qrels the run does not hold.
    extra : tuple of str
        Queries of the run that the qrels do not hold; they are left out.
    has_ties : bool
        Whether any documents of one query have equal scores.
    """

    name: str
    ranked: Ranked
    missing: NDArray[np.bool_]
    extra: tuple[str, ...]
    has_ties: bool


def look_up(
    run: Run, known: IndexedQrels, ties: Ties = "mean", single: bool = False
) -> LookedUpRun:
    """Find the grade of each document of a run, best score first.

    Parameters
    ----------
    run : Run
    known : IndexedQrels
        The qrels, from :func:`~dcglearn.collection.qrels_index.index_qrels`.
    ties : {"mean", "input", "docid"}, default "mean"
        How documents with equal scores are ordered, see :data:`dcglearn.evaluation.rules.TIES`.
    single : bool, default False
        Whether scores are compared in single precision, as trec_eval holds them.

    Returns
    -------
    LookedUpRun

    Examples
    --------
    >>> from dcglearn.collection.qrels_index import index_qrels
    >>> from dcglearn.collection.qrels_runs import qrels_of, run_of
    >>> known = index_qrels(qrels_of({"q": {"d1": 1, "d2": 0}}))
    >>> look_up(run_of({"q": {"d2": 0.5, "d1": 2.5, "d3": 1.5}}), known).ranked.grades.tolist()
    [0, 2, 1]
    """
    graded = grade_run(run, known, by_id=ties == "docid", single=single)
    tied = graded.tied if ties == "mean" else None
    ranked = Ranked(graded.starts, graded.grades, known.pools, tied)
    numbers = known.number_queries(run.queries)
    extra = tuple(
        name for name, number in zip(run.queries, numbers.tolist(), strict=True) if number < 0
    )
    return LookedUpRun(run.name, ranked, graded.lengths == 0, extra, graded.tied is not None)


def count_unjudged(runs: Sequence[Run], known: IndexedQrels) -> Integers:
    """Count the documents without a judgment that any of the runs holds, per query.

    Parameters
    ----------
    runs : sequence of Run
    known : IndexedQrels

    Returns
    -------
    ndarray of int, shape (Q,)
        A document that several runs hold counts once.

    Examples
    --------
    >>> from dcglearn.collection.qrels_index import index_qrels
    >>> from dcglearn.collection.qrels_runs import qrels_of, run_of
    >>> known = index_qrels(qrels_of({"q": {"d1": 1}}))
    >>> runs = [run_of({"q": {"d1": 2.0, "d2": 1.0}}), run_of({"q": {"d2": 2.0, "d3": 1.0}})]
    >>> count_unjudged(runs, known)
    array([2])
    """
    queries, keys = [], []
    for run in runs:
        query = known.number_queries(run.queries)[run.query]
        rows = np.flatnonzero(query >= 0)
        grades = known.find_grades(query[rows], (run.hashes[0][rows], run.hashes[1][rows]))
        rows = rows[grades == len(known.scale)]
        queries.append(query[rows])
        keys.append(run.hashes[0][rows])
    _, first = np.unique(np.concatenate(keys), return_index=True)
    return np.bincount(np.concatenate(queries)[first], minlength=len(known.queries))
