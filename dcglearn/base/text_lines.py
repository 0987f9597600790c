r"""Text of files: UTF-8 with or without its mark, and lines that end with ``\n`` or ``\r\n``.

Other characters that Unicode calls line ends, such as U+0085 and U+2028, are text; a carriage
return anywhere else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcglearn.base.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_LONE_RETURN = re.compile(rb"\r(?!\n)")


def check_text(content: bytes, path: str) -> None:
    """Refuse a whole file that is not UTF-8 or has another end of line, naming the line."""
    if b"\r" in content and (lone := _LONE_RETURN.search(content)):
        raise _lone_return(_line_at(content, lone.start(), path))
    if content.isascii():
        return
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(_line_at(content, error.start, path)) from error


def decode_line(line: bytes, place: str) -> str:
    """Decode one line with its line end, as :func:`check_text` a file."""
    if b"\r" in line and _LONE_RETURN.search(line):
        raise _lone_return(place)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(place) from error


def numbered_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Iterate over the lines, without line feed and byte order mark, and their numbers from 1."""
    return enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1)


def _line_at(content: bytes, position: int, path: str) -> str:
    return f"{path}, line {content.count(10, 0, position) + 1}"  # 10 is the line feed


def _lone_return(place: str) -> InputError:
    problem = "a carriage return without a line feed"
    return InputError(problem, r"save it with line ends \n or \r\n", place)


def _not_utf8(place: str) -> InputError:
    return InputError("is not UTF-8 text", "save it as UTF-8", place)
