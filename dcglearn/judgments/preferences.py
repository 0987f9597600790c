"""Preferences: judgments of which of two rankings is better, as arrays, and folds of them.

Sides are kept as they were shown; what learning uses, pairs with the preferred ranking first, is
derived. Judgments of a query are a group, which folds keep whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.numbers import counted
from dcglearn.base.types import Booleans, Floats, Grades, Ids, Integers, Pairs
from dcglearn.judgments.meaning.answers import ANSWERS
from dcglearn.judgments.options import UnjudgedRule, padded
from dcglearn.measures.scale import NO_DOCUMENT, Scale, ScaleLike, checked_grades

if TYPE_CHECKING:
    import pandas as pd

    from dcglearn.base.tables.sources import FrameLike


_Array = TypeVar("_Array", bound=NDArray[Any])

B = ANSWERS.index("b")

_COLUMNS = ("lists", "answers", "weights", "queries", "judges")


@dataclass(frozen=True, eq=False, repr=False)
class Preferences:
    """Side-by-side judgments of rankings.

    Build them with :meth:`from_frame`, :meth:`from_arrays`, :meth:`of` or
    :func:`dcglearn.read_preferences`. A mask, a slice or row numbers select judgments:
    ``data[data.strict]``. The arrays are read-only.

    Parameters
    ----------
    lists : ndarray of int8, shape (n, 2, K)
        Grade indices of the lists shown as a and as b, -1 for no document.
    answers : ndarray of int8, shape (n,)
        0 where a is better, 1 where b is; ties are 2, 3 (both good) and 4 (both bad).
    scale : Scale
        The L grades, best first.
    weights : ndarray of float, shape (n,)
        How much each judgment counts; finite and not negative.
    queries, judges : ndarray of object, shape (n,)
        Ids as text, None where unknown.

    Examples
    --------
    >>> data = Preferences.from_arrays([[2, 0], [0, 0]], [[1, 1], [1, 0]], ["a", "b"])
    >>> data
    Preferences(2 judgments, 2 strict, no query ids, lists of 2, grades 2 > 1 > 0)
    >>> data.pairs.tolist()
    [[[0, 2], [1, 1]], [[1, 2], [2, 2]]]
    """

    lists: Pairs
    answers: NDArray[np.int8]
    scale: Scale
    weights: Floats
    queries: Ids
    judges: Ids

    def __post_init__(self) -> None:
        for name in _COLUMNS:
            vars(self)[name] = _read_only(getattr(self, name).view())

    @classmethod
    def of(
        cls,
        lists: object,
        answers: ArrayLike,
        scale: Scale,
        weights: object = None,
        queries: object = None,
        judges: object = None,
    ) -> Preferences:
        """Build preferences from one array of grade indices, of shape (n, 2, K).

        Parameters
        ----------
        lists : array-like of int, shape (n, 2, K)
            0 the best, -1 for no document.
        answers, scale, weights, queries, judges
            As for :meth:`from_arrays`.

        Examples
        --------
        >>> lists = [[[0, 1], [1, 1]], [[1, 0], [0, 0]]]
        >>> Preferences.of(lists, ["a", "b"], Scale((1, 0))).pairs.tolist()
        [[[0, 1], [1, 1]], [[0, 0], [1, 0]]]
        """
        rows = np.asarray(lists)
        if rows.ndim != 3 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
            raise InputError(
                f"lists of shape {rows.shape}, of {rows.dtype}", "give integers of shape (n, 2, K)"
            )
        checked_grades(rows, len(scale), "lists")
        best = np.full((len(rows), 1), scale.labels[0], object)
        found = cls.from_arrays(
            best, best, answers, scale=scale, queries=queries, judges=judges, weights=weights
        )
        return replace(found, lists=rows.astype(np.int8, order="C"))

    @classmethod
    def from_arrays(
        cls,
        a: ArrayLike,
        b: ArrayLike,
        answers: ArrayLike,
        *,
        scale: Scale | None = None,
        queries: object = None,
        judges: object = None,
        weights: object = None,
        unjudged: UnjudgedRule = "worst",
    ) -> Preferences:
        """Build preferences from two arrays of grades, one per side.

        Parameters
        ----------
        a, b : array-like, shape (n, K)
            Grades from the first rank down, None or NaN where there is none.
        answers : sequence of str or number, shape (n,)
            ``a``, ``b``, ``tie``, ``good`` or ``bad``; or others, as in files.
        scale : Scale, optional
            By default the numbers that occur.
        queries, judges : sequence of str or None, shape (n,), optional
        weights : array-like of float, shape (n,), optional
            1 by default.
        unjudged : {"worst", "drop", "nothing"} or a grade, default "worst"
            As for :func:`dcglearn.read_preferences`.

        Examples
        --------
        >>> data = Preferences.from_arrays(
        ...     [["good", "bad"]], [["bad", None]], ["a"], scale=Scale(("good", "bad"))
        ... )
        >>> data.lists.tolist()
        [[[0, 1], [1, -1]]]
        """
        given = {
            "a": a,
            "b": b,
            "answer": answers,
            "query": queries,
            "judge": judges,
            "weight": weights,
        }
        columns = {name: np.asarray(x, object) for name, x in given.items() if x is not None}
        return cls.from_frame(columns, scale, unjudged=unjudged)

    @classmethod
    def from_frame(
        cls,
        frame: FrameLike,
        scale: ScaleLike | None = None,
        n_ranks: int | None = None,
        **options: Any,
    ) -> Preferences:
        """Build preferences from a frame with one judgment per row.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame, DuckDB relation, pyarrow.Table or mapping
            Its columns are those of files.
        scale, n_ranks, **options
            As for :func:`dcglearn.read_preferences`.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"x": [[2, 0]], "y": [[1, 1]], "won": ["second"]})
        >>> told = {"columns": "a=x,b=y,answer=won", "answers": "first=a,second=b"}
        >>> Preferences.from_frame(frame, **told).to_frame()["answer"].tolist()
        ['b']
        """
        from dcglearn.judgments.read import read_preferences

        return read_preferences(frame, scale, n_ranks, **options)

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with one judgment per row, which :meth:`from_frame` reads.

        Lists have K grades, None for an empty rank.

        Examples
        --------
        >>> data = Preferences.from_arrays([[2, 0]], [[1, None]], ["a"], queries=["q1"])
        >>> data.to_frame()[["query", "a", "b", "answer"]]
          query       a          b answer
        0    q1  [2, 0]  [1, None]      a
        """
        import pandas as pd

        labels = np.array([*self.scale.labels, None], object)  # index -1 is the last: no document
        columns = self.columns()
        lists = {side: labels[columns[side]].tolist() for side in "ab"}
        return pd.DataFrame(columns | lists, dtype=object).astype({"weight": float})

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of files and frames, with lists of grade indices."""
        return {
            "query": self.queries,
            "a": self.lists[:, 0],
            "b": self.lists[:, 1],
            "answer": np.array(ANSWERS, object)[self.answers],
            "weight": self.weights,
            "judge": self.judges,
        }

    def __len__(self) -> int:
        return len(self.answers)

    def __repr__(self) -> str:
        n_queries = query_counts(self.queries)[0]
        queries = counted(n_queries, "query", "queries") if n_queries else "no query ids"
        return (
            f"Preferences({counted(len(self), 'judgment')}, {int(self.strict.sum()):,} strict, "
            f"{queries}, lists of {self.n_ranks}, grades {self.scale})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Preferences):
            return NotImplemented
        return self.scale == other.scale and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in _COLUMNS
        )

    def __getitem__(self, rows: slice | ArrayLike) -> Preferences:
        """Return the judgments of a slice, a mask or row numbers."""
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.ndim != 1:
                raise TypeError("select judgments by a slice, a mask of length n or row numbers")
            rows = rows if len(rows) else rows.astype(np.intp)
        return replace(self, **{name: getattr(self, name)[rows] for name in _COLUMNS})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the fields only, not the derived arrays."""
        return Preferences, tuple(getattr(self, one.name) for one in fields(self))

    @property
    def n_ranks(self) -> int:
        """K, the most ranks of a list."""
        return int(self.lists.shape[2])

    @property
    def n_grades(self) -> int:
        """L, the number of grades on the scale."""
        return len(self.scale)

    @cached_property
    def strict(self) -> Booleans:
        """Which judgments prefer one side, shape (n,)."""
        return _read_only(self.answers <= B)

    @cached_property
    def pairs(self) -> Pairs:
        """The strict judgments, shape (m, 2, K), the preferred list first; read-only."""
        strict = self.lists[self.strict]
        swap_lists(strict, self.answers[self.strict] == B)
        return _read_only(strict)

    @cached_property
    def pair_weights(self) -> Floats:
        """The weights of the strict judgments, shape (m,)."""
        rows = slice(None) if self.strict.all() else self.strict  # a view takes no memory
        return _read_only(self.weights[rows])

    @cached_property
    def pair_groups(self) -> Integers:
        """Numbers of the queries of strict judgments, shape (m,); a missing one is its own."""
        return _read_only(group_numbers(self.queries[self.strict]))


