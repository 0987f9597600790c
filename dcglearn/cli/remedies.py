"""Messages of the library in the words of the command line.

The library's messages name its arguments in backquotes: ``declare `scale` ``, or
``use `unjudged="worst"` ``. On the command line the same things are options:
``declare --scale``, ``use --unjudged worst``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from functools import cache

from dcglearn.base.errors import InputError

OTHER_NAMES = {
    "depth": "--K",
    "difference": "--topics",
    "document_grades": "--qrels",
    "n_ranks": "--K",
    "n_repeats": "--repeats",
    "runs": "--run",
}
"""Argument of the library -> option of the commands, where they have different names."""

PARTS = {"cutoff": "the number after @"}
"""Argument of the library -> part of a measure in full."""

_QUOTED = re.compile(r"`(\w+)(?:\s*=\s*([^`]+))?`")


def in_options(text: str) -> str:
    """Replace each backquoted argument that is an option by that option."""
    return _QUOTED.sub(_option, text)


def message(error: InputError) -> str:
    """Return the text of an error with options in place of the library's arguments."""
    return str(InputError(in_options(error.problem), in_options(error.remedy), error.place))


def _option(match: re.Match[str]) -> str:
    name, value = match.groups()
    if name in PARTS:
        return PARTS[name]
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
