"""What the slow twins of readers share: text, numbers and fields, read without dcglearn."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from hypothesis import strategies as st

from dcglearn import InputError, InputWarning

BLANKS = " \t\v\f\r"


class RefusedError(Exception):
    """What a twin raises: the number of the line."""


def twin_number(text: str) -> float:
    """The number of a text, by `decimal`."""
    if not set(text) <= set("0123456789+-.eE"):
        raise ValueError(text)
    try:
        number = float(Decimal(text))
    except InvalidOperation as error:
        raise ValueError(text) from error
    if abs(number) == float("inf"):
        raise ValueError(text)
    return number


def twin_text(content: bytes) -> str:
    """The text of a file with line feeds, or the first line that has none."""
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise RefusedError(number) from error
    text = content.decode()
    return text[1:] if text[:1] == "\ufeff" else text


def twin_fields(line: str) -> list[str]:
    return [field for field in re.split("[ \t\v\f\r]", line) if field]


def outcome(read: Callable[[Any], Any], given_content: object) -> object:
    """What a reader returns, or the line that it refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # several tags are read as one run
            return read(given_content)
    except RefusedError as error:
        return f"line {error.args[0]}"
    except InputError as error:
        line = re.search(r"line (\d+)$", error.place)
        return f"line {line[1] if line else 0}"


def mostly(usual: list[str], odd: list[str]) -> st.SearchStrategy[str]:
    return st.integers(0, 39).flatmap(lambda n: st.sampled_from(usual if n else odd))
