"""Directions of W that pairs of rankings leave undetermined, found and named.

Pairs depend on W only through X w, so a direction t with X t = 0 is undetermined. Three
kinds of such directions have a meaning:

* *rank offsets*: the same constant added to every grade at one rank. Undetermined unless
  some list is empty at that rank and its partner is not;
* *grade offsets*: the same constant added to one grade at every rank. Undetermined if the
  two lists of each pair hold the same grades; discounts are then determined only up to an
  affine map, because W = (c + a) g' orders such lists as c g' does;
* offsets of grades that no chain of pairs compares at a rank: the connected components of
  the graph that joins two grades when some pair compares them there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from dcglearn.base.types import Floats
from dcglearn.learning.record import NullSpace
from dcglearn.learning.sums import GramMatrices


def null_space(gram: GramMatrices, n_grades: int) -> NullSpace:
    """Find the directions of W that pairs leave undetermined."""
    XX = gram.gram
    n_ranks = len(XX) // n_grades
    rank = _rank(XX)
    differs = np.diag(XX).reshape(n_ranks, n_grades) > 0
    constant = constant_grades(XX, n_grades)
    varying = set(range(n_grades)) - set(constant)
    free, components, directions = [], [], []
    for k, groups in enumerate(_free_components(XX, n_grades)):
        if not differs[k].any():
            continue
        directions += [_offset(k, group, n_ranks, n_grades) for group in groups]
        separate = _all_components(groups, varying)
        if len(separate) > 1:
            components.append((k + 1, separate))
        elif any(varying <= set(group) for group in groups):
            free.append(k + 1)
    columns = [np.tile(np.arange(n_grades) == grade, n_ranks) * 1.0 for grade in range(n_grades)]
    grade_offsets = [column for column in columns if not (XX @ column).any()]
    # Where no pair differs, each grade is a direction; the others are counted at the other ranks.
    elsewhere = np.repeat(differs.any(axis=1), n_grades)
    named = np.array(directions + grade_offsets).reshape(-1, len(XX))[:, elsewhere]
    with_empty = [k + 1 for k in range(n_ranks) if _compared_with_empty(XX, n_grades, k).any()]
    return NullSpace(
        n_pairs=gram.n_pairs,
        rank=rank,
        n_directions=len(XX),
        free_ranks=tuple(free),
        empty_ranks=tuple(with_empty),
        same_content=len(grade_offsets) == n_grades,
        constant_ranks=constant_ranks(XX, n_grades),
        constant_grades=constant,
        components=tuple(components),
        n_unnamed=int(elsewhere.sum()) - rank - (_rank(named @ named.T) if len(named) else 0),
    )


def constant_ranks(XX: Floats, n_grades: int) -> tuple[int, ...]:
    """Return the ranks (from 1) at which no pair differs, from X'X."""
    differs = np.diag(XX).reshape(-1, n_grades) > 0
    return tuple((np.flatnonzero(~differs.any(axis=1)) + 1).tolist())


def constant_grades(XX: Floats, n_grades: int) -> tuple[int, ...]:
    """Return the grade indices in which no pair differs at any rank, from X'X."""
    differs = np.diag(XX).reshape(-1, n_grades) > 0
    return tuple(np.flatnonzero(~differs.any(axis=0)).tolist())


def _free_components(XX: Floats, n_grades: int) -> list[list[list[int]]]:
    """Return, by rank, the components that chains of pairs compare, but not with an empty rank."""
    n_ranks = len(XX) // n_grades
    ranks = np.arange(n_ranks)
    k, i, j = np.nonzero(XX.reshape(n_ranks, n_grades, n_ranks, n_grades)[ranks, :, ranks])
    edges = (np.ones(len(k)), (k * n_grades + i, k * n_grades + j))
    labels = connected_components(csr_array(edges, shape=XX.shape))[1].reshape(n_ranks, n_grades)
    free = []
    for rank, label in enumerate(labels):
        determined = set(label[_compared_with_empty(XX, n_grades, rank)].tolist())
        kept = [one for one in dict.fromkeys(label.tolist()) if one not in determined]
        free.append([np.flatnonzero(label == one).tolist() for one in kept])
    return free


def _compared_with_empty(XX: Floats, n_grades: int, k: int) -> NDArray[np.bool_]:
    """Return which grades some pair compares with an empty rank k (from 0), shape (L,)."""
    # A comparison of two grades adds 1 to the diagonal and -1 off it; one with an empty
    # rank adds 1 to the diagonal only.
    at_rank = slice(k * n_grades, (k + 1) * n_grades)
    compared: NDArray[np.bool_] = XX[at_rank, at_rank].sum(axis=1) > 0
    return compared


def _all_components(free: list[list[int]], varying: set[int]) -> tuple[tuple[int, ...], ...]:
    """Return the components of the varying grades at a rank, the determined one first."""
    determined = varying - {grade for group in free for grade in group}
    kept = [sorted(determined), *([g for g in group if g in varying] for group in free)]
    return tuple(tuple(group) for group in kept if group)


def _offset(k: int, grades: list[int], n_ranks: int, n_grades: int) -> Floats:
    """Return the direction that adds a constant to some grades at rank k, shape (K L,)."""
    direction = np.zeros((n_ranks, n_grades))
    direction[k, grades] = 1.0
    return direction.ravel()


def _rank(symmetric: Floats) -> int:
    """Return the numerical rank of a positive semidefinite matrix."""
    used = np.diag(symmetric) > 0  # the other rows are zero
    values = np.linalg.eigvalsh(symmetric[np.ix_(used, used)])
    largest = values.max(initial=0.0)
    return int((values > 10 * len(symmetric) * np.finfo(float).eps * largest).sum())
