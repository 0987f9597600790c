"""Runs looked up in qrels: the grade of each ranked document, as measures need them.

Ids are looked up once for all measures: a run becomes :class:`dcglearn.evaluation.ranked.Ranked`.
The join itself is :mod:`dcglearn.collections.join`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.tables.columns import take_rows
from dcglearn.base.types import Integers
from dcglearn.collections.join import IndexedQrels, grade_run
from dcglearn.collections.runs import Run
from dcglearn.evaluation.ranked import Ranked
from dcglearn.evaluation.rules import Ties


@dataclass(frozen=True)
class LookedUpRun:
    """A run of which only the grades of its documents are left, in ranked order.

    Attributes
    ----------
    name : str
        The system's name.
    starts : ndarray of int, shape (Q + 1,)
        Where the documents of each query of the qrels start in the other arrays.
    grades : ndarray of int8, shape (n,)
        Grade index of each document, L for a document without a judgment.
    pools : ndarray of int, shape (Q, L)
        Number of judged documents of each grade, as in the qrels.
    extra : tuple of str
        Queries of the run that the qrels do not hold; they are left out.
    has_ties : bool
        Whether any documents of one query have equal scores.
    leads : ndarray of bool, shape (n,), or None
        Whether a document is the first with its score; None if all scores of each query differ,
        or if the order within equal scores counts.
    pooled : ndarray of int, shape (Q,), optional
        See :class:`~dcglearn.evaluation.ranked.Ranked`.
    by_id : mapping from bool to ndarray of int8, shape (n,)
        `grades` in other orders of documents with equal scores, for measures of ir_measures:
        under True the smallest id is first; under False the largest, with scores in single
        precision.
    """

    name: str
    starts: Integers
    grades: NDArray[np.int8]
    pools: Integers
    extra: tuple[str, ...]
    has_ties: bool
    leads: NDArray[np.bool_] | None = None
    pooled: Integers | None = None
    by_id: Mapping[bool, NDArray[np.int8]] = field(default_factory=dict)

    @property
    def ranked(self) -> Ranked:
        """The graded documents of each query; built anew, because it is larger than the run."""
        tied = None if self.leads is None else np.cumsum(self.leads) - 1
        return Ranked(self.starts, self.grades, self.pools, tied, self.pooled)

    def ranked_by_id(self, smallest_first: bool) -> Ranked:
        """Return the graded documents in one of the orders of `by_id`."""
        return Ranked(self.starts, self.by_id[smallest_first], self.pools)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which queries of the qrels the run does not hold, shape (Q,)."""
        absent: NDArray[np.bool_] = np.diff(self.starts) == 0
        return absent

    @property
    def longest(self) -> int:
        """The largest number of documents of one query."""
        return int(np.diff(self.starts).max())


def look_up(
    run: Run,
    known: IndexedQrels,
    ties: Ties = "mean",
    single: bool = False,
    id_orders: frozenset[bool] = frozenset(),
) -> LookedUpRun:
    """Find the grade of each document of a run, best score first.

    Parameters
    ----------
    run : Run
    known : IndexedQrels
        The qrels, from :func:`~dcglearn.collections.join.index_qrels`.
    ties : {"mean", "input", "docid"}, default "mean"
        How documents with equal scores are ordered, see :data:`dcglearn.evaluation.rules.TIES`.
    single : bool, default False
        Whether scores are compared in single precision, as trec_eval holds them.
    id_orders : frozenset of bool, optional
        The other orders that are needed, see :class:`LookedUpRun`.

    Returns
    -------
    LookedUpRun

    Examples
    --------
    >>> from dcglearn.collections.join import index_qrels
    >>> from dcglearn.collections.runs import qrels_of, run_of
    >>> known = index_qrels(qrels_of({"q": {"d1": 1, "d2": 0}}))
    >>> look_up(run_of({"q": {"d2": 0.5, "d1": 2.5, "d3": 1.5}}), known).ranked.grades.tolist()
    [0, 2, 1]
    """
    graded = grade_run(run, known, by_id=ties == "docid", single=single)
    leads = None
    if graded.tied is not None and ties == "mean":
        leads = np.diff(graded.tied, prepend=-1) > 0
    numbers = known.number_queries(run.queries)
    extra = tuple(
        name for name, number in zip(run.queries, numbers.tolist(), strict=True) if number < 0
    )
    by_id = {
        smallest: grade_run(run, known, True, single=not smallest, smaller_first=smallest).grades
        for smallest in id_orders
    }
    has_ties = graded.tied is not None
    return LookedUpRun(
        run.name, graded.starts, graded.grades, known.pools, extra, has_ties, leads, by_id=by_id
    )


def unjudged_documents(run: Run, known: IndexedQrels) -> tuple[Integers, Any]:
    """Return the query (n,) and the id (Arrow text) of each document without a judgment."""
    query = known.number_queries(run.queries)[run.query]
    unjudged = known.find_grades_of_ids(query, run.documents) == len(known.scale)
    rows = np.flatnonzero(unjudged & (query >= 0))
    return query[rows], take_rows(run.documents, rows)
