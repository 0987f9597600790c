"""Linear utility: the worth of a ranking as a sum over its ranks.

    u(pi) = sum_k W[k, pi_k] = <W, s(pi)>

W has one row a rank and one column a grade (Zhou, Zha, Xue & Yu, arXiv
1212.5650, section 5.1, Case 2: position-dependent gains). DCG is Case 1,
W = c g'. A free W is no DCG: its ideal ordering is an assignment of documents
to ranks, not a sort, and a sorted "ideal" would give a normalised value over 1.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.discounts import format_number
from dcglearn.measures.ideal import map_distinct_pools
from dcglearn.measures.scale import Label, Scale, checked_grades


@dataclass(frozen=True)
class LinearUtility:
    """Position-dependent weights as a frozen, hashable value.

    Parameters
    ----------
    weights : array-like of float, shape (K, L)
        W: row k - 1 for rank k, column l for grade index l (0 the best).
    grades : sequence of labels, optional
        The name of each grade, best first.

    Raises
    ------
    InputError
        If W is not a finite matrix or the grades do not match its columns.

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
        object.__setattr__(self, "weights", tuple(tuple(row) for row in matrix.tolist()))
        object.__setattr__(self, "grades", checked_grade_names(grades, matrix.shape[1]))

    @property
    def n_ranks(self) -> int:
        """K, the number of ranks."""
        return len(self.weights)

    @property
    def n_grades(self) -> int:
        """L, the number of grades."""
        return len(self.weights[0])

    @cached_property
    def matrix(self) -> Floats:
        """W as a read-only array of shape (K, L)."""
        matrix = np.array(self.weights)
        matrix.flags.writeable = False
        return matrix

    def matrix_for(self, n_ranks: int) -> Floats:
        """Return the rows of W that lists of `n_ranks` ranks use.

        Parameters
        ----------
        n_ranks : int
            The width of the rankings, at most K (what is missing adds nothing).

        Returns
        -------
        ndarray of float, shape (n_ranks, L)

        Raises
        ------
        InputError
            If the lists are longer than K: ranks without weights are not guessed.
        """
        if n_ranks > self.n_ranks:
            raise InputError(
                f"rankings of {n_ranks} ranks, weights for {self.n_ranks}",
                f"cut the rankings to {self.n_ranks} ranks",
            )
        return self.matrix[:n_ranks]

    def score(self, rankings: ArrayLike) -> Floats:
        """Return u(pi) of each ranking.

        Parameters
        ----------
        rankings : array-like of int, shape (n, K) or (K,)
            Grade indices, -1 for no document (which adds nothing).

        Returns
        -------
        ndarray of float, shape (n,) or ()

        Raises
        ------
        InputError
            If a grade is outside the scale or the rankings have too many ranks.
        """
        rows = checked_grades(rankings, self.n_grades)
        return sum_over_ranks(self.matrix_for(rows.shape[-1]), rows)

    def ideal(self, pools: ArrayLike) -> Floats:
        """Return the largest u that each pool of documents allows, by assignment.

        Parameters
        ----------
        pools : array-like of int, shape (n, N) or (N,)
            The grades of all documents of a query, in any order, -1 for none.
            With N documents the first min(K, N) ranks are filled.

        Returns
        -------
        ndarray of float, shape (n,) or ()

        Examples
        --------
        Sorting is not ideal here: the best document belongs at rank 2.

        >>> utility = LinearUtility([[1, 0.5, 0], [1, 0, 0]])
        >>> float(utility.ideal([0, 1])), float(utility.score([0, 1]))
        (1.5, 1.0)
        """
        rows = checked_grades(pools, self.n_grades, "pools")
        found = map_distinct_pools(rows, self._best_assignment)
        return found.reshape(rows.shape[:-1])

    def _best_assignment(self, pool: Grades) -> float:
        from scipy.optimize import linear_sum_assignment  # it takes long to load

        filled = min(self.n_ranks, len(pool))
        worth = self.matrix[:filled][:, pool]
        ranks, documents = linear_sum_assignment(worth, maximize=True)
        return float(worth[ranks, documents].sum())

    @classmethod
    def parse(cls, text: str) -> LinearUtility:
        """Read a utility from its name in full, as ``str`` writes it.

        Parameters
        ----------
        text : str
            ``LinearUtility([[...], ...])``, with ``, grades=[...]`` or nothing.

        Returns
        -------
        LinearUtility

        Raises
        ------
        InputError
            If the text has another form.

        Examples
        --------
        >>> LinearUtility.parse("LinearUtility([[1, 0]], grades=['good', 'bad'])").grades
        ('good', 'bad')
        """
        try:
            node = ast.parse(text.strip(), mode="eval").body
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) == cls.__name__):
                raise ValueError
            named = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
            (weights,) = map(ast.literal_eval, node.args)
            if named.keys() - {"grades"}:
                raise ValueError
            return cls(weights, named.get("grades"))
        except InputError:
            raise
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            shown = f"{text!r}"[:60]
            raise InputError(
                f"cannot read the utility {shown}", "write it like LinearUtility([[1, 0]])"
            ) from error

    def __str__(self) -> str:
        rows = ", ".join(
            "[" + ", ".join(format_number(value) for value in row) + "]" for row in self.weights
        )
        names = "" if self.grades is None else f", grades={list(self.grades)}"
        return f"LinearUtility([{rows}]{names})"

    __repr__ = __str__


def checked_grade_names(grades: Sequence[Label] | None, n_grades: int) -> tuple[Label, ...] | None:
    """Check the names of the grades against their number.

    Parameters
    ----------
    grades : sequence of labels or None
        Best first.
    n_grades : int
        L.

    Returns
    -------
    tuple of labels or None

    Raises
    ------
    InputError
        If their number differs or one repeats.
    """
    if grades is None:
        return None
    labels = Scale(tuple(grades)).labels
    if len(labels) != n_grades:
        raise InputError(f"{len(labels)} grade names for {n_grades} grades", "name each grade once")
    return labels


def sum_over_ranks(weights: Floats, rankings: Grades) -> Floats:
    """Return sum_k W[k, pi_k], an empty rank adding nothing.

    Parameters
    ----------
    weights : ndarray of float, shape (K, L)
    rankings : ndarray of int, shape (..., K)
        Checked grade indices.

    Returns
    -------
    ndarray of float, shape (...)
    """
    total = np.zeros(rankings.shape[:-1])
    # The column appended last is what index -1, no document, picks up.
    padded = np.hstack([weights, np.zeros((len(weights), 1))])
    for k, row in enumerate(padded):  # rank by rank: no (n, K) array of floats
        total += row[rankings[..., k]]
    return total
