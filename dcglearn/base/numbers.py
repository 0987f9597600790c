"""Numbers in text: ASCII decimals, the same for every file format.

Python's ``float`` and ``int`` also read ``1_0`` as 10, ``nan``, ``infinity`` and the digits of
other scripts, which no file format here has.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, Context

from dcglearn.base.text_lines import ASCII_BLANKS

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_LONGEST = 4300  # as in Python, whose time for longer ones grows with the square of their length

MAX_EXACT = 2**53
"""From here on, different whole numbers can be equal in double precision."""


def parse_number(text: str) -> float:
    """Return the finite number that a text holds, NaN if it does not hold one.

    Parameters
    ----------
    text : str
        ASCII digits with an optional sign, decimal point and exponent. Blanks of ASCII before
        and after them are ignored.

    Returns
    -------
    float
        NaN also for numbers that are too large for a float.

    Examples
    --------
    >>> [parse_number(text) for text in ("10", "+.5", "1e-3", "1_0", "infinity", "1e999")]
    [10.0, 0.5, 0.001, nan, nan, nan]
    """
    if len(text) > _LONGEST:
        return math.nan
    digits = text.strip(ASCII_BLANKS)
    number = float(digits) if _DECIMAL.fullmatch(digits) else math.nan
    return number if math.isfinite(number) else math.nan


def round_up(bound: float, digits: int) -> float:
    """Round an upper bound so that it is still one when it is printed with few digits.

    Parameters
    ----------
    bound : float
    digits : int
        Number of significant digits.

    Examples
    --------
    >>> f"{1.31e-9:.1e}", f"{round_up(1.31e-9, 2):.1e}"
    ('1.3e-09', '1.4e-09')
    """
    return float(Context(digits, ROUND_CEILING).create_decimal_from_float(bound))


def parse_whole(text: str) -> int | None:
    """Return the whole number that a text holds, None if it does not hold one.

    Parameters
    ----------
    text : str
        Up to 18 ASCII digits with an optional sign, and nothing else.

    Returns
    -------
    int or None

    Examples
    --------
    >>> [parse_whole(text) for text in ("10", "-7", "1_0", " 1", "1.0", "1" * 19)]
    [10, -7, None, None, None, None]
    """
    return int(text) if _WHOLE.fullmatch(text) else None


HUGE, TINY = 1e15, 1e-100
"""Sizes from which, and below which, numbers are shown as powers of ten."""


def decimals(number: float, digits: int = 4) -> str:
    """Show a number with some decimals; a very large or very small one as a power of ten.

    Parameters
    ----------
    number : float
    digits : int, default 4
        Decimals.

    Returns
    -------
    str
        A dash for nan.

    Examples
    --------
    >>> [decimals(number) for number in (0.89164, -0.00001, 1e300, 1e-320, math.nan)]
    ['0.8916', '0.0000', '1e+300', '9.9999e-321', '-']
    """
    if math.isnan(number):
        return "-"
    if abs(number) >= HUGE or 0 < abs(number) < TINY:
        return f"{number:.{digits + 1}g}"
    text = f"{number:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    Parameters
    ----------
    n : int
    noun : str
    plural : str, optional
        By default the noun and an s.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "judgment"), counted(2090, "query", "queries")
    ('1 judgment', '2,090 queries')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
