"""Judgments from files, packed files, frames and arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import Column, column_of
from dcglearn.base.tables.frames import FrameLike
from dcglearn.base.tables.places import Place
from dcglearn.judgments.meaning.cells import GivenMap
from dcglearn.judgments.meaning.columns import JUDGMENTS, ColumnMap
from dcglearn.judgments.meaning.unjudged import UnjudgedRule
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.packed import PackedPairs, is_packed
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.reading.documents import DocumentGrades
from dcglearn.judgments.reading.fields import Records
from dcglearn.judgments.reading.judgments import JudgmentTable
from dcglearn.measures.scale import NO_DOCUMENT, Scale, ScaleLike


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
        return JudgmentTable.read(path, options, advance).preferences()
    for name, value in vars(options).items():
        if value != getattr(ReadOptions(), name):
            problem = f"`{name}` does not apply to packed pairs"
            raise InputError(problem, "leave it out", str(packed[0]))
    return PackedPairs.of(packed).preferences(advance=advance)


def packed_paths(path: Any) -> list[Any] | None:
    """Return the places of packed judgments, None if they are not packed."""
    places = path if isinstance(path, list | tuple) else [path]
    named = [one for one in places if isinstance(one, str | os.PathLike) and one != "-"]
    if not named or len(named) < len(places) or not any(map(is_packed, named)):
        return None
    for one in named:
        if not is_packed(one):
            remedy = "name packed judgments alone, or pack these"
            raise InputError("is not packed, and other files are", remedy, os.fspath(one))
    return list(named)


def preferences_of_arrays(
    a: ArrayLike,
    b: ArrayLike,
    answers: ArrayLike,
    scale: Scale | None = None,
    queries: Any = None,
    judges: Any = None,
    weights: Any = None,
    indices: bool = False,
    unjudged: UnjudgedRule = "worst",
) -> Preferences:
    """Return judgments from two arrays of grades, or of grade indices, of shape (n, K)."""
    if indices and scale is None:
        raise InputError("grade indices without a scale", "give `scale`, best grade first")
    given = {"answer": answers, "weight": weights, "query": queries, "judge": judges}
    columns = {
        name: column_of(np.asarray(held, object))
        for name, held in given.items()
        if held is not None
    }
    for side, held in (("a", a), ("b", b)):
        columns[side] = _lists(held, side, scale if indices else None)
    rows = len(columns["a"])
    for name, column in columns.items():
        if len(column) != rows:
            problem = (
                f"{counted(rows, 'pair')} of lists, and {counted(len(column), 'value')} of {name}"
            )
            raise InputError(problem, "give one value per pair")
    if "weight" in columns and (columns["weight"].codes < 0).any():
        row = int(np.argmin(columns["weight"].codes))
        raise InputError("the weight is missing", "give one per pair", row_place(row))
    records = Records(columns, rows, ColumnMap({}, (), (), JUDGMENTS), row_place, {})
    options = ReadOptions(scale=scale, unjudged="nothing" if indices else unjudged)
    return JudgmentTable(records, options, may_be_empty=indices).preferences()


def row_place(row: int) -> str:
    """Return the place of a row of arrays."""
    return f"row {row + 1}"


def _lists(values: ArrayLike, side: str, scale: Scale | None) -> Column:
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.zeros(0)
    if array.ndim != 2:
        problem = f"{side} is not an array of shape (n, K)"
        raise InputError(problem, "fill short lists up with None")
    if scale is None:
        column = column_of(array.ravel())
        return Column(column.codes.reshape(array.shape), column.values)
    if array.dtype.kind not in "iu":
        raise InputError(f"grade indices of {side} are {array.dtype}", "give integers")
    wrong = ((array < NO_DOCUMENT) | (array >= len(scale))).any(axis=1)
    if wrong.any():
        problem = f"a grade index of {side} is off the scale"
        remedy = f"use -1 ... {len(scale) - 1}"
        raise InputError(problem, remedy, row_place(int(np.argmax(wrong))))
    return Column(array.astype(np.int32), list(scale.labels))
