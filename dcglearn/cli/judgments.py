"""Commands on judgments as they are: simulate, inspect, agree."""

from __future__ import annotations

from typing import Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable
from dcglearn.base.progress import reporting
from dcglearn.cli.options import (
    EncodingOption,
    JsonOption,
    Judgments,
    LenientOption,
    QrelsOption,
    RanksOption,
    RunOption,
    ScaleOption,
    SeedOption,
    check_names,
    judgments_of,
    print_json,
    read,
    say,
)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (simulate, inspect, agree):
        app.command()(command)


def simulate(
    out: Annotated[str, typer.Argument(metavar="OUT", help=".jsonl, .csv or .parquet to write.")],
    judgments: Annotated[int, typer.Option("--judgments", "-n", min=1, help="How many.")] = 500,
    truth: Annotated[
        str, typer.Option("--truth", help="What the judge likes: a preset or a measure in full.")
    ] = "linear-log2",
    scale: ScaleOption = "2,1,0",
    n_ranks: RanksOption = 5,
    shortest: Annotated[
        int | None, typer.Option("--shortest", min=1, help="Lists have this many to K documents.")
    ] = None,
    permute: Annotated[
        bool, typer.Option("--permute", help="Both lists of a pair hold the same grades.")
    ] = False,
    reliability: Annotated[float, typer.Option(help="1 / scale of the judge's noise.")] = 4.0,
    indifference: Annotated[float, typer.Option(help="Smaller differences are ties.")] = 0.5,
    bias: Annotated[float, typer.Option(help="What being shown as a is worth.")] = 0.0,
    seed: SeedOption = 0,
) -> None:
    """Write simulated side-by-side judgments, to try things on."""
    import numpy as np

    from dcglearn.data.judgment_files import write_preferences
    from dcglearn.measures.names import measure_for
    from dcglearn.measures.scale import Scale
    from dcglearn.simulation.judges import side_by_side
    from dcglearn.simulation.lists import drawn_lists

    check_writable(out)
    if permute and shortest is not None:
        raise InputError("--permute with --shortest", "lists of the same grades have one length")
    grades, width = Scale.parse(scale or "2,1,0"), n_ranks or 5
    rng = np.random.default_rng(seed)
    if len(grades) < 2:
        raise InputError(f"--scale {grades}: one grade", "name at least two")
    lists = drawn_lists(judgments, width, [1 / len(grades)] * len(grades), rng, shortest)
    if permute:
        lists[:, 1] = rng.permuted(lists[:, 0], axis=1)
    found = side_by_side(
        measure_for(truth, grades, width).measure,
        lists,
        grades,
        rng,
        reliability,
        indifference,
        bias,
    )
    write_preferences(found, out)
    say(
        f"wrote {out}: {len(found):,} judgments by a judge who likes {truth}, "
        f"{int(found.strict.sum()):,} strict"
    )


def inspect(
    prefs: Judgments,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    encoding: EncodingOption = "grades",
    qrels: QrelsOption = None,
    run: RunOption = None,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Say what is in a file of judgments and what it can determine; fit nothing."""
    from dcglearn.data.summary import summarise
    from dcglearn.learning.identify import identify
    from dcglearn.learning.record import IdentifiabilityRecord
    from dcglearn.report.judgments import (
        before_a_fit,
        grade_table,
        inspection,
        scale_in_words,
        what_is_in,
    )
    from dcglearn.report.undetermined import undetermined_statements
    from dcglearn.solver.problem import Problem

    check_names("unit", "auto", encoding)
    documents = encoding == "documents"
    data = read(prefs, scale, n_ranks, lenient, documents, qrels, run)
    labels, noun = data.scale.labels, encoding[:-1]
    found = None
    with reporting(f"looking at {len(data):,} judgments"):
        summary = summarise(data)
        if summary.strict:
            problem = Problem.of(
                data.pairs, data.n_grades, weights=data.pair_weights, monotone=not documents
            )
            found = identify(problem)
    if json:
        record = None
        if found is not None:
            statements = undetermined_statements(found, labels, noun)
            record = IdentifiabilityRecord.of(found, statements).to_json()
        print_json(
            {
                "file": prefs,
                f"{noun}s": list(labels),
                **summary.to_json(),
                "identifiability": record,
            }
        )
        return
    words = scale_in_words(data.scale, scale is not None, documents)
    say(what_is_in(prefs, summary, words))
    if not documents:
        say("\n" + grade_table(labels, summary.grade_counts).text())
    if found is None:
        say("\nno strict preference: nothing can be learned from this file")
        return
    say("\n" + inspection(summary))
    say("\n" + before_a_fit(found, labels, noun))


def agree(
    prefs: Judgments,
    measure: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MEASURE...",
            help="Presets (zipf, rbp:0.8), files (learned.json, learned.json:utility) or "
            "measures in full; every preset if none is named.",
        ),
    ] = None,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
    encoding: EncodingOption = "grades",
    qrels: QrelsOption = None,
    run: RunOption = None,
    lenient: LenientOption = False,
    json: JsonOption = False,
) -> None:
    """Say how often measures agree with judgments."""
    from dcglearn.measures.agreement import agreement, outcomes
    from dcglearn.measures.names import measure_for
    from dcglearn.measures.presets import usual_presets
    from dcglearn.report.measures import in_full
    from dcglearn.report.tables import Table

    check_names("unit", "auto", encoding)
    data = read(prefs, scale, n_ranks, lenient, encoding == "documents", qrels, run)
    if encoding == "documents" and not measure:
        raise InputError("documents have no grades for the presets", "name a learned measure")
    with judgments_of(prefs):
        names = measure or list(usual_presets(data.scale, data.n_ranks))
        found = [measure_for(name, data.scale, data.n_ranks) for name in names]
        data = data.take(data.strict & (data.weights > 0))
        if not len(data):
            raise InputError("no strict preference with weight", "give an answer a or b")
    rows = []
    for one in found:
        result = outcomes(one.measure, data.pairs)
        right, wrong = int((result == 1).sum()), int((result == 0).sum())
        share = agreement(one.measure, data.pairs, data.pair_weights)
        full = in_full(one.measure, one.file)
        rows.append((one.name, share, right, len(result) - right - wrong, wrong, full))
    columns = ("measure", "agreement", "right", "tied", "wrong", "in full")
    if json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    caption = f"{len(data):,} strict judgments; a tie under the measure counts 1/2"
    if (data.weights != data.weights[0]).any():
        caption += "; agreement is weighted, the counts are not"
    short = [(*row[:5], _short(row[5])) for row in rows]
    say(Table(columns, short, caption).text())


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
