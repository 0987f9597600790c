"""Preferences: judgments of which of two rankings is better, as arrays.

Judgments keep the order and the sides in which they were given, ties included. What learning uses
is derived: the strict judgments as pairs of shape (n, 2, K), the preferred ranking first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats, Ids, Integers, Pairs
from dcglearn.judgments.meaning.given_maps import GivenMap
from dcglearn.judgments.meaning.judgment_fields import ANSWERS
from dcglearn.judgments.meaning.unjudged_documents import UnjudgedRule
from dcglearn.judgments.pair_checks import check_worth_learning
from dcglearn.judgments.preferred_first import put_preferred_first
from dcglearn.judgments.query_groups import group_numbers, query_counts
from dcglearn.measures.scale import Scale, ScaleLike, as_scale

if TYPE_CHECKING:
    import pandas as pd

_Scalar = TypeVar("_Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False, repr=False)
class Preferences:
    """Side-by-side judgments of rankings.

    Build them with :meth:`from_frame`, :meth:`from_arrays` or :meth:`of`, which check their
    input, or read a file with :func:`~dcglearn.judgments.reading.judgment_files.read_preferences`. A mask, a
    slice or row numbers select judgments: ``data[data.strict]``. The arrays are read-only.

    Parameters
    ----------
    lists : ndarray of int8, shape (n, 2, K)
        Grade indices of the lists shown as a and as b, -1 for no document.
    answers : ndarray of int8, shape (n,)
        Index into :data:`~dcglearn.judgments.meaning.judgment_fields.ANSWERS`.
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
        for name in ("lists", "answers", "weights", "queries", "judges"):
            object.__setattr__(self, name, _read_only(getattr(self, name).view()))

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
        """Build preferences from one array of grade indices.

        Parameters
        ----------
        lists : array-like of int, shape (n, 2, K)
            Grade indices, 0 the best, -1 for no document.
        answers : sequence of str, shape (n,)
            ``a``, ``b``, ``tie``, ``good`` or ``bad``.
        scale : Scale
            The grades, best first.
        weights : array-like of float, shape (n,), optional
            How much each judgment counts; 1 by default.
        queries, judges : sequence of str or None, shape (n,), optional
            Ids; None by default.

        Returns
        -------
        Preferences

        Raises
        ------
        InputError
            If shapes differ, an answer is unknown, a grade index is off the scale, or a
            weight is negative or not finite.

        Examples
        --------
        >>> lists = [[[0, 1], [1, 1]], [[1, 0], [0, 0]]]
        >>> Preferences.of(lists, ["a", "b"], Scale((1, 0))).pairs.tolist()
        [[[0, 1], [1, 1]], [[0, 0], [1, 0]]]
        """
        return cls(**vars(checked_arrays(lists, answers, scale, weights, queries, judges)))

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
        indices: bool = False,
        unjudged: UnjudgedRule = "worst",
    ) -> Preferences:
        """Build preferences from two arrays of grades, one per side.

        Parameters
        ----------
        a, b : array-like, shape (n, K)
            The grades of each list from the first rank down, as people write them: numbers or
            names on the scale. None or NaN where a document has no grade, and below the end of a
            list.
        answers : sequence of str or number, shape (n,)
            ``a``, ``b``, ``tie``, ``good`` or ``bad``; or what is known by itself, such as 1, 0 and
            -1 (:mod:`dcglearn.judgments.meaning.answer_values`).
        scale : Scale, optional
            The grades, best first. By default the numbers that occur, the highest first; names
            and grade indices need a scale.
        queries, judges : sequence of str or None, shape (n,), optional
            Ids; None by default.
        weights : array-like of float, shape (n,), optional
            How much each judgment counts; 1 by default.
        indices : bool, default False
            Whether `a` and `b` hold grade indices, 0 the best and -1 for no document, instead of
            grades.
        unjudged : {"worst", "drop", "nothing"} or a grade, default "worst"
            What None or NaN within a list counts as, above its last grade. Grade indices of -1 are
            empty ranks.

        Returns
        -------
        Preferences

        Raises
        ------
        InputError
            If shapes differ, a grade is off the scale, -1 occurs without a scale (it could be a
            grade or an empty rank), or as :meth:`of`.

        Examples
        --------
        >>> data = Preferences.from_arrays(
        ...     [["good", "bad"]], [["bad", None]], ["a"], scale=Scale(("good", "bad"))
        ... )
        >>> data.lists.tolist()
        [[[0, 1], [1, -1]]]
        """
        from dcglearn.judgments.read import preferences_of_arrays

        return preferences_of_arrays(
            a, b, answers, scale, queries, judges, weights, indices, unjudged
        )

    @classmethod
    def from_frame(
        cls,
        frame: FrameLike,
        scale: ScaleLike | None = None,
        n_ranks: int | None = None,
        *,
        columns: GivenMap | None = None,
        answers: GivenMap | None = None,
        unjudged: UnjudgedRule = "worst",
        missing: str | float | Sequence[str | float] = (),
        strict: bool = False,
    ) -> Preferences:
        """Build preferences from a frame with one judgment per row.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame, DuckDB relation, pyarrow.Table or mapping
            Or anything else that gives its columns to Arrow, or is collected to such a frame.
            Columns ``a``, ``b`` (each cell a list of grades from the first rank down, or its
            text) and ``answer``; optionally ``query``, ``weight`` and ``judge``; or others, by
            well-known names or as `columns` says. A list may be spread over columns: ``a1``,
            ``a2``, ...
        scale : Scale, str or sequence of labels, optional
            The grades, best first. By default the numbers that occur, the highest first; names
            need a scale.
        n_ranks : int, optional
            K: longer lists are refused. By default the longest list sets it.
        columns : mapping or str, optional
            From fields to columns, such as ``{"a": "left", "b": "right"}`` or ``"a=left,b=right"``
            (:func:`~dcglearn.judgments.meaning.column_names.resolve_columns`).
        answers : mapping or str, optional
            From values to answers, such as ``"left=a,right=b,same=tie"``
            (:func:`~dcglearn.judgments.meaning.answer_values.resolve_answers`).
        unjudged : {"worst", "drop", "nothing"} or a grade, default "worst"
            What None within a list counts as, above its last grade
            (:func:`~dcglearn.judgments.meaning.unjudged_documents.grade_unjudged`).
        strict : bool, default False
            Whether columns that are no field are refused. By default they are named in a warning.

        Returns
        -------
        Preferences

        Raises
        ------
        InputError
            Naming the row: a column is missing, a cell cannot be used, or an answer could mean
            several things.

        Warns
        -----
        InputWarning
            For what is taken without being told.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"a": [[2, 0], [1]], "b": [[1, 1], [0]], "answer": ["a", "tie"]})
        >>> Preferences.from_frame(frame)
        Preferences(2 judgments, 1 strict, no query ids, lists of 2, grades 2 > 1 > 0)
        >>> other = pd.DataFrame({"x": [[2, 0]], "y": [[1, 1]], "won": ["second"]})
        >>> told = {"columns": "a=x,b=y,answer=won", "answers": "first=a,second=b"}
        >>> Preferences.from_frame(other, **told).to_frame()["answer"].tolist()
        ['b']
        """
        from dcglearn.judgments.read import read_preferences

        return read_preferences(
            frame,
            scale,
            n_ranks,
            columns=columns,
            answers=answers,
            unjudged=unjudged,
            missing=missing,
            strict=strict,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the judgments as a pandas frame, one per row.

        Returns
        -------
        pandas.DataFrame
            Columns ``query``, ``a``, ``b``, ``answer``, ``weight`` and ``judge``. The cells of
            ``a`` and ``b`` are lists of K grades, None for an empty rank.
            ``Preferences.from_frame(frame, data.scale)`` gives equal preferences again.

        Examples
        --------
        >>> data = Preferences.from_arrays([[2, 0]], [[1, None]], ["a"], queries=["q1"])
        >>> data.to_frame()[["query", "a", "b", "answer"]]
          query       a          b answer
        0    q1  [2, 0]  [1, None]      a
        """
        labels = (*self.scale.labels, None)  # index -1 is the last: no document
        a, b = (
            [[labels[grade] for grade in row] for row in self.lists[:, side].tolist()]
            for side in (0, 1)
        )
        return frame_of_columns(
            {
                "query": self.queries.tolist(),
                "a": a,
                "b": b,
                "answer": [ANSWERS[code] for code in self.answers.tolist()],
                "weight": self.weights.tolist(),
                "judge": self.judges.tolist(),
            }
        )

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
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("lists", "answers", "weights", "queries", "judges")
        )

    __hash__ = None  # type: ignore[assignment]  # arrays are compared by their content

    def __getitem__(self, rows: slice | ArrayLike) -> Preferences:
        """Return the selected judgments, in that order: a slice, a mask or row numbers."""
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.ndim != 1:
                raise TypeError("select judgments by a slice, a mask of length n or row numbers")
            if not len(rows):
                rows = rows.astype(np.intp)
        return Preferences(
            self.lists[rows],
            self.answers[rows],
            self.scale,
            self.weights[rows],
            self.queries[rows],
            self.judges[rows],
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the fields only, not the derived arrays."""
        return Preferences, tuple(getattr(self, one.name) for one in fields(self))

    @property
    def n_ranks(self) -> int:
        """K, the length of the longest list the arrays can hold."""
        return int(self.lists.shape[2])

    @property
    def n_grades(self) -> int:
        """L, the number of grades on the scale."""
        return len(self.scale)

    @cached_property
    def strict(self) -> NDArray[np.bool_]:
        """Which judgments prefer one side, shape (n,)."""
        return _read_only(self.answers <= ANSWERS.index("b"))

    @cached_property
    def pairs(self) -> Pairs:
        """The strict judgments, shape (m, 2, K), the preferred list first.

        Built at the first access and kept; read-only.
        """
        strict = self.lists[self.strict]
        put_preferred_first(strict, self.answers[self.strict] == ANSWERS.index("b"))
        return _read_only(strict)

    @cached_property
    def pair_weights(self) -> Floats:
        """The weights of the strict judgments, shape (m,)."""
        if self.strict.all():
            return self.weights
        return _read_only(self.weights[self.strict])

    @cached_property
    def pair_groups(self) -> Integers:
        """A number for the query of each strict judgment, shape (m,).

        Numbers follow first appearance; a judgment without a query is a group of its own.
        """
        return _read_only(group_numbers(self.queries[self.strict]))

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer] | Sequence[int]) -> Preferences:
        """Return the judgments of the given rows, in that order; the same as ``data[rows]``.

        Parameters
        ----------
        rows : ndarray of bool, shape (n,), or of int
            A mask, or row numbers.

        Returns
        -------
        Preferences
        """
        return self[rows]

    def check_strict(self) -> None:
        """Refuse judgments from which nothing can be learned.

        Raises
        ------
        InputError
            As :func:`~dcglearn.judgments.pair_checks.check_worth_learning`.
        """
        check_worth_learning(self.pairs, self.pair_weights, self.scale)


def _read_only(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    array.flags.writeable = False
    return array
