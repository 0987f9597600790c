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
from scipy.sparse.csgraph import connected_components

from dcglearn.base.types import Floats
from dcglearn.learning.record import NullSpace
from dcglearn.learning.sums import GramMatrices


def null_space(gram: GramMatrices, n_grades: int) -> NullSpace:
    """Find the directions of W that pairs leave undetermined."""
    XX = gram.gram
    n_ranks = len(XX) // n_grades
    rank = _rank(XX)
    constant = constant_grades(XX, n_grades)
    varying = set(range(n_grades)) - set(constant)
    differs = np.diag(XX).reshape(n_ranks, n_grades).any(axis=1)
    blocks = XX.reshape(n_ranks, n_grades, n_ranks, n_grades)
    free, with_empty, components, offsets = [], [], [], []
    for k in np.flatnonzero(differs).tolist():
        # A comparison of two grades adds 1 to the diagonal and -1 off it; one with an empty rank
        # adds 1 to the diagonal only.
        absolute = blocks[k, :, k].sum(axis=1) > 0
        labels = connected_components(blocks[k, :, k])[1]
        groups = [labels == label for label in dict.fromkeys(labels.tolist())]
        undetermined = [group for group in groups if not absolute[group].any()]
        for group in undetermined:
            offset = np.zeros((n_ranks, n_grades))
            offset[k] = group
            offsets.append(offset.ravel())
        if absolute.any():
            with_empty.append(k + 1)
        members = [varying & set(np.flatnonzero(group).tolist()) for group in undetermined]
        separate = [varying.difference(*members), *members]  # the determined one first
        several = tuple(tuple(sorted(grades)) for grades in separate if grades)
        if len(several) > 1:
            components.append((k + 1, several))
        elif not separate[0]:
            free.append(k + 1)
    columns = [np.tile(np.arange(n_grades) == grade, n_ranks) * 1.0 for grade in range(n_grades)]
    grade_offsets = [column for column in columns if not (XX @ column).any()]
    # Where no pair differs, each grade is a direction; the others are counted at the other ranks.
    elsewhere = np.repeat(differs, n_grades)
    named = np.array(offsets + grade_offsets).reshape(-1, len(XX))[:, elsewhere]
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


def _rank(symmetric: Floats) -> int:
    """Return the numerical rank of a positive semidefinite matrix."""
    values = np.linalg.eigvalsh(symmetric)
    largest = values.max(initial=0.0)
    return int((values > 10 * len(symmetric) * np.finfo(float).eps * largest).sum())
