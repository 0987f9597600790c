"""Commands on measures: show."""

from __future__ import annotations

import json as codec
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, checked_suffix
from dcglearn.cli.options import JsonOption, RanksOption, ScaleOption, print_json, say

if TYPE_CHECKING:
    from dcglearn.measures.files import MeasureFile
    from dcglearn.measures.measure import Measure
    from dcglearn.measures.scale import Scale


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
            "--figure",
            "-o",
            metavar="FILE",
            help=".png, .svg or .pdf; by default FILE.png beside a measure file, replaced.",
        ),
    ] = None,
    no_figure: Annotated[bool, typer.Option("--no-figure", help="Draw nothing.")] = False,
    json: JsonOption = False,
) -> None:
    """Show a measure: its numbers, and a figure beside the usual ones."""
    from dcglearn.measures.files import measure_to_json
    from dcglearn.measures.names import (
        check_compatible,
        is_measure_file_name,
        measure_for,
        parse_measure,
    )
    from dcglearn.measures.scale import Scale
    from dcglearn.report.measures import in_full, measure_text
    from dcglearn.report.tables import FORMATS

    if not is_measure_file_name(measure) and "(" not in measure and scale is None:
        raise InputError(f"the preset {measure!r} needs grades", "add --scale, such as 2,1,0")
    if is_measure_file_name(measure) or "[" in measure or "{" in measure:
        found = parse_measure(measure)
        if scale is not None or n_ranks is not None:
            ranks = n_ranks or found.measure.n_ranks or 10
            check_compatible(found.measure, _scale(found.measure, scale), ranks, "the options")
    else:
        found = measure_for(measure, Scale.parse(scale or ""), n_ranks or 10)
    content = found.file or _alone(found.measure)
    asked = figure is not None
    if figure is None and found.file is not None and not no_figure:
        figure = re.sub(r"\.json(:dcg|:utility)?$", ".png", measure, flags=re.IGNORECASE)
    if figure is not None:
        checked_suffix(figure, FORMATS)
        try:
            check_writable(figure)
        except InputError:
            if asked:
                raise
            figure = None  # nobody asked for it by name
    if json:
        print_json(codec.loads(measure_to_json(content)))
    else:
        say(measure_text(found.name, content, found.measure, n_ranks))
    if figure is not None:
        from dcglearn.report.measure_figures import draw_measure_file
        from dcglearn.report.style import save

        title = f"{Path(found.name).name}: {in_full(found.measure, content)}"
        save(draw_measure_file(content, title, _scale(found.measure, scale)), figure)
        typer.echo(f"\nwrote {figure}", err=json)


def _scale(measure: Measure, text: str | None) -> Scale:
    """Return the scale as declared, or as the measure's grades say."""
    from dcglearn.measures.scale import Scale

    if text is not None:
        return Scale.parse(text)
    return Scale(measure.grades or tuple(range(measure.n_grades))[::-1])


def _alone(measure: Measure) -> MeasureFile:
    from dcglearn.measures.dcg import DCG
    from dcglearn.measures.files import MeasureFile

    if isinstance(measure, DCG):
        return MeasureFile(dcg=measure)
    return MeasureFile(utility=measure, use="utility")
