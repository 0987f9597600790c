"""Directions of W that pairs of rankings cannot see, found and named.

Pairs see W only through X w, so a direction t with X t = 0 leaves no trace. Three kinds
of such directions have a meaning:

* *rank offsets*: every grade at one rank gains the same constant. Invisible unless
  some list is empty at that rank and its partner is not;
* *grade offsets*: one grade gains the same constant at every rank. Invisible if the two
  lists of each pair hold the same grades; then discounts are determined only up to an
  affine map, because W = (c + a) g' orders such lists as c g' does;
* grades that no chain of pairs compares at a rank: the components of the graph that
  joins two grades when some pair sets one against the other there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from dcglearn.learning.encoding import gram
from dcglearn.measures.discounts import Floats
from dcglearn.measures.scale import NO_DOCUMENT, Grades


@dataclass(frozen=True)
class Structure:
    """What follows from which grades meet at which rank, whatever C and the margins.

    Attributes
    ----------
    n_pairs, rank, n_directions : int
        Pairs that count, the rank of X, and K L, the number of directions of W.
    free_ranks : tuple of int
        Ranks (from 1) whose offset is invisible while all grades that occur in some
        difference are compared.
    empty_ranks : tuple of int
        Ranks (from 1) at which some pair sets a grade against no document.
    same_content : bool
        Whether both lists of every pair hold the same grades.
    still_ranks : tuple of int
        Ranks (from 1) at which no pair differs.
    still_grades : tuple of int
        Grade indices that never stand on one side alone at a rank.
    separate : tuple of (int, tuple of tuples of int)
        At rank k, the groups of grades that no chain of pairs compares; still grades
        are left out.
    unnamed : int
        Invisible directions beyond all those named above.
    """

    n_pairs: int
    rank: int
    n_directions: int
    free_ranks: tuple[int, ...]
    empty_ranks: tuple[int, ...]
    same_content: bool
    still_ranks: tuple[int, ...]
    still_grades: tuple[int, ...]
    separate: tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]
    unnamed: int


def structure(pairs: Grades, n_grades: int) -> Structure:
    """Find the directions of W that pairs cannot see.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2, K)
    n_grades : int
        L.

    Returns
    -------
    Structure

    Examples
    --------
    Rank 2 never differs, and the grades 0 and 1 meet at rank 1 only:

    >>> found = structure(np.array([[[0, 1], [1, 1]]]), 2)
    >>> found.rank, found.free_ranks, found.still_ranks, found.unnamed
    (1, (1,), (2,), 0)
    """
    n_ranks = pairs.shape[2]
    counts = gram(pairs, n_grades)
    rank = _rank(counts)
    moving = np.diag(counts).reshape(n_ranks, n_grades) > 0
    shown = set(np.flatnonzero(moving.any(axis=0)).tolist())
    free, separate, invisible = [], [], []
    for k, groups in enumerate(_compared(pairs, n_grades)):
        invisible += [_at(k, group, n_ranks, n_grades) for group in groups]
        if not moving[k].any():
            continue
        apart = _among(groups, shown)
        if len(apart) > 1:
            separate.append((k + 1, apart))
        elif any(shown <= set(group) for group in groups):
            free.append(k + 1)
    columns = [np.tile(np.arange(n_grades) == grade, n_ranks) * 1.0 for grade in range(n_grades)]
    hidden = [column for column in columns if not (counts @ column).any()]
    named = np.array(invisible + hidden).reshape(-1, counts.shape[0])
    return Structure(
        n_pairs=len(pairs),
        rank=rank,
        n_directions=counts.shape[0],
        free_ranks=tuple(free),
        empty_ranks=tuple(map(int, np.flatnonzero(_against_none(pairs)) + 1)),
        same_content=len(hidden) == n_grades,
        still_ranks=tuple(int(k) + 1 for k in np.flatnonzero(~moving.any(axis=1))),
        still_grades=tuple(map(int, np.flatnonzero(~moving.any(axis=0)))),
        separate=tuple(separate),
        unnamed=counts.shape[0] - rank - (_rank(named @ named.T) if len(named) else 0),
    )


def _compared(pairs: Grades, n_grades: int) -> list[list[list[int]]]:
    """Return, rank by rank, the groups of grades whose common offset is invisible there.

    Grades are in one group when chains of pairs compare them at that rank. A group that is
    set against an empty rank is pinned, hence not invisible, and left out.
    """
    n_ranks, size = pairs.shape[2], n_grades + 1
    empty = n_grades  # the last node of each rank
    at_rank = np.where(pairs == NO_DOCUMENT, empty, pairs).astype(np.int64)
    nodes = at_rank + size * np.arange(n_ranks)  # one graph for all ranks, not joined
    differ = nodes[:, 0] != nodes[:, 1]
    edges = (np.ones(differ.sum()), (nodes[:, 0][differ], nodes[:, 1][differ]))
    _, group = connected_components(csr_array(edges, shape=(n_ranks * size, n_ranks * size)))
    found = []
    for labels in group.reshape(n_ranks, size):
        free = [g for g in dict.fromkeys(labels[:-1].tolist()) if g != labels[empty]]
        found.append([np.flatnonzero(labels[:-1] == g).tolist() for g in free])
    return found


def _among(groups: list[list[int]], shown: set[int]) -> tuple[tuple[int, ...], ...]:
    """Return all groups at a rank, the pinned one first, of the grades that are shown."""
    pinned = shown - {grade for group in groups for grade in group}
    kept = [sorted(pinned), *([g for g in group if g in shown] for group in groups)]
    return tuple(tuple(group) for group in kept if group)


def _against_none(pairs: Grades) -> NDArray[np.bool_]:
    """Return at which ranks a document stands against none, shape (K,)."""
    empty = pairs == NO_DOCUMENT
    found: NDArray[np.bool_] = (empty[:, 0] != empty[:, 1]).any(axis=0)
    return found


def _at(k: int, grades: list[int], n_ranks: int, n_grades: int) -> Floats:
    direction = np.zeros((n_ranks, n_grades))
    direction[k, grades] = 1.0
    return direction.ravel()


def _rank(symmetric: Floats) -> int:
    values = np.linalg.eigvalsh(symmetric)
    largest = values.max(initial=0.0)
    return int((values > 10 * len(values) * np.finfo(float).eps * largest).sum())
