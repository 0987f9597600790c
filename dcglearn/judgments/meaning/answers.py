"""What the answers of a file mean: the list that each prefers, and its weight.

Known by themselves are the names of answers and of the columns of the lists, words for sides and
ties, *skip*, and whole numbers from -5 to 5 of which some are negative; their size is the weight.
Other numbers (0/1, 1/2, 1 to 7) do not say which list is better, and must be explained.

An answer *left* means list a unless the row says that a was on the right. Columns named after
sides hold the lists as they were shown; then it is the letters a and b that are translated.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError, check_name, warn_of_input
from dcglearn.base.numbers import parse_number
from dcglearn.base.tables.columns import (
    Column,
    RowPlace,
    column_of,
    distinct_rows,
    is_text,
)
from dcglearn.judgments.meaning.columns import SHOWN, Sides, plain_name
from dcglearn.judgments.options import LARGEST_WEIGHT, GivenMap, listed, parse_given_map

ANSWERS = ("a", "b", "tie", "good", "bad")
"""The answers, by code: a is better, b is better, or a tie. ``good`` and ``bad`` are ties with a
level: both lists are equally good, or equally bad."""

LEFT_OUT = -1
"""The code of answers whose judgments are left out."""

_OUT, _LARGEST = "out", 5
_A, _B, _TIE = range(3)

_HOW = r"(?:much |far |slightly |somewhat |a bit |a little )?"
_NOUN = "(?:list|liste|side|option|ranking|results?|model|system|assistant|response)"
_BETTER = re.compile(
    r"(?:(?:strongly |slightly |somewhat )?prefer(?:red|s)? )?(?:the )?"
    rf"(?:{_NOUN} )?(a|b|left|right|1|2|links|rechts|gauche|droite)"
    rf"(?: (?:list|side|one|results?))?(?: (?:is |are )?{_HOW}(?:better|preferred|wins))?"
)
_SIDES = {"left": _A, "links": _A, "gauche": _A, "right": _B, "rechts": _B, "droite": _B}
_FIRST_AND_SECOND = {"a": _A, "1": _A, "b": _B, "2": _B, **_SIDES}
_TRANSLATED = {f"={side}": _FIRST_AND_SECOND[side] for side in ("a", "b", "left", "right")}
"""Answers whose meaning is read from other columns of their rows, whatever a user's map says."""

_TIES = (
    "tie;tied;draw;equal;are equal;same;the same;about the same;are the same;no preference;"
    "no difference;neutral;gleich;unentschieden;égal;égalité;[[c]]"
)
_MEANINGS = dict.fromkeys(_TIES.split(";"), _TIE)
for _level in ("good", "bad"):
    _words = (
        _level,
        f"both {_level}",
        f"both{_level}",
        f"equally {_level}",
        f"tie (both {_level})",
        f"tie (both{_level})",
    )
    _MEANINGS |= dict.fromkeys(_words, ANSWERS.index(_level))
_MEANINGS |= dict.fromkeys(("skip", "skipped"), LEFT_OUT)


def answer_in_words(text: str) -> int | None:
    """Return the code of an answer in words, if they can mean one thing only."""
    words = _plain(text)
    side = _BETTER.fullmatch(words)
    return _MEANINGS.get(words) if side is None else _FIRST_AND_SECOND[side[1]]


def side_named(text: str) -> int | None:
    """Return 0 for the left and 1 for the right side, None for words that do not name a side."""
    side = _BETTER.fullmatch(_plain(text))
    return None if side is None else _SIDES.get(side[1])


def _plain(text: str) -> str:
    words = re.sub(r"[\s_-]+", " ", text.casefold().removeprefix("=")).strip(" .!")
    return words.strip("[]") if words in ("[[a]]", "[[b]]") else words  # as language models answer