def concatenated(parts: Sequence[Preferences]) -> Preferences:
    """Join sets on one scale; shorter lists get empty ranks at their end."""
    if len(parts) == 1:
        return parts[0]
    scale, n_ranks = parts[0].scale, max(part.n_ranks for part in parts)
    for part in parts:
        if part.scale != scale:
            raise InputError(
                f"the grades {scale} and {part.scale} differ", "declare one `scale` for all files"
            )
    parts = [replace(part, lists=padded(part.lists, n_ranks)) for part in parts]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
    return Preferences(scale=scale, **columns)


def swap_lists(pairs: Pairs, where: Booleans) -> None:
    """Swap the two lists of some pairs, shape (n, 2, K), in place."""
    items = pairs.view(f"V{pairs.strides[1]}")[..., 0]  # of K bytes, several times faster
    rows = np.flatnonzero(where)
    items[rows] = items[rows, ::-1]


def _read_only(array: _Array) -> _Array:
    array.flags.writeable = False
    return array


def check_worth_learning(pairs: Grades, weights: Floats | None) -> None:
    """Refuse pairs (n, 2, K) without weight, of identical lists, or of one grade only."""
    if weights is not None and not weights.all():
        pairs = pairs[weights > 0]
    if not len(pairs):
        problem = "no strict preference has a weight above zero"
        raise InputError(problem, "give at least one answer a or b, with weight")
    if (pairs[:, 0] == pairs[:, 1]).all():
        problem = f"all strict preferences ({len(pairs):,}) are between identical lists"
        raise InputError(problem, "give pairs whose lists differ")
    if pairs.view(f"u{pairs.itemsize}").min() >= pairs.max():  # as which no document is the largest
        raise InputError("only one grade occurs", "judge lists of different grades")


