"""Runs looked up in qrels: the grade of each ranked document, as measures need them.

Ids are looked up once for all measures: a run becomes :class:`dcglearn.evaluation.ranked.Ranked`.
The join itself is :mod:`dcglearn.collections.join`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    documents : Ranked
        With the groups of equal scores, whatever the rule for them.
    extra : tuple of str
        Queries of the run that the qrels do not hold; they are left out.
    ties : {"mean", "input", "docid"}
        The order that documents with equal scores have.
    """

    name: str
    documents: Ranked
    extra: tuple[str, ...]
    ties: Ties

    @property
    def ranked(self) -> Ranked:
        """The documents by the rule for equal scores; anew, because what it derives is large."""
        return replace(self.documents, tied=self.documents.tied if self.ties == "mean" else None)

    @property
    def has_ties(self) -> bool:
        """Whether any documents of one query have equal scores."""
        return self.documents.tied is not None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which queries of the qrels the run does not hold, shape (Q,)."""
        absent: NDArray[np.bool_] = self.documents.lengths == 0
        return absent

    @property
    def longest(self) -> int:
        """The largest number of documents of one query."""
        return int(self.documents.lengths.max())


def look_up(
    run: Run, known: IndexedQrels, ties: Ties = "mean", single: bool = False
) -> LookedUpRun:
    """Find the grade of each document of a run, best score first.

    `ties` and `single` are those of :class:`~dcglearn.evaluation.rules.Rules`.

    >>> from dcglearn.collections.join import index_qrels
    >>> from dcglearn.collections.runs import qrels_of, run_of
    >>> known = index_qrels(qrels_of({"q": {"d1": 1, "d2": 0}}))
    >>> look_up(run_of({"q": {"d2": 0.5, "d1": 2.5, "d3": 1.5}}), known).ranked.grades.tolist()
    [0, 2, 1]
    """
    graded = grade_run(run, known, by_id=ties == "docid", single=single)
    numbers = known.number_queries(run.queries)
    extra = tuple(
        name for name, number in zip(run.queries, numbers.tolist(), strict=True) if number < 0
    )
    ranked = Ranked(graded.starts, graded.grades, known.pools, graded.tied)
    return LookedUpRun(run.name, ranked, extra, ties)


def unjudged_documents(run: Run, known: IndexedQrels) -> tuple[Integers, Any]:
    """Return the query (n,) and the id (Arrow text) of each document without a judgment."""
    query = known.number_queries(run.queries)[run.query]
    unjudged = known.find_grades_of_ids(query, run.documents) == len(known.scale)
    rows = np.flatnonzero(unjudged & (query >= 0))
    return query[rows], take_rows(run.documents, rows)
