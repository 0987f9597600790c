"""The lists of commands and of options in help texts, under headings.

Typer's own headings need rich, which takes as long to load as all the rest of the help.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup


class GroupedCommands(TyperGroup):
    """A group whose help lists its commands under their headings, in order of registration."""

    # The types of `ctx` and `formatter` are private to typer.
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per heading, with the names in columns of one width."""
        commands: Any = self.commands
        width = max(map(len, commands))
        _write_sections(
            formatter,
            (
                (one.rich_help_panel, name.ljust(width), one.get_short_help_str(1000))
                for name, one in commands.items()
            ),
        )


class GroupedOptions(TyperCommand):
    """A command whose help lists its options under the headings that they name."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then one section of options per heading, in order of definition."""
        rows = []
        parameters: list[Any] = self.get_params(ctx)
        for one in parameters:
            record = one.get_help_record(ctx)
            if one.param_type_name == "argument":
                rows.append(("Arguments", one.metavar, one.help))
            elif record is not None:
                rows.append((one.rich_help_panel or "Options", *record))
        _write_sections(formatter, rows)


def _write_sections(formatter: Any, rows: Iterable[tuple[str, str, str]]) -> None:
    """Write rows of (heading, name, text) under their headings."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for heading, name, text in rows:
        sections.setdefault(heading, []).append((name, text))
    for heading, section in sections.items():
        with formatter.section(heading):
            formatter.write_dl(section)
