"""The command that evaluates runs: evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.system_commands.comparisons import (
    check_topics,
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
    files_of_measures,
    measures_of_names,
    rules_of,
)
from dcglearn.terminal.choices import (
    CompareChoice,
    CorrectChoice,
    LikeChoice,
    PoolChoice,
    PrintFormat,
    TestChoice,
    TiesChoice,
    UnjudgedChoice,
    WorthlessChoice,
)
from dcglearn.terminal.options import (
    QrelsArgument,
    RunsArgument,
)
from dcglearn.terminal.output import print_note, print_text
from dcglearn.terminal.system_options import (
    COMPARISONS,
    MEASURES,
    OUTPUT,
    RULES,
    ComparisonsSeedOption,
    GradesOption,
    LikeOption,
    MissingOption,
    ResultsJsonOption,
)

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
            help="nDCG@10 (linear gains, as trec_eval's), a preset (zipf@10, see dcglearn "
            "measures), a file (learned.json), or in full ('nDCG([3, 1, 0], log2) @ 10'); "
            "P@10, AP, RR(rel=2), ERR@20, RBP(p=0.8) and the like. NAME=MEASURE names it in "
            "the tables. May be repeated; by default nDCG with linear gains, at 10 and of the "
            "whole run, and with exponential gains at 10.",
            rich_help_panel=MEASURES,
        ),
    ] = None,
    like: LikeOption = None,
    ties: Annotated[
        TiesChoice | None,
        typer.Option(
            "--ties",
            help="Order of documents with equal scores: by document id, the largest first, as in "
            "trec_eval; the mean value over all their orders; or that of the run's lines. By "
            "default docid.",
            rich_help_panel=RULES,
        ),
    ] = None,
    unjudged: Annotated[
        UnjudgedChoice | None,
        typer.Option(
            "--unjudged",
            help="Retrieved documents that the qrels do not grade: they keep their rank but gain "
            "nothing, as in trec_eval; count as the worst grade; are removed from the run; or may "
            "have any grade, which gives the least and the largest possible value (bounds). By "
            "default nothing.",
            rich_help_panel=RULES,
        ),
    ] = None,
    worthless: Annotated[
        WorthlessChoice | None,
        typer.Option(
            "--worthless",
            help="Value of nDCG for a query without relevant documents: 0, 1, or out to leave the "
            "query out. By default 0.",
            rich_help_panel=RULES,
        ),
    ] = None,
    missing: MissingOption = None,
    pool: Annotated[
        PoolChoice | None,
        typer.Option(
            "--pool",
            help="Unjudged documents in the ideal ranking, where they may gain something (worst "
            "grade above 0, or bounds): those of all runs, so that every run is divided by "
            "the same ideal, or the run's own. By default all; own with --unjudged bounds.",
            rich_help_panel=RULES,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="SYSTEM",
            help="Name of the system that the others are compared with. By default that of the "
            "first file, wherever it is sorted to.",
            rich_help_panel=COMPARISONS,
        ),
    ] = None,
    compare: Annotated[
        CompareChoice | None,
        typer.Option(
            "--compare",
            help="Compare every system with the baseline, or all pairs of systems. By default with "
            "the baseline, unless that makes more than 50 comparisons.",
            rich_help_panel=COMPARISONS,
        ),
    ] = None,
    test: Annotated[
        TestChoice,
        typer.Option(
            "--test",
            help="Paired test of the differences over queries.",
            rich_help_panel=COMPARISONS,
        ),
    ] = "randomisation",
    correct: Annotated[
        CorrectChoice | None,
        typer.Option(
            "--correct",
            help="Correct p for the comparisons of each measure, or for those of all measures "
            "together. The method is Holm's with a baseline, Tukey's HSD with randomisation for "
            "all pairs. By default measure.",
            rich_help_panel=COMPARISONS,
        ),
    ] = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            "--resamples",
            min=1,
            max=10_000_000,
            metavar="N",
            help="Random draws of the test, and of the 95% intervals from 50 queries on. By "
            "default 9999: p of the randomisation test is then 0.0001 at least.",
            rich_help_panel=COMPARISONS,
        ),
    ] = None,
    topics: Annotated[
        float | None,
        typer.Option(
            "--topics",
            metavar="DIFFERENCE",
            help="Say how many queries would find a difference of two means, such as 0.02, with a "
            "power of 80%, by the variance of the differences of these runs.",
            rich_help_panel=COMPARISONS,
        ),
    ] = None,
    per_query: Annotated[
        bool,
        typer.Option(
            "--per-query",
            help="A row per system and query in place of means and comparisons.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    digits: Annotated[
        int,
        typer.Option(
            "--digits",
            min=1,
            max=12,
            metavar="N",
            help="Decimals of values in text, md and latex.",
            rich_help_panel=OUTPUT,
        ),
    ] = 4,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="MEASURE|given",
            help="Sort the systems by their mean of this measure, best first, or keep the order "
            "given. By default the first measure.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    form: Annotated[
        PrintFormat,
        typer.Option(
            "--format",
            help="What is printed: text; one table for a paper with marks of significance (md, "
            "latex); or csv: means with all digits, or the comparisons where options ask for "
            "them.",
            rich_help_panel=OUTPUT,
        ),
    ] = "text",
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write a file as well: a table for a paper (.tex, .md), means (.csv), a row per "
            "system, measure and query (.parquet), the lines of trec_eval -q (.eval), "
            "everything (.json). May be repeated.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    supported: Annotated[
        bool,
        typer.Option(
            "--supported",
            help="In place of tests: in how many of the measures that the judgments of a learned "
            "file support (fit --draws 1000) each system is ahead. -o takes .json, .csv and a "
            "figure (.png, .svg, .pdf).",
            rich_help_panel=COMPARISONS,
        ),
    ] = False,
    scale: GradesOption = None,
    seed: ComparisonsSeedOption = 0,
    json: ResultsJsonOption = False,
) -> None:
    """Evaluate runs under any measures, and compare the systems."""
    if supported:
        from dcglearn.system_commands.supported import print_supported

        asked_too = {
            "--baseline": baseline,
            "--compare": compare,
            "--correct": correct,
            "--resamples": resamples,
            "--topics": topics,
            "--sort": sort,
            "--per-query": per_query or None,
            "--format": None if form == "text" else form,
            "--test": None if test == "randomisation" else test,
        }
        rules = rules_of(like, ties, unjudged, worthless, missing, pool)
        names = measures_of_names(measure or [])
        print_supported(qrels, runs, names, rules, scale, out or [], seed, digits, json, asked_too)
        return
    if json and form != "text":
        raise InputError(f"--json with --format {form}", "use one of them")
    rules = rules_of(like, ties, unjudged, worthless, missing, pool)
    from dcglearn.system_report.evaluation_files import check_evaluation_files

    outputs = out or []
    measures = measures_of_names(measure or DEFAULT_MEASURES)
    check_evaluation_files(outputs, [qrels, *runs, *files_of_measures(measures.values())], rules)
    options = {
        "--baseline": baseline,
        "--compare": compare,
        "--correct": correct,
        "--resamples": resamples,
    }
    asked = any(value is not None for value in options.values())
    means_only = (".csv", ".parquet", ".eval")
    shown = form != "csv" or not all(one.lower().endswith(means_only) for one in outputs)
    compared = test != "none" and len(runs) > 1 and not per_query and (asked or shown)
    refuse_without_comparison(compared, options)
    check_topics(topics, len(runs), rules, form)
    measures = measures_of_names(measure or DEFAULT_MEASURES)
    check_sort(sort, [*measures])
    evaluation = evaluate_runs(qrels, runs, measures, rules, scale)
    _warn_of_tool(evaluation, like)
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
        print_evaluation_json(evaluation, comparisons, per_query, topics)
    else:
        print_evaluation(evaluation, comparisons, form, per_query, asked, digits)
        if topics is not None:
            from dcglearn.system_report.topics import topics_table

            print_text("\n" + topics_table(evaluation, topics).text())
    text = form == "text" and not json
    if text:
        lines = _explanation(evaluation, rules, comparisons)
        print_text("\n" + "\n".join(lines))
    for line in written:
        (print_text if text else print_note)(line)


def _warn_of_tool(evaluation: Evaluation, like: LikeChoice | None) -> None:
    """Warn where values of the tool differ: ranx does not order equal scores in a fixed way."""
    if like == "ranx" and any(run.has_ties for run in evaluation.runs):
        print_note(
            "ranx sorts equal scores in no fixed order: some scores are equal here, and its "
            "values may differ"
        )
    fractions = [value for value in evaluation.qrels.scale.values if value % 1]
    if like not in (None, "sklearn") and fractions:
        print_note(
            f"{like} takes whole grades only, and the qrels hold {fractions[0]:g}: its own values "
            "may differ"
        )


def _explanation(
    evaluation: Evaluation,
    rules: Rules,
    comparisons: list[SystemComparison],
) -> list[str]:
    """Return what the tables mean: measures, queries, rules and tests, one sentence per line."""
    from dcglearn.system_report.systems import (
        definitions_in_words,
        judged_columns_in_words,
        rules_in_words,
        ties_in_words,
    )

    lines = definitions_in_words(evaluation)
    lines.append(
        f"{counted(len(evaluation.queries), 'query', 'queries')}; grades {evaluation.qrels.scale}"
    )
    lines.append(judged_columns_in_words(evaluation))
    lines += rules_in_words(rules, [one.measure for one in evaluation.measures])
    lines += ties_in_words(evaluation)
    return lines + words_of_comparisons(comparisons)
