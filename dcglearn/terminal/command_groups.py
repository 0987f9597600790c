"""The lists of commands and of options in help texts, in groups, and how options read numbers.

Typer's own headings need rich, which takes as long to load as all the rest of the help.
"""

from __future__ import annotations

import math
from itertools import chain, pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from dcglearn.base.numbers import parse_number

OLD_SPELLINGS = {("--format", "json"): "--json"}
"""What earlier versions took: an option and its value -> today's option."""


class GroupedCommands(TyperGroup):
    """A group whose help lists its commands under their headings, in order of registration."""

    # The types of `ctx` and `formatter` are private to typer.
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per heading, with the names in columns of one width."""
        names = self.list_commands(ctx)
        width = max(map(len, names))
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in names:
            command: Any = self.get_command(ctx, name)
            text = command.get_short_help_str(formatter.width - width - 6)
            sections.setdefault(command.rich_help_panel, []).append((name.ljust(width), text))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class StrictCommand(TyperCommand):
    """A command whose options take the numbers that files take: not ``1_0`` or ``nan``.

    Its help lists the options under the headings that they name. Old spellings of options work,
    and are not in the help.
    """

    # The types of `ctx` and `formatter` are private to typer.
    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then one section of options per heading, in order of definition."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for one in self.get_params(ctx):
            heading = one.rich_help_panel if isinstance(one, TyperOption) else None
            if one.param_type_name == "argument":
                heading = "Arguments"
            record = one.get_help_record(ctx)
            if record is not None:
                sections.setdefault(heading or "Options", []).append(record)
        rest = sections.pop("Options", [])
        sections["Other options" if len(sections) > 1 else "Options"] = rest
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Check the numbers among the arguments before they are parsed."""
        args = _in_new_spelling(args)
        names = set(chain(*(one.opts for one in self.params if _is_number(one))))
        for option, following in pairwise([*args, ""]):
            name, equals, value = option.partition("=")
            value = value if equals else following
            if name in names and _only_python_reads(value):
                raise typer.BadParameter(f"{value[:40]!r} is not a number.", param_hint=repr(name))
        return super().parse_args(ctx, args)


def _in_new_spelling(args: list[str]) -> list[str]:
    """Replace old spellings of options, with and without ``=``; after ``--`` there are none."""
    end = args.index("--") if "--" in args else len(args)
    new: list[str] = []
    at = 0
    while at < end:
        option, equals, value = args[at].partition("=")
        known = OLD_SPELLINGS.get((option, value if equals else "".join(args[at + 1 : end][:1])))
        new.append(known or args[at])
        at += 2 if known and not equals else 1
    return new + args[end:]


def _is_number(parameter: Any) -> bool:
    """Return whether an option is a number; typer has changed where it keeps that."""
    if hasattr(parameter, "type"):
        return bool(parameter.type.name.startswith(("integer", "float")))
    return parameter.type_descriptor.annotation in (int, float)


def _only_python_reads(text: str) -> bool:
    try:
        float(text)  # what it refuses, typer refuses, too
    except ValueError:
        return False
    return text != text.strip() or math.isnan(parse_number(text))
