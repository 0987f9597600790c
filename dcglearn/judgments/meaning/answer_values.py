"""What the answers in a file mean: a value, the side it prefers, and its weight.

Answers are known by themselves where they can mean one thing only:

* the names of the answers, ``A``/``B``, ``left``/``right``, ``list 1``/``list 2``, with words such
  as *better*; ``same``, ``equal``, ``no preference`` and the like for a tie; capitals and blanks do
  not count;
* the names of the columns of the two lists;
* whole numbers from -5 to 5 of which some are negative: above 0 the list a, below 0 the list b,
  and 0 a tie. On a Likert scale, such as -3 to 3, the size counts as the weight: 3 is worth three
  judgments of 1.

Other numbers (0/1, 1/2, 1 to 7) say nothing about which list is better, and must be explained.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dcglearn.base.errors import is_one_of, unknown_name
from dcglearn.base.numbers import parse_number
from dcglearn.judgments.meaning.answer_words import answer_in_words
from dcglearn.judgments.meaning.given_maps import GivenMap, UnmappedValueError, parse_given_map
from dcglearn.judgments.meaning.judgment_fields import ANSWERS, LARGEST_WEIGHT

LEFT_OUT = -1
"""The code of answers whose judgments are left out."""

_OUT = "out"
_SIGNS = ("positive", "negative")
_LARGEST = 5
_A, _B, _TIE = (ANSWERS.index(name) for name in ("a", "b", "tie"))
_EXAMPLE = "left=a,right=b,same=tie"


@dataclass(frozen=True)
class AnswerMap:
    """The meanings of the distinct answers of a file, in the order in which they were given.

    Attributes
    ----------
    codes : tuple of int
        Indices into :data:`~dcglearn.judgments.meaning.judgment_fields.ANSWERS`; -1 if it is left out.
    weights : tuple of float
        How much a judgment with this answer counts, before its own weight.
    notes : tuple of str
        What was taken without being told, for the user to read; one line each.
    """

    codes: tuple[int, ...]
    weights: tuple[float, ...]
    notes: tuple[str, ...] = ()


def resolve_answers(
    values: Sequence[object],
    given: GivenMap | None = None,
    sides: tuple[str, str] = ("a", "b"),
    weighted: bool = False,
) -> AnswerMap:
    """Return what answers mean.

    Parameters
    ----------
    values : sequence of str, number or None
        The distinct answers of a file; None and empty text for an empty one.
    given : mapping or str, optional
        From values to ``a``, ``b``, ``tie``, ``good``, ``bad``, or ``out`` for judgments to be left
        out; every value must be in it. The keys ``positive`` and ``negative`` mean numbers above
        and below 0, which then count with their size as the weight. The empty key means an empty
        answer; alone, it leaves the others to be known by themselves.
    sides : tuple of two str
        The columns of the lists; their names are answers.
    weighted : bool, default False
        Whether the judgments have weights of their own; then the size of a number is not one.

    Returns
    -------
    AnswerMap

    Raises
    ------
    UnmappedValueError
        If a value is empty, is not in the map, or could mean several things.
    InputError
        If the map itself cannot be used.

    Examples
    --------
    >>> resolve_answers(["Left", "same", "right"]).codes
    (0, 2, 1)
    >>> found = resolve_answers([3, 0, -1])
    >>> found.codes, found.weights
    ((0, 2, 1), (3.0, 1.0, 1.0))
    >>> resolve_answers(["yes", "no", ""], "yes=a,no=b,=tie").codes
    (0, 1, 2)
    """
    wanted = _given_codes(parse_given_map(given, "answers", _EXAMPLE))
    texts = [_text(value) for value in values]
    if all(text in ANSWERS for text in texts) and not wanted and sides[0] != "b":
        return AnswerMap(tuple(map(ANSWERS.index, texts)), (1.0,) * len(texts))
    codes: dict[str, int] = {}
    if "" in texts:
        if "" not in wanted:
            raise UnmappedValueError(
                "the answer is empty",
                "write one, or count empty answers as ties: `answers='=tie'`",
                texts.index(""),
            )
        codes[""] = wanted[""]
    filled = list(dict.fromkeys(text for text in texts if text))
    weights: dict[str, float] = {}
    notes: tuple[str, ...] = ()
    if wanted.keys() - {""}:
        codes |= _from_given(filled, texts, wanted)
        if wanted.keys() & set(_SIGNS) and not weighted:
            weights = {text: _size(text) for text in filled if _explained(text, wanted) is None}
    elif filled and all(not math.isnan(parse_number(text)) for text in filled):
        codes |= _from_signs(filled, texts)
        if not weighted:
            weights = {text: _size(text) for text in filled}
        notes = (_sign_note(filled, weighted),)
    else:
        codes |= _from_words(filled, texts, sides)
        notes = _word_notes(codes)
    return AnswerMap(
        tuple(codes[text] for text in texts),
        tuple(weights.get(text, 1.0) for text in texts),
        notes,
    )


def explains_empty(given: GivenMap | None) -> bool:
    """Return whether a map says what an empty answer means.

    Parameters
    ----------
    given : mapping or str, optional
        As for :func:`resolve_answers`.

    Returns
    -------
    bool

    Examples
    --------
    >>> explains_empty("=tie"), explains_empty("left=a,right=b")
    (True, False)
    """
    return "" in parse_given_map(given, "answers", _EXAMPLE)


def _given_codes(given: dict[str, str]) -> dict[str, int]:
    codes = {}
    for value, answer in given.items():
        if not is_one_of(answer, (*ANSWERS, _OUT)):
            raise unknown_name("answer in `answers`", answer, (*ANSWERS, _OUT))
        codes[value] = LEFT_OUT if answer == _OUT else ANSWERS.index(answer)
    return codes


def _from_given(filled: list[str], texts: list[str], wanted: dict[str, int]) -> dict[str, int]:
    codes = {}
    for text in filled:
        code = _explained(text, wanted)
        if code is None and parse_number(text) != 0:  # NaN is not 0 and has no sign
            code = wanted.get("positive" if parse_number(text) > 0 else "negative")
            code = None if math.isnan(parse_number(text)) else code
        if code is None:
            named = ", ".join(f"{value}={_answer(code)}" for value, code in wanted.items())
            raise UnmappedValueError(
                f"the answer {text!r:.60} is not among the given ones ({named})",
                f"add it, such as `answers={f'{text}={_guess(text)}'!r}`, or leave its judgments "
                f"out by {text}={_OUT}",
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
    numbers = [parse_number(text) for text in filled]
    if not any(number < 0 for number in numbers):
        shown = ", ".join(filled[:6])
        raise UnmappedValueError(
            f"the answers are the numbers {shown}, which do not say which list is better",
            f"say what each of them means, such as `answers={_of_numbers(filled)!r}`",
            texts.index(filled[0]),
        )
    for text, number in zip(filled, numbers, strict=True):
        if abs(number) > _LARGEST or number != int(number):
            raise UnmappedValueError(
                f"the answer {text} is not a whole number from -{_LARGEST} to {_LARGEST}",
                "say which list numbers above 0 prefer: `answers='positive=a,negative=b,0=tie'`",
                texts.index(text),
            )
    return {
        text: _A if number > 0 else _B if number < 0 else _TIE
        for text, number in zip(filled, numbers, strict=True)
    }


def _sign_note(filled: list[str], weighted: bool) -> str:
    largest = max(map(_size, filled))
    size = ""
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
    numbers = [text for text in filled if not math.isnan(parse_number(text))]
    columns = {side.strip().casefold(): code for side, code in zip(sides, (_A, _B), strict=True)}
    for text in filled:
        meaning = answer_in_words(text)
        if text.casefold() in columns:
            codes[text] = columns[text.casefold()]
        elif text in numbers:
            others = [one for one in filled if one not in numbers]
            raise UnmappedValueError(
                f"the answers are numbers ({', '.join(numbers[:5])}) and words "
                f"({', '.join(others[:5])})",
                f"say what each of them means, such as `answers={f'{text}=tie'!r}`",
                texts.index(text),
            )
        elif meaning is not None:
            codes[text] = meaning
        else:
            raise UnmappedValueError(
                f"the answer is {text!r:.60}",
                f"use one of {', '.join(ANSWERS)}, or say what it means: "
                f"`answers={_example(filled)!r}`",
                texts.index(text),
            )
    return codes


def _word_notes(codes: dict[str, int]) -> tuple[str, ...]:
    taken = [
        f"{text}={_answer(code)}" for text, code in codes.items() if text not in (*ANSWERS, "")
    ]
    more = ", ..." if len(taken) > 8 else ""
    return (f"answers taken: {', '.join(taken[:8])}{more}",) if taken else ()


def _of_numbers(filled: Sequence[str]) -> str:
    """Return an example of what numbers mean: 0 is a no, or the scale goes from a to b."""
    ordered = sorted(filled, key=parse_number)[:9]
    usual = {("0", "1"): "1=a,0=b", ("0", "1", "2"): "1=a,2=b,0=tie"}
    if tuple(ordered) in usual:
        return usual[tuple(ordered)]
    middle = (len(ordered) - 1) / 2 if len(ordered) > 1 else 1
    codes = (_A if at < middle else _B if at > middle else _TIE for at in range(len(ordered)))
    return ",".join(f"{text}={_answer(code)}" for text, code in zip(ordered, codes, strict=True))


def _example(filled: Sequence[str]) -> str:
    return ",".join(f"{text}={_guess(text)}" for text in filled[:5])


def _guess(text: str) -> str:
    """Return an answer for the example of a message, dots where it may be any."""
    meaning = answer_in_words(text)
    return "..." if meaning is None else _answer(meaning)


def _answer(code: int) -> str:
    return _OUT if code == LEFT_OUT else ANSWERS[code]


def _text(value: object) -> str:
    """Return an answer as text; whole floats are written without a point."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _size(text: str) -> float:
    """Return the weight of a number: its size, 1 for a tie."""
    return min(abs(parse_number(text)), LARGEST_WEIGHT) or 1.0
