"""Qrels indexed by query and document: the one place where documents get their grades.

Qrels become sorted 64-bit keys, the number of the query followed by the upper bits of a hash of the
id, with the grade next to each key; a second, independent hash confirms a match. Documents of
runs (:mod:`dcglearn.collections.graded_runs`) and of judgments
(:mod:`dcglearn.judgments.reading.document_judgments`) are looked up in it by binary search, millions per
second. See :mod:`dcglearn.collections.id_hashes` for how unlikely a collision is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Hashes, Integers
from dcglearn.collections.id_hashes import DocumentHashes
from dcglearn.collections.qrels_runs import Qrels, scale_of_qrels
from dcglearn.measures.scale import Scale, ScaleLike, canonical_label, needed_scale

_MOST_BITS = 24
"""Of the table of endings of keys: 16 MB."""

Unjudged = Literal["worst", "nothing", "removed", "bounds"]
"""What a document without a judgment counts as: one of the worst grade; a rank that gains
nothing; not part of the ranking, so that the documents below it move up; or any grade, which
gives the lowest and the highest possible value."""


@dataclass(frozen=True, repr=False)
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
    keys : ndarray of uint64, shape (n,)
        The number of the query followed by the upper bits of one hash of the document, ascending.
    checks : ndarray of uint64, shape (n,)
        The other hash of the document.
    grades : ndarray of int8, shape (n,)
        The grade index of each document.
    keyed : {0, 1}
        The number of the hash that `keys` holds.
    """

    scale: Scale
    queries: tuple[str, ...]
    pools: Integers
    keys: Hashes
    checks: Hashes
    grades: NDArray[np.int8]
    keyed: int

    def number_queries(self, queries: Sequence[str]) -> Integers:
        """Return the number of each query, -1 for a query that the qrels do not hold.

        Parameters
        ----------
        queries : sequence of str, length n

        Returns
        -------
        ndarray of int, shape (n,)
        """
        return np.array([self._numbers.get(query, -1) for query in queries], np.int64)

    def find_grades(self, query: Integers, hashes: DocumentHashes) -> NDArray[np.int8]:
        """Return the grade index of each document, L for a document without a judgment.

        Parameters
        ----------
        query : ndarray of int, shape (n,)
            The number of the query of each document, 0 ... Q - 1, or -1 for a query that the
            qrels do not hold.
        hashes : DocumentHashes
            Of query and document, as in :class:`~dcglearn.collections.qrels_runs.Run`.

        Returns
        -------
        ndarray of int8, shape (n,)

        Examples
        --------
        >>> from dcglearn.collections.qrels_runs import qrels_of, run_of
        >>> indexed = index_qrels(qrels_of({"q": {"d1": 1, "d2": 0}}))
        >>> run = run_of({"q": {"d2": 2.5, "d3": 1.5}})
        >>> indexed.find_grades(run.query, run.hashes)
        array([1, 2], dtype=int8)
        """
        keys = _keys(query, hashes.of(self.keyed), len(self.queries))
        mask = np.uint64(len(self._occurring) - 1)
        rows = np.flatnonzero(self._occurring[keys & mask] & (query >= 0))
        places = np.minimum(np.searchsorted(self.keys, keys[rows]), len(self.keys) - 1)
        found = self.keys[places] == keys[rows]
        rows, places = rows[found], places[found]
        same = self.checks[places] == hashes.of(1 - self.keyed, rows)
        grades = np.full(len(query), len(self.scale), np.int8)
        grades[rows[same]] = self.grades[places[same]]
        return grades

    def find_grades_of_ids(self, query: Integers, documents: Sequence[str]) -> NDArray[np.int8]:
        """Return the grade index of each document id, L for a document without a judgment.

        Parameters
        ----------
        query : ndarray of int, shape (n,)
            The number of the query of each document, 0 ... Q - 1.
        documents : sequence of str, length n

        Returns
        -------
        ndarray of int8, shape (n,)

        Examples
        --------
        >>> from dcglearn.collections.qrels_runs import qrels_of
        >>> indexed = index_qrels(qrels_of({"q": {"d1": 1, "d2": 0}}))
        >>> indexed.find_grades_of_ids(np.array([0, 0]), ["d2", "d3"])
        array([1, 2], dtype=int8)
        """
        import pyarrow as pa

        ids = pa.array(documents, pa.string())
        return self.find_grades(query, DocumentHashes(self._query_ids, query, ids))

    def keys_of(self, query: Integers, hashes: Hashes) -> Hashes:
        """Return one number per document that differs between documents and sorts by query.

        Parameters
        ----------
        query : ndarray of int, shape (n,)
            The number of the query of each document, 0 ... Q - 1.
        hashes : ndarray of uint64, shape (n,)
            One hash of query and document, always the same of the two.

        Returns
        -------
        ndarray of uint64, shape (n,)
        """
        return _keys(query, hashes, len(self.queries))

    def count_by_query(self, keys: Hashes) -> Integers:
        """Count documents by query.

        Parameters
        ----------
        keys : ndarray of uint64, shape (n,)
            From :meth:`keys_of`.

        Returns
        -------
        ndarray of int, shape (Q,)
        """
        bits = np.uint64(len(self.queries).bit_length())
        query = (keys >> (np.uint64(64) - bits)).astype(np.int64)
        return np.bincount(query, minlength=len(self.queries))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {query: number for number, query in enumerate(self.queries)}

    @cached_property
    def _occurring(self) -> NDArray[np.bool_]:
        """Whether any key ends in these bits: most documents without a judgment are found so."""
        bits = min((16 * len(self.keys)).bit_length(), _MOST_BITS)
        table = np.zeros(1 << bits, bool)
        table[self.keys & np.uint64(len(table) - 1)] = True
        return table

    @cached_property
    def _query_ids(self) -> Any:
        import pyarrow as pa

        return pa.array(self.queries, pa.string())


