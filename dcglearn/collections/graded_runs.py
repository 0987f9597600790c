"""Runs joined with qrels: the documents of each query in ranked order, with their grades.

The order is by falling score. Documents with equal scores keep the order of the run, or are
ordered by id: the larger first, as in trec_eval, or the smaller first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.arrow_arrays import sorted_rows, take_rows
from dcglearn.base.types import Integers
from dcglearn.collections.qrels_index import IndexedQrels
from dcglearn.collections.qrels_runs import Run


@dataclass(frozen=True)
class GradedRun:
    """The documents of a run, query by query and best score first, with their grades.

    Attributes
    ----------
    starts : ndarray of int, shape (Q + 1,)
        The row of the other arrays at which each query of the qrels begins. Queries of the run
        that the qrels do not hold are left out.
    grades : ndarray of int8, shape (n,)
        Grade indices, L for a document without a judgment.
    tied : ndarray of int, shape (n,), or None
        The number of each document's group of equal scores; None where all scores of a query
        differ.
    """

    starts: Integers
    grades: NDArray[np.int8]
    tied: Integers | None

    @property
    def lengths(self) -> Integers:
        """The number of documents that the run holds for each query, shape (Q,)."""
        return np.diff(self.starts)


def grade_run(
    run: Run,
    indexed: IndexedQrels,
    by_id: bool = False,
    single: bool = False,
    smaller_first: bool = False,
) -> GradedRun:
    """Order the documents of a run and look up their grades.

    Parameters
    ----------
    run : Run
    indexed : IndexedQrels
    by_id : bool, default False
        Whether documents with equal scores are ordered by id, the larger first, instead of in the
        order of the run.
    single : bool, default False
        Whether scores are compared in single precision, as in trec_eval.
    smaller_first : bool, default False
        With `by_id`, whether the smaller id is first.

    Returns
    -------
    GradedRun

    Examples
    --------
    >>> from dcglearn.collections.qrels_index import index_qrels
    >>> from dcglearn.collections.qrels_runs import qrels_of, run_of
    >>> indexed = index_qrels(qrels_of({"q": {"d1": 1, "d2": 0}}))
    >>> grade_run(run_of({"q": {"d2": 0.5, "d1": 2.5, "d3": 1.5}}), indexed).grades
    array([0, 2, 1], dtype=int8)
    """
    query = indexed.number_queries(run.queries)[run.query]
    with np.errstate(over="ignore"):  # scores beyond single precision are tied there
        score = run.number.astype(np.float32) if single else run.number
    grades = indexed.find_grades(query, run.hashes)

    def alphabetical(rows: Integers) -> NDArray[np.int64]:
        return sorted_rows(take_rows(run.documents, rows))

    ranked = rank_documents(query, score, alphabetical if by_id else None, smaller_first)
    lengths = np.bincount(query[ranked.rows], minlength=len(indexed.queries))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return GradedRun(starts, grades[ranked.rows], ranked.tied)


@dataclass(frozen=True)
class RankedRows:
    """Documents in ranked order, query by query.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Those of the documents before.
    tied : ndarray of int, shape (n,), or None
        As in :class:`GradedRun`.
    """

    rows: Integers
    tied: Integers | None


def rank_documents(
    query: Integers,
    score: NDArray[np.floating],
    alphabetical: Callable[[Integers], NDArray[np.int64]] | None = None,
    smaller_first: bool = False,
) -> RankedRows:
    """Order documents by query and falling score.

    Parameters
    ----------
    query : ndarray of int, shape (n,)
        The number of the query of each document; those of queries numbered -1 are left out.
    score : ndarray of float, shape (n,)
    alphabetical : callable, optional
        Takes rows and returns the order that sorts their documents by id. If given, documents
        with equal scores are ordered by id, the larger first; otherwise they keep their order.
    smaller_first : bool, default False
        Whether the smaller id is first.

    Returns
    -------
    RankedRows

    Examples
    --------
    >>> rank_documents(np.array([1, 0, 0]), np.array([0.5, 0.5, 1.5])).rows
    array([2, 1, 0])
    """
    order = _order(query, score)
    query, score = query[order], score[order]
    tied = _groups(query, score)
    rows = np.arange(len(query)) if isinstance(order, slice) else order
    if tied is not None and alphabetical is not None:
        as_before = np.diff(tied, prepend=-1, append=-1) == 0
        shared = np.flatnonzero(as_before[1:] | as_before[:-1])
        place = np.empty(len(shared), np.int64)
        place[alphabetical(rows[shared])] = np.arange(len(shared)) * (1 if smaller_first else -1)
        rows[shared] = rows[shared[np.lexsort((place, tied[shared]))]]
    return RankedRows(rows, tied)


def _order(query: Integers, score: NDArray[np.floating]) -> NDArray[np.intp] | slice:
    """Return the order by query and falling score, leaving out queries numbered -1.

    Most runs have that order already; a slice then avoids copies. Others have their queries in
    another order; scores that do not fall are rare.
    """
    if not len(query) or (query[0] >= 0 and _falls(query, score)):
        return slice(None)
    few = query.max() < np.iinfo(np.int16).max  # numbers of 16 bits are sorted by their digits
    number = query.astype(np.int16) if few else query
    order = np.argsort(number, kind="stable")[np.count_nonzero(query < 0) :]
    query, score = query[order], score[order]
    if _falls(query, score):
        return order
    starts = np.flatnonzero(np.diff(query, prepend=-1)).tolist()
    for begin, end in pairwise([*starts, len(query)]):  # short arrays are sorted fast
        order[begin:end] = order[begin:end][np.argsort(-score[begin:end], kind="stable")]
    return order


def _falls(query: Integers, score: NDArray[np.floating]) -> bool:
    """Return whether the queries are in order, and the scores of each fall."""
    same = query[1:] == query[:-1]
    return bool(((query[1:] > query[:-1]) | (same & (score[1:] <= score[:-1]))).all())


def _groups(query: Integers, score: NDArray[np.floating]) -> Integers | None:
    """Return the number of each document's group of equal scores; None where all differ."""
    new = np.ones(len(query), bool)
    new[1:] = (query[1:] != query[:-1]) | (score[1:] != score[:-1])
    return None if new.all() else np.cumsum(new) - 1
