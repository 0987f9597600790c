"""The command that writes a measure for another tool: export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.terminal.choices import ExportTarget
from dcglearn.terminal.inputs import needs_scale, preset_without_grades
from dcglearn.terminal.options import MAX_RANKS, ScaleOption
from dcglearn.terminal.output import print_document, print_json_text, print_note

if TYPE_CHECKING:
    from dcglearn.measures.measure import Measure


def export(
    measure: Annotated[
        str,
        typer.Argument(
            metavar="MEASURE",
            help="A measure file, a name (nDCG@10, zipf) with --scale, or a measure in full, "
            "which holds its grades: 'nDCG({2: 3, 1: 1, 0: 0}, log2) @ 10'.",
        ),
    ],
    to: Annotated[
        ExportTarget,
        typer.Option(
            "--to",
            metavar="TARGET",
            help="One of trec_eval, ir_measures, pyterrier, ranx, scikit-learn, lightgbm, xgboost, "
            "torch, pandas or json.",
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write to a file instead of printing."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="BEST,...,WORST",
            help="Labels of the grades in the tool's data, where they differ; by default "
            "those of the scale.",
        ),
    ] = None,
    scale: ScaleOption = None,
    n_ranks: Annotated[
        int | None,
        typer.Option(
            "--K",
            min=1,
            max=MAX_RANKS,
            metavar="K",
            help="Number of discounts that json, python and pandas list for a rule, and the n of "
            "linear-discount; by default 10. Write MEASURE @ K to cut the measure itself.",
        ),
    ] = None,
) -> None:
    """Write a measure in another tool's terms.

    Differences between the tool and dcglearn are noted on standard error.
    """
    from dcglearn.base.files import write_text
    from dcglearn.interop.export import export as export_measure
    from dcglearn.measures.scale import Scale

    names = None if labels is None else Scale.parse(labels).labels
    exported = export_measure(_measure(measure, scale, n_ranks), to, names, n_ranks or 10)
    if out is None:
        show = print_json_text if to == "json" else print_document
        show(exported.text.rstrip("\n"))
    for note in exported.notes:
        print_note(f"note: {note}")
    if out is not None:
        write_text(out, exported.text.rstrip("\n") + "\n")
        print_note(f"wrote {out}")


def _measure(text: str, scale: str | None, n_ranks: int | None) -> Measure:
    """Return the measure of a name; a preset needs a scale."""
    from dcglearn.measures.scale import Scale
    from dcglearn.naming.names import check_compatible, measure_for, parse_measure

    if needs_scale(text):
        if scale is None:
            raise preset_without_grades(text)
        return measure_for(text, Scale.parse(scale), n_ranks or 10).measure
    parsed = parse_measure(text).measure
    if scale is not None:
        check_compatible(parsed, Scale.parse(scale), n_ranks or parsed.n_ranks or 10, "the options")
    return parsed
