"""Hashes of ids: many strings at once, eight bytes at a time.

Two ids count as equal if their two independent 64-bit hashes are equal; among 10^8 different ids,
the probability that any two agree in both is below 10^-21. A dictionary of millions of distinct
strings takes seconds to build, their hashes take milliseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcglearn.base.arrow_arrays import take_rows
from dcglearn.base.types import Hashes, Integers

_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
"""Odd numbers whose bits look random: from the golden ratio, and from xxHash."""


def hash_ids(ids: Any, which: int, begin: Hashes | None = None) -> Hashes:
    """Return a 64-bit hash of each string.

    Parameters
    ----------
    ids : pyarrow.Array of text, n long
    which : {0, 1}
        Which of two independent hashes.
    begin : ndarray of uint64, shape (n,), optional
        A hash of the text in front of each string, such as the query.

    Returns
    -------
    ndarray of uint64, shape (n,)

    Examples
    --------
    >>> import pyarrow as pa
    >>> a, b, again = hash_ids(pa.array(["d1", "a long id of 30 bytes or more", "d1"]), 0)
    >>> bool(a == again), bool(a == b)
    (True, False)
    """
    offsets = np.frombuffer(ids.buffers()[1], np.int32)[ids.offset : ids.offset + len(ids) + 1]
    starts, lengths = offsets[:-1].astype(np.int64), np.diff(offsets)
    content = ids.buffers()[2]
    data = np.zeros(int(offsets[-1]) + 8, np.uint8)
    if content is not None:
        data[:-8] = np.frombuffer(content, np.uint8)[: offsets[-1]]
    # words[i] holds the 8 bytes from byte i on
    words = np.ndarray((len(data) - 7,), np.uint64, data, strides=(1,))
    factor = _FACTORS[which]
    found = _mix(lengths.astype(np.uint64) + np.uint64(1 + which), factor)
    if begin is not None:
        found = _mix(found ^ begin, factor)
    shortest = lengths.min(initial=2**31 - 1)
    for first in range(0, int(lengths.max(initial=0)), 8):
        longer: Any = slice(None) if first < shortest else np.flatnonzero(lengths > first)
        word = words[starts[longer] + first]
        if first + 8 > shortest:
            word &= _MASKS[np.minimum(lengths[longer] - first, 8)]
        word ^= found[longer]
        found[longer] = _mix(word, factor)
    return found


_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


def _mix(numbers: Hashes, factor: np.uint64) -> Hashes:
    """Mix the bits of each number, in place."""
    numbers *= factor
    numbers ^= numbers >> np.uint64(29)
    numbers *= factor
    numbers ^= numbers >> np.uint64(32)
    return numbers


class DocumentHashes:
    """Both hashes of documents, each in its query; the second where it is needed.

    Parameters
    ----------
    queries : pyarrow.Array of text
        The distinct queries.
    query : ndarray of int, shape (n,)
        The query of each document, an index into `queries`.
    documents : pyarrow.Array of text, n long
    first : ndarray of uint64, shape (n,), optional
        The first hashes, if they are known.
    """

    def __init__(
        self, queries: Any, query: Integers, documents: Any, first: Hashes | None = None
    ) -> None:
        self._queries, self._query, self._documents = queries, query, documents
        self.first = hash_ids(documents, 0, hash_ids(queries, 0)[query]) if first is None else first

    def __repr__(self) -> str:
        return f"<hashes of {len(self.first):,} documents>"

    def of(self, which: int, rows: Integers | None = None) -> Hashes:
        """Return one of the two hashes.

        Parameters
        ----------
        which : {0, 1}
        rows : ndarray of int, shape (m,), optional
            Of these documents; by default of all.

        Returns
        -------
        ndarray of uint64, shape (m,)

        Examples
        --------
        >>> import pyarrow as pa
        >>> hashes = DocumentHashes(pa.array(["q"]), np.array([0, 0]), pa.array(["d1", "d2"]))
        >>> bool((hashes.of(1, np.array([1])) == hashes.of(1)[1:]).all())
        True
        """
        if which == 0:
            return self.first if rows is None else self.first[rows]
        query = self._query if rows is None else self._query[rows]
        documents = self._documents
        if rows is not None:
            documents = take_rows(documents, rows)
        return hash_ids(documents, 1, hash_ids(self._queries, 1)[query])

    def take(self, rows: Integers) -> DocumentHashes:
        """Return the hashes of some documents.

        Parameters
        ----------
        rows : ndarray of int, shape (m,)

        Returns
        -------
        DocumentHashes
        """
        documents = take_rows(self._documents, rows)
        return DocumentHashes(self._queries, self._query[rows], documents, self.first[rows])
