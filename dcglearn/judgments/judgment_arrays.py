"""Judgments as arrays, checked: the columns of :class:`~dcglearn.judgments.preferences.Preferences`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats, Ids, Pairs
from dcglearn.judgments.coded_cells import coded_values, first_place, without_missing
from dcglearn.judgments.meaning.answer_values import resolve_answers
from dcglearn.judgments.meaning.given_maps import GivenMap, UnmappedValueError
from dcglearn.judgments.meaning.judgment_fields import (
    ANSWERS,
    LARGEST_WEIGHT,
    parse_answer,
    parse_id,
    parse_weight,
)
from dcglearn.judgments.meaning.unjudged_documents import (
    UnjudgedRule,
    grade_unjudged,
    unjudged_words,
)
from dcglearn.judgments.rankings import encode_arrays
from dcglearn.measures.scale import NO_DOCUMENT, Scale


@dataclass(frozen=True)
class JudgmentArrays:
    """The columns of judgments, one row per judgment.

    Attributes
    ----------
    lists : ndarray of int8, shape (n, 2, K)
    answers : ndarray of int8, shape (n,)
    scale : Scale
    weights : ndarray of float, shape (n,)
    queries, judges : ndarray of object, shape (n,)
    """

    lists: Pairs
    answers: NDArray[np.int8]
    scale: Scale
    weights: Floats
    queries: Ids
    judges: Ids


def checked_arrays(
    lists: object,
    answers: object,
    scale: Scale,
    weights: object = None,
    queries: object = None,
    judges: object = None,
) -> JudgmentArrays:
    """Check arrays of judgments.

    Parameters
    ----------
    lists, answers, scale, weights, queries, judges
        As those of :meth:`dcglearn.judgments.preferences.Preferences.of`.

    Returns
    -------
    JudgmentArrays

    Raises
    ------
    InputError
        If shapes differ, an answer is unknown, a grade index is off the scale, or a weight is
        negative or not finite.
    """
    rows = np.asarray(lists)
    if rows.ndim != 3 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise InputError(f"lists of shape {rows.shape} and {rows.dtype}", "give ints (n, 2, K)")
    if rows.size and not (rows.min() >= NO_DOCUMENT and rows.max() < len(scale)):
        raise InputError("a grade index is off the scale", f"use -1 ... {len(scale) - 1}")
    codes = np.array([parse_answer(one) for one in np.asarray(answers, object).ravel()], np.int8)
    n = len(rows)
    weight = np.ones(n) if weights is None else np.array(weights, float)
    wrong = ~((weight >= 0) & (weight <= LARGEST_WEIGHT)).ravel()
    if wrong.any():
        parse_weight(weight.ravel()[wrong].tolist()[0], f"row {int(wrong.argmax())}")
    columns: list[Ids] = [
        np.full(n, None, object) if ids is None else np.array(ids, object)
        for ids in (_parse_ids(queries, "query"), _parse_ids(judges, "judge"))
    ]
    if len(codes) != n or any(part.shape != (n,) for part in (weight, *columns)):
        raise InputError(
            f"{counted(n, 'pair')} of lists, but not {n} of each other column",
            "give one value per pair",
        )
    return JudgmentArrays(rows.astype(np.int8), codes, scale, weight, *columns)


def arrays_of_labels(
    a: ArrayLike,
    b: ArrayLike,
    answers: ArrayLike,
    scale: Scale | None,
    indices: bool,
    unjudged: UnjudgedRule,
    weighted: bool,
) -> tuple[Pairs, list[str], Scale, Floats]:
    """Return lists of labels as grade indices, with the answers about them.

    Parameters
    ----------
    a, b, answers, scale, indices, unjudged
        As those of :meth:`dcglearn.judgments.preferences.Preferences.from_arrays`.
    weighted : bool
        Whether judgments have weights of their own.

    Returns
    -------
    lists : ndarray of int, shape (n, 2, K)
    answers : list of str
    scale : Scale
    weights : ndarray of float, shape (n,)
        That follow from the answers.

    Raises
    ------
    InputError
        If shapes differ, a grade is off the scale, there is no scale for names or grade indices, or
        an answer could mean several things.
    """
    if indices:
        if scale is None:
            raise InputError("grade indices without a scale", "give `scale`, best grade first")
        first, second = np.asarray(a), np.asarray(b)
    else:
        first, second, scale = encode_arrays(a, b, scale)
    if first.ndim != 2 or first.shape != second.shape:
        raise InputError(
            f"lists of shapes {first.shape} and {second.shape}", "give two arrays of (n, K)"
        )
    codes, sizes = answer_codes(np.asarray(answers, object).ravel().tolist(), weighted)
    lists = np.stack([first, second], axis=1)
    if not indices:
        lists = grade_unjudged_and_say(lists, scale, unjudged)
    return lists, [ANSWERS[code] for code in codes.tolist()], scale, sizes


def grade_unjudged_and_say(lists: Pairs, scale: Scale, rule: UnjudgedRule) -> Pairs:
    """Apply a rule to the documents without a grade, and say how many there are.

    Parameters
    ----------
    lists, scale, rule
        As those of :func:`~dcglearn.judgments.meaning.unjudged_documents.grade_unjudged`.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
    """
    graded, count, words = grade_unjudged(lists, scale, rule)
    say([unjudged_words(count, words)] if count else [])
    return graded


def answer_codes(
    values: list[Any],
    weighted: bool = False,
    given: GivenMap | None = None,
    sides: tuple[str, str] = ("a", "b"),
) -> tuple[NDArray[np.int8], Floats]:
    """Return the codes of answers, and how much each counts.

    Parameters
    ----------
    values : list
        One per judgment.
    weighted, given, sides
        As those of :func:`~dcglearn.judgments.meaning.answer_values.resolve_answers`.

    Returns
    -------
    codes : ndarray of int8, shape (n,)
        Indices into :data:`~dcglearn.judgments.meaning.judgment_fields.ANSWERS`; -1 for one that is left out.
    weights : ndarray of float, shape (n,)

    Raises
    ------
    InputError
        Naming the row (the first is row 1).
    """
    try:
        codes, distinct = coded_values(without_missing(values))
    except TypeError as error:
        raise InputError("an answer is a list", "give one value per judgment") from error
    try:
        meanings = resolve_answers(distinct, given, sides, weighted)
    except UnmappedValueError as error:
        raise error.at(first_place(codes, error.position)) from error
    say(meanings.notes)
    return np.array(meanings.codes, np.int8)[codes], np.array(meanings.weights, float)[codes]


def left_out_words(count: int) -> tuple[str, ...]:
    """Return what is said about judgments that are left out, if some are.

    Parameters
    ----------
    count : int

    Returns
    -------
    tuple of str
    """
    if count == 1:
        return ("1 judgment is left out for its answer",)
    return (f"{count:,} judgments are left out for their answers",) if count else ()


def say(notes: Iterable[str]) -> None:
    """Warn of what is taken without being told.

    Parameters
    ----------
    notes : iterable of str
        One line each.
    """
    for note in notes:
        warn_of_input(note)


def _parse_ids(ids: Any, name: str) -> list[str | None] | None:
    if ids is None:
        return None
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    return [parse_id(value, name) for value in values]
