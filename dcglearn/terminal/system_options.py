"""Options that the commands on qrels and runs share, each under a heading of their help."""

from __future__ import annotations

from typing import Annotated

import typer

from dcglearn.terminal.choices import LikeChoice, MissingChoice
from dcglearn.terminal.options import SCALE_HELP

MEASURES, RULES, COMPARISONS, OUTPUT = "Measures", "Rules", "Comparisons", "Output"
"""Headings in the help of these commands."""

GradesOption = Annotated[
    str | None,
    typer.Option("--scale", metavar="BEST,...,WORST", help=SCALE_HELP, rich_help_panel=MEASURES),
]
LikeOption = Annotated[
    LikeChoice | None,
    typer.Option(
        "--like",
        metavar="TOOL",
        help="Treat ties, unjudged documents and missing queries as trec_eval, ir_measures, "
        "ranx, sklearn or gdeval does. An option below replaces that one rule.",
        rich_help_panel=RULES,
    ),
]
MissingOption = Annotated[
    MissingChoice | None,
    typer.Option(
        "--missing",
        help="Value of a query that a run does not answer: 0, or out to leave it out of the "
        "run's mean. By default 0.",
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
