"""The commands that show measures: show and measures."""

from __future__ import annotations

import json as codec
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable
from dcglearn.cli.inputs import check_files, naming, needs_scale, preset_without_grades, scale_of
from dcglearn.cli.options import JsonOption, RanksOption, ScaleOption
from dcglearn.cli.output import print_json, print_text
from dcglearn.cli.systems import print_written

if TYPE_CHECKING:
    from dcglearn.measures.names import NamedMeasure
    from dcglearn.measures.utility import LinearUtility


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
    figures: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            "-o",
            metavar="FILE",
            help="Draw it to a .png, .svg or .pdf file, or to several; for a measure file, by "
            "default to a .png next to it, which is replaced.",
        ),
    ] = None,
    no_figure: Annotated[bool, typer.Option("--no-figure", help="Do not draw a figure.")] = False,
    json: JsonOption = False,
) -> None:
    """Show a measure: its numbers, and a figure with the usual ones."""
    from dcglearn.measures.dcg import DCG
    from dcglearn.measures.measure_files import MeasureFile, measure_to_json
    from dcglearn.measures.names import is_measure_file_name
    from dcglearn.report.measures import in_full, measure_text
    from dcglearn.report.tables import FIGURE_FORMATS

    named = one_measure(measure, scale, n_ranks)
    content = named.file
    if content is None and isinstance(named.measure, DCG):
        content = MeasureFile(dcg=named.measure)
    elif content is None:
        content = MeasureFile(utility=cast("LinearUtility", named.measure), use="utility")
    paths = figures or []
    check_files(paths, FIGURE_FORMATS, measure)
    if not paths and is_measure_file_name(measure) and not no_figure:
        paths = _next_to(measure)
    if json:
        print_json(codec.loads(measure_to_json(content)))
    else:
        print_text(measure_text(named.name, content, named.measure, n_ranks))
    if paths:
        from dcglearn.report.figures.measure_figures import draw_measure_file
        from dcglearn.report.figures.style import save

        title = f"{Path(named.name).name}: {in_full(named.measure, content)}"
        drawing = draw_measure_file(content, title, scale_of(named.measure))
        for path in paths:
            save(drawing, path)
    print_written(paths, json)


def one_measure(text: str, scale: str | None, n_ranks: int | None) -> NamedMeasure:
    """Return the measure of a name, which is checked against the options; a preset needs both."""
    from dcglearn.measures.names import check_compatible, measure_for, parse_measure
    from dcglearn.measures.scale import Scale

    declared = None if scale is None else Scale.parse(scale)
    if needs_scale(text):
        if declared is None:
            raise preset_without_grades(text)
        return measure_for(text, declared, n_ranks or 10)
    named = parse_measure(text)
    ranks = n_ranks or named.measure.n_ranks or 10
    with naming(text):
        check_compatible(named.measure, declared or scale_of(named.measure), ranks, "the options")
    return named


def _next_to(measure: str) -> list[str]:
    """Return the path of a figure next to a measure file, if it can be written."""
    path = re.sub(r"\.json(:dcg|:utility)?$", ".png", measure, flags=re.IGNORECASE)
    try:
        check_writable(path)
    except InputError:
        return []
    return [path]


def measures(json: JsonOption = False) -> None:
    """List the measures that have names, here and in other tools."""
    from dcglearn.report.measures import known_measures_text, known_measures_to_json

    if json:
        print_json(known_measures_to_json())
    else:
        print_text(known_measures_text())
