"""What single cells hold: weights, numbers, grades, and lists that are written as text.

Entries of a list are between blanks, commas, bars, semicolons or slashes, or in the brackets of
JSON, Python, NumPy or PostgreSQL. A dash is an empty rank.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import parse_number
from dcglearn.base.text import ASCII_BLANKS, split_fields
from dcglearn.measures.scale import Label, Scale, canonical_label

LARGEST_WEIGHT = 1e12
"""Weights are relative; next to a larger one, a judgment of weight 1 is lost to rounding."""

GivenMap: TypeAlias = Mapping[str, str] | str
"""What a user says about columns or answers: a mapping, or its text ``a=left,b=right``."""

_WITH_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_MAY_BE_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")

_EMPTY_ENTRIES = {"-", "null", "None", "NULL", "nan", "NaN"}
_ENTRY = r"""(?:"([^"\\]*)"|'([^'\\]*)'|([^\s,\[\](){{}}"']+))"""
_LIST = re.compile(rf"\s*(?:{_ENTRY}(?:\s*,\s*|\s+|\s*$))*", re.ASCII)
_ENTRIES = re.compile(_ENTRY, re.ASCII)

PLAIN_ENTRY = "[A-Za-z0-9_.+-]+"
"""Entries of lists that need no quotes."""

_NUMBER = "[0-9]+[.]?[0-9]*"
_JOINED = {
    mark: rf"{entry}(?:[ \t]*[{mark}][ \t]*{entry})+"
    for mark, entry in (("|", PLAIN_ENTRY), (";", PLAIN_ENTRY), ("/", _NUMBER))
}
_DECIMALS = re.compile(r"[0-9]+(?:,[0-9]+)?(?:[ \t]+[0-9]+(?:,[0-9]+)?)+", re.ASCII)
_BRACKETS = {"[": "]", "(": ")", "{": "}"}


class UnmappedValueError(InputError):
    """A distinct value has no meaning; `position` is its number among the distinct ones."""

    def __init__(self, problem: str, remedy: str, position: int) -> None:
        super().__init__(problem, remedy)
        self.position = position


def parse_given_map(given: GivenMap | None, argument: str, example: str) -> dict[str, str]:
    """Return what a user says as a mapping of text to text."""
    parts = (
        (given or {}).items()
        if not isinstance(given, str)
        else [
            part.rpartition("=")[::2] if "=" in part else (part, "")
            for part in next(csv.reader([given], skipinitialspace=True), [given])
        ]
    )
    found: dict[str, str] = {}
    for key, value in ((str(key).strip(), str(value).strip()) for key, value in parts):
        if not value:
            problem = f"`{argument}` has nothing for {key!r:.60}"
            raise InputError(problem, f"write `{argument}={example!r}`")
        if found.setdefault(key, value) != value:
            raise InputError(f"`{argument}` names {key!r:.60} twice", "name it once")
    return found


def with_point(text: str) -> str:
    """Return a number in a cell with a point for its decimal comma, other text as it is."""
    digits = text.strip(ASCII_BLANKS)
    if _WITH_COMMA.fullmatch(digits) and not _MAY_BE_THOUSANDS.fullmatch(digits):
        return digits.replace(",", ".")
    return text


def number_of(value: object) -> float:
    """Return the number that a cell holds, NaN if it does not hold a finite one."""
    if isinstance(value, str):
        return parse_number(with_point(value))
    try:
        number = np.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]  # what float() refuses is caught
    except (TypeError, ValueError, OverflowError):
        return float("nan")
    return number if np.isfinite(number) else float("nan")


def parse_weight(value: object) -> float | None:
    """Return a weight, None for an empty cell."""
    if value == "":
        return None
    weight = number_of(value)
    if not 0 <= weight <= LARGEST_WEIGHT:
        remedy = f"use 0 ... {LARGEST_WEIGHT:g}, with a point before decimals"
        raise InputError(f"the weight is {value!r:.40}", remedy)
    return weight


def parse_list_text(text: str) -> list[str | None]:
    """Return the entries of a list that is written as text, None where a rank is empty."""
    stripped = text.strip(ASCII_BLANKS)
    closing = _BRACKETS.get(stripped[:1])
    if closing is not None:
        inner = stripped[1:-1]
        if len(stripped) < 2 or not stripped.endswith(closing) or not _LIST.fullmatch(inner):
            raise InputError(f"the list {text!r:.60} cannot be read", "write it like 2 0 1")
        entries = (match.groups() for match in _ENTRIES.finditer(inner))
        return [
            (None if bare in _EMPTY_ENTRIES else bare) if bare else (double or single or "")
            for double, single, bare in entries
        ]
    if _DECIMALS.fullmatch(stripped):
        return [entry.replace(",", ".") for entry in stripped.split()]
    joined = (mark for mark, pattern in _JOINED.items() if re.fullmatch(pattern, stripped))
    separator = next(joined, ",")
    parts = stripped.split(separator) if separator in stripped else split_fields(text)
    stripped_parts = (part.strip(ASCII_BLANKS) for part in parts)
    return [None if part in ("", "-") else part for part in stripped_parts]


def resolve_labels(
    values: Sequence[Any], scale: Scale | None, missing: Sequence[object] = ()
) -> list[Label | None]:
    """Return the labels of the distinct grades of lists, None for those that mean no grade."""
    absent = set(map(_mark, missing))
    found: list[Label | None] = []
    for position, value in enumerate(values):
        label = None
        try:
            if value is not None and _mark(value) not in absent:
                label = _canonical(value, scale)
        except InputError as error:
            raise UnmappedValueError(error.problem, error.remedy, position) from error
        except (TypeError, ValueError) as error:
            problem = f"the grade {value!r:.60}"
            raise UnmappedValueError(problem, "use numbers or names", position) from error
        found.append(label)
    if scale is None:
        _check_one_kind(found)
    return found


def _mark(value: object) -> str | float:
    """Return a number, as which -1 is also -1.0, or text."""
    number = number_of(value)
    return str(value).strip() if np.isnan(number) else number


def _canonical(value: Any, scale: Scale | None) -> Label:
    if (
        isinstance(value, str) and scale is not None and value in scale.labels
    ):  # perhaps with blanks around it
        return scale.labels[scale.index(value)]
    label = canonical_label(value.strip() if isinstance(value, str) else value)
    return label if scale is None else scale.labels[scale.index(label)]


def _check_one_kind(labels: Sequence[Label | None]) -> None:
    """Refuse names among numbers, and -1 among numbers of 0 or more, which may be no grade."""
    known = [label for label in dict.fromkeys(labels) if label is not None]
    names = [label for label in known if isinstance(label, str)]
    numbers = [label for label in known if not isinstance(label, str)]
    if numbers and names:
        odd = numbers[0] if len(numbers) <= len(names) else names[0]
        raise UnmappedValueError(
            f"grades are numbers ({_shown(numbers)}) and names ({_shown(names)})",
            "write all of them one way; if both are grades, declare all, best first, with `scale`",
            labels.index(odd),
        )
    if len(numbers) > 1 and [number for number in numbers if number < 0] == [-1]:
        raise UnmappedValueError(
            "-1 may be a grade, or mean that a document is not judged",
            "say `null_values=-1` if it is not a grade, and declare `scale` if it is",
            labels.index(-1),
        )


def _shown(labels: Sequence[Label]) -> str:
    return ", ".join(map(str, labels[:5])) + (", ..." if len(labels) > 5 else "")
