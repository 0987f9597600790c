"""What a user says about judgments: the arguments of all readers and commands.

Documents without a grade inside lists, as opposed to the empty ranks below a list's end, count as
a rule says, as do the documents that qrels lack.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.types import Booleans, Pairs
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale, ScaleLike

if TYPE_CHECKING:
    from dcglearn.judgments.reading.documents import DocumentGrades

GivenMap: TypeAlias = Mapping[str, str] | str
"""What a user says about columns or answers: a mapping, or its text ``a=left,b=right``."""

LARGEST_WEIGHT = 1e12
"""Weights are relative; next to a larger one, a judgment of weight 1 is lost to rounding."""

NullValues: TypeAlias = str | float | Sequence[str | float]
"""What lists hold where a document has no grade."""

UnjudgedRule: TypeAlias = Literal["worst", "drop", "nothing"] | Label
"""``worst``: the worst grade. ``drop``: those below move up. ``nothing``: an empty
rank. Anything else is the grade itself, also after ``=``: ``=drop`` is a grade of that name."""


@dataclass(frozen=True)
class ReadOptions:
    """What a user says about records; the fields are arguments of :func:`read_preferences`."""

    scale: ScaleLike | None = None
    n_ranks: int | None = None
    columns: GivenMap | None = None
    answers: GivenMap | None = None
    unjudged: UnjudgedRule = "worst"
    null_values: NullValues = ()
    strict: bool = False
    encoding: str = "utf-8"
    documents: bool = False
    document_grades: DocumentGrades | None = None
    keep: Sequence[str] = ()


def parse_given_map(given: GivenMap | None, argument: str, example: str) -> dict[str, str]:
    """Return what a user says as a mapping of text to text."""
    parts = (
        (given or {}).items()
        if not isinstance(given, str)
        else [
            part.rpartition("=")[::2] if "=" in part else (part, "")
            for part in next(csv.reader([given], skipinitialspace=True))
        ]
    )
    found = dict[str, str]()
    for part in parts:
        key, value = (str(one).strip() for one in part)
        if not value:
            raise InputError(
                f"`{argument}` has nothing for {key!r:.60}", f"write `{argument}={example!r}`"
            )
        if found.setdefault(key, value) != value:
            raise InputError(f"`{argument}` names {key!r:.60} twice", "name it once")
    return found


def listed(names: Sequence[object], most: int) -> str:
    """Return names with commas; of many, the first ones."""
    more = ", ..." if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def grade_unjudged(lists: Pairs, scale: Scale, rule: UnjudgedRule) -> tuple[Pairs, int]:
    """Apply a rule to the documents without a grade; return the lists and how many there are."""
    some = lists.min(axis=-1) == NO_DOCUMENT
    if rule == "nothing" or not some.any():
        return lists, 0
    empty = lists[some] == NO_DOCUMENT
    below = np.logical_and.accumulate(empty[:, ::-1], axis=1)[:, ::-1]
    inside = empty & ~below
    lists = lists.copy()
    lists[some] = apply_unjudged(lists[some], inside, scale, rule)
    return lists, int(inside.sum())


def apply_unjudged(lists: Pairs, unjudged: Booleans, scale: Scale, rule: UnjudgedRule) -> Pairs:
    """Return lists in which `unjudged` documents count as a rule says."""
    lists = np.where(unjudged, np.int8(unjudged_meaning(rule, scale)[0]), lists)
    if rule != "drop":
        return lists
    return np.take_along_axis(lists, np.argsort(unjudged, axis=-1, kind="stable"), axis=-1)


def padded(lists: Any, n_ranks: int) -> Any:
    """Return lists, shape (..., K), with empty ranks at their end, if K is smaller."""
    more = n_ranks - lists.shape[-1]
    widths = [(0, 0)] * (lists.ndim - 1) + [(0, more)]
    return np.pad(lists, widths, constant_values=NO_DOCUMENT) if more > 0 else lists


def unjudged_meaning(rule: UnjudgedRule, scale: Scale) -> tuple[int, str]:
    """Return the grade index of a rule, -1 if it gives none, and what it says."""
    if rule == "worst":
        return len(scale) - 1, f"the grade {scale.labels[-1]}, the worst"
    if rule == "drop":
        return NO_DOCUMENT, "no part of the list"
    if rule == "nothing":
        return NO_DOCUMENT, "empty ranks"
    label = rule.removeprefix("=") if isinstance(rule, str) else rule
    try:
        index = scale.index(label)
    except InputError as error:
        raise InputError(
            f"`unjudged` is {rule!r:.60}", f"use worst, drop, nothing or a grade of {scale}"
        ) from error
    return index, f"the grade {scale.labels[index]}"


def warn_of_unjudged(
    count: object,
    rule: UnjudgedRule,
    scale: Scale,
    documents: str = "documents within the lists without a grade (null)",
) -> None:
    """Say what documents without a grade count as, and how many of which there are."""
    words = unjudged_meaning(rule, scale)[1]
    become = "left out" if rule == "drop" else f"counted as {words}"
    warn_of_input(f"{documents}: {count}, {become}")
