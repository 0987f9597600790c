"""The join of documents with qrels: the one place where documents get their grades.

A document of a query is one number: with D different documents in the qrels, it is D times the
number of the query, plus that of the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import naming
from dcglearn.base.representation import ShortRepr
from dcglearn.base.tables.columns import numbers_of_arrow, take_rows
from dcglearn.base.types import Integers
from dcglearn.collections.runs import Qrels, Run
from dcglearn.measures.scale import Scale, ScaleLike, canonical_label, needed_scale

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
    >>> from dcglearn.collections.runs import qrels_of
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
