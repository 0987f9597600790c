"""The fields of one judgment, as they come from a file, a frame or a caller: checked and parsed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.measures.scale import Label, canonical_label

REQUIRED_FIELDS = ("a", "b", "answer")
JUDGMENT_FIELDS = ("query", *REQUIRED_FIELDS, "weight", "judge")
"""The fields of a judgment, in the order in which they are written."""

ANSWERS = ("a", "b", "tie", "good", "bad")
"""The answers, by code: a is better, b is better, or a tie. ``good`` and ``bad`` are ties with a
level: both lists are equally good, or equally bad."""

LONGEST_LIST = 100_000
"""The largest number of ranks of a list."""

LARGEST_WEIGHT = 1e12
"""Weights are relative; next to a larger one, a judgment of weight 1 is lost to rounding."""


def parse_answer(answer: object) -> int:
    """Return the index of an answer in :data:`ANSWERS`.

    Parameters
    ----------
    answer : str

    Returns
    -------
    int

    Raises
    ------
    InputError
        If it is not one of them.

    Examples
    --------
    >>> parse_answer("tie")
    2
    """
    if isinstance(answer, str) and answer in ANSWERS:
        return ANSWERS.index(answer)
    raise InputError(f"the answer is {answer!r}", f"use one of {', '.join(ANSWERS)}")


def parse_weight(value: object, place: str = "") -> float:
    """Return a weight as a float.

    Parameters
    ----------
    value : float or int
    place : str, optional
        Where it was found, for the message.

    Returns
    -------
    float
        From 0 to :data:`LARGEST_WEIGHT`.

    Raises
    ------
    InputError
        If it is not a number in that range.
    """
    if not isinstance(value, bool | str):
        try:
            weight = float(value)  # type: ignore[arg-type]  # what float() refuses is caught here
        except (TypeError, ValueError, OverflowError):
            weight = np.nan
        if 0 <= weight <= LARGEST_WEIGHT:
            return weight
    shown = f"{value!r}"[:40]
    if isinstance(value, str) and re.fullmatch("[0-9]+,[0-9]+", value):
        remedy = f"write {value.replace(',', '.')} or {value.replace(',', '')}"
        raise InputError(f"the weight is {shown}", remedy, place)
    raise InputError(f"the weight is {shown}", f"use 0 ... {LARGEST_WEIGHT:g}", place)


def parse_id(value: object, name: str) -> str | None:
    """Return an id as text, None where it is missing.

    Parameters
    ----------
    value : str, int, float or None
        A float is a whole number. Empty text counts as missing.
    name : str
        The field's name, for the message.

    Returns
    -------
    str or None

    Raises
    ------
    InputError
        If it is neither text nor a whole number.
    """
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT:
        return str(int(value))  # whole numbers of which some are missing
    if not is_id(value):
        raise InputError(f'"{name}" is {value!r}', "use text or a whole number")
    return str(value)


def is_id(value: object) -> bool:
    """Return whether a value can be an id: text or a whole number.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    return isinstance(value, str | int) and not isinstance(value, bool)


def parse_labels(value: Any, side: str) -> list[Label | None]:
    """Return the grades of a list, each in its plain form, None where a rank is empty.

    Parameters
    ----------
    value : list of str, int, float or None
        The grades from the first rank down.
    side : str
        ``a`` or ``b``, for the message.

    Returns
    -------
    list of labels or None

    Raises
    ------
    InputError
        If it is not a list of grades, or no rank holds one.

    Examples
    --------
    >>> parse_labels(["2", None, 1.0], "a")
    [2, None, 1]
    """
    if not isinstance(value, list):
        raise InputError(f'"{side}" is {value!r}, not a list', "give the grades in rank order")
    if len(value) > LONGEST_LIST:
        raise InputError(f'"{side}": {len(value):,} ranks', f"use at most {LONGEST_LIST:,}")
    if all(label is None for label in value):
        raise InputError(f'"{side}": an empty list', "give at least one grade")
    try:
        return [None if label is None else canonical_label(label) for label in value]
    except (TypeError, ValueError) as error:
        problem = error.problem if isinstance(error, InputError) else f"an entry of {value!r}"
        raise InputError(f'"{side}": {problem}', "use numbers or names") from error
