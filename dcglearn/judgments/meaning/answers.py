"""What the answers of a file mean: the list that each prefers, and its weight.

Answers are known by themselves where they can mean one thing only:

* the names of the answers, ``A``/``B``, ``left``/``right``, ``list 1``/``list 2``, with words such
  as *better*; ``same``, ``equal``, ``no preference`` and the like for a tie; capitals and blanks do
  not count;
* the names of the columns of the two lists;
* whole numbers from -5 to 5 of which some are negative: above 0 the list a, below 0 the list b,
  and 0 a tie. On a Likert scale, such as -3 to 3, the size counts as the weight: 3 is worth three
  judgments of 1.

Other numbers (0/1, 1/2, 1 to 7) do not say which list is better, and must be explained.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcglearn.base.errors import is_one_of, unknown_name
from dcglearn.base.numbers import parse_number
from dcglearn.base.tables.columns import is_missing
from dcglearn.judgments.meaning.cells import (
    LARGEST_WEIGHT,
    GivenMap,
    UnmappedValueError,
    parse_given_map,
)

ANSWERS = ("a", "b", "tie", "good", "bad")
"""The answers, by code: a is better, b is better, or a tie. ``good`` and ``bad`` are ties with a
level: both lists are equally good, or equally bad."""

LEFT_OUT = -1
"""The code of answers whose judgments are left out."""

TRANSLATED = ("=a", "=b", "=left", "=right")
"""Answers whose meaning is read from other columns of their rows, whatever a user's map says."""

_OUT, _SIGNS, _LARGEST = "out", ("positive", "negative"), 5
_A, _B, _TIE = (ANSWERS.index(name) for name in ("a", "b", "tie"))
_EXAMPLE = "left=a,right=b,same=tie"

_HOW = r"(?:much |far |slightly |somewhat |a bit |a little )?"
_NOUN = "(?:list|liste|side|option|ranking|results?|model|system|assistant|response)"
_BETTER = re.compile(
    r"(?:(?:strongly |slightly |somewhat )?prefer(?:red|s)? )?(?:the )?"
    rf"(?:{_NOUN} )?(a|b|left|right|1|2|links|rechts|gauche|droite)"
    rf"(?: (?:list|side|one|results?))?(?: (?:is |are )?{_HOW}(?:better|preferred|wins))?"
)
_SIDES = {"left": _A, "links": _A, "gauche": _A, "right": _B, "rechts": _B, "droite": _B}
_FIRST_AND_SECOND = {"a": _A, "1": _A, "b": _B, "2": _B, **_SIDES}
_TIES = (
    "tie tied draw equal;are equal;same;the same;about the same;are the same;no preference;"
    "no difference;neutral;gleich;unentschieden;égal;égalité;[[c]]"
)
_MEANINGS = dict.fromkeys((*_TIES.split(";")[0].split(), *_TIES.split(";")[1:]), _TIE)
for _level in ("good", "bad"):
    _words = (f"both {_level}", f"equally {_level}", f"tie (both {_level})", f"tie (both{_level})")
    _MEANINGS |= dict.fromkeys((_level, *_words, f"both{_level}"), ANSWERS.index(_level))


@dataclass(frozen=True)
class AnswerMap:
    """The codes and weights of distinct answers, and a line about each thing that was taken."""

    codes: tuple[int, ...]
    weights: tuple[float, ...]
    notes: tuple[str, ...] = ()


def answer_in_words(text: str) -> int | None:
    """Return the code of an answer in words, if they can mean one thing only."""
    words = _plain(text)
    found = _MEANINGS.get(words)
    side = _BETTER.fullmatch(words)
    return _FIRST_AND_SECOND[side[1]] if found is None and side is not None else found


def side_named(text: str) -> int | None:
    """Return 0 for the left and 1 for the right side, None for words that do not name a side."""
    side = _BETTER.fullmatch(_plain(text))
    return None if side is None else _SIDES.get(side[1])


