"""The command that writes a measure for another tool: export."""

from __future__ import annotations

from typing import Annotated

import typer

from dcglearn.cli.choices import ExportTarget
from dcglearn.cli.inputs import check_files
from dcglearn.cli.measures import one_measure
from dcglearn.cli.options import MAX_RANKS, ScaleOption
from dcglearn.cli.output import print_document, print_json_text, print_note


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
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write to a file, of any name, instead of printing."
        ),
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
            help="Number of discounts that json and pandas list for a rule, and the n of "
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

    check_files(out, None, measure)
    names = None if labels is None else Scale.parse(labels).labels
    exported = export_measure(
        one_measure(measure, scale, n_ranks).measure, to, names, n_ranks or 10
    )
    text = exported.text.rstrip("\n")
    if out is None:
        (print_json_text if to == "json" else print_document)(text)
    for note in exported.notes:
        print_note(f"note: {note}")
    if out is not None:
        write_text(out, text + "\n")
        print_note(f"wrote {out}")
