"""What the answers of a file mean: the list that each prefers, and its weight.

Known by themselves are the names of answers and of the columns of the lists, words for sides and
ties, and whole numbers from -5 to 5 of which some are negative; their size is the weight. Other
numbers (0/1, 1/2, 1 to 7) do not say which list is better, and must be explained.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

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

_OUT, _LARGEST = "out", 5
_A, _B, _TIE = (ANSWERS.index(name) for name in ("a", "b", "tie"))

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
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def given_codes(given: GivenMap | None) -> dict[str, int]:
    """Return the code of each answer that a user explains."""
    codes = {}
    for value, answer in parse_given_map(given, "answers", "left=a,right=b,same=tie").items():
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
    wanted, texts = given_codes(given), [text_of(value) for value in values]
    others = [text for text in dict.fromkeys(texts) if text and text not in TRANSLATED]
    explained, notes = bool(wanted.keys() - {""}), list[str]()
    if others and not explained and all(map(_is_number, others)):
        _check_signs(others, texts)
        explained, wanted = True, wanted | {"positive": _A, "negative": _B, "0": _TIE}
        notes.append(_sign_note(others, weighted))
    columns = {side.strip().casefold(): code for code, side in enumerate(sides)}
    codes, weights = dict[str, int](), dict[str, float]()
    for position, text in enumerate(texts):
        code = wanted.get(text)
        if text in TRANSLATED:
            code = _FIRST_AND_SECOND[text[1:]]
        elif text and explained:
            code = _explained(text, wanted)
            if code is None and abs(parse_number(text)) > 0:
                code = wanted.get("positive" if parse_number(text) > 0 else "negative")
                weights[text] = 1.0 if weighted else _size(text)
        elif text:
            code = columns.get(text.casefold(), None if _is_number(text) else answer_in_words(text))
        if code is None:
            raise UnmappedValueError(*_unknown(text, others, explained), position)
        codes[text] = code
    taken = [f"{one}={ANSWERS[codes[one]]}" for one in others if one not in ANSWERS]
    if taken and not explained:
        notes.append(f"answers taken: {', '.join(taken[:8])}{', ...' if len(taken) > 8 else ''}")
    found = tuple(weights.get(text, 1.0) for text in texts)
    return AnswerMap(tuple(codes[text] for text in texts), found, tuple(notes))


def _is_number(text: str) -> bool:
    return not math.isnan(parse_number(text))


def _unknown(text: str, others: list[str], explained: bool) -> tuple[str, str]:
    if not text:
        remedy = "write one, or count empty answers as ties: `answers='=tie'`"
        return "the answer is empty", remedy
    if explained:
        remedy = f"add what it means, or leave its judgments out by {text}={_OUT}"
        return f"the answer is {text!r:.60}, which `answers` does not explain", remedy
    return f"the answer is {text!r:.60}", f"use one of {', '.join(ANSWERS)}, or {_example(others)}"


def _example(others: list[str]) -> str:
    each = ",".join(f"{one}=..." for one in others[:5])
    return f"say what each means: `answers={each!r}`"


def _explained(text: str, wanted: dict[str, int]) -> int | None:
    """Return the code that the map has for a value: written the same, or but for its capitals."""
    alike = {code for value, code in wanted.items() if _key(value) == _key(text)}
    return wanted.get(text, alike.pop() if len(alike) == 1 else None)


def _key(text: str) -> str | float:
    return parse_number(text) if _is_number(text) else text.casefold()


def _check_signs(others: list[str], texts: list[str]) -> None:
    numbers = [parse_number(text) for text in others]
    signed = min(numbers) < 0
    for text, number in zip(others, numbers, strict=True):
        if not signed or abs(number) > _LARGEST or not number.is_integer():
            problem = f"the answers are the numbers {', '.join(others[:6])}"
            signs = "say `answers='positive=...,negative=...,0=tie'`"
            raise UnmappedValueError(
                f"{problem}, which do not say which list is better",
                signs if signed else _example(others),
                texts.index(text),
            )


def _sign_note(others: list[str], weighted: bool) -> str:
    largest, size = max(map(_size, others)), ""
    if largest > 1:
        size = f"; their size is the weight, from 1 to {largest:g}"
        if weighted:
            size = "; their size is not used, for there is a weight"
    return (
        f"answers are numbers: above 0 means a, below 0 means b, 0 a tie{size} "
        "(the other way: `answers='positive=b,negative=a,0=tie'`)"
    )


def _size(text: str) -> float:
    return min(abs(parse_number(text)), LARGEST_WEIGHT) or 1.0
