"""Commands on measures: show."""

from __future__ import annotations

import json as codec
from pathlib import Path
from typing import Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_place
from dcglearn.cli.options import JsonOption, RanksOption, ScaleOption, print_json


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(show)


def show(
    measure: Annotated[
        str,
        typer.Argument(
            metavar="MEASURE.json",
            help="A measure file, a preset with --scale, or a measure in full.",
        ),
    ],
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    figure: Annotated[
        str | None,
        typer.Option(
            "--figure", "-o", metavar="FILE", help=".png, .svg or .pdf; beside the file by default."
        ),
    ] = None,
    no_figure: Annotated[bool, typer.Option("--no-figure", help="Draw nothing.")] = False,
    json: JsonOption = False,
) -> None:
    """Show a measure: its numbers, and a figure beside the usual ones."""
    from dcglearn.measures.dcg import DCG
    from dcglearn.measures.files import MeasureFile, measure_to_json
    from dcglearn.measures.naming import is_file_name, measure_for, open_measure
    from dcglearn.measures.scale import Scale
    from dcglearn.report.words import measure_text

    if is_file_name(measure) or "[" in measure or "{" in measure:
        found = open_measure(measure)
    elif scale is None:
        raise InputError(f"the preset {measure!r} needs grades", "add --scale, such as 2,1,0")
    else:
        found = measure_for(measure, Scale.parse(scale), n_ranks or 10)
    content = found.file or MeasureFile(
        dcg=found.measure if isinstance(found.measure, DCG) else None
    )
    if figure is None and found.file is not None and not no_figure:
        figure = str(
            Path(measure.removesuffix(":dcg").removesuffix(":utility")).with_suffix(".png")
        )
    if figure is not None:
        from dcglearn.report.figures import check_figure_name

        check_figure_name(figure)
        check_place(figure)
    if json:
        print_json(codec.loads(measure_to_json(content)))
    else:
        typer.echo(measure_text(found.name, content, n_ranks))
    if figure is not None:
        from dcglearn.report.figures import draw_measure_file, save

        grades = None if scale is None else Scale.parse(scale)
        save(draw_measure_file(content, found.name, grades), figure)
        typer.echo(f"\nwrote {figure}", err=json)
