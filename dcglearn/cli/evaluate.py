"""The command on qrels and runs: evaluate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.progress import reporting
from dcglearn.base.suggestions import unknown_name
from dcglearn.cli.options import ScaleOption, SeedOption, print_json, say

if TYPE_CHECKING:
    from dcglearn.data.qrels_index import IndexedQrels
    from dcglearn.data.qrels_runs import Run
    from dcglearn.data.record_formats import IgnoredInput
    from dcglearn.evaluation.rules import Rules
    from dcglearn.evaluation.significance import PairedTest
    from dcglearn.evaluation.systems import Evaluation
    from dcglearn.measures.names import NamedMeasure

QrelsArgument = Annotated[
    str, typer.Argument(metavar="QRELS", help="TREC text or .json, .gz too; .parquet; LETOR.")
]
RunsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="TREC text or .json, .gz too; .parquet. With LETOR lists, one score a line.",
    ),
]
LikeOption = Annotated[
    str | None,
    typer.Option(
        "--like",
        metavar="trec_eval|ir_measures|ranx|sklearn",
        help="Take that tool's choices in all that follows; options beside it win.",
    ),
]
TiesOption = Annotated[
    str | None,
    typer.Option(
        "--ties", metavar="mean|input|docid", help="Order of documents with equal scores."
    ),
]
UnjudgedOption = Annotated[
    str | None,
    typer.Option(
        "--unjudged",
        metavar="worst|nothing|removed|bounds",
        help="What documents without a judgment count as.",
    ),
]
WorthlessOption = Annotated[
    str | None,
    typer.Option(
        "--worthless",
        metavar="0|1|out",
        help="A normalised value where nothing can be gained; out leaves the query out.",
    ),
]
MissingOption = Annotated[
    str | None,
    typer.Option(
        "--missing", metavar="0|out", help="The value of a query that a run does not hold."
    ),
]
LenientRunsOption = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Leave out, and count, documents that stand twice and queries without qrels.",
    ),
]
FORMATS = ("text", "md", "latex", "csv", "json")
DEFAULTS = ("nDCG(linear-log2) @ 10", "nDCG(linear-log2)", "nDCG(exponential-log2) @ 10")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(evaluate)


def evaluate(
    qrels: QrelsArgument,
    runs: RunsArgument,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="A preset (zipf), learned.json, a measure in full, or nDCG(...) @ 10 of one; "
            "may be given again and again.",
        ),
    ] = None,
    like: LikeOption = None,
    ties: TiesOption = None,
    unjudged: UnjudgedOption = None,
    worthless: WorthlessOption = None,
    missing: MissingOption = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="SYSTEM", help="The first run, if none is named."),
    ] = None,
    test: Annotated[
        str, typer.Option("--test", metavar="randomisation|t|none", help="Of the differences.")
    ] = "randomisation",
    per_query: Annotated[
        bool, typer.Option("--per-query", help="A row a query, and no comparison.")
    ] = False,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="text|md|latex|csv|json",
            help="Of what is printed; csv holds one table, without comparisons.",
        ),
    ] = "text",
    scale: ScaleOption = None,
    seed: SeedOption = 0,
    lenient: LenientRunsOption = False,
) -> None:
    """Say how good systems are, under any measures at once."""
    import numpy as np

    from dcglearn.evaluation.compare_systems import compare_systems
    from dcglearn.evaluation.significance import PAIRED_TESTS
    from dcglearn.report.systems import (
        comparisons_table,
        evaluation_to_json,
        means_table,
        queries_table,
    )

    if form not in FORMATS:
        raise unknown_name("--format", form, FORMATS)
    if test not in (*PAIRED_TESTS, "none"):
        raise unknown_name("--test", test, (*PAIRED_TESTS, "none"))
    rules = rules_of(like, ties, unjudged, worthless, missing)
    known, read = open_files(qrels, runs, scale, lenient)
    names = [one.name for one in read]
    if baseline is not None and baseline not in names:
        raise unknown_name("--baseline", baseline, names)
    compared = test != "none" and len(read) > 1 and not per_query and form != "csv"
    if baseline is not None and not compared:
        remedy = "leave it out (--test none, --per-query, csv and a single run compare nothing)"
        raise InputError("--baseline without a comparison", remedy)
    measures = measures_on(measure or DEFAULTS, known, read)
    found = evaluated(known, read, runs, measures, rules, lenient or like is not None)
    _warn_of_ranx(found, like)
    comparisons = []
    if compared:
        _check_comparable(rules, found)
        with reporting("comparing systems"):
            comparisons = compare_systems(
                found, baseline or names[0], np.random.default_rng(seed), cast("PairedTest", test)
            )
    if form == "json":
        print_json(evaluation_to_json(found, rules, comparisons, per_query))
        return
    table = queries_table(found) if per_query else means_table(found)
    if form == "csv":
        say(table.csv())
        return
    written = {"text": "text", "md": "markdown", "latex": "latex"}[form]
    say(getattr(table, written)())
    if comparisons:
        caption = f"Differences from {baseline or names[0]}"
        say("\n" + getattr(comparisons_table(comparisons, caption), written)())
    if form == "text":
        say("\n" + "\n".join(_in_words(found, known, rules, bool(comparisons), test)))


def _check_comparable(rules: Rules, found: Evaluation) -> None:
    """Refuse comparisons that would say nothing."""
    if rules.unjudged == "bounds":
        raise InputError("differences of bounds", "add --test none, or another rule than bounds")
    if len(found.queries) < 2:
        raise InputError("one query is too few for a test", "add --test none, or give more")


def rules_of(
    like: str | None,
    ties: str | None,
    unjudged: str | None,
    worthless: str | None,
    missing: str | None,
) -> Rules:
    """Return the rules that options ask for, or refuse them."""
    from dataclasses import replace

    from dcglearn.evaluation.rules import LIKE, TIES, UNJUDGED, Rules

    if like is not None and like not in LIKE:
        raise unknown_name("--like", like, LIKE)
    for option, value, choices in (("--ties", ties, TIES), ("--unjudged", unjudged, UNJUDGED)):
        if value is not None and value not in choices:
            raise unknown_name(option, value, choices)
    found = Rules() if like is None else LIKE[like]
    changes = {"ties": ties, "unjudged": unjudged}
    found = replace(found, **{k: v for k, v in changes.items() if v is not None})  # type: ignore[arg-type]  # checked above
    if worthless is not None:
        found = replace(found, worthless=_number_or_out("--worthless", worthless, ("0", "1")))
    if missing is not None:
        found = replace(found, missing=_number_or_out("--missing", missing, ("0",)))
    return found


def open_files(
    qrels: str, runs: list[str], scale: str | None, lenient: bool
) -> tuple[IndexedQrels, list[Run]]:
    """Read qrels and runs, and say on standard error what was passed over."""
    from dcglearn.data.letor import looks_like_letor, read_graded_lists, read_predictions
    from dcglearn.data.qrels_index import index_qrels
    from dcglearn.data.qrels_runs import distinct_names, read_qrels, read_run
    from dcglearn.data.record_formats import IgnoredInput
    from dcglearn.measures.scale import Scale

    passed_over: IgnoredInput | None = IgnoredInput() if lenient else None
    named = None if scale is None else Scale.parse(scale)
    with reporting("reading qrels and runs") as advance:
        letor = looks_like_letor(qrels)
        lists = read_graded_lists(qrels) if letor else read_qrels(qrels, passed_over)
        known = index_qrels(lists, named)
        read = []
        for number, path in enumerate(runs, start=1):
            read.append(read_predictions(path, lists) if letor else read_run(path, passed_over))
            advance(number, len(runs))
    tell_passed_over(passed_over)
    return known, distinct_names(read, runs)


def tell_passed_over(passed_over: IgnoredInput | None) -> None:
    """Say on standard error what a lenient reading left out."""
    for reason, times in sorted((passed_over.counts if passed_over else {}).items()):
        print(f"passed over: {reason}, {times} times", file=sys.stderr)


def measures_on(
    names: list[str] | tuple[str, ...], known: IndexedQrels, runs: list[Run]
) -> list[NamedMeasure]:
    """Return the measures that names mean, on the scale of the qrels."""
    from dcglearn.measures.names import measure_for_documents

    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the measure {twice} is named twice", "name it once")
    longest = max(run.longest for run in runs)
    found = []
    for name in names:
        try:
            found.append(measure_for_documents(name, known.scale, longest))
        except InputError as error:
            raise error if error.place else error.at(name) from error
    return found


def evaluated(
    known: IndexedQrels,
    runs: list[Run],
    paths: list[str],
    measures: list[NamedMeasure],
    rules: Rules,
    lenient: bool,
) -> Evaluation:
    """Evaluate runs; refuse queries that the qrels do not hold, or say how many there are."""
    from dcglearn.data.qrels_formats import place_of_query
    from dcglearn.evaluation.systems import evaluate as evaluate_all

    held = set(known.queries)
    for run, path in zip(runs, paths, strict=True):
        extra = [query for query in run.queries if query not in held]
        if not lenient and extra:
            raise InputError(
                f"the query {extra[0]} is not in the qrels ({len(extra)} such queries)",
                "leave it out, or count such queries with --lenient",
                place_of_query(Path(path), extra[0]),
            )
        if len(extra) == len(run.queries):
            raise InputError("holds no query of the qrels", "give the qrels that go with it", path)
    with reporting("evaluating"):
        found = evaluate_all(known, runs, measures, rules=rules)
    _warn_of_costs(found, rules)
    for s, system in enumerate(found.systems):
        missing, extra_ones = int(found.missing[s].sum()), len(found.extra[s])
        if missing:
            fate = "are left out" if rules.missing is None else f"count {rules.missing:g}"
            words = f"{missing} of {len(known.queries)} queries are missing and {fate}"
            print(f"{system}: {words}", file=sys.stderr)
        if extra_ones:
            print(f"{system}: queries not in the qrels: {extra_ones}", file=sys.stderr)
    return found


def _warn_of_costs(found: Evaluation, rules: Rules) -> None:
    """Say on standard error that documents without a judgment count as one that costs."""
    import numpy as np

    from dcglearn.measures.dcg import DCG

    costly = [
        one for one in found.measures if isinstance(one.measure, DCG) and one.measure.gains[-1] < 0
    ]
    if rules.unjudged == "worst" and costly and np.nanmin(found.judged, initial=1.0) < 1:
        names = ", ".join(one.name for one in costly)
        print(
            f"{names}: the worst grade gains less than 0, and documents without a judgment count "
            "as it; --unjudged nothing lets them gain 0",
            file=sys.stderr,
        )


def _warn_of_ranx(found: Evaluation, like: str | None) -> None:
    """Say on standard error that ranx has no fixed order of equal scores."""
    if like == "ranx" and any(run.has_ties for run in found.runs):
        print(
            "ranx sorts equal scores in no fixed order: where there are any, as here, it may say "
            "something else",
            file=sys.stderr,
        )


def _in_words(
    found: Evaluation, known: IndexedQrels, rules: Rules, compared: bool, test: str
) -> list[str]:
    from dcglearn.report.systems import rules_in_words

    lines = [
        f"{one.name} is {one.measure}" for one in found.measures if one.name != str(one.measure)
    ]
    lines.append(f"{len(found.queries)} queries; grades {known.scale}")
    lines += rules_in_words(rules, [one.measure for one in found.measures])
    if compared:
        words = "randomisation test" if test == "randomisation" else "t test"
        lines.append(
            f"p: paired {words}, two-sided; corrected: Holm's, over the systems of a measure; "
            "from, to: 95% bootstrap interval over queries"
        )
    return lines


def _number_or_out(option: str, text: str, numbers: tuple[str, ...]) -> float | None:
    if text == "out":
        return None
    if text not in numbers:
        raise unknown_name(option, text, (*numbers, "out"))
    return float(text)
