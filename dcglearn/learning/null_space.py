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

from dcglearn.base.types import Floats
from dcglearn.solver.active_set import GramMatrices


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


def structure(counts: GramMatrices, n_grades: int) -> Structure:
    """Find the directions of W that pairs cannot see.

    Parameters
    ----------
    counts : GramMatrices
        Which grades meet (see :mod:`dcglearn.solver.active_set`).
    n_grades : int
        L.

    Returns
    -------
    Structure

    Examples
    --------
    Rank 2 never differs, and the grades 0 and 1 meet at rank 1 only:

    >>> from dcglearn.solver.active_set import gram_matrices
    >>> from dcglearn.solver.problem import Problem
    >>> found = structure(Problem.of([[[0, 1], [1, 1]]], 2).sum_over_blocks(gram_matrices), 2)
    >>> found.rank, found.free_ranks, found.still_ranks, found.unnamed
    (1, (1,), (2,), 0)
    """
    met = counts.gram
    n_ranks = len(met) // n_grades
    rank = _rank(met)
    moving = np.diag(met).reshape(n_ranks, n_grades) > 0
    still_ranks, still_grades = still(met, n_grades)
    shown = set(range(n_grades)) - set(still_grades)
    free, separate, invisible = [], [], []
    for k, groups in enumerate(_compared(met, n_grades)):
        invisible += [_at(k, group, n_ranks, n_grades) for group in groups]
        if not moving[k].any():
            continue
        apart = _among(groups, shown)
        if len(apart) > 1:
            separate.append((k + 1, apart))
        elif any(shown <= set(group) for group in groups):
            free.append(k + 1)
    columns = [np.tile(np.arange(n_grades) == grade, n_ranks) * 1.0 for grade in range(n_grades)]
    hidden = [column for column in columns if not (met @ column).any()]
    named = np.array(invisible + hidden).reshape(-1, len(met))
    against_none = [k + 1 for k in range(n_ranks) if _against_none(met, n_grades, k).any()]
    return Structure(
        n_pairs=counts.n_pairs,
        rank=rank,
        n_directions=len(met),
        free_ranks=tuple(free),
        empty_ranks=tuple(against_none),
        same_content=len(hidden) == n_grades,
        still_ranks=still_ranks,
        still_grades=still_grades,
        separate=tuple(separate),
        unnamed=len(met) - rank - (_rank(named @ named.T) if len(named) else 0),
    )


def still(met: Floats, n_grades: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ranks and the grades that never differ.

    Parameters
    ----------
    met : ndarray of float, shape (K L, K L)
        X'X.
    n_grades : int
        L.

    Returns
    -------
    still_ranks, still_grades : tuple of int
        As in :class:`Structure`.
    """
    moving = np.diag(met).reshape(-1, n_grades) > 0
    ranks, grades = (np.flatnonzero(~moving.any(axis=axis)) for axis in (1, 0))
    return tuple((ranks + 1).tolist()), tuple(grades.tolist())


def _compared(met: Floats, n_grades: int) -> list[list[list[int]]]:
    """Return, rank by rank, the groups of grades whose common offset is invisible there.

    Grades are in one group when chains of pairs compare them at that rank. A group that is
    set against an empty rank is pinned, hence not invisible, and left out.
    """
    n_ranks = len(met) // n_grades
    ranks = np.arange(n_ranks)
    k, i, j = np.nonzero(met.reshape(n_ranks, n_grades, n_ranks, n_grades)[ranks, :, ranks])
    edges = (np.ones(len(k)), (k * n_grades + i, k * n_grades + j))
    groups = connected_components(csr_array(edges, shape=met.shape))[1].reshape(n_ranks, n_grades)
    found = []
    for rank, group in enumerate(groups):
        pinned = set(group[_against_none(met, n_grades, rank)].tolist())
        free = [g for g in dict.fromkeys(group.tolist()) if g not in pinned]
        found.append([np.flatnonzero(group == g).tolist() for g in free])
    return found


def _at_rank(met: Floats, n_grades: int, k: int) -> Floats:
    """Return the part of X'X at rank k: minus how often two grades meet, off the diagonal."""
    return met[k * n_grades : (k + 1) * n_grades, k * n_grades : (k + 1) * n_grades]


def _against_none(met: Floats, n_grades: int, k: int) -> NDArray[np.bool_]:
    """Return which grades stand against no document at rank k, shape (L,)."""
    # A pair of two documents adds 1 to the diagonal and takes 1 off beside it.
    found: NDArray[np.bool_] = _at_rank(met, n_grades, k).sum(axis=1) > 0
    return found


def _among(groups: list[list[int]], shown: set[int]) -> tuple[tuple[int, ...], ...]:
    """Return all groups at a rank, the pinned one first, of the grades that are shown."""
    pinned = shown - {grade for group in groups for grade in group}
    kept = [sorted(pinned), *([g for g in group if g in shown] for group in groups)]
    return tuple(tuple(group) for group in kept if group)


def _at(k: int, grades: list[int], n_ranks: int, n_grades: int) -> Floats:
    direction = np.zeros((n_ranks, n_grades))
    direction[k, grades] = 1.0
    return direction.ravel()


def _rank(symmetric: Floats) -> int:
    values = np.linalg.eigvalsh(symmetric)
    largest = values.max(initial=0.0)
    return int((values > 10 * len(values) * np.finfo(float).eps * largest).sum())
