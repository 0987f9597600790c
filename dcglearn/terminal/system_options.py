"""Options that the commands on qrels and runs share, each under a heading of their help."""

from __future__ import annotations

from typing import Annotated

import typer

from dcglearn.terminal.options import SCALE_HELP

MEASURES, RULES, COMPARISONS, OUTPUT = "Measures", "Rules", "Comparisons", "Output"
"""Headings in the help of these commands."""

GradesOption = Annotated[
    str | None,
    typer.Option("--scale", metavar="BEST,...,WORST", help=SCALE_HELP, rich_help_panel=MEASURES),
]
LenientRunsOption = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Accept documents that a query lists twice: use the first, and report how many "
        "there are. Otherwise they are an error.",
        rich_help_panel=RULES,
    ),
]
ComparisonsSeedOption = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Seed of the random draws: the same seed gives the same numbers.",
        rich_help_panel=COMPARISONS,
    ),
]
ResultsJsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print everything as JSON.", rich_help_panel=OUTPUT),
]
