"""Documents without a grade inside lists, as opposed to the empty ranks below a list's end.

Which grade they count as is a rule, as for the documents that qrels lack.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.types import Pairs
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

UnjudgedRule: TypeAlias = Literal["worst", "drop", "removed", "nothing"] | Label
"""``worst``: the worst grade. ``drop`` or ``removed``: those below move up. ``nothing``: an empty
rank. Anything else is the grade itself, also after ``=``: ``=drop`` is a grade of that name."""

DROPPED = ("drop", "removed")
"""The rules by which a document is no part of the list."""

WITHOUT_GRADE = "documents within the lists without a grade (null)"
"""What they are called in a note."""


def grade_unjudged(lists: Pairs, scale: Scale, rule: UnjudgedRule) -> tuple[Pairs, int]:
    """Apply a rule to the documents without a grade; return the lists and how many there are."""
    unjudged_meaning(rule, scale)  # refuses an unknown rule
    empty = lists == NO_DOCUMENT
    if rule == "nothing" or not (empty[..., :-1] > empty[..., 1:]).any():
        return lists, 0
    below = np.logical_and.accumulate(empty[..., ::-1], axis=-1)[..., ::-1]
    inside = empty & ~below
    return apply_unjudged(lists, inside, scale, rule), int(np.count_nonzero(inside))


def apply_unjudged(
    lists: Pairs, unjudged: NDArray[np.bool_], scale: Scale, rule: UnjudgedRule
) -> Pairs:
    """Return lists in which `unjudged` documents count as a rule says."""
    lists = np.where(unjudged, np.int8(unjudged_meaning(rule, scale)[0]), lists)
    if rule not in DROPPED:
        return lists
    return np.take_along_axis(lists, np.argsort(unjudged, axis=-1, kind="stable"), axis=-1)


def unjudged_meaning(rule: UnjudgedRule, scale: Scale) -> tuple[int, str]:
    """Return the grade index of a rule, -1 if it gives none, and what it says."""
    if rule == "worst":
        return len(scale) - 1, f"the grade {scale.labels[-1]}, the worst"
    if rule in DROPPED:
        return NO_DOCUMENT, "no part of the list"
    if rule == "nothing":
        return NO_DOCUMENT, "empty ranks"
    label = rule[1:] if isinstance(rule, str) and rule.startswith("=") else rule
    try:
        index = scale.index(label)
    except InputError as error:
        remedy = f"use worst, drop, nothing or a grade of {scale}"
        raise InputError(f"`unjudged` is {rule!r:.60}", remedy) from error
    return index, f"the grade {scale.labels[index]}"


def warn_of_unjudged(documents: str, count: object, rule: UnjudgedRule, scale: Scale) -> None:
    """Say what documents without a grade count as, and how many of which there are."""
    words = unjudged_meaning(rule, scale)[1]
    become = "left out" if rule in DROPPED else f"counted as {words}"
    warn_of_input(f"{documents}: {count}, {become}")
