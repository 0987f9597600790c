"""Which judgments are of the same two lists, on whichever side each was shown."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Integers
from dcglearn.judgments.numbering import id_numbers, row_numbers
from dcglearn.judgments.preferences import Preferences


class ListPairs(NamedTuple):
    """Numbers of the unordered pairs of lists of n judgments, and which of the two lists won.

    `within_query` keeps queries apart, if some are known; a judgment without one is on its own.
    `winner` is 1 or -1 where a strict judgment prefers the lexically first list or the other, and
    0 where both lists are the same.
    """

    lists: Integers
    within_query: Integers
    winner: Integers


def list_pairs(preferences: Preferences) -> ListPairs:
    """Find judgments of the same lists."""
    n, _, n_ranks = preferences.lists.shape
    a, b = row_numbers(preferences.lists.reshape(2 * n, n_ranks).T).reshape(n, 2).T
    lists = row_numbers((np.minimum(a, b), np.maximum(a, b)))
    queries, names = id_numbers(preferences.queries)
    within = row_numbers((lists, queries)) if names else lists
    return ListPairs(lists, within, np.sign(np.where(preferences.answers == 0, b - a, a - b)))


def votes(
    lists: Integers, winner: Integers, weights: Floats | None = None
) -> NDArray[np.number[Any]]:
    """Return how often, or by what weight, each pair was judged each way, shape (2, pairs)."""
    n = int(lists.max(initial=-1)) + 1
    ways = (winner == 1, winner == -1)
    return np.stack(
        [np.bincount(lists[way], None if weights is None else weights[way], n) for way in ways]
    )
