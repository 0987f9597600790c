"""Documents by query, as text that differs between them wherever some are searched for others.

Of one query that is the id. Of several it is the number of the query, in digits of one width, and
then the id. Documents are searched a few queries at a time: Arrow finds equal texts twice as fast
while its table of them stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dcglearn.base.arrow_arrays import numbers_of_arrow, take_rows, text_array
from dcglearn.base.types import Integers

_AT_ONCE, _LONG = 1000, 200


class QueryDocuments(NamedTuple):
    """Ids (Arrow text, n long) query by query, and where each query starts (Q + 1,)."""

    ids: Any
    starts: Integers

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Iterate over ranges of queries: single long ones, or short ones of 1,000 documents."""
        long = np.diff(self.starts, prepend=0) >= _LONG  # of each query and the one before it
        begins = long[1:] | long[:-1] | (np.diff(self.starts // _AT_ONCE) > 0)
        begins[:1] = True
        return pairwise([*np.flatnonzero(begins).tolist(), len(begins)])

    def keys(self, first: int, last: int) -> Any:
        """Return the text of each document of some queries."""
        import pyarrow.compute as pc

        ids = self.ids[self.starts[first] : self.starts[last]]
        count = last - first
        if count == 1:
            return ids
        query = np.repeat(np.arange(count), np.diff(self.starts[first : last + 1]))
        numbers = take_rows(_texts_of_numbers(count), query)
        return pc.binary_join_element_wise(numbers, ids, text_array([""])[0])


@lru_cache
def _texts_of_numbers(count: int) -> Any:
    width = len(str(count))
    return text_array([f"{number:0{width}}" for number in range(count)])


def starts_of(lengths: Integers) -> Integers:
    """Return where each group starts, and the end of the last, shape (Q + 1,)."""
    return np.concatenate([[0], np.cumsum(lengths)])


def rows_by_query(query: Integers) -> Integers:
    """Return the rows in order of their queries, without those of queries numbered -1."""
    return np.argsort(query, kind="stable")[np.count_nonzero(query < 0) :]


def group_documents(query: Integers, ids: Any, n_queries: int) -> tuple[Integers, QueryDocuments]:
    """Return the rows in order of their queries, and their documents."""
    rows = rows_by_query(query)
    lengths = np.bincount(query[rows], minlength=n_queries)
    return rows, QueryDocuments(take_rows(ids, rows), starts_of(lengths))


def first_repeated(query: Integers, ids: Any, n_queries: int) -> int | None:
    """Return the first row whose document appears before for the same query; None if all differ."""
    import pyarrow.compute as pc

    rows, documents = group_documents(query, ids, n_queries)
    found = []
    for first, last in documents.ranges():
        keys = documents.keys(first, last)
        if len(pc.unique(keys)) < len(keys):
            codes = numbers_of_arrow(keys.dictionary_encode().indices)
            repeated = codes[1:] <= np.maximum.accumulate(codes)[:-1]
            found.append(rows[documents.starts[first] + 1 + np.flatnonzero(repeated)].min())
    return min(map(int, found), default=None)
