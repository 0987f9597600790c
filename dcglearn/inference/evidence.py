"""Judgments as the likelihood uses them: encoded lists, answers, weights and clusters.

Lists are kept as codes (:mod:`dcglearn.learning.codes`). The features of a judgment, x J for
the encoded difference x of its lists and a matrix J of p columns, are sums of one row of a table
per code; x itself is never built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.inference.answers import BAD, GOOD, TIE, B, TieModel
from dcglearn.judgments.folds import group_numbers
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.codes import CodeLayout
from dcglearn.measures.scale import NO_DOCUMENT


class UsableRows(NamedTuple):
    """Which judgments a model uses, and how many it does not.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
    same_lists, without_weight, ties_left_out : int
        As those of :class:`Evidence`.
    """

    rows: Integers
    same_lists: int
    without_weight: int
    ties_left_out: int

    @classmethod
    def of(
        cls, lists: Pairs, answers: NDArray[np.int8], weights: Floats, ties: TieModel
    ) -> UsableRows:
        """Find the judgments that a model uses: those of lists that differ, with a weight."""
        differ = (lists[:, 0] != lists[:, 1]).any(axis=1)
        weighted = weights > 0
        modelled = answers <= B if ties == "strict" else np.ones(len(answers), bool)
        return cls(
            np.flatnonzero(differ & weighted & modelled),
            int((~differ & weighted & modelled).sum()),
            int((~weighted).sum()),
            int((~modelled & weighted).sum()),
        )


@dataclass(frozen=True, eq=False)
class Evidence:
    """Judgments whose lists differ.

    Attributes
    ----------
    layout : CodeLayout
    codes : ndarray of unsigned int, shape (codes per pair, n)
        Of the two lists, a first.
    answers : ndarray of int, shape (n,)
    weights : ndarray of float, shape (n,)
    queries : ndarray of int, shape (n,)
        A number per query; a judgment without one is a cluster of its own.
    judges : ndarray of int, shape (n,), or None
        A number per judge, if judges are known.
    rows : ndarray of int, shape (n,)
        Which judgments of the preferences these are.
    sum_layout : CodeLayout or None
        As `layout`, for the sum of the two encoded lists; None unless ties have levels.
    same_lists, without_weight, ties_left_out : int
        Judgments that are not used: of lists with equal grades at all ranks, of weight 0, and
        ties where only strict judgments are modelled.
    """

    layout: CodeLayout
    codes: NDArray[np.unsignedinteger]
    answers: NDArray[np.int8]
    weights: Floats
    queries: Integers
    judges: Integers | None
    rows: Integers
    sum_layout: CodeLayout | None
    same_lists: int = 0
    without_weight: int = 0
    ties_left_out: int = 0

    @classmethod
    def of(
        cls, preferences: Preferences, ties: TieModel = "strict", levels: bool | None = None
    ) -> Evidence:
        """Collect the judgments that a model uses.

        Parameters
        ----------
        preferences : Preferences
        ties : {"strict", "davidson", "rao-kupper"}, default "strict"
        levels : bool, optional
            Whether ties have levels. By default they have if they are modelled and each of them
            is good or bad.

        Returns
        -------
        Evidence

        Raises
        ------
        InputError
            If nothing is left, or ties are to be modelled and there are none.
        """
        usable = UsableRows.of(preferences.lists, preferences.answers, preferences.weights, ties)
        rows = usable.rows
        used = preferences[rows]
        if not len(used):
            raise InputError("no judgment of lists that differ", "give judgments of other lists")
        if levels is None:
            if ties != "strict" and used.strict.all():
                raise InputError("there are no ties", "leave `ties` out, or give some ties")
            has = np.isin((TIE, GOOD, BAD), used.answers)
            levels = bool(has[1:].any() and not has[0])
        answers = used.answers if levels else np.minimum(used.answers, TIE)
        has_empty = bool((used.lists == NO_DOCUMENT).any())
        layout = CodeLayout(used.n_ranks, used.n_grades, has_empty)
        judges = None
        if all(judge is not None for judge in used.judges.tolist()):
            judges = group_numbers(used.judges)
        return cls(
            layout,
            layout.encode(used.lists),
            answers,
            used.weights,
            group_numbers(used.queries),
            judges,
            rows,
            CodeLayout(used.n_ranks, used.n_grades, has_empty, sums=True) if levels else None,
            *usable[1:],
        )

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L)."""
        return self.layout.n_ranks, self.layout.n_grades

    @property
    def has_query_ids(self) -> bool:
        """Whether some judgments share a query."""
        return bool(self.queries.max(initial=-1) + 1 < len(self))

    def take(self, rows: slice | NDArray[np.bool_] | Integers) -> Evidence:
        """Return some of the judgments; queries and judges keep their numbers.

        Parameters
        ----------
        rows : slice or ndarray of bool or int, shape (n,)
        """
        return Evidence(
            self.layout,
            self.codes[:, rows],
            self.answers[rows],
            self.weights[rows],
            self.queries[rows],
            None if self.judges is None else self.judges[rows],
            self.rows[rows],
            self.sum_layout,
            self.same_lists,
            self.without_weight,
            self.ties_left_out,
        )


def features(layout: CodeLayout, codes: NDArray[np.unsignedinteger], J: Floats) -> Floats:
    """Return x J for the encoded lists x of each judgment.

    Parameters
    ----------
    layout : CodeLayout
    codes : ndarray of unsigned int, shape (codes per pair, n)
    J : ndarray of float, shape (K L, p)

    Returns
    -------
    ndarray of float, shape (n, p)

    Examples
    --------
    >>> layout = CodeLayout(2, 2, False)
    >>> codes = layout.encode(np.array([[[0, 1], [1, 1]]], np.int8))
    >>> features(layout, codes, np.eye(4))
    array([[ 1., -1.,  0.,  0.]])
    """
    tables = [values @ J[columns] for values, columns in layout.tables]
    total = tables[0].take(codes[0], axis=0, mode="clip")
    for table, code in zip(tables[1:], codes[1:], strict=True):
        total += table.take(code, axis=0, mode="clip")
    return np.asarray(total)


def transposed_product(layout: CodeLayout, codes: NDArray[np.unsignedinteger], y: Floats) -> Floats:
    """Return sum_i y_i x_i, shape (K L,).

    Parameters
    ----------
    layout : CodeLayout
    codes : ndarray of unsigned int, shape (codes per pair, n)
    y : ndarray of float, shape (n,)
    """
    sums = [
        np.bincount(code, y, len(values)) @ values
        for code, (values, _) in zip(codes, layout.tables, strict=True)
    ]
    return np.concatenate(sums)