def text_of(value: object) -> str:
    """Return an answer as text: whole floats without a point, a missing one empty."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def given_codes(given: GivenMap | None) -> dict[str, int]:
    """Return the code of each answer that a user explains."""
    codes, known = {}, (*ANSWERS, _OUT)
    for value, answer in parse_given_map(given, "answers", "left=a,right=b,same=tie").items():
        check_name(answer, "answer in `answers`", known)
        codes[value] = LEFT_OUT if answer == _OUT else ANSWERS.index(answer)
    return codes


def resolve_answers(
    columns: Mapping[str, Column],
    place: RowPlace,
    told: Mapping[str, int],
    sides: Sides = ("a", "b"),
) -> Column:
    """Return the code and weight of each answer; a note says what was taken.

    The columns are those of the fields of judgments. Some answers are `told`; `sides` are the names
    of the columns of the lists.
    """
    shown, weighted = _shown_answers(columns), "weight" in columns
    systems_change = len({one.get("left_system", "") for one in shown.values} - {""}) > 1
    answers = shown.parsed(lambda one: _in_lists(one, told, sides, systems_change), place)
    wanted = {**told, **_TRANSLATED}
    others = [text for text in answers.values if text and text not in _TRANSLATED]
    explained, signs = bool(told.keys() - {""}), False
    if others and not explained and all(map(_is_number, others)):
        explained = signs = True
        wanted |= {"positive": _A, "negative": _B, "0": _TIE}
    names = {side.strip().casefold(): code for code, side in enumerate(sides)}

    def meaning(text: str) -> tuple[int, float]:
        if signs:
            _check_sign(text, others)
        if text in wanted:
            return wanted[text], 1.0
        if not text:
            remedy = "write one, or count empty answers as ties: `answers='=tie'`"
            raise InputError("the answer is empty", remedy)
        if explained:
            code, weight = _explained(text, wanted, weighted)
        else:
            in_words = None if _is_number(text) else answer_in_words(text)
            code, weight = names.get(text.casefold(), in_words), 1.0
        if code is None:
            known = f"use one of {', '.join(ANSWERS)}, or {_example(others)}"
            out = f"{text:.60}={_OUT} leaves its judgments out"
            raise InputError(f"the answer is {text!r:.60}", f"{known}; {out}")
        return code, weight

    found = answers.parsed(meaning, place)
    codes = ((text, meaning(text)[0]) for text in others if text not in ANSWERS)
    taken = [f"{text}={ANSWERS[code]}" for text, code in codes if code != LEFT_OUT]
    if signs:
        size = "" if weighted else "; their size is the weight"
        warn_of_input(
            f"answers are numbers: above 0 means a, below 0 means b, 0 a tie{size} "
            "(the other way: `answers='positive=b,negative=a,0=tie'`)"
        )
    elif taken and not explained:
        warn_of_input(f"answers taken: {listed(taken, 8)}")
    return found


def _is_number(text: str) -> bool:
    return not np.isnan(parse_number(text))


def _example(others: list[str]) -> str:
    each = ",".join(f"{one}=..." for one in others[:5])
    return f"say what each means: `answers={each!r}`"


def _explained(text: str, wanted: dict[str, int], weighted: bool) -> tuple[int | None, float]:
    """Return what the map says of a value: written the same, but for its capitals, or its sign."""
    alike = {code for value, code in wanted.items() if _key(value) == _key(text)}
    if len(alike) == 1:
        return alike.pop(), 1.0
    number = parse_number(text)
    if not abs(number) > 0:
        return None, 1.0
    weight = 1.0 if weighted else min(abs(number), LARGEST_WEIGHT)
    return wanted.get("positive" if number > 0 else "negative"), weight


def _key(text: str) -> str | float:
    return parse_number(text) if _is_number(text) else text.casefold()


def _check_sign(text: str, others: list[str]) -> None:
    """Refuse a number that does not say which list is better: that is not among signed ones."""
    signed, number = any(parse_number(other) < 0 for other in others), parse_number(text)
    if text in others and not (signed and abs(number) <= _LARGEST and number.is_integer()):
        raise InputError(
            f"the answers are the numbers {', '.join(others[:6])}, which do not say which list is "
            "better",
            "say `answers='positive=...,negative=...,0=tie'`" if signed else _example(others),
        )


_SWAPPED = dict.fromkeys(("true", "yes", "1", "y", "swapped"), True)
_SWAPPED |= dict.fromkeys(("false", "no", "0", "n"), False)


def _shown_answers(columns: Mapping[str, Column]) -> Column:
    """Return the answers of rows with what the rows say of sides, as one column of dicts."""
    said = {one: columns[one] for one in ("answer", *SHOWN, "run_a", "run_b") if one in columns}
    first, numbers = distinct_rows(column.codes for column in said.values())
    held = (column.take(first).decoded() for column in said.values())
    values = [dict(zip(said, map(text_of, row), strict=True)) for row in zip(*held, strict=True)]
    return Column(numbers.astype(np.min_scalar_type(-max(1, len(values)))), values)


def _in_lists(
    one: dict[str, str], told: Mapping[str, int], sides: Sides, systems_change: bool
) -> str:
    """Return an answer as text, ``=a`` or ``=b`` where its row says which list is meant."""
    text = one["answer"]
    if text in told:
        return text
    systems = [one.get(name, "") for name in ("left_system", "right_system")]
    runs = [one.get(name, "") for name in ("run_a", "run_b")]
    for (first, second), words in ((systems, ("=left", "=right")), (runs, ("=a", "=b"))):
        if text and first != second and text in (first, second):
            text = words[text == second]
    code = answer_in_words(text)
    shown = one.get("a_shown_on") or one.get("swapped", "")
    if code not in (_A, _B) or not (shown or any(systems)):
        return text
    if shown and _is_number(text):
        raise InputError(
            f"the answer {text} may be a side or a list, and sides were swapped",
            f"write left and right, or {sides[0]} and {sides[1]}",
        )
    if (side_named(text) is not None) == (side_named(sides[0]) is not None):
        return text
    swapped = _swapped(shown) if shown else _swapped_by_name(systems[0], sides, systems_change)
    return text if swapped is None else ("=b" if (code == _B) != swapped else "=a")


def _swapped(value: str) -> bool:
    """Return whether list a was shown on the right, as a cell says: a truth value, or its side."""
    side = side_named(value)
    swapped = _SWAPPED.get(value.casefold()) if side is None else side == _B
    if swapped is None:
        remedy = "write left or right for the side of list a, or true where the lists were swapped"
        raise InputError(f"where list a was shown is {value!r:.60}", remedy)
    return swapped


def _swapped_by_name(left: str, sides: Sides, change: bool) -> bool | None:
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
    answers: Column,
    told: Mapping[str, int],
    sides: Sides,
    place: str,
) -> None:
    """Refuse columns that are not used and may say how the lists were shown."""
    texts = {*map(text_of, answers.values)} - {*told}
    lists_are_sides = side_named(sides[0]) is not None
    unclear = any(
        text.casefold() in ("a", "b") if lists_are_sides else side_named(text) is not None
        for text in texts
    )
    held = {
        name: {*map(text_of, column_of(cells).values)} - {""}
        for name, cells in unknown.items()
        if is_text(cells) or not hasattr(cells, "type")  # others may be what Python cannot hold
    }
    for name, values in held.items():
        alike = [one for one in held if held[one] == values]  # two systems, on the left and right
        if unclear and values and all(side_named(value) is not None for value in values):
            words = f"a_shown_on={name}"
        elif len(alike) > 1 and len(values) == 2 and (unclear or values & texts):
            words = f"left_system={name},right_system={alike[1]}"
        else:
            continue
        raise InputError(
            f"the column {name!r} holds {' and '.join(sorted(values))}: it may say how the lists "
            "were shown",
            f"say `columns='{words}'` if so, and `columns='ignore={'+'.join(alike)}'` if not",
            place,
        )
