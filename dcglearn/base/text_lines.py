r"""The text of files: its encoding, its lines and the blanks between fields, for every format.

Text is UTF-8, with or without a byte order mark. Lines end with ``\n`` or ``\r\n``; other
characters that Unicode calls line ends, such as U+0085 and U+2028, are text, and a carriage return
anywhere else is refused. Blanks are those of ASCII: U+00A0 is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcglearn.base.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ASCII_BLANKS = " \t\n\r\v\f"

_LONE_RETURN = re.compile(rb"\r(?!\n)")


def check_text(content: bytes, path: str) -> None:
    r"""Check the encoding and the line ends of a whole file.

    Parameters
    ----------
    content : bytes
        What the file holds.
    path : str
        For the message.

    Raises
    ------
    InputError
        If it is not UTF-8, or a carriage return does not end a line (naming the line).

    Examples
    --------
    >>> try:
    ...     check_text(b"q1 0 d1 1\rq1 0 d2 0\n", "qrels")
    ... except InputError as error:
    ...     print(error.place, error.problem, sep=": ")
    qrels, line 1: a carriage return without a line feed
    """
    if b"\r" in content:
        lone = _LONE_RETURN.search(content)
        if lone:
            place = f"{path}, line {content.count(bytes([10]), 0, lone.start()) + 1}"
            raise _lone_return(place)
    if content.isascii():
        return
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"{path}, line {content.count(bytes([10]), 0, error.start) + 1}"
        raise _not_utf8(place) from error


def decode_line(line: bytes, place: str) -> str:
    r"""Decode one line with its line end.

    Parameters
    ----------
    line : bytes
        Up to and including the line feed.
    place : str
        File and line, for the message.

    Returns
    -------
    str
        With its line end.

    Raises
    ------
    InputError
        As :func:`check_text`.

    Examples
    --------
    >>> decode_line(b"caf\xc3\xa9\r\n", "notes.txt, line 1")
    'café\r\n'
    """
    if b"\r" in line and _LONE_RETURN.search(line):
        raise _lone_return(place)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(place) from error


def numbered_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    r"""Iterate over the lines of a file and their numbers.

    Parameters
    ----------
    content : bytes
        What the file holds.

    Yields
    ------
    number : int
        1 for the first line.
    line : bytes
        Without the line feed and the byte order mark.

    Examples
    --------
    >>> list(numbered_lines(b"1\n0"))
    [(1, b'1'), (2, b'0')]
    """
    yield from enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1)


def split_fields(text: str) -> list[str]:
    r"""Split text at blanks of ASCII.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
        The fields; none is empty.

    Examples
    --------
    >>> split_fields(" 2 1\t0")
    ['2', '1', '0']
    >>> split_fields("New\u00a0York") == ["New\u00a0York"]
    True
    """
    if text.isascii() and text.isprintable():  # str.split also splits at \x1c and U+00A0
        return text.split()
    return [field.decode() for field in text.encode().split()]


def _lone_return(place: str) -> InputError:
    problem = "a carriage return without a line feed"
    return InputError(problem, r"save it with line ends \n or \r\n", place)


def _not_utf8(place: str) -> InputError:
    return InputError("is not UTF-8 text", "save it as UTF-8", place)
