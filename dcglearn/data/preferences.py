"""Preferences as arrays: judgments of which of two rankings is better.

Judgments keep the order and the sides in which they were given. What learning
uses is derived from them: the strict ones as pairs of shape (n, 2, K) with the
preferred ranking first. Ties are kept beside, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Grades, Ids, Pairs
from dcglearn.measures.scale import NO_DOCUMENT, Scale

ANSWERS = ("a", "b", "tie", "good", "bad")
"""The answers, by code: a is better, b is better, or a tie; ``good`` and ``bad`` are
ties with a level (both lists equally good, or equally bad)."""

LARGEST_WEIGHT = 1e12
"""Weights are relative; beyond this, sums lose the judgments of weight 1."""


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
        codes: list[int] = [answer_code(answer) for answer in np.asarray(answers, object).ravel()]
        n = len(rows)
        weight = np.ones(n) if weights is None else np.asarray(weights, float)
        for index, value in enumerate(weight.ravel()):
            checked_weight(value, f"row {index}")
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


def group_numbers(groups: ArrayLike) -> NDArray[np.int64]:
    """Return a number for the group of each row, in the order in which groups first occur.

    Parameters
    ----------
    groups : array-like, shape (n,)
        None, or not a number, is a group of its own.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> group_numbers(["q", None, "p", "q", None])
    array([0, 1, 2, 0, 3])
    """
    array = np.asarray(groups)
    if array.dtype.kind in "iuU":
        _, first, codes = np.unique(array, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[codes]
    numbers: dict[object, int] = {}
    keys = (
        ("alone", row) if group is None or group != group else ("group", group)
        for row, group in enumerate(array)
    )
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def query_folds(
    groups: NDArray[np.integer], n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split judgments into folds that keep a query whole.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        The query of each judgment, as :attr:`Preferences.pair_groups`.
    n_folds : int
        At least 2 and at most the number of queries.
    rng : numpy.random.Generator
        Shuffles the queries.

    Yields
    ------
    train, test : ndarrays of int
        Row numbers, ascending.

    Raises
    ------
    InputError
        If there are fewer queries than folds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> for train, test in query_folds(np.array([0, 0, 1, 1]), 2, rng):
    ...     print(train, test)
    [0 1] [2 3]
    [2 3] [0 1]
    """
    from sklearn.model_selection import GroupKFold

    n_groups = len(np.unique(groups))
    if not 2 <= n_folds <= n_groups:
        raise InputError(
            f"{n_folds} folds for judgments of {n_groups} queries",
            f"use 2 to {n_groups} folds" if n_groups > 1 else "judge more than one query",
        )
    folds = GroupKFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
    yield from folds.split(groups, groups=groups)


def answer_code(answer: object) -> int:
    """Return the index of an answer in :data:`ANSWERS`.

    Raises
    ------
    InputError
        If it is none of them.
    """
    if isinstance(answer, str) and answer in ANSWERS:
        return ANSWERS.index(answer)
    raise InputError(f"the answer is {answer!r}", f"use one of {', '.join(ANSWERS)}")


def checked_weight(value: object, place: str = "") -> float:
    """Return a weight as a float.

    Raises
    ------
    InputError
        If it is no finite number or negative.
    """
    if not isinstance(value, bool | str):
        try:
            weight = float(value)  # type: ignore[arg-type]  # what float() refuses is caught here
        except (TypeError, ValueError, OverflowError):
            weight = np.nan
        if 0 <= weight <= LARGEST_WEIGHT:
            return weight
    shown = f"{value!r}"[:40]
    raise InputError(f"the weight is {shown}", f"use 0 ... {LARGEST_WEIGHT:g}", place)
