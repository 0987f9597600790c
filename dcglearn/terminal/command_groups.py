"""The list of commands in ``dcglearn --help``, under one heading per step of the work.

Typer's own headings need rich, which takes as long to load as all the rest of the help.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


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
