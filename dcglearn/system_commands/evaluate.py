"""The command that evaluates runs: evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.system_commands.comparisons import (
    compare_as_asked,
    refuse_without_comparison,
    words_of_comparisons,
)
from dcglearn.system_commands.evaluation_output import (
    check_sort,
    print_evaluation,
    print_evaluation_json,
    write_outputs,
)
from dcglearn.system_commands.systems import (
    evaluate_runs,
    measures_of_names,
    rules_of,
)
from dcglearn.terminal.choices import (
    CompareChoice,
    CorrectChoice,
    LikeChoice,
    MissingChoice,
    PoolChoice,
    PrintFormat,
    TestChoice,
    TiesChoice,
    UnjudgedChoice,
    WorthlessChoice,
)
from dcglearn.terminal.options import (
    JsonOption,
    LenientRunsOption,
    QrelsArgument,
    RunsArgument,
    ScaleOption,
    SeedOption,
)
from dcglearn.terminal.output import print_note, print_text

if TYPE_CHECKING:
    from dcglearn.evaluation.evaluate import Evaluation
    from dcglearn.evaluation.rules import Rules
    from dcglearn.systems.compare_systems import SystemComparison

DEFAULT_MEASURES = ("nDCG(linear-log2) @ 10", "nDCG(linear-log2)", "nDCG(exponential-log2) @ 10")


def evaluate(
    qrels: QrelsArgument,
    runs: RunsArgument,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="A preset (zipf), learned.json, a measure in full, nDCG(...) @ 10 of one, or "
            "nDCG@10; or AP, P@10, RR(rel=2), ERR@20, RBP(p=0.8) and their like; NAME=MEASURE "
            "gives it a name. May be repeated.",
        ),
    ] = None,
    like: Annotated[
        LikeChoice | None,
        typer.Option(
            "--like",
            metavar="TOOL",
            help="Use the conventions of trec_eval, ir_measures, ranx, sklearn or gdeval; the "
            "other options override them.",
        ),
    ] = None,
    ties: Annotated[
        TiesChoice | None,
        typer.Option(
            "--ties",
            help="Documents with equal scores: mean over their orders, order of the run, or order "
            "by document id; by default mean.",
        ),
    ] = None,
    unjudged: Annotated[
        UnjudgedChoice | None,
        typer.Option(
            "--unjudged",
            help="Unjudged documents: count as the worst grade, gain nothing, are removed, or "
            "may have any grade (bounds); by default worst.",
        ),
    ] = None,
    worthless: Annotated[
        WorthlessChoice | None,
        typer.Option(
            "--worthless",
            help="Normalised value of a query without any gain, or out to leave it out; by "
            "default 0.",
        ),
    ] = None,
    missing: Annotated[
        MissingChoice | None,
        typer.Option(
            "--missing",
            help="Value of a query that is missing from a run, or out to leave it out; by "
            "default 0.",
        ),
    ] = None,
    pool: Annotated[
        PoolChoice | None,
        typer.Option(
            "--pool",
            help="Unjudged documents that the ideal counts where they may gain something: those "
            "of all runs, or the run's own; by default all, and own with --unjudged bounds.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="SYSTEM",
            help="System to compare the others with; by default the first run.",
        ),
    ] = None,
    compare: Annotated[
        CompareChoice | None,
        typer.Option(
            "--compare",
            help="Compare with the baseline, or all pairs of systems; by default the baseline, if "
            "that makes 50 comparisons at most.",
        ),
    ] = None,
    test: Annotated[
        TestChoice, typer.Option("--test", help="Significance test of the differences.")
    ] = "randomisation",
    correct: Annotated[
        CorrectChoice | None,
        typer.Option(
            "--correct",
            help="Correct p-values for the comparisons of each measure, of all measures, or not: "
            "by Holm's method, and for all pairs by Tukey's HSD; by default measure.",
        ),
    ] = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            "--resamples",
            min=1,
            max=10_000_000,
            metavar="N",
            help="Random draws of the tests and of the intervals; by default 9999.",
        ),
    ] = None,
    per_query: Annotated[
        bool,
        typer.Option("--per-query", help="Print one row per query, and no comparison."),
    ] = False,
    digits: Annotated[
        int,
        typer.Option(
            "--digits", min=1, max=12, metavar="N", help="Decimals of values in text, md and latex."
        ),
    ] = 4,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="MEASURE|given",
            help="Measure by whose mean the systems are sorted, best first, or the order given; "
            "by default the first measure.",
        ),
    ] = None,
    form: Annotated[
        PrintFormat,
        typer.Option(
            "--format",
            help="Format of what is printed: md and latex hold one table with marks of "
            "significance; csv the means in full, or the comparisons where they are asked for.",
        ),
    ] = "text",
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write to a file: a table (.tex, .md, .csv), a row per value (.parquet), the "
            "lines of trec_eval -q (.eval) or everything (.json). May be repeated.",
        ),
    ] = None,
    scale: ScaleOption = None,
    seed: SeedOption = 0,
    lenient: LenientRunsOption = False,
    json: JsonOption = False,
) -> None:
    """Evaluate runs under any measures, and compare the systems."""
    if json and form != "text":
        raise InputError(f"--json with --format {form}", "use one of them")
    rules = rules_of(like, ties, unjudged, worthless, missing, pool)
    from dcglearn.system_report.evaluation_files import check_evaluation_files

    outputs = out or []
    check_evaluation_files(outputs, [qrels, *runs], rules)
    options = {
        "--baseline": baseline,
        "--compare": compare,
        "--correct": correct,
        "--resamples": resamples,
    }
    asked = any(value is not None for value in options.values())
    numbers = (".csv", ".parquet", ".eval")
    unasked = form == "csv" and not asked and all(one.lower().endswith(numbers) for one in outputs)
    compared = test != "none" and len(runs) > 1 and not per_query and not unasked
    refuse_without_comparison(compared, options)
    measures = measures_of_names(measure or DEFAULT_MEASURES)
    check_sort(sort, [*measures])
    evaluation = evaluate_runs(qrels, runs, measures, rules, scale, lenient)
    _warn_of_ranx(evaluation, like)
    comparisons: list[SystemComparison] = []
    if test != "none" and compared:
        comparisons = compare_as_asked(
            evaluation, compare, baseline, correct, test, resamples, seed
        )
    if sort != "given":
        from dcglearn.system_report.system_comparisons import in_order

        evaluation = evaluation.best_first(sort)
        comparisons = in_order(comparisons, evaluation.systems)
    written = write_outputs(outputs, evaluation, comparisons, per_query, digits)
    if json:
        print_evaluation_json(evaluation, comparisons, per_query)
    else:
        print_evaluation(evaluation, comparisons, form, per_query, asked, digits)
    text = form == "text" and not json
    if text:
        lines = _explanation(evaluation, rules, comparisons, test)
        print_text("\n" + "\n".join(lines))
    for line in written:
        (print_text if text else print_note)(line)


def _warn_of_ranx(evaluation: Evaluation, like: LikeChoice | None) -> None:
    """Warn that ranx does not order equal scores in a fixed way."""
    if like == "ranx" and any(run.has_ties for run in evaluation.runs):
        print_note(
            "ranx sorts equal scores in no fixed order: some scores are equal here, and its "
            "values may differ"
        )


def _explanation(
    evaluation: Evaluation,
    rules: Rules,
    comparisons: list[SystemComparison],
    test: TestChoice,
) -> list[str]:
    from dcglearn.system_report.systems import definitions_in_words, rules_in_words

    lines = definitions_in_words(evaluation)
    lines.append(
        f"{counted(len(evaluation.queries), 'query', 'queries')}; grades {evaluation.qrels.scale}"
    )
    lines += rules_in_words(rules, [one.measure for one in evaluation.measures])
    return lines + words_of_comparisons(comparisons, test)