def _plain(text: str) -> str:
    words = re.sub(r"[\s_-]+", " ", text.casefold().removeprefix("=")).strip(" .!")
    return words.strip("[]") if words in ("[[a]]", "[[b]]") else words  # as language models answer


def text_of(value: object) -> str:
    """Return an answer as text: whole floats without a point, a missing one empty."""
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def given_codes(given: GivenMap | None) -> dict[str, int]:
    """Return the code of each answer that a user explains."""
    codes = {}
    for value, answer in parse_given_map(given, "answers", _EXAMPLE).items():
        if not is_one_of(answer, (*ANSWERS, _OUT)):
            raise unknown_name("answer in `answers`", answer, (*ANSWERS, _OUT))
        codes[value] = LEFT_OUT if answer == _OUT else ANSWERS.index(answer)
    return codes


def resolve_answers(
    values: Sequence[object],
    given: GivenMap | None = None,
    sides: tuple[str, str] = ("a", "b"),
    weighted: bool = False,
) -> AnswerMap:
    """Return what distinct answers mean.

    `sides` are the names of the columns of the lists; `weighted` judgments have weights of their
    own. An answer without a meaning raises an :class:`UnmappedValueError`.
    """
    wanted = given_codes(given)
    texts = [text_of(value) for value in values]
    codes: dict[str, int] = {}
    if "" in texts:
        if "" not in wanted:
            remedy = "write one, or count empty answers as ties: `answers='=tie'`"
            raise UnmappedValueError("the answer is empty", remedy, texts.index(""))
        codes[""] = wanted[""]
    codes |= {text: _FIRST_AND_SECOND[text[1:]] for text in texts if text in TRANSLATED}
    filled = list(dict.fromkeys(text for text in texts if text and text not in codes))
    weights: dict[str, float] = {}
    notes: tuple[str, ...] = ()
    if wanted.keys() - {""}:
        codes |= _explained_by(wanted, filled, texts)
        if wanted.keys() & set(_SIGNS) and not weighted:
            weights = {one: _size(one) for one in filled if _explained(one, wanted) is None}
    elif filled and all(map(_is_number, filled)):
        codes |= _from_signs(filled, texts)
        if not weighted:
            weights = {text: _size(text) for text in filled}
        notes = (_sign_note(filled, weighted),)
    else:
        codes |= _from_words(filled, texts, sides)
        taken = [f"{one}={ANSWERS[codes[one]]}" for one in filled if one not in ANSWERS]
        more = ", ..." if len(taken) > 8 else ""
        notes = (f"answers taken: {', '.join(taken[:8])}{more}",) if taken else ()
    found = tuple(weights.get(text, 1.0) for text in texts)
    return AnswerMap(tuple(codes[text] for text in texts), found, notes)


def _is_number(text: str) -> bool:
    return not math.isnan(parse_number(text))


def _explained_by(wanted: dict[str, int], filled: list[str], texts: list[str]) -> dict[str, int]:
    codes = {}
    for text in filled:
        code = _explained(text, wanted)
        number = parse_number(text)
        if code is None and abs(number) > 0:
            code = wanted.get("positive" if number > 0 else "negative")
        if code is None:
            named = ", ".join(f"{value}={_name(code)}" for value, code in wanted.items())
            raise UnmappedValueError(
                f"the answer {text!r:.60} is not among the given ones ({named})",
                f"add what it means, or leave its judgments out by {text}={_OUT}",
                texts.index(text),
            )
        codes[text] = code
    return codes


def _explained(text: str, wanted: dict[str, int]) -> int | None:
    """Return the code that the map has for a value: written the same, or but for its capitals."""
    if text in wanted:
        return wanted[text]
    number = parse_number(text)
    alike = {
        code
        for value, code in wanted.items()
        if value.casefold() == text.casefold() or (value and parse_number(value) == number)
    }
    return alike.pop() if len(alike) == 1 else None


