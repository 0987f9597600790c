"""Documents without a grade inside lists, as opposed to the empty ranks below a list's end.

A ``null`` above the last document of a list is a document that nobody judged. Which grade it counts
as is a rule, as for the documents that qrels lack (:mod:`dcglearn.evaluation.rules`).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.types import Pairs
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

UnjudgedRule: TypeAlias = Literal["worst", "drop", "removed", "nothing"] | Label
"""``worst``: the worst grade. ``drop`` or ``removed``: those below move up. ``nothing``: an empty
rank. Anything else is the grade itself."""

DROPPED = ("drop", "removed")
"""The rules by which a document is no part of the list."""

_NOTHING = "nothing"
_LEFT_OUT = "no part of the list"


def grade_unjudged(
    lists: Pairs, scale: Scale, rule: UnjudgedRule = "worst"
) -> tuple[Pairs, int, str]:
    """Apply a rule to the documents without a grade.

    Parameters
    ----------
    lists : ndarray of int8, shape (n, 2, K)
        Grade indices; -1 above the last document of a list is a document without a grade.
    scale : Scale
    rule : {"worst", "drop", "removed", "nothing"} or a grade of `scale`, default "worst"

    Returns
    -------
    lists : ndarray of int8, shape (n, 2, K)
        The array itself where no document is without a grade.
    count : int
        The number of documents without a grade; 0 if they are to be empty ranks.
    words : str
        What they count as, for a message.

    Raises
    ------
    InputError
        If the rule is none of these.

    Examples
    --------
    >>> lists, count, words = grade_unjudged(np.array([[[0, -1, 1], [1, -1, -1]]]), Scale((1, 0)))
    >>> lists.tolist(), count, words
    ([[[0, 1, 1], [1, -1, -1]]], 1, 'the grade 0, the worst')
    """
    index, words = unjudged_meaning(rule, scale)
    empty = lists == NO_DOCUMENT
    if rule == _NOTHING or not (empty[..., :-1] & ~empty[..., 1:]).any():
        return lists, 0, words
    below = np.logical_and.accumulate(empty[..., ::-1], axis=-1)[..., ::-1]
    inside = empty & ~below
    count = int(np.count_nonzero(inside))
    if rule in DROPPED:
        order = np.argsort(inside, axis=-1, kind="stable")
        moved = np.take_along_axis(np.where(inside, NO_DOCUMENT, lists), order, axis=-1)
        return moved.astype(lists.dtype), count, words
    return np.where(inside, index, lists).astype(lists.dtype), count, words


def unjudged_meaning(rule: UnjudgedRule, scale: Scale) -> tuple[int, str]:
    """Return the grade index of a rule, -1 if it gives none, and what it says.

    Parameters
    ----------
    rule, scale
        As those of :func:`grade_unjudged`.

    Returns
    -------
    index : int
    words : str

    Raises
    ------
    InputError
        If the rule is unknown.
    """
    if rule == "worst":
        return len(scale) - 1, f"the grade {scale.labels[-1]}, the worst"
    if rule in DROPPED:
        return NO_DOCUMENT, _LEFT_OUT
    if rule == _NOTHING:
        return NO_DOCUMENT, "empty ranks"
    try:
        index = scale.index(rule)
    except InputError as error:
        raise InputError(
            f"`unjudged` is {rule!r:.60}", f"use worst, drop, nothing or a grade of {scale}"
        ) from error
    return index, f"the grade {scale.labels[index]}"


def unjudged_words(count: int, words: str) -> str:
    """Return what is said about documents without a grade.

    Parameters
    ----------
    count : int
    words : str
        As of :func:`grade_unjudged`.

    Returns
    -------
    str

    Examples
    --------
    >>> unjudged_words(1, "the grade 0, the worst")
    '1 document within the lists has no grade (null): it counts as the grade 0, the worst'
    """
    return (
        f"{counted(count, 'document')} within the lists {'has' if count == 1 else 'have'} no grade "
        f"(null): {'it' if count == 1 else 'they'} {counts_as(count, words)}"
    )


def counts_as(count: int, words: str) -> str:
    """Return what documents do, with its verb.

    Parameters
    ----------
    count : int
        How many they are.
    words : str
        As of :func:`unjudged_meaning`.

    Returns
    -------
    str

    Examples
    --------
    >>> counts_as(2, "the grade 0, the worst"), counts_as(1, "no part of the list")
    ('count as the grade 0, the worst', 'is left out')
    """
    if words == _LEFT_OUT:
        return "is left out" if count == 1 else "are left out"
    return f"{'counts' if count == 1 else 'count'} as {words}"
