"""Preferences as arrays: judgments of which of two rankings is better.

Judgments keep the order and the sides in which they were given. What learning
uses is derived from them: the strict ones as pairs of shape (n, 2, K) with the
preferred ranking first. Ties are kept beside, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Grades, Ids, Pairs
from dcglearn.data.judgment_fields import ANSWERS, parse_answer, parse_weight
from dcglearn.data.query_groups import group_numbers
from dcglearn.measures.scale import NO_DOCUMENT, Scale


@dataclass(frozen=True)
class Preferences:
    """Side-by-side judgments of rankings.

    Parameters
    ----------
    lists : ndarray of int8, shape (n, 2, K)
        Grade indices of the lists shown as a and as b, -1 for no document.
    answers : ndarray of int8, shape (n,)
        Index into :data:`ANSWERS`.
    scale : Scale
        The grades, best first.
    weights : ndarray of float, shape (n,)
        How much each judgment counts; finite and not negative.
    queries, judges : ndarray of object, shape (n,)
        Ids as text, or None where unknown.

    Examples
    --------
    >>> data = Preferences.of([[[0, 1], [1, 1]], [[1, 0], [0, 0]]], ["a", "b"], Scale((1, 0)))
    >>> data.pairs.tolist()
    [[[0, 1], [1, 1]], [[0, 0], [1, 0]]]
    """

    lists: Pairs
    answers: NDArray[np.int8]
    scale: Scale
    weights: NDArray[np.float64]
    queries: Ids
    judges: Ids

    @classmethod
    def of(
        cls,
        lists: object,
        answers: object,
        scale: Scale,
        weights: object = None,
        queries: object = None,
        judges: object = None,
    ) -> Preferences:
        """Build preferences from array-likes, checked and filled up with defaults.

        Parameters
        ----------
        lists : array-like of int, shape (n, 2, K)
        answers : sequence of str, shape (n,)
            From :data:`ANSWERS`.
        scale : Scale
        weights : array-like of float, shape (n,), optional
            1 by default.
        queries, judges : sequence of str or None, optional

        Returns
        -------
        Preferences

        Raises
        ------
        InputError
            If shapes differ, an answer is unknown, a grade is off the scale or a
            weight is not finite or negative.
        """
        rows = np.asarray(lists)
        if rows.ndim != 3 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
            raise InputError(f"lists of shape {rows.shape} and {rows.dtype}", "give ints (n, 2, K)")
        if rows.size and not (rows.min() >= NO_DOCUMENT and rows.max() < len(scale)):
            raise InputError("a grade index is off the scale", f"use -1 ... {len(scale) - 1}")
        codes: list[int] = [parse_answer(answer) for answer in np.asarray(answers, object).ravel()]
        n = len(rows)
        weight = np.ones(n) if weights is None else np.asarray(weights, float)
        for index, value in enumerate(weight.ravel()):
            parse_weight(value, f"row {index}")
        columns: list[Ids] = [
            np.full(n, None, object) if ids is None else np.asarray(ids, object)
            for ids in (queries, judges)
        ]
        if len(codes) != n or any(len(part) != n for part in (weight, *columns)):
            raise InputError(f"{n} pairs of lists, but not {n} of each other column", "align them")
        return cls(rows.astype(np.int8), np.array(codes, np.int8), scale, weight, *columns)

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def n_ranks(self) -> int:
        """K, the width of the lists."""
        return int(self.lists.shape[2])

    @property
    def n_grades(self) -> int:
        """L, the number of grades on the scale."""
        return len(self.scale)

    @property
    def strict(self) -> NDArray[np.bool_]:
        """Which judgments prefer one side, shape (n,)."""
        found: NDArray[np.bool_] = self.answers <= ANSWERS.index("b")
        return found

    @property
    def pairs(self) -> Pairs:
        """The strict judgments, shape (m, 2, K), the preferred list first."""
        strict = self.lists[self.strict]
        b_wins = self.answers[self.strict] == ANSWERS.index("b")
        strict[b_wins] = strict[b_wins][:, ::-1]
        return strict

    @property
    def pair_weights(self) -> NDArray[np.float64]:
        """The weights of the strict judgments, shape (m,)."""
        return self.weights[self.strict]

    @property
    def pair_groups(self) -> NDArray[np.int64]:
        """A number for the query of each strict judgment, shape (m,).

        Numbers follow first appearance; a judgment without a query is its own group.
        """
        return group_numbers(self.queries[self.strict])

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer]) -> Preferences:
        """Return the judgments of the given rows, in that order.

        Parameters
        ----------
        rows : ndarray of bool, shape (n,), or of int
        """
        return replace(
            self,
            lists=self.lists[rows],
            answers=self.answers[rows],
            weights=self.weights[rows],
            queries=self.queries[rows],
            judges=self.judges[rows],
        )

    def check_strict(self) -> None:
        """Refuse judgments from which nothing can be learned.

        Raises
        ------
        InputError
            As :func:`check_worth_learning`.
        """
        check_worth_learning(self.pairs, self.pair_weights, self.scale)


def check_worth_learning(
    pairs: Grades, weights: NDArray[np.float64] | None = None, scale: Scale | None = None
) -> None:
    """Refuse pairs from which nothing can be learned.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2, K)
    weights : ndarray of float, shape (n,), optional
        Pairs of weight 0 do not count.
    scale : Scale, optional
        Names the grade in the message.

    Raises
    ------
    InputError
        If there is no pair with weight, all pairs are of identical lists, or only one
        grade occurs.
    """
    counted = pairs if weights is None else pairs[weights > 0]
    if not len(counted):
        raise InputError(
            "no strict preference" + (": every weight is zero" if len(pairs) else ""),
            "give at least one answer a or b, with weight",
        )
    if (counted[:, 0] == counted[:, 1]).all():
        raise InputError(
            f"all {len(counted)} strict preferences are between identical lists",
            "give pairs whose lists differ",
        )
    worst = counted.max()
    if worst == counted.min(where=counted != NO_DOCUMENT, initial=worst) != NO_DOCUMENT:
        name = f"index {worst}" if scale is None else scale.labels[worst]
        raise InputError(
            f"only one grade occurs ({name})",
            "judge lists that hold documents of different grades",
        )
