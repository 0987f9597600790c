"""Numbers in cells of text, in which a spreadsheet may have written a comma for the point."""

from __future__ import annotations

import re

from dcglearn.base.numbers import parse_number
from dcglearn.base.text import ASCII_BLANKS

_WITH_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_MAY_BE_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


def parse_cell(text: str) -> float:
    """Return the number that a cell holds, NaN if it does not hold one.

    Parameters
    ----------
    text : str
        As for :func:`dcglearn.base.numbers.parse_number`; or with a comma before the decimals,
        unless it may separate thousands.

    Returns
    -------
    float

    Examples
    --------
    >>> [parse_cell(text) for text in ("0.5", "0,5", "12,25", "1,500")]
    [0.5, 0.5, 12.25, nan]
    """
    return parse_number(with_point(text))


def with_point(text: str) -> str:
    """Return a number in a cell with a point before its decimals, other text as it is.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> [with_point(text) for text in ("0,5", "1,500", "good, bad")]
    ['0.5', '1,500', 'good, bad']
    """
    digits = text.strip(ASCII_BLANKS)
    if _WITH_COMMA.fullmatch(digits) and not _MAY_BE_THOUSANDS.fullmatch(digits):
        return digits.replace(",", ".")
    return text
