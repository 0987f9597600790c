"""What commands print on standard output."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.json_text import json_document
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


def terminal_width() -> int | None:
    """Return the number of characters in a line of the terminal, None where output is no screen."""
    stream = sys.stdout
    if stream is None or not stream.isatty():
        return None
    return shutil.get_terminal_size().columns


def print_note(text: str) -> None:
    """Print one line to standard error, with control characters visible."""
    if sys.stderr is not None:  # None if the shell closed it
        start = CLEAR_LINE if sys.stderr.isatty() else ""  # of progress
        print(f"{start}{plain_text(text)}", file=sys.stderr)


def print_json(document: Any) -> None:
    """Print a JSON document; NaN and infinite numbers become null."""
    print_json_text(json_document(document))


def print_json_text(text: str) -> None:
    """Print a JSON document that is written already, with escapes where the encoding needs them."""
    print_text(json_plain_text(text, _encoding()))


def print_document(text: str) -> None:
    """Print text that other programs read, such as CSV or Python, if the encoding has all of it."""
    if _lacks(_encoding(), text):
        problem = f"standard output is {_encoding()}, which lacks some of the characters"
        raise InputError(problem, "set PYTHONIOENCODING=utf-8, or print JSON")
    print_text(text)


def json_plain_text(text: str, encoding: str = "utf-8") -> str:
    """Escape all but ASCII in a JSON document where some is unseen, or an encoding lacks it."""
    if not _lacks(encoding, text) and plain_text(text, keep="\n") == text:
        return text
    return re.sub(r"[^ -~\n]+", lambda found: json.dumps(found[0])[1:-1], text)


def _encoding() -> str:
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def _lacks(encoding: str, text: str) -> bool:
    return text.encode(encoding, "ignore").decode(encoding) != text
