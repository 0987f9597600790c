"""Arguments and options that several commands share.

Choices repeat what the library accepts, so that help and completion need not load it; a test
compares the two.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from typer import Argument, Option

MAX_RANKS, MAX_COUNT = 100_000, 100_000_000
"""Largest numbers of ranks, and of judgments or fits, that commands take."""

READING = "Reading files"
"""The heading of the options on reading."""

FORMATS_HELP = (
    "JSON (.jsonl, .ndjson, .json), delimited text (.csv, .tsv, .txt), Parquet, Arrow or Excel "
    "(.xlsx), each also compressed (.gz, .zst, .bz2, .xz); a folder of parts, a pattern in "
    "quotes, or - for standard input."
)
JUDGMENTS_HELP = (
    f"{FORMATS_HELP} Columns: a and b (the grades of two lists, from the first rank) and answer "
    "(a, b, tie, good or bad); where known, query, judge and weight."
)
SEVERAL_HELP = "Several files are read as one."

JudgmentFilesArgument = Annotated[
    list[str], Argument(metavar="JUDGMENTS", help=f"{JUDGMENTS_HELP} {SEVERAL_HELP}")
]
JudgmentsAndMeasuresArgument = Annotated[
    list[str],
    Argument(
        metavar="JUDGMENTS|MEASURE",
        help=f"{JUDGMENTS_HELP} {SEVERAL_HELP} Then measures: presets (zipf, rbp:0.8), measure "
        "files (learned.json, learned.json:utility) or measures in full; by default every preset.",
    ),
]
"""What :func:`dcglearn.cli.reading.split_measures` divides."""

scale_option = partial(
    Option,
    metavar="BEST,...,WORST",
    help="The grades, best first: 2,1,0 or perfect,good,bad or perfect=3,good=1,bad=0. Not needed "
    "where the grades in the file are numbers.",
)
ranks_option = partial(Option, "--K", min=1, max=MAX_RANKS, metavar="K")
number_option = partial(Option, metavar="N", min=0, max=MAX_COUNT)

LENGTH_HELP = "Length of the lists; longer lists are refused."

ScaleOption = Annotated[str | None, scale_option()]
RanksOption = Annotated[int | None, ranks_option(help=LENGTH_HELP)]
SeedOption = Annotated[int, Option(min=0, metavar="N", help="Seed of the random numbers.")]
COption = Annotated[
    str,
    Option(
        "--C",
        metavar="C|cv",
        help="Cost of a missed margin; cv chooses it by cross-validation over queries.",
    ),
]
MarginOption = Annotated[
    Literal["unit", "hamming"],
    Option(
        help="Margin by which the better list should win: 1, or the number of ranks at which the "
        "lists differ."
    ),
]
SolverOption = Annotated[
    Literal["auto", "newton", "osqp", "clarabel"], Option(help="Solver of the quadratic program.")
]
UseOption = Annotated[
    Literal["dcg", "utility"],
    Option(
        help="The learned measure to use: gains and discounts (dcg), or one weight per grade "
        "and rank (utility)."
    ),
]