def count_true(found: Booleans) -> int:
    """Return how many are true, as a number that JSON can hold."""
    return int(found.sum())


def group_numbers(groups: ArrayLike) -> Integers:
    """Return numbers (n,) of groups, by first appearance; None or NaN is a group of its own."""
    values = np.asarray(groups).ravel().tolist()
    keys = [object() if one is None or one != one else one for one in values]
    numbers = dict(zip(dict.fromkeys(keys), count(), strict=False))
    return np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))


def query_counts(queries: Ids) -> tuple[int, int]:
    """Return the number of queries, and of judgments without one."""
    ids = queries.tolist()
    return len({*ids} - {None}), ids.count(None)


def query_folds(
    groups: NDArray[np.integer], n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split judgments into folds that keep a query whole, as ``GroupKFold(shuffle=True)`` does.

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        The query of each judgment.
    n_folds : int
        At least 2, at most the number of queries.
    rng : numpy.random.Generator
        Shuffles the queries.

    Yields
    ------
    train, test : ndarrays of int
        Row numbers, ascending.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> for train, test in query_folds(np.array([0, 0, 1, 1]), 2, rng):
    ...     print(train, test)
    [0 1] [2 3]
    [2 3] [0 1]
    """
    queries = np.unique(groups)
    if len(queries) < 2:
        raise InputError(
            "judgments of one query cannot be divided into folds", "judge more than one query"
        )
    checked_count(n_folds, "`n_folds`", 2, len(queries))
    shuffler = np.random.RandomState(int(rng.integers(2**31)))
    for held_out in np.array_split(shuffler.permutation(queries), n_folds):
        in_test = np.isin(groups, held_out)
        yield np.flatnonzero(~in_test), np.flatnonzero(in_test)


_SAMPLE = 20_000


def warn_if_upside_down(pairs: Grades) -> None:
    """Warn if pairs (n, 2, K) prove that their grades are not indices, of which 0 is the best.

    Lists that are as good at each rank, and better at one, then lose more often than by chance, by
    6 standard errors.
    """
    first = pairs[:_SAMPLE, 0]
    second = pairs[:_SAMPLE, 1]
    same_ranks = ((first == NO_DOCUMENT) == (second == NO_DOCUMENT)).all(axis=1)
    rises = (first > second).any(axis=1)
    falls = (first < second).any(axis=1)
    worse = count_true(same_ranks & rises & ~falls)
    compared = count_true(same_ranks & (rises != falls))
    if worse - compared / 2 > 3 * np.sqrt(compared):
        warn_of_input(
            f"grades seem to be upside down: of {compared:,} pairs in which one list is as good at "
            f"every rank, and better at one, the other is preferred in {worse:,}; name the best "
            "grade first in `scale`; arrays hold grade indices, 0 the best, the preferred list "
            "first (values such as 4 for the best become indices by Preferences.from_arrays)"
        )