def index_qrels(qrels: Qrels, scale: ScaleLike | None = None) -> IndexedQrels:
    """Index qrels, so that documents of runs and judgments can be looked up.

    Parameters
    ----------
    qrels : Qrels
    scale : Scale, str or sequence of labels, optional
        The grades, best first; by default
        :func:`~dcglearn.collections.qrels_runs.scale_of_qrels`.

    Returns
    -------
    IndexedQrels

    Raises
    ------
    InputError
        If a grade of the qrels is off the scale.

    Examples
    --------
    >>> from dcglearn.collections.qrels_runs import qrels_of
    >>> indexed = index_qrels(qrels_of({"q": {"d1": 2, "d2": 0, "d3": 0}}))
    >>> str(indexed.scale), indexed.pools.tolist()
    ('2 > 0', [[1, 2]])
    """
    scale = scale_of_qrels(qrels) if scale is None else needed_scale(scale)
    numbers, which = np.unique(qrels.number, return_inverse=True)
    try:
        indices = [
            scale.index(qrels.names[int(number)] if qrels.names else canonical_label(float(number)))
            for number in numbers
        ]
    except InputError as error:
        raise error.at(qrels.name) from error
    grades = np.array(indices, np.int8)[which]
    cells = qrels.query * len(scale) + grades
    pools = np.bincount(cells, minlength=len(qrels.queries) * len(scale))
    for keyed in (0, 1):  # a key holds only a part of its hash, so two keys may collide
        keys = _keys(qrels.query, qrels.hashes.of(keyed), len(qrels.queries))
        order = np.argsort(keys)
        keys = keys[order]
        if (keys[1:] > keys[:-1]).all():
            break
    else:
        raise InputError("two documents have the same hash", "rename one of them", qrels.name)
    checks = qrels.hashes.of(1 - keyed, order)
    pools = pools.reshape(-1, len(scale))
    return IndexedQrels(scale, qrels.queries, pools, keys, checks, grades[order], keyed)


def _keys(query: Integers, hashes: Hashes, n_queries: int) -> Hashes:
    """Return keys that sort by query: its number, followed by as many bits of a hash as fit."""
    bits = np.uint64(n_queries.bit_length())
    return (query.astype(np.uint64) << (np.uint64(64) - bits)) | (hashes >> bits)
