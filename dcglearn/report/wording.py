"""Lines of a width that is easy to read, and lists."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

LINE_WIDTH = 96
"""The number of characters of a line of prose."""


def bulleted(statements: Sequence[str]) -> str:
    """Return statements as an indented list, one per line."""
    return "\n".join(f"  - {statement}" for statement in statements)


def wrap_lines(text: str, width: int = LINE_WIDTH) -> str:
    """Break long lines between words; what follows an item's mark is indented as its text."""
    lines = []
    for line in text.split("\n"):
        mark = re.match(r" *(- )?", line)
        indent = " " * len(mark.group()) if mark else ""
        lines += textwrap.wrap(
            line,
            width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=True,
        ) or [""]
    return "\n".join(lines)
