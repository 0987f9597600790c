"""Commands on judgments that learn nothing: inspect, agree, simulate."""

from __future__ import annotations

from typing import Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.terminal.inputs import measures_for_judgments, split_measures
from dcglearn.terminal.judgment_options import (
    AS_USUAL,
    JudgmentOptions,
    name_files,
    reads_judgments,
)
from dcglearn.terminal.options import (
    MAX_COUNT,
    JsonOption,
    JudgmentFilesArgument,
    JudgmentsAndMeasuresArgument,
    RanksOption,
    ScaleOption,
    SeedOption,
)
from dcglearn.terminal.output import print_json, print_text


def simulate(
    out: Annotated[
        str, typer.Argument(metavar="OUT", help="The .jsonl, .csv or .parquet file to write.")
    ],
    judgments: Annotated[
        int,
        typer.Option(
            "--judgments", "-n", min=1, max=MAX_COUNT, metavar="N", help="Number of judgments."
        ),
    ] = 500,
    truth: Annotated[
        str,
        typer.Option(
            "--truth",
            metavar="MEASURE",
            help="The measure that the judge follows: a preset, or a measure in full.",
        ),
    ] = "linear-log2",
    scale: ScaleOption = "2,1,0",
    n_ranks: RanksOption = 5,
    shortest: Annotated[
        int | None,
        typer.Option("--shortest", min=1, metavar="N", help="Draw lists of N to K documents."),
    ] = None,
    permute: Annotated[
        bool, typer.Option("--permute", help="Both lists of a pair hold the same grades, permuted.")
    ] = False,
    reliability: Annotated[
        float, typer.Option("--reliability", metavar="X", help="1 / scale of the judge's noise.")
    ] = 4.0,
    indifference: Annotated[
        float,
        typer.Option("--indifference", metavar="X", help="Smaller differences are called ties."),
    ] = 0.5,
    bias: Annotated[
        float, typer.Option("--bias", metavar="X", help="Advantage of the list shown as a.")
    ] = 0.0,
    seed: SeedOption = 0,
) -> None:
    """Write simulated side-by-side judgments to try things on."""
    import numpy as np

    from dcglearn.judgments.writing import write_preferences
    from dcglearn.measures.scale import Scale
    from dcglearn.naming.names import measure_for
    from dcglearn.simulation.judges import side_by_side
    from dcglearn.simulation.lists import drawn_lists

    check_writable(out)
    if permute and shortest is not None:
        raise InputError("--permute with --shortest", "use one: permuted lists have K documents")
    grades, width = Scale.parse(scale or "2,1,0"), n_ranks or 5
    rng = np.random.default_rng(seed)
    if len(grades) < 2:
        raise InputError(f"--scale {grades} holds one grade", "name at least two")
    lists = drawn_lists(judgments, width, [1 / len(grades)] * len(grades), rng, shortest)
    if permute:
        lists[:, 1] = rng.permuted(lists[:, 0], axis=1)
    preferences = side_by_side(
        measure_for(truth, grades, width).measure,
        lists,
        grades,
        rng,
        reliability,
        indifference,
        bias,
    )
    write_preferences(preferences, out)
    print_text(
        f"wrote {out}: {counted(len(preferences), 'judgment')} by a simulated judge who follows "
        f"{truth}, {int(preferences.strict.sum()):,} strict"
    )


@reads_judgments()
def inspect(
    files: JudgmentFilesArgument,
    judgments: JudgmentOptions = AS_USUAL,
    json: JsonOption = False,
) -> None:
    """Describe a file of judgments and what it can determine."""
    from dcglearn.judgments.inspection import inspect_judgments
    from dcglearn.learning.identify import identify
    from dcglearn.learning.problem import Problem
    from dcglearn.learning.record import as_json
    from dcglearn.report.inspection import findings_text, grade_table, inspection_text
    from dcglearn.report.judgments import contents_text, identifiability_text, scale_text
    from dcglearn.report.undetermined import undetermined_statements
    from dcglearn.report.wording import wrap_lines

    documents = judgments.documents
    prefs = name_files(files)
    data, reading = judgments.load_with_counts(files)
    labels, noun = data.scale.labels, judgments.noun
    identified = None
    with reporting(f"inspecting {counted(len(data), 'judgment')}"):
        found = inspect_judgments(data, documents)
        if found.summary.strict:
            problem = Problem.of(
                data.pairs, data.n_grades, weights=data.pair_weights, monotone=not documents
            )
            identified = identify(problem)
    if json:
        record = None
        if identified is not None:
            statements = undetermined_statements(identified, labels, noun)
            record = as_json(identified) | {"statements": statements}
        print_json(
            {
                "file": prefs,
                f"{noun}s": list(labels),
                **found.to_json(),
                "reading": reading,
                "identifiability": record,
            }
        )
        return
    words = scale_text(data.scale, judgments.scale is not None, documents)
    text = contents_text(prefs, found.summary, words)
    if "digest" in reading:
        text += f"\n\nSHA-256 of the content: {reading['digest']}"
    if identified is None:
        text += "\n\nno strict preference: nothing can be learned from this file"
    else:
        text += "\n\n" + findings_text(found)
    if not documents:
        text += "\n\n" + grade_table(labels, found.summary.grade_counts).text()
    if identified is not None:
        text += "\n\n" + inspection_text(found)
        text += "\n\n" + identifiability_text(identified, labels, noun)
    print_text(wrap_lines(text))


@reads_judgments()
def agree(
    arguments: JudgmentsAndMeasuresArgument,
    judgments: JudgmentOptions = AS_USUAL,
    json: JsonOption = False,
) -> None:
    """Count how often measures agree with judgments."""
    from dcglearn.learning.agreement import judged_agreement
    from dcglearn.report.comparisons import agreement_json, agreement_table
    from dcglearn.report.measures import in_full

    files, names = split_measures(arguments)
    prefs = name_files(files)
    if judgments.documents and not names:
        raise InputError("presets need grades, and documents have none", "name a learned measure")
    data = judgments.load(files)
    named = measures_for_judgments(names, data, prefs)
    data = data[data.weights > 0]
    if not data.strict.any():
        raise InputError("no strict preference has a weight above 0", "add an answer a or b", prefs)
    rows = [
        (one.name, judged_agreement(one.measure, data), in_full(one.measure, one.file))
        for one in named
    ]
    if json:
        print_json(agreement_json(prefs, rows, data))
        return
    short = [(name, row, _short(full)) for name, row, full in rows]
    print_text(agreement_table(short, data).text())


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
