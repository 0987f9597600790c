"""Judgments from files, packed files, frames and arrays.

They are read as codes in little memory, which become arrays in whole or in parts. What a value
means is decided once per distinct value, when all are there: a scale and the words for an answer
are those of the whole input.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import Column
from dcglearn.base.tables.places import Place
from dcglearn.base.tables.sources import FrameLike
from dcglearn.base.types import Ids, Pairs
from dcglearn.judgments.meaning.answers import (
    LEFT_OUT,
    AnswerMap,
    answers_in_lists,
    check_unused,
    resolve_answers,
    shown_answers,
)
from dcglearn.judgments.meaning.cells import GivenMap, UnmappedValueError
from dcglearn.judgments.meaning.columns import JUDGMENTS, JUDGMENTS_OF_DOCUMENTS, SHOWN
from dcglearn.judgments.meaning.unjudged import (
    WITHOUT_GRADE,
    UnjudgedRule,
    grade_unjudged,
    unjudged_meaning,
    warn_of_unjudged,
)
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.packed import PackedPairs, is_packed
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.reading.documents import DocumentGrades, DocumentLookup
from dcglearn.judgments.reading.fields import (
    one_judgment_per_row,
    one_rater_per_row,
    read_records,
)
from dcglearn.judgments.reading.lists import GradedLists
from dcglearn.measures.scale import ScaleLike


class JudgmentTable:
    """The judgments of files, or of a frame, as codes."""

    def __init__(
        self,
        path: Place | Iterable[Place] | FrameLike,
        options: ReadOptions,
        advance: Advance = silent,
    ) -> None:
        fields = JUDGMENTS if options.document_grades is None else JUDGMENTS_OF_DOCUMENTS
        records = read_records(path, fields, options, advance)
        self.options, self.name = options, records.name
        self._ignored = list(records.unknown)
        self._empty_raters = self._without_grade = self._left_out = 0
        if records.found.is_long:
            records = one_judgment_per_row(records)
        if isinstance(records.found.columns.get("answer"), tuple):
            records, self._empty_raters = one_rater_per_row(records)
        self._records = records
        self._ids = {one: records.ids(one) for one in ("query", "judge", *options.keep)}
        self._weights = records.weights()
        said = [one for one in ("answer", *SHOWN, "run_a", "run_b") if one in records.columns]
        self._answers = shown_answers({one: records.column(one) for one in said})
        if not {*SHOWN} & {*said}:
            sides = records.found.sides
            check_unused(records.unknown, self._answers.values, sides, options.answers, self.name)
        self._lookup: DocumentLookup | None = None
        if options.document_grades is not None:
            grades = options.document_grades
            self._lookup = DocumentLookup(grades, options.n_ranks, options.unjudged)
            lists = self._lookup.lists(records)
        else:
            lists = {side: records.column(side) for side in "ab"}
        self._meanings = self._answer_map()
        self._lists = GradedLists(lists, options, self.name, records.place)
        self.scale = self._lists.scale

    def __len__(self) -> int:
        return self._records.rows

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the coded judgments take."""
        return sum(column.codes.nbytes for column in self._records.columns.values())

    def preferences(self) -> Preferences:
        """Return the judgments as arrays."""
        found = self._part(slice(0, len(self)))
        self._warn_of_rules()
        return found

    def batches(self, rows: int = 1 << 19) -> Iterator[Preferences]:
        """Iterate over the judgments in order, so many at a time."""
        for first in range(0, len(self), rows):
            yield self._part(slice(first, first + rows))
        self._warn_of_rules()

    def kept(self, name: str) -> Ids:
        """Return a column that was kept, for the judgments that are not left out."""
        answers = np.array(self._meanings.codes)[self._answers.codes]
        found: Ids = self._ids[name].decoded()[answers != LEFT_OUT]
        return found

    def counts(self) -> dict[str, Any]:
        """Return what was left out, looked up and ignored, as numbers."""
        words = unjudged_meaning(self.options.unjudged, self.scale)[1]
        return {
            "judgments_left_out": self._left_out,
            "documents_without_grade": self._without_grade,
            "counted_as": words if self._without_grade else None,
            "looked_up": None if self._lookup is None else self._lookup.counts(),
            "ignored_columns": self._ignored,
        }

    def _answer_map(self) -> AnswerMap:
        given, sides = self.options.answers, self._records.found.sides
        try:
            texts = answers_in_lists(self._answers.values, sides, given)
            found = resolve_answers(texts, given, sides, "weight" in self._records.columns)
        except UnmappedValueError as error:
            row = int(np.argmax(self._answers.codes == error.position))
            raise error.at(self._records.place(row)) from error
        for line in found.notes:
            warn_of_input(line)
        return found

    def _part(self, rows: slice) -> Preferences:

        def ids(name: str) -> Ids:
            return Column(self._ids[name].codes[rows], self._ids[name].values).decoded()

        lists = self._lists.indices(rows)
        if self.options.documents:
            self._check_rankings(lists, rows.start)
        lists, without = grade_unjudged(lists, self.scale, self.options.unjudged)
        self._without_grade += without
        answers = self._answers.codes[rows]
        codes = np.array(self._meanings.codes, np.int8)[answers]
        weights = self._weights[rows] * np.array(self._meanings.weights)[answers]
        judgments = Preferences(lists, codes, self.scale, weights, ids("query"), ids("judge"))
        kept = codes != LEFT_OUT
        self._left_out += int(np.count_nonzero(~kept))
        return judgments if kept.all() else judgments[kept]

    def _warn_of_rules(self) -> None:
        if self._without_grade:
            warn_of_unjudged(WITHOUT_GRADE, self._without_grade, self.options.unjudged, self.scale)
        if self._left_out:
            warn_of_input(f"judgments left out for their answers: {self._left_out}")
        if self._empty_raters:
            warn_of_input(f"empty answers of raters left out: {self._empty_raters}")
        if self._lookup is not None:
            self._lookup.warn_of_unjudged()

    def _check_rankings(self, lists: Pairs, first: int) -> None:
        whole = np.arange(lists.shape[2])
        wrong = (np.sort(lists, axis=2) != whole).any(axis=2) | (len(whole) != len(self.scale))
        if wrong.any():
            row, side = np.argwhere(wrong)[0].tolist()
            problem = f"is not a ranking of all {len(self.scale)} documents"
            where = f'{self._records.place(first + row)}, "{"ab"[side]}"'
            raise InputError(problem, "rank each of them once", where)


