"""The command that shows a measure: show."""

from __future__ import annotations

import json as codec
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, checked_suffix
from dcglearn.cli.inputs import preset_without_grades
from dcglearn.cli.options import JsonOption, RanksOption, ScaleOption
from dcglearn.cli.output import print_json, print_text

if TYPE_CHECKING:
    from dcglearn.measures.files import MeasureFile
    from dcglearn.measures.measure import Measure
    from dcglearn.measures.scale import Scale


def show(
    measure: Annotated[
        str,
        typer.Argument(
            metavar="MEASURE",
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
            help="Draw it to a .png, .svg or .pdf file; for a measure file, by default to a .png "
            "next to it, which is replaced.",
        ),
    ] = None,
    no_figure: Annotated[bool, typer.Option("--no-figure", help="Do not draw a figure.")] = False,
    json: JsonOption = False,
) -> None:
    """Show a measure: its numbers, and a figure with the usual ones."""
    from dcglearn.measures.files import measure_to_json
    from dcglearn.measures.names import (
        check_compatible,
        is_measure_file_name,
        measure_for,
        parse_measure,
    )
    from dcglearn.measures.scale import Scale
    from dcglearn.report.measures import in_full, measure_text
    from dcglearn.report.tables import FIGURE_FORMATS

    if not is_measure_file_name(measure) and "(" not in measure and scale is None:
        raise preset_without_grades(measure)
    if is_measure_file_name(measure) or "[" in measure or "{" in measure:
        found = parse_measure(measure)
        if scale is not None or n_ranks is not None:
            ranks = n_ranks or found.measure.n_ranks or 10
            check_compatible(found.measure, _scale(found.measure, scale), ranks, "the options")
    else:
        found = measure_for(measure, Scale.parse(scale or ""), n_ranks or 10)
    content = found.file or _alone(found.measure)
    named = figure is not None
    if figure is None and found.file is not None and not no_figure:
        figure = re.sub(r"\.json(:dcg|:utility)?$", ".png", measure, flags=re.IGNORECASE)
    if figure is not None:
        checked_suffix(figure, FIGURE_FORMATS)
        try:
            check_writable(figure)
        except InputError:
            if named:
                raise
            figure = None  # only the default place cannot be written
    if json:
        print_json(codec.loads(measure_to_json(content)))
    else:
        print_text(measure_text(found.name, content, found.measure, n_ranks))
    if figure is not None:
        from dcglearn.report.measure_figures import draw_measure_file
        from dcglearn.report.style import save

        title = f"{Path(found.name).name}: {in_full(found.measure, content)}"
        save(draw_measure_file(content, title, _scale(found.measure, scale)), figure)
        typer.echo(f"\nwrote {figure}", err=json)


def _scale(measure: Measure, text: str | None) -> Scale:
    """Return the declared scale, or the scale of the measure's grades."""
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
