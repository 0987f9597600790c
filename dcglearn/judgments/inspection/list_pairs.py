"""Which judgments are of the same two lists, on whichever side each was shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Integers
from dcglearn.judgments.inspection.dense_codes import id_codes, joint_codes, row_codes
from dcglearn.judgments.preferences import Preferences


@dataclass(frozen=True, eq=False)
class ListPairs:
    """The unordered pairs of lists of judgments.

    Attributes
    ----------
    lists : ndarray of int, shape (n,)
        A number for the two lists of each judgment: 0, 1, ...
    within_query : ndarray of int, shape (n,)
        The same within queries, if some are known; a judgment without one is then on its own.
    forward : ndarray of bool, shape (n,)
        Whether the list preferred by a strict judgment comes first lexically.
    same : ndarray of bool, shape (n,)
        Whether both lists are the same.
    """

    lists: Integers
    within_query: Integers
    forward: NDArray[np.bool_]
    same: NDArray[np.bool_]

    def __getitem__(self, rows: NDArray[np.bool_] | Integers) -> ListPairs:
        """Return those of some judgments, with the same numbers."""
        return ListPairs(
            self.lists[rows], self.within_query[rows], self.forward[rows], self.same[rows]
        )


def list_pairs(preferences: Preferences) -> ListPairs:
    """Find judgments of the same lists.

    Parameters
    ----------
    preferences : Preferences

    Returns
    -------
    ListPairs

    Examples
    --------
    >>> from dcglearn.measures.scale import Scale
    >>> lists = [[[0, 1], [1, 0]], [[1, 0], [0, 1]], [[0, 0], [0, 0]]]
    >>> found = list_pairs(Preferences.of(lists, ["a", "a", "tie"], Scale((1, 0))))
    >>> found.lists.tolist(), found.forward[:2].tolist(), found.same.tolist()
    ([1, 1, 0], [True, False], [False, False, True])
    """
    n, _, n_ranks = preferences.lists.shape
    a, b = row_codes(preferences.lists.reshape(2 * n, n_ranks)).reshape(n, 2).T
    lists = joint_codes(np.minimum(a, b), np.maximum(a, b))
    queries, names = id_codes(preferences.queries)
    within = lists
    if names:
        unknown = queries < 0
        queries[unknown] = len(names) + np.arange(unknown.sum())
        within = joint_codes(lists, queries)
    return ListPairs(lists, within, (a < b) == (preferences.answers == 0), a == b)
