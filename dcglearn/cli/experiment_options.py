"""The options of the commands on experiments."""

from __future__ import annotations

from typing import Annotated

import typer

QuickOption = Annotated[
    bool, typer.Option("--quick", help="Only the [quick] part; its results go to FOLDER/quick.")
]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="N|tcp://HOST:PORT",
        help="Processes on this machine, or the address of a Dask scheduler; by default 1, or what "
        "the config of dcglearn run sets.",
    ),
]
OutOption = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="Folder of results; by default results, or what the config of dcglearn run sets.",
    ),
]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Replace the results of another config or version.")
]
ConfigsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONFIG",
        help="Config files (.toml); by default all in the folder configs, or the shipped ones if "
        "it has none.",
    ),
]
WidthOption = Annotated[
    str | None,
    typer.Option(
        "--width",
        metavar="column|page|INCHES",
        help="The width of figures: a column of a paper (3.3 inches, the default), a page (7), ...",
    ),
]
OnlyOption = Annotated[
    str | None,
    typer.Option("--only", metavar="NAME,...", help="Figures or configs to run, such as 5,6."),
]

ShippedOption = Annotated[
    bool, typer.Option("--shipped", help="Also the shipped experiments, beside your own.")
]

ColumnsOption = Annotated[
    bool,
    typer.Option(
        "--columns",
        help="List what COLUMNS, [setting] and the parts of a figure may name, with the functions "
        "of CONFIG, if one is named; run nothing.",
    ),
]
FindingsOption = Annotated[
    str | None,
    typer.Option(
        "--findings",
        metavar="FILE.tex",
        help="Also write all claims, with the verdicts and what they rest on, as a LaTeX table.",
    ),
]