def read_preferences(
    path: Place | Iterable[Place] | FrameLike,
    scale: ScaleLike | None = None,
    n_ranks: int | None = None,
    advance: Advance = silent,
    *,
    columns: GivenMap | None = None,
    answers: GivenMap | None = None,
    unjudged: UnjudgedRule = "worst",
    null_values: str | float | Sequence[str | float] = (),
    strict: bool = False,
    encoding: str = "utf-8",
    documents: bool = False,
    document_grades: DocumentGrades | None = None,
) -> Preferences:
    """Read judgments; an :class:`InputWarning` says what was taken without being told.

    Parameters
    ----------
    path : path-like, open file, or iterable of these, or a frame
        Files of JSON, CSV, Parquet, Arrow or Excel, also compressed; patterns, folders, and ``-``
        for standard input; packed judgments; or a frame of pandas or polars, a table of Arrow, or
        a mapping from names to columns.
    scale : Scale, sequence of labels, or str, optional
        The grades, best first; by default the numbers that occur.
    n_ranks : int, optional
        K; by default the length of the longest list. Longer lists are refused; of a run, the first
        K documents were shown.
    advance : callable, optional
        Called with (judgments read, 0).
    columns : mapping or str, optional
        From fields to columns, such as ``a=left,b=right,answer=verdict``; several raters' answers
        are joined (``answer=ann+bob``), and ``ignore=name`` leaves columns out.
    answers : mapping or str, optional
        What answers mean, such as ``new=b,old=a,same=tie``; ``skip=out`` leaves judgments out.
    unjudged : str, int or float, default "worst"
        What a document without a grade counts as: ``worst``, ``drop``, ``nothing``, or a grade;
        ``=drop`` is a grade of that name.
    null_values : str, int, float, or sequence of these, optional
        What lists hold where a document has no grade, such as -1, besides null.
    strict : bool, default False
        Whether unknown columns are refused. By default a note names them.
    encoding : str, default "utf-8"
        The encoding of text; UTF-16 is recognised by its byte order mark.
    documents : bool, default False
        Whether lists rank all documents of a set, which have no grades.
    document_grades : DocumentGrades, optional
        The grades of documents, where lists hold ids or judgments name runs.

    Returns
    -------
    Preferences

    Raises
    ------
    InputError
        Naming the file and the line or row, what is wrong and what to do.

    Examples
    --------
    >>> read_preferences({"a": [[2, 0]], "b": [[1, 1]], "answer": ["a"]})
    Preferences(1 judgment, 1 strict, no query ids, lists of 2, grades 2 > 1 > 0)
    """
    options = ReadOptions(
        scale, n_ranks, columns, answers, unjudged, null_values, strict, encoding, documents,
        document_grades,
    )  # fmt: skip
    packed = packed_paths(path)
    if packed is None:
        return JudgmentTable(path, options, advance).preferences()
    for name, value in vars(options).items():
        if value != getattr(ReadOptions(), name):
            problem = f"`{name}` does not apply to packed pairs"
            raise InputError(problem, "leave it out", str(packed[0]))
    return PackedPairs.of(packed).preferences(advance=advance)


def packed_paths(path: Any) -> list[Any] | None:
    """Return the places of packed judgments, None if they are not packed."""
    places = path if isinstance(path, list | tuple) else [path]
    named = [one for one in places if isinstance(one, str | os.PathLike) and one != "-"]
    packed = list(map(is_packed, named))
    if len(named) < len(places) or not any(packed):
        return None
    if not all(packed):
        other = os.fspath(named[packed.index(False)])
        remedy = "name packed judgments alone, or pack these"
        raise InputError("is not packed, and other files are", remedy, other)
    return named
