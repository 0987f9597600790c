"""The command that shows a measure: show."""

from __future__ import annotations

import json as codec
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, checked_suffix
from dcglearn.terminal.inputs import needs_scale, preset_without_grades, scale_of
from dcglearn.terminal.options import JsonOption, RanksOption, ScaleOption
from dcglearn.terminal.output import print_json, print_note, print_text

if TYPE_CHECKING:
    from dcglearn.measures.measure import Measure
    from dcglearn.measures.scale import Scale
    from dcglearn.naming.measure_files import MeasureFile
    from dcglearn.naming.names import NamedMeasure


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
    from dcglearn.measures.scale import Scale
    from dcglearn.naming.measure_files import measure_to_json
    from dcglearn.naming.names import is_measure_file_name
    from dcglearn.report.measures import in_full, measure_text

    declared = None if scale is None else Scale.parse(scale)
    named = _named(measure, declared, n_ranks)
    content = named.file or _file_of(named.measure)
    paths = _figure_paths(measure, figures, is_measure_file_name(measure) and not no_figure)
    if json:
        print_json(codec.loads(measure_to_json(content)))
    else:
        print_text(measure_text(named.name, content, named.measure, n_ranks))
    if paths:
        from dcglearn.figures.measure_figures import draw_measure_file
        from dcglearn.figures.style import save

        title = f"{Path(named.name).name}: {in_full(named.measure, content)}"
        drawing = draw_measure_file(content, title, declared or scale_of(named.measure))
        for path in paths:
            save(drawing, path)
        words = f"wrote {', '.join(paths)}"
        if json:
            print_note(words)
        else:
            print_text(f"\n{words}")


def _named(text: str, scale: Scale | None, n_ranks: int | None) -> NamedMeasure:
    from dcglearn.naming.names import check_compatible, measure_for, parse_measure

    if needs_scale(text):
        if scale is None:
            raise preset_without_grades(text)
        return measure_for(text, scale, n_ranks or 10)
    named = parse_measure(text)
    if scale is not None or n_ranks is not None:
        ranks = n_ranks or named.measure.n_ranks or 10
        check_compatible(named.measure, scale or scale_of(named.measure), ranks, "the options")
    return named


def _figure_paths(measure: str, figures: list[str] | None, by_default: bool) -> list[str]:
    """Return where to draw: the given files, or a .png next to the measure file if writable."""
    from dcglearn.report.tables import FIGURE_FORMATS

    for figure in figures or ():
        checked_suffix(figure, FIGURE_FORMATS)
        check_writable(figure)
    if figures or not by_default:
        return figures or []
    path = re.sub(r"\.json(:dcg|:utility)?$", ".png", measure, flags=re.IGNORECASE)
    try:
        check_writable(path)
    except InputError:
        return []
    return [path]


def _file_of(measure: Measure) -> MeasureFile:
    from dcglearn.measures.dcg import DCG
    from dcglearn.naming.measure_files import MeasureFile

    if isinstance(measure, DCG):
        return MeasureFile(dcg=measure)
    return MeasureFile(utility=measure, use="utility")


def measures(json: JsonOption = False) -> None:
    """List the measures that have names, here and in other tools."""
    from dcglearn.system_report.known_measures import known_measures_text, known_measures_to_json

    if json:
        print_json(known_measures_to_json())
    else:
        print_text(known_measures_text())
