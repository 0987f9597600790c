"""What commands print, and messages of the library in the words of the command line.

The library's messages name its arguments in backquotes: ``declare `scale` ``, or
``use `unjudged="worst"` ``. On the command line the same things are options:
``declare --scale``, ``use --unjudged worst``.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Collection
from functools import cache

from dcglearn.base.errors import InputError
from dcglearn.base.progress import CLEAR_LINE
from dcglearn.base.text import plain_text

OTHER_NAMES = {
    "depth": "--K",
    "difference": "--topics",
    "document_grades": "--qrels",
    "n_ranks": "--K",
    "n_repeats": "--repeats",
    "runs": "--run",
}
"""Argument of the library -> option of the commands, where they have different names."""

_QUOTED = re.compile(r"`(\w+)(?:\s*=\s*([^`]+))?`")


def print_text(text: str) -> None:
    """Print to standard output, with control characters visible except ends of lines and tabs.

    A reader that stopped reading, as `head` does, is not an error.
    """
    try:
        print(plain_text(text, keep="\n\t"), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_note(text: str) -> None:
    """Print one line to standard error, with control characters visible."""
    start = CLEAR_LINE if sys.stderr.isatty() else ""  # of progress
    print(f"{start}{plain_text(text)}", file=sys.stderr)


def in_options(text: str) -> str:
    """Replace each backquoted argument that is an option by that option."""
    return _QUOTED.sub(_option, text)


def message(error: InputError) -> str:
    """Return the text of an error with options in place of the library's arguments."""
    return str(InputError(in_options(error.problem), in_options(error.remedy), error.place))


def _option(match: re.Match[str]) -> str:
    name, value = match.groups()
    if name == "cutoff":
        return "the number after @"
    option = OTHER_NAMES.get(name, f"--{name.replace('_', '-')}")
    if option not in _options():
        return match.group()
    if value in (None, "True"):
        return option
    words = value.strip("[]'\"").replace(", ", ",")
    return f"{option} {shlex.quote(words)}"


@cache
def _options() -> Collection[str]:
    """Return the options of all commands."""
    from typer.main import get_command

    from dcglearn.cli import app

    commands = vars(get_command(app))["commands"].values()
    return {option for one in commands for param in one.params for option in param.opts}
