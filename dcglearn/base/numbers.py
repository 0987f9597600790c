"""Numbers in text: ASCII decimals, not ``1_0``, ``nan`` or ``infinity``; and numbers as text."""

import math
import re
from collections.abc import Sequence
from itertools import groupby

from dcglearn.base.text import ASCII_BLANKS

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")

MAX_EXACT = 2**53
"""From here on, different whole numbers can be equal in double precision."""


def parse_number(text: str) -> float:
    """Return the finite decimal number that a text holds, otherwise NaN."""
    digits = text.strip(ASCII_BLANKS)
    number = float(digits) if _DECIMAL.fullmatch(digits) else math.nan
    return number if math.isfinite(number) else math.nan


def parse_whole(text: str) -> int | None:
    """Return the whole number of up to 18 digits, None if the text is not one."""
    return int(text) if _WHOLE.fullmatch(text) else None


def decimals(number: float, digits: int = 4) -> str:
    """Show a number, one of extreme size as a power of ten, and NaN as a dash."""
    if math.isnan(number):
        return "-"
    if abs(number) >= 1e15 or 0 < abs(number) < 1e-100:
        return f"{number:.{digits + 1}g}"
    text = f"{number:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as "2,090 judgments"."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def in_ranges(places: Sequence[int], labels: Sequence[str] = ()) -> str:
    """Return ascending whole numbers, or their labels, three or more neighbours as a range.

    >>> in_ranges([1, 2, 3, 7]), in_ranges([0, 2, 3], "abcdefgh")
    ('1-3,7', 'a,c,d')
    """
    parts: list[str] = []
    for _, group in groupby(enumerate(places), lambda one: one[1] - one[0]):
        row = [labels[place] if labels else str(place) for _, place in group]
        parts += row if len(row) < 3 else [f"{row[0]}-{row[-1]}"]
    return ",".join(parts)
