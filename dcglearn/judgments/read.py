"""Judgments from files, packed files, frames and arrays.

They are read as codes in little memory, which become arrays in whole or in parts. What a value
means is decided once per distinct value, when all are there: a scale and the words for an answer
are those of the whole input.
"""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError, unknown_name, warn_of_input
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.sources import Readable
from dcglearn.base.types import Ids
from dcglearn.judgments.meaning.answers import (
    LEFT_OUT,
    check_unused,
    given_codes,
    resolve_answers,
)
from dcglearn.judgments.meaning.columns import JUDGMENTS, JUDGMENTS_OF_DOCUMENTS, SHOWN
from dcglearn.judgments.options import (
    GivenMap,
    NullValues,
    ReadOptions,
    UnjudgedRule,
    grade_unjudged,
    unjudged_meaning,
    warn_of_unjudged,
)
from dcglearn.judgments.packed import PackedPairs, is_packed
from dcglearn.judgments.preferences import Preferences, concatenated, count_true
from dcglearn.judgments.reading.documents import DocumentGrades, look_up
from dcglearn.judgments.reading.fields import (
    last_answers,
    one_judgment_per_row,
    one_rater_per_row,
    read_records,
)
from dcglearn.judgments.reading.lists import grade_indices, graded_lists
from dcglearn.measures.scale import ScaleLike

MODEL_BYTES = 2200
"""Memory per judgment that a model of the judgment takes."""


