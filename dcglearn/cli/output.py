"""What commands print on standard output."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import Any

from dcglearn.base.files import jsonable
from dcglearn.base.progress import CLEAR_LINE
from dcglearn.base.text import plain_text


def print_text(text: str) -> None:
    """Print to standard output, with control characters visible except ends of lines and tabs.

    A reader that stopped reading, as `head` does, is not an error.
    """
    try:
        print(plain_text(text, keep="\n\t"), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(document: Any) -> None:
    """Print a JSON document in ASCII; NaN and infinite numbers become null."""
    print_text(json.dumps(jsonable(document), indent=2))


def print_note(text: str) -> None:
    """Print one line to standard error, with control characters visible."""
    start = CLEAR_LINE if sys.stderr.isatty() else ""  # of progress
    print(f"{start}{plain_text(text)}", file=sys.stderr)


def terminal_width() -> int | None:
    """Return the number of characters in a line of the terminal, None where output is no screen."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
