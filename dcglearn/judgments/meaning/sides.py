"""Answers that name sides or systems, where lists were shown on changing sides.

An answer *left* means list a unless the row says that a was on the right. Columns named after
sides hold the lists as they were shown; then it is the letters a and b that are translated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import parse_number
from dcglearn.base.tables.columns import Column, column_of
from dcglearn.judgments.meaning.answers import (
    ANSWERS,
    answer_in_words,
    given_codes,
    side_named,
    text_of,
)
from dcglearn.judgments.meaning.cells import GivenMap, UnmappedValueError
from dcglearn.judgments.meaning.columns import plain_name
from dcglearn.judgments.numbering import distinct_rows

_B = ANSWERS.index("b")
_TRUE, _FALSE = ("true", "yes", "1", "y", "swapped"), ("false", "no", "0", "n")


class ShownAnswer(NamedTuple):
    """An answer with what its row says of the sides on which the lists were shown."""

    answer: Any = None
    a_shown_on: Any = None
    swapped: Any = None
    left_system: Any = None
    right_system: Any = None
    run_a: Any = None
    run_b: Any = None


def shown_answers(columns: Mapping[str, Column]) -> Column:
    """Return the answers of rows with what the rows say of sides, as one column."""
    first, numbers = distinct_rows(column.codes for column in columns.values())
    held = (Column(column.codes[first], column.values).decoded() for column in columns.values())
    values = [
        ShownAnswer(**dict(zip(columns, row, strict=True))) for row in zip(*held, strict=True)
    ]
    return Column(numbers.astype(np.min_scalar_type(len(values))), values)


def answers_in_lists(
    shown: Sequence[ShownAnswer], sides: tuple[str, str], given: GivenMap | None
) -> list[str]:
    """Return distinct answers as text, ``=a`` and ``=b`` where rows say which list is meant."""
    known = given_codes(given)
    change = len({one.left_system for one in shown} - {None}) > 1
    texts = []
    for position, one in enumerate(shown):
        text = text_of(one.answer)
        try:
            texts.append(text if text in known else _in_lists(text, one, sides, change))
        except InputError as error:
            raise UnmappedValueError(error.problem, error.remedy, position) from error
    return texts


def _in_lists(text: str, one: ShownAnswer, sides: tuple[str, str], change: bool) -> str:
    systems = text_of(one.left_system), text_of(one.right_system)
    runs = text_of(one.run_a), text_of(one.run_b)
    for (first, second), words in ((systems, ("=left", "=right")), (runs, ("=a", "=b"))):
        if text and first != second and text in (first, second):
            text = words[text == second]
    code = answer_in_words(text)
    said = one.a_shown_on is not None or one.swapped is not None
    if code is None or code > _B or not (said or any(systems)):
        return text
    if said and not np.isnan(parse_number(text)):
        raise InputError(
            f"the answer {text} may be a side or a list, and sides were swapped",
            f"write left and right, or {sides[0]} and {sides[1]}",
        )
    if (side_named(text) is not None) == (side_named(sides[0]) is not None):
        return text
    swapped = _swapped(one) if said else _swapped_by_name(systems[0], sides, change)
    return text if swapped is None else ("=b" if (code == _B) != swapped else "=a")


def _swapped(one: ShownAnswer) -> bool:
    """Return whether list a was shown on the right, as a cell says: a truth value, or its side."""
    value = one.swapped if one.a_shown_on is None else one.a_shown_on
    text = text_of(value).casefold()
    side = side_named(text)
    if side is not None:
        return side == _B
    if text in (*_TRUE, *_FALSE):
        return text in _TRUE
    remedy = "write left or right for the side of list a, or true where the lists were swapped"
    raise InputError(f"where list a was shown is {value!r:.60}", remedy)


def _swapped_by_name(left: str, sides: tuple[str, str], change: bool) -> bool | None:
    """Return whether the second list is the left system's, None if systems do not change places."""
    name = plain_name(left)
    first, second = (bool(name) and name in plain_name(side) for side in sides)
    if first != second:
        return second
    if not change:
        return None
    raise InputError(
        "systems change places, and it is not said which list is whose",
        "name the lists after their systems, such as `columns='a=control,b=treatment'`, say "
        "`columns='a_shown_on=...'`, or `columns='ignore=...'` if list a was always left",
    )


def check_unused(
    unknown: Mapping[str, Any],
    answers: Iterable[ShownAnswer],
    sides: tuple[str, str],
    given: GivenMap | None,
) -> None:
    """Refuse columns that are not used and may say how the lists were shown."""
    known = given_codes(given)
    texts = {text_of(one.answer) for one in answers} - {*known}
    lists_are_sides = side_named(sides[0]) is not None
    unclear = any(
        text.casefold() in ("a", "b") if lists_are_sides else side_named(text) is not None
        for text in texts
    )
    held = {name: _few_texts(cells) for name, cells in unknown.items()}
    for name, values in held.items():
        alike = [one for one in held if held[one] == values]  # two systems, on the left and right
        are_sides = unclear and values and all(side_named(value) is not None for value in values)
        are_systems = len(alike) > 1 and len(values) == 2 and (unclear or values & texts)
        if are_sides or are_systems:
            words = f"a_shown_on={name}"
            if not are_sides:
                words = f"left_system={name},right_system={alike[1]}"
            raise InputError(
                f"the column {name!r} holds {' and '.join(sorted(values))}: it may say how the "
                "lists were shown",
                f"say `columns='{words}'` if so, and `columns='ignore={'+'.join(alike)}'` if not",
            )


def _few_texts(cells: Any) -> set[str]:
    """Return the distinct texts of a column, empty if it holds others or more than four."""
    if hasattr(cells, "type") and str(cells.type) not in ("string", "large_string"):
        return set()  # what is not used may be what Python cannot hold, such as far times
    texts = {text_of(value) for value in column_of(cells[:1000]).values} - {""}
    return texts if len(texts) <= 4 else set()