class JudgmentTable:
    """The judgments of files, or of a frame, as codes, which become arrays once."""

    def __init__(
        self,
        path: Readable,
        options: ReadOptions,
        advance: Advance = silent,
    ) -> None:
        fields = JUDGMENTS if options.document_grades is None else JUDGMENTS_OF_DOCUMENTS
        records = read_records(path, fields, options, advance)
        self._rule, self.name = options.unjudged, records.name
        self._without_grade = self._documents = self._unjudged = 0
        if records.found.is_long:
            records = one_judgment_per_row(records)
        if isinstance(records.found.columns.get("answer"), tuple):
            records = one_rater_per_row(records)
        records = last_answers(records)
        self._unknown = [*records.unknown]
        self._ids = {one: records.ids(one) for one in ("query", "judge", *options.keep)}
        about = given_codes(options.answers), records.found.sides
        if not {*SHOWN} & {*records.columns}:
            check_unused(records.unknown, records.columns["answer"], *about, self.name)
        lists = {side: records.column(side) for side in "ab"}
        if options.document_grades is not None:
            lists, self._documents, self._unjudged = look_up(
                records, options.document_grades, options
            )
        found = resolve_answers(records.columns, records.place, *about)
        codes, weights = np.array(found.values).T
        self._codes, self._weights = codes.astype(np.int8)[found.codes], weights[found.codes]
        self._weights *= records.weights()
        self._left_out = count_true(self._codes == LEFT_OUT)
        if self._left_out:
            warn_of_input(f"judgments left out for their answers: {self._left_out}")
        self._lists, self.scale = graded_lists(lists, options, self.name, records.place)

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the coded lists take."""
        return self._lists.codes.nbytes

    def preferences(self, bytes_each: int = 0, advance: Advance = silent) -> Preferences:
        """Return the judgments as arrays; arguments are for packed ones, which are read here."""
        (found,) = self.batches(len(self))
        return found

    def batches(self, size: int = 1 << 19) -> Iterator[Preferences]:
        """Iterate over the judgments in order, half a million at a time."""
        for first in range(0, len(self), size):
            rows = slice(first, first + size)
            lists = grade_indices(self._lists.take(rows))
            lists, without = grade_unjudged(lists, self.scale, self._rule)
            self._without_grade += without
            ids = (self._ids[name].take(rows).decoded() for name in ("query", "judge"))
            shown = self._codes[rows], self.scale, self._weights[rows]
            judgments, kept = Preferences(lists, *shown, *ids), shown[0] != LEFT_OUT
            yield judgments if kept.all() else judgments[kept]
        if self._without_grade:
            warn_of_unjudged(self._without_grade, self._rule, self.scale)

    def kept(self, name: str) -> Ids:
        """Return a column that was kept, for the judgments that are not left out."""
        return self._ids[name].take(self._codes != LEFT_OUT).decoded()

    def counts(self) -> dict[str, Any]:
        """Return what was left out, looked up and ignored, as numbers."""
        words = unjudged_meaning(self._rule, self.scale)[1]
        return {
            "judgments_left_out": self._left_out,
            "documents_without_grade": self._without_grade,
            "counted_as": words if self._without_grade else None,
            "looked_up": {
                "documents": self._documents,
                "unjudged": self._unjudged,
                "counted_as": words if self._unjudged else None,
            }
            if self._documents
            else None,
            "ignored_columns": self._unknown,
        }


def read_preferences(
    path: Readable,
    scale: ScaleLike | None = None,
    n_ranks: int | None = None,
    advance: Advance = silent,
    *,
    columns: GivenMap | None = None,
    answers: GivenMap | None = None,
    unjudged: UnjudgedRule = "worst",
    null_values: NullValues = (),
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
        scale,
        n_ranks,
        columns,
        answers,
        unjudged,
        null_values,
        strict,
        encoding,
        documents,
        document_grades,
    )
    return open_judgments(path, options, advance).preferences(advance=advance)


def read_groups(
    path: Any, by: str | None = None, advance: Advance = silent, **reading: Any
) -> tuple[Preferences, Ids]:
    """Read judgments, and the group of each, for :func:`~dcglearn.compare_segments`.

    Parameters
    ----------
    path : path-like, open file, list of these, or a frame
        As for :func:`read_preferences`.
    by : str, optional
        The field or column that names groups; by default there are two groups, the judgments of
        the first file and those of the others.
    advance : callable, optional
        Called with (judgments read, 0).
    **reading
        Further arguments of :func:`read_preferences`.

    Returns
    -------
    Preferences
    ndarray of object, shape (n,)
        The group of each judgment.

    Examples
    --------
    >>> frame = {"a": [[2], [0]], "b": [[1], [1]], "answer": ["a", "b"], "week": [1, 2]}
    >>> judged, weeks = read_groups(frame, by="week")
    >>> weeks.tolist()
    ['1', '2']
    """
    if by is None:
        if not isinstance(path, list | tuple) or len(path) < 2:
            raise InputError("one file without a field", "name a field in `by`, or several files")
        options = ReadOptions(**reading)
        each = (open_judgments(one, options, advance) for one in path)
        parts = [one.preferences(bytes_each=MODEL_BYTES) for one in each]
        names = [str(path[0]), "the other files" if len(parts) > 2 else str(path[1])]
        sizes = len(parts[0]), sum(map(len, parts[1:]))
        return concatenated(parts), np.repeat(np.array(names, object), sizes)
    ids = ("query", "judge")
    options = ReadOptions(**reading, keep=() if by in ids else (by,))
    opened = open_judgments(path, options, advance)
    data = opened.preferences(bytes_each=MODEL_BYTES)
    if isinstance(opened, JudgmentTable):
        groups = opened.kept(by)
    elif by in ids:
        groups = data.columns()[by]
    else:
        raise unknown_name("field", by, ids)
    if not groups.any():
        raise InputError(f"no judgment has a {by}", "name another field: `by`")
    return data, groups


def open_judgments(
    path: Readable, options: ReadOptions, advance: Advance
) -> JudgmentTable | PackedPairs:
    """Read judgments as codes; packed ones, to which no option applies, stay in their files."""
    places: list[Any] = [*path] if isinstance(path, list | tuple) else [path]
    packed = [isinstance(one, str | os.PathLike) and is_packed(one) for one in places]
    if not any(packed):
        return JudgmentTable(path, options, advance)
    if not all(packed):
        other = str(places[packed.index(False)])
        remedy = "name packed judgments alone, or pack these"
        raise InputError("is not packed, and other files are", remedy, other)
    for name, value in vars(options).items():
        if name != "keep" and value != getattr(ReadOptions, name):
            problem = f"`{name}` does not apply to packed pairs"
            raise InputError(problem, "leave it out", str(places[0]))
    return PackedPairs.of(places)
