"""The command that evaluates runs: evaluate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.choices import (
    CompareChoice,
    CorrectChoice,
    PoolChoice,
    TestChoice,
    WorthlessChoice,
)
from dcglearn.cli.inputs import check_files
from dcglearn.cli.options import QrelsArgument, RunsArgument
from dcglearn.cli.output import print_json, print_note, print_text, terminal_width
from dcglearn.cli.system_options import (
    ComparisonsSeedOption,
    GradesOption,
    LikeOption,
    MissingOption,
    ResultsJsonOption,
    TiesOption,
    UnjudgedOption,
    of_comparisons,
    of_measures,
    of_output,
    of_rules,
)
from dcglearn.cli.systems import (
    deliver,
    evaluate_runs,
    measures_of_names,
    print_written,
    rules_of,
)

if TYPE_CHECKING:
    from dcglearn.systems.compare_systems import SystemComparison
    from dcglearn.systems.evaluate import Evaluation

DEFAULT_MEASURES = ("nDCG(linear-log2) @ 10", "nDCG(linear-log2)", "nDCG(exponential-log2) @ 10")

MOST_UNASKED = 50
"""So many comparisons are made unasked."""


def evaluate(
    context: typer.Context,
    qrels: QrelsArgument,
    runs: RunsArgument,
    measure: Annotated[
        list[str] | None,
        of_measures(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="nDCG@10 (linear gains, as trec_eval's), a preset (zipf@10, see dcglearn "
            "measures), a file (learned.json), or in full ('nDCG([3, 1, 0], log2) @ 10'); "
            "P@10, AP, RR(rel=2), ERR@20, RBP(p=0.8) and the like. NAME=MEASURE names it in "
            "the tables. May be repeated; by default nDCG with linear gains, at 10 and of the "
            "whole run, and with exponential gains at 10.",
        ),
    ] = None,
    like: LikeOption = None,
    ties: TiesOption = None,
    unjudged: UnjudgedOption = None,
    worthless: Annotated[
        WorthlessChoice | None,
        of_rules(
            help="Value of nDCG for a query without relevant documents: 0, 1, or out to leave the "
            "query out. By default 0."
        ),
    ] = None,
    missing: MissingOption = None,
    pool: Annotated[
        PoolChoice | None,
        of_rules(
            help="Unjudged documents in the ideal ranking, where they may gain something (worst "
            "grade above 0, or bounds): those of all runs, so that every run is divided by "
            "the same ideal, or the run's own. By default all; own with --unjudged bounds."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        of_comparisons(
            metavar="SYSTEM",
            help="Name of the system that the others are compared with. By default that of the "
            "first file, wherever it is sorted to.",
        ),
    ] = None,
    compare: Annotated[
        CompareChoice | None,
        of_comparisons(
            help="Compare every system with the baseline, or all pairs of systems. By default with "
            "the baseline, unless that makes more than 50 comparisons."
        ),
    ] = None,
    test: Annotated[
        TestChoice, of_comparisons(help="Paired test of the differences over queries.")
    ] = "randomisation",
    correct: Annotated[
        CorrectChoice | None,
        of_comparisons(
            help="Correct p for the comparisons of each measure, or for those of all measures "
            "together. The method is Holm's with a baseline, Tukey's HSD with randomisation for "
            "all pairs. By default measure."
        ),
    ] = None,
    resamples: Annotated[
        int | None,
        of_comparisons(
            min=1,
            max=10_000_000,
            metavar="N",
            help="Random draws of the test, and of the 95% intervals from 50 queries on. By "
            "default 9999: p of the randomisation test is then 0.0001 at least.",
        ),
    ] = None,
    topics: Annotated[
        float | None,
        of_comparisons(
            metavar="DIFFERENCE",
            help="Say how many queries would find a difference of two means, such as 0.02, with a "
            "power of 80%, by the variance of the differences of these runs.",
        ),
    ] = None,
    per_query: Annotated[
        bool,
        of_output(
            "--per-query",
            help="A row per system and query in place of means and comparisons.",
        ),
    ] = False,
    digits: Annotated[
        int,
        of_output(min=1, max=12, metavar="N", help="Decimals of values in text, .md and .tex."),
    ] = 4,
    sort: Annotated[
        str | None,
        of_output(
            metavar="MEASURE|given",
            help="Sort the systems by their mean of this measure, best first, or keep the order "
            "given. By default the first measure.",
        ),
    ] = None,
    out: Annotated[
        list[str] | None,
        of_output(
            "--out",
            "-o",
            metavar="FILE",
            help="Write a file as well: a table for a paper with marks of significance (.tex, "
            ".md), means with all digits (.csv), a row per system, measure and query (.parquet), "
            "the lines of trec_eval -q (.eval), everything (.json). May be repeated.",
        ),
    ] = None,
    supported: Annotated[
        bool,
        of_comparisons(
            "--supported",
            help="In place of tests: in how many of the measures that the judgments of a learned "
            "file support (fit --draws 1000) each system is ahead. -o takes .json and a table "
            "(.txt, .md, .tex, .csv).",
        ),
    ] = False,
    scale: GradesOption = None,
    seed: ComparisonsSeedOption = 0,
    json: ResultsJsonOption = False,
) -> None:
    """Evaluate runs under any measures, and compare the systems."""
    from dcglearn.report.systems.evaluation_files import EVALUATION_FORMATS, write_evaluation
    from dcglearn.report.tables import TABLE_FORMATS
    from dcglearn.systems.rules import LIKE

    asked = given_options(context, "compare", "baseline", "correct", "resamples")
    compared = test != "none" and len(runs) > 1 and not per_query
    if compare == "all" and baseline is not None:
        raise InputError("--compare all with --baseline", "use one of them")
    if supported:
        _check_supported(
            asked + given_options(context, "test", "topics", "sort", "per_query"), measure, runs
        )
    elif asked and not compared:
        raise InputError(
            f"{asked[0]} without a comparison",
            "leave it out (--test none, --per-query and a single run compare nothing)",
        )
    rules = rules_of(
        like, ties=ties, unjudged=unjudged, worthless=worthless, missing=missing, pool=pool
    )
    if topics is not None and (len(runs) < 2 or rules.unjudged == "bounds"):
        what = "one run" if len(runs) < 2 else "--unjudged bounds"
        raise InputError(f"--topics with {what}", "give two or more runs, and no bounds")
    measures, files = measures_of_names(measure or DEFAULT_MEASURES), out or []
    formats = (*TABLE_FORMATS, ".json") if supported else EVALUATION_FORMATS
    check_files(files, formats, qrels, runs, [*measures.values()])
    evaluation = evaluate_runs(qrels, runs, measures, rules, scale)
    if supported:
        _deliver_supported(evaluation, files, seed, digits, json)
        return
    if like == "ranx" and any(run.has_ties for run in evaluation.runs):
        print_note("ranx sorts equal scores in no fixed order: its values may differ")
    base = evaluation.systems[0] if baseline is None else baseline
    evaluation = _sorted(evaluation, sort)
    comparisons: list[SystemComparison] = []
    why_not = None if asked else _too_much(evaluation, base)
    if compared and why_not is not None:
        print_note(f"no tests: {why_not}")
    elif test != "none" and compared:
        options = {"test": test, "resamples": resamples, "correct": correct}
        comparisons = _compared(evaluation, None if compare == "all" else base, seed, options)
    written = [
        name
        for path in files
        for name in write_evaluation(
            evaluation, path, comparisons, per_query=per_query, digits=digits
        )
    ]
    _print(evaluation, comparisons, per_query, digits, topics, json)
    print_written(written, json)
    if rules != LIKE["trec_eval"] and any(path.suffix == ".eval" for path in written):
        print_note(".eval: values by other rules than trec_eval's; see --like trec_eval")


def _check_supported(other: list[str], measure: list[str] | None, runs: list[str]) -> None:
    n_measures = len(measure or [])
    if other or n_measures != 1 or len(runs) < 2:
        fault = "one run" if n_measures == 1 else counted(n_measures, "measure")
        raise InputError(
            f"{other[0]} with --supported" if other else f"--supported with {fault}",
            "give -m learned.json, several runs, and no other comparison",
        )


def _sorted(evaluation: Evaluation, sort: str | None) -> Evaluation:
    names = [one.name for one in evaluation.measures]
    if sort is not None and sort not in ("given", *names):
        raise unknown_name("measure", sort, ["given", *names], "--sort")
    return evaluation if sort == "given" else evaluation.best_first(sort)


def _compared(
    evaluation: Evaluation, baseline: str | None, seed: int, options: dict[str, Any]
) -> list[SystemComparison]:
    """Compare systems with a baseline, or all pairs without one."""
    import numpy as np

    from dcglearn.systems.compare_systems import compare_all_pairs, compare_systems

    rng, given = np.random.default_rng(seed), {k: v for k, v in options.items() if v is not None}
    with reporting("comparing systems") as advance:
        if baseline is None:
            return compare_all_pairs(evaluation, rng, **given, advance=advance)
        return compare_systems(evaluation, baseline, rng, **given, advance=advance)


def given_options(context: typer.Context, *names: str) -> list[str]:
    """Return which of the options are on the command line."""
    return [
        f"--{name.replace('_', '-')}"
        for name in names
        if str(context.get_parameter_source(name)).endswith("COMMANDLINE")
    ]


def _too_much(evaluation: Evaluation, baseline: str) -> str | None:
    """Return why no comparisons are made unasked."""
    n = (len(evaluation.systems) - 1) * len(evaluation.comparable().measures)
    if evaluation.rules.unjudged == "bounds":
        return "--unjudged bounds gives no single value to compare"
    if len(evaluation.queries) < 2:
        return "one query is too few"
    if n > MOST_UNASKED:
        return (
            f"{n:,} comparisons with {baseline} are made on request only: --compare baseline, "
            "--baseline OTHER for another system, --compare all for all pairs"
        )
    return None


def _print(
    evaluation: Evaluation,
    comparisons: list[SystemComparison],
    per_query: bool,
    digits: int,
    topics: float | None,
    json: bool,
) -> None:
    from dcglearn.report.systems.evaluation_files import (
        evaluation_to_json,
        means_table,
        queries_table,
        topics_table,
        topics_to_json,
    )
    from dcglearn.report.systems.words import (
        are_many,
        comparisons_in_words,
        comparisons_table,
        evaluation_in_words,
        marks_in_words,
    )

    if json:
        content = evaluation_to_json(evaluation, comparisons, per_query)
        more = {} if topics is None else {"topics": topics_to_json(evaluation, topics)}
        print_json(content | more)
        return
    notes = evaluation_in_words(evaluation)
    marked = comparisons if are_many(comparisons) else []
    if per_query:
        tables = [replace(queries_table(evaluation), digits=digits)]
    else:
        tables = [means_table(evaluation, marked, digits)]
    if marked:
        notes.append(marks_in_words(evaluation.systems, marked))
    elif comparisons:
        tables.append(comparisons_table(comparisons))
    if comparisons:
        notes += comparisons_in_words(comparisons)
    if topics is not None:
        tables.append(topics_table(evaluation, topics))
    print_text("\n\n".join([*(one.text(terminal_width()) for one in tables), "\n".join(notes)]))


def _deliver_supported(
    evaluation: Evaluation, files: list[str], seed: int, digits: int, json: bool
) -> None:
    """Compare systems under the measures that were drawn around a learned one."""
    import numpy as np

    from dcglearn.learning.record import LearnedRecord
    from dcglearn.report.results import Result, jsonable
    from dcglearn.report.systems.supported import supported_tables
    from dcglearn.systems.supported import supported_systems

    one = evaluation.measures[0]
    file = getattr(one, "file", None)
    record = LearnedRecord.read(file) if file and file.dcg else None
    if file is None or record is None or record.draws is None:
        problem = "holds no measures that the judgments support"
        raise InputError(problem, "fit it again with --draws 1000", one.name)
    grades = evaluation.qrels.scale.labels
    known = file.dcg.grades or grades
    gains = record.draws.gains[:, [known.index(label) for label in grades]]
    with reporting("comparing systems"):
        rng = np.random.default_rng(seed)
        found = supported_systems(evaluation, gains, record.draws.discounts, rng)

    tables = supported_tables(found, digits)
    text = "\n\n".join(table.text(terminal_width()) for table in tables)
    deliver(Result(tables[0], jsonable(found)), text, files, json)