def _from_signs(filled: list[str], texts: list[str]) -> dict[str, int]:
    if not any(parse_number(text) < 0 for text in filled):
        remedy = "say what each of them means with `answers`"
        example = _of_numbers(filled)
        problem = f"the answers are the numbers {', '.join(filled[:6])}"
        raise UnmappedValueError(
            f"{problem}, which do not say which list is better",
            remedy + (f", such as {example}" if example else ""),
            texts.index(filled[0]),
        )
    for text in filled:
        number = parse_number(text)
        if abs(number) > _LARGEST or not number.is_integer():
            raise UnmappedValueError(
                f"the answer {text} is not a whole number from -{_LARGEST} to {_LARGEST}",
                "say which list numbers above 0 prefer: `answers='positive=a,negative=b,0=tie'`",
                texts.index(text),
            )
    signs = {text: np.sign(parse_number(text)) for text in filled}
    return {text: _A if sign > 0 else _B if sign < 0 else _TIE for text, sign in signs.items()}


def _of_numbers(filled: Sequence[str]) -> str:
    """Return what to write if numbers mean what they usually do; empty if that is not clear."""
    numbers = {parse_number(text): text for text in filled}
    if set(numbers) == {1, 2}:
        return "`answers='1=a,2=b'` if 1 is the first list"
    if set(numbers) <= {0, 0.5, 1}:
        means = {1: "a", 0.5: "tie", 0: "b"}
        parts = (f"{numbers[one]}={means[one]}" for one in sorted(numbers, reverse=True))
        return f"`answers={','.join(parts)!r}` if 1 means that a is better"
    return ""


def _sign_note(filled: list[str], weighted: bool) -> str:
    largest, size = max(map(_size, filled)), ""
    if largest > 1:
        size = f"; their size is the weight, from 1 to {largest:g}"
        if weighted:
            size = "; their size is not used, for there is a weight"
    tie = ", 0 a tie" if any(parse_number(text) == 0 for text in filled) else ""
    return (
        f"answers are numbers: above 0 means a, below 0 means b{tie}{size} "
        "(the other way: `answers='positive=b,negative=a,0=tie'`)"
    )


def _from_words(filled: list[str], texts: list[str], sides: tuple[str, str]) -> dict[str, int]:
    codes = {}
    numbers = [text for text in filled if _is_number(text)]
    columns = {side.strip().casefold(): code for side, code in zip(sides, (_A, _B), strict=True)}
    for text in filled:
        meaning = columns.get(text.casefold(), answer_in_words(text))
        if text in numbers and text.casefold() not in columns:
            others = [one for one in filled if one not in numbers]
            raise UnmappedValueError(
                f"the answers are numbers ({', '.join(numbers[:5])}) and words "
                f"({', '.join(others[:5])})",
                "say what each of them means with `answers`" + _of_both(numbers, others),
                texts.index(text),
            )
        if meaning is None:
            example = ",".join(f"{one}={_guess(one)}" for one in filled[:5])
            raise UnmappedValueError(
                f"the answer is {text!r:.60}",
                f"use one of {', '.join(ANSWERS)}, or say what it means: `answers={example!r}`",
                texts.index(text),
            )
        codes[text] = meaning
    return codes


def _of_both(numbers: list[str], words: list[str]) -> str:
    known = [answer_in_words(word) for word in words]
    if set(numbers) != {"1", "2"} or None in known:
        return ""
    ties = "".join(f",{word}={_guess(word)}" for word in words)
    return f", such as `answers={f'1=a,2=b{ties}'!r}` if 1 is the first list"


def _guess(text: str) -> str:
    """Return an answer for the example of a message, dots where it may be any."""
    meaning = answer_in_words(text)
    return "..." if meaning is None else ANSWERS[meaning]


def _name(code: int) -> str:
    return _OUT if code == LEFT_OUT else ANSWERS[code]


def _size(text: str) -> float:
    """Return the weight of a number: its size, 1 for a tie."""
    return min(abs(parse_number(text)), LARGEST_WEIGHT) or 1.0
