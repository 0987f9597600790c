"""Commands on measures: show, measures, explain, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

import dcglearn
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.cli.command import Answer, command
from dcglearn.cli.options import RanksOption, ScaleOption, file_option, ranks_option
from dcglearn.cli.output import print_note, print_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@command("Draw it, beside the usual measures, to a .png, .svg or .pdf file.")
def show(
    measure: Annotated[
        str,
        Argument(
            metavar="MEASURE", help="A measure file, a preset with --scale, or a measure in full."
        ),
    ],
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
) -> Answer:
    """Show a measure: its numbers, and a figure with the usual ones."""
    from dcglearn.measures.measure_files import as_measure_file, measure_document
    from dcglearn.measures.names import named_measure
    from dcglearn.report.measures import in_full, measure_text

    named = named_measure(measure, scale, n_ranks)
    content = named.file or as_measure_file(named.measure)

    def draw() -> Figure:
        from dcglearn.report.figures.measure_figures import draw_measure_file

        title = f"{Path(named.name).name}: {in_full(named.measure, content)}"
        return draw_measure_file(content, title)

    return Answer(
        lambda: measure_document(content),
        lambda: measure_text(named.name, content, named.measure, n_ranks),
        draw=draw,
    )


@command()
def measures() -> Answer:
    """List the measures that have names, here and in other tools."""
    from dcglearn.report.measures import known_measures_json, known_measures_text

    return Answer(known_measures_json, known_measures_text)


@command()
def explain(
    first: Annotated[
        str, Argument(metavar="MEASURE", help="A measure file, a preset, or a measure in full.")
    ],
    second: Annotated[str, Argument(metavar="MEASURE", help="The measure to compare it with.")],
    a: Annotated[
        str | None,
        Option(
            metavar="GRADES",
            help="Grades of a list from the first rank, such as 2,0,1; - for an empty rank.",
        ),
    ] = None,
    b: Annotated[str | None, Option(metavar="GRADES", help="The list to compare it with.")] = None,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
) -> Answer:
    """Explain why two measures differ, on two lists or an example.

    Without lists, the example is the one on which the measures differ most.
    """
    from dcglearn.coherence import explain as explanations
    from dcglearn.measures.names import measures_on_one_scale
    from dcglearn.measures.scale import parse_lists
    from dcglearn.report.systems.explanation import explanation_text, explanation_to_json

    if (a is None) != (b is None):
        raise InputError("--a and --b belong together", "give both, or neither for an example")
    longest = n_ranks or explanations.SHORT
    declared, found = measures_on_one_scale((first, second), scale, longest)
    named = [one.with_grades(declared) for one in found]
    one, other = (each.measure for each in named)
    lists = (
        explanations.clearest_example(one, other, n_ranks)
        if a is None or b is None
        else parse_lists({"--a": a, "--b": b}, declared, n_ranks)
    )
    opening = "An example on which they differ most:\n\n" if a is None else ""
    if lists is None:
        ranks = counted(n_ranks or explanations.example_depth(one, other), "rank")
        return Answer(
            lambda: {"first": str(one), "second": str(other), "lists": None},
            lambda: f"No two lists of {ranks} are ordered differently by the two measures.",
        )
    pair = lists[0], lists[1]
    differing = explanations.explain(one, other, *pair)
    return Answer(
        lambda: explanation_to_json(differing, named, pair, declared),
        lambda: opening + explanation_text(differing, named, pair, declared),
    )


@command(json=False)
def export(
    measure: Annotated[
        str,
        Argument(
            metavar="MEASURE",
            help="A measure file, a name (nDCG@10, zipf) with --scale, or a measure in full, "
            "which holds its grades: 'nDCG({2: 3, 1: 1, 0: 0}, log2) @ 10'.",
        ),
    ],
    to: Annotated[
        Literal[
            "trec_eval",
            "ir_measures",
            "pyterrier",
            "ranx",
            "scikit-learn",
            "lightgbm",
            "xgboost",
            "torch",
            "pandas",
            "json",
        ],
        Option(
            metavar="TARGET",
            help="One of trec_eval, ir_measures, pyterrier, ranx, scikit-learn, lightgbm, xgboost, "
            "torch, pandas or json.",
        ),
    ],
    out: Annotated[
        str | None,
        file_option("--out", "-o", help="Write to a file, of any name, instead of printing."),
    ] = None,
    labels: Annotated[
        str | None,
        Option(
            metavar="BEST,...,WORST",
            help="Labels of the grades in the tool's data, where they differ; by default "
            "those of the scale.",
        ),
    ] = None,
    scale: ScaleOption = None,
    n_ranks: Annotated[
        int | None,
        ranks_option(
            help="Number of discounts that json and pandas list for a rule, and the n of "
            "linear-discount; by default 10. Write MEASURE @ K to cut the measure itself."
        ),
    ] = None,
) -> None:
    """Write a measure in another tool's terms.

    Differences between the tool and dcglearn are noted on standard error.
    """
    from dcglearn.base.files import write_text
    from dcglearn.measures.names import named_measure

    names = None if labels is None else dcglearn.Scale.parse(labels).labels
    named = named_measure(measure, scale, n_ranks)
    exported = dcglearn.export(named.measure, to, names, n_ranks or 10)
    text = exported.text.rstrip("\n")
    if out is None:
        print_text(text)
    for note in exported.notes:
        print_note(f"note: {note}")
    if out is not None:
        write_text(out, text + "\n")
        print_note(f"wrote {out}")
