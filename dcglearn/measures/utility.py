"""Linear utility: a measure with one weight per rank and grade.

    u(pi) = sum_k W[k, pi_k] = <W, s(pi)>

(Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 5.1, Case 2: position-dependent gains). DCG is Case
1, W = c g'. The ideal ranking of a general W solves an assignment problem and is not sorted by
grade, so a utility has no normalised form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import finite_array, refuse_large
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.discounts import format_number
from dcglearn.measures.grammar import parse_full_name
from dcglearn.measures.scale import Label, Scale, checked_grades, needed_scale, picked

_MAX_SHOWN = 30
"""Weights that a ``repr`` shows in full."""


@dataclass(frozen=True)
class LinearUtility:
    """Position-dependent weights as a frozen, hashable value.

    Parameters
    ----------
    weights : array-like of float, shape (K, L)
        W: row k - 1 for rank k, column l for grade index l (0 the best).
    grades : sequence of labels, optional
        The label of each grade, best first.

    Examples
    --------
    >>> utility = LinearUtility([[3, 0], [1, 0]])
    >>> utility.score([[0, 1], [1, 0]])
    array([3., 1.])
    >>> utility
    LinearUtility([[3, 0], [1, 0]])
    """

    weights: tuple[tuple[float, ...], ...]
    grades: tuple[Label, ...] | None = None

    def __init__(self, weights: ArrayLike, grades: Sequence[Label] | None = None) -> None:
        remedy = "give a matrix of finite numbers, one row per rank and one column per grade"
        matrix = finite_array(weights, "weights", (None, None), remedy)
        if not matrix.size:
            raise InputError(f"weights of shape {matrix.shape}", remedy)
        refuse_large(matrix, "weights")
        labels = checked_labels(grades, matrix.shape[1])
        vars(self).update(weights=tuple(map(tuple, matrix.tolist())), grades=labels)

    @property
    def n_ranks(self) -> int:
        """K, the number of ranks."""
        return len(self.weights)

    @property
    def n_grades(self) -> int:
        """L, the number of grades."""
        return len(self.weights[0])

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of the grades, best first; by default L - 1, ..., 0."""
        return self.grades or tuple(range(self.n_grades))[::-1]

    @cached_property
    def matrix(self) -> Floats:
        """W as a read-only array of shape (K, L)."""
        matrix = np.array(self.weights)
        matrix.flags.writeable = False
        return matrix

    def on_scale(self, scale: Scale) -> LinearUtility:
        """Return the measure with one column for each grade of a scale."""
        columns = picked(range(self.n_grades), self.grades, scale)
        return LinearUtility(self.matrix[:, list(columns)], scale.labels)

    def matrix_for(self, n_ranks: int) -> Floats:
        """Return the rows of W for rankings of `n_ranks` ranks, at most K."""
        if not 0 <= n_ranks <= self.n_ranks:
            raise InputError(
                f"rankings of {counted(n_ranks, 'rank')}, weights for {self.n_ranks}",
                f"cut the rankings to {counted(self.n_ranks, 'rank')}",
            )
        return self.matrix[:n_ranks]

    def score(self, rankings: ArrayLike) -> Floats:
        """Return u(pi) of each ranking (n, K) or (K,), with -1 for no document, which adds nothing.

        >>> LinearUtility([[3, 0], [1, 0]]).score([0, -1])
        array(3.)
        """
        rows = checked_grades(rankings, self.n_grades)
        return sum_over_ranks(self.matrix_for(rows.shape[-1]), rows)

    @classmethod
    def parse(cls, text: str) -> LinearUtility:
        """Parse a utility from its full name, as ``str`` writes it.

        >>> LinearUtility.parse("LinearUtility([[1, 0]], grades=['good', 'bad'])").grades
        ('good', 'bad')
        """
        head, (weights,), options, cutoff = parse_full_name(text, 1, "LinearUtility([[1, 0]])")
        check_name(head, "measure", [cls.__name__])
        if options.keys() - {"grades"} or cutoff is not None:
            raise InputError(f"cannot read {text!r:.60}", "write weights and grades only")
        return cls(weights, **options)

    def __str__(self) -> str:
        rows = ", ".join(f"[{', '.join(map(format_number, row))}]" for row in self.weights)
        labels = "" if self.grades is None else f", grades={list(self.grades)}"
        return f"LinearUtility([{rows}]{labels})"

    def __repr__(self) -> str:
        if self.n_ranks * self.n_grades > _MAX_SHOWN:
            return f"LinearUtility(<{self.n_ranks} ranks, {self.n_grades} grades>)"
        return str(self)


def checked_labels(grades: Sequence[Label] | None, n_grades: int) -> tuple[Label, ...] | None:
    """Return the labels of L grades, best first; refuse another number of them, or one twice."""
    if grades is None:
        return None
    labels = needed_scale(grades).labels
    if len(labels) != n_grades:
        raise InputError(
            f"{counted(len(labels), 'label')} for {counted(n_grades, 'grade')}",
            "give one label per grade",
        )
    return labels


def sum_over_ranks(weights: Floats, rankings: Grades) -> Floats:
    """Return sum_k W[k, pi_k] of rankings (..., K), without empty ranks: shape (...)."""
    total = np.zeros(rankings.shape[:-1])
    padded = np.pad(weights, ((0, 0), (0, 1)))  # the last column, index -1, is no document
    for k, row in enumerate(padded):  # rank by rank, without an (n, K) array of floats
        total += row[rankings[..., k]]
    return total
