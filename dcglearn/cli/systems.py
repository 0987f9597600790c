"""Commands on qrels and runs: evaluate, coherence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from dcglearn.base.errors import InputError
from dcglearn.base.files import checked_suffix
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.command import Answer, command
from dcglearn.cli.inputs import check_distinct, given, naming, refuse_together
from dcglearn.cli.options import measure_option, ranks_option, scale_option
from dcglearn.cli.output import print_note, terminal_width
from dcglearn.cli.remedies import in_options

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dcglearn.systems.compare_systems import SystemComparison
    from dcglearn.systems.evaluate import Evaluation
    from dcglearn.systems.rules import Rules

DEFAULT_MEASURES = ("nDCG(linear-log2) @ 10", "nDCG(linear-log2)", "nDCG(exponential-log2) @ 10")
DEFAULT_PRESETS = ("linear-log2", "exponential-log2", "zipf", "binary")

SHOWN_PAIRS = 10
"""Number of pairs of each kind that are shown without --all."""

OUTPUT = "Output"
of_rules = partial(Option, rich_help_panel="Rules")
of_comparisons = partial(Option, rich_help_panel="Comparisons")
of_output = partial(Option, rich_help_panel=OUTPUT)

several_measures = partial(measure_option, rich_help_panel="Measures")

_FORMATS_HELP = (
    "TREC text, .csv, .json, .jsonl, .parquet or .arrow (each also .gz, .zst, .bz2, .xz)"
)

QrelsArgument = Annotated[
    str,
    Argument(metavar="QRELS", help=f"{_FORMATS_HELP}, LETOR lists, or ir_datasets:ID."),
]
RunsArgument = Annotated[
    list[str],
    Argument(metavar="RUN", help=f"{_FORMATS_HELP}; with LETOR lists, one score per line."),
]
LikeOption = Annotated[
    Literal["trec_eval", "ir_measures", "ranx", "sklearn", "gdeval"] | None,
    of_rules(
        metavar="TOOL",
        help="Treat ties, unjudged documents and missing queries as trec_eval, ir_measures, "
        "ranx, sklearn or gdeval does. An option below replaces that one rule.",
    ),
]
TiesOption = Annotated[
    Literal["docid", "mean", "input"] | None,
    of_rules(
        help="Order of documents with equal scores: by document id, the largest first, as in "
        "trec_eval; the mean value over all their orders; or that of the run's lines. By "
        "default docid."
    ),
]
UnjudgedOption = Annotated[
    Literal["nothing", "worst", "removed", "bounds"] | None,
    of_rules(
        help="Retrieved documents that the qrels do not grade: they keep their rank but gain "
        "nothing, as in trec_eval; count as the worst grade; are removed from the run; or may "
        "have any grade, which gives the least and the largest possible value (bounds). By "
        "default nothing."
    ),
]
MissingOption = Annotated[
    Literal["0", "out"] | None,
    of_rules(
        help="Value of a query that a run does not answer: 0, or out to leave it out of the "
        "run's mean. By default 0."
    ),
]
GradesOption = Annotated[str | None, scale_option(rich_help_panel="Measures")]
DrawsSeedOption = Annotated[
    int,
    of_comparisons(
        min=0,
        metavar="N",
        help="Seed of the random draws: the same seed gives the same numbers.",
    ),
]


@command(
    "Write a file as well: a table for a paper with marks of significance (.tex, .md), means with "
    "all digits (.csv), a row per system, measure and query (.parquet), the lines of trec_eval -q "
    "(.eval), everything (.json); with --supported also a figure (.png, .svg, .pdf).",
    heading=OUTPUT,
)
def evaluate(
    qrels: QrelsArgument,
    runs: RunsArgument,
    measure: Annotated[
        list[str] | None,
        several_measures(
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
        Literal["0", "1", "out"] | None,
        of_rules(
            help="Value of nDCG for a query without relevant documents: 0, 1, or out to leave the "
            "query out. By default 0."
        ),
    ] = None,
    missing: MissingOption = None,
    pool: Annotated[
        Literal["all", "own"] | None,
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
        Literal["baseline", "all"] | None,
        of_comparisons(
            help="Compare every system with the baseline, or all pairs of systems. By default with "
            "the baseline, unless that makes more than 50 comparisons."
        ),
    ] = None,
    test: Annotated[
        Literal["randomisation", "t", "none"] | None,
        of_comparisons(
            help="Paired test of the differences over queries. By default randomisation."
        ),
    ] = None,
    correct: Annotated[
        Literal["measure", "all", "none"] | None,
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
    supported: Annotated[
        bool,
        of_comparisons(
            "--supported",
            help="In place of tests: in how many of the measures that the judgments of a learned "
            "file support (fit --draws 1000) each system is ahead. -o takes .json, a table and a "
            "figure (.png, .svg, .pdf).",
        ),
    ] = False,
    scale: GradesOption = None,
    seed: DrawsSeedOption = 0,
    out: list[str] | None = None,
) -> Answer:
    """Evaluate runs under any measures, and compare the systems."""
    from dcglearn.report.results import RESULT_FORMATS
    from dcglearn.report.systems.evaluation_files import (
        EVALUATION_FORMATS,
        evaluation_text,
        evaluation_to_json,
        write_evaluation,
    )
    from dcglearn.systems.rules import LIKE

    for path in out or []:
        checked_suffix(path, RESULT_FORMATS if supported else EVALUATION_FORMATS)
    options = {"test": test, "resamples": resamples, "correct": correct}
    asked = given(
        {
            "--compare": compare,
            "--baseline": baseline,
            "--correct": correct,
            "--resamples": resamples,
        }
    )
    compared = test != "none" and len(runs) > 1 and not per_query
    refuse_together({"--compare all": compare == "all"}, {"--baseline": baseline})
    if supported:
        others = {"--test": test, "--topics": topics, "--sort": sort, "--per-query": per_query}
        _check_supported(asked + given(others), measure or [], runs)
    elif asked and not compared:
        raise InputError(
            f"{asked[0]} without a comparison",
            "leave it out (--test none, --per-query and a single run compare nothing)",
        )
    rules = _rules(
        like, ties=ties, unjudged=unjudged, worthless=worthless, missing=missing, pool=pool
    )
    _check_topics(topics, runs, rules)
    evaluation = _evaluate(qrels, runs, _by_name(measure or DEFAULT_MEASURES), rules, scale)
    if supported:
        return _supported(evaluation, seed, digits)
    if like == "ranx" and any(run.has_ties for run in evaluation.runs):
        print_note("ranx sorts equal scores in no fixed order: its values may differ")
    first = evaluation.systems[0]
    if sort != "given":
        with naming("--sort"):
            evaluation = evaluation.best_first(sort)
    base = None if compare == "all" else baseline or first
    comparisons = _compared(evaluation, base, bool(asked), seed, options) if compared else []

    def write(path: str) -> list[Path]:
        written = write_evaluation(
            evaluation, path, comparisons, per_query=per_query, digits=digits
        )
        if written[0].suffix == ".eval" and rules != LIKE["trec_eval"]:
            print_note(".eval: values by other rules than trec_eval's; see --like trec_eval")
        return written

    shown = evaluation, comparisons, per_query, topics
    return Answer(
        lambda: evaluation_to_json(*shown),
        lambda: evaluation_text(*shown, digits, terminal_width()),
        write,
    )


def _rules(like: str | None, **options: str | None) -> Rules:
    """Return the rules of the options; those that are not given are those of `like`."""
    from dcglearn.systems.rules import changed_rules

    rules, changed = changed_rules(like, options)
    if changed:
        others = " and ".join(f"--{name}" for name in changed)
        print_note(f"{others} instead of what {like} does; all else is as there")
    return rules


def _by_name(names: Sequence[str]) -> dict[str, str]:
    """Return the measures of options by name; ``NAME=MEASURE`` names one."""
    from dcglearn.measures.grammar import split_given_name

    given = [split_given_name(text) for text in names]
    check_distinct([own or text for own, text in given])
    return {own or text: text for own, text in given}


def _evaluate(
    qrels: str, runs: list[str], measures: dict[str, str], rules: Rules, scale: str | None
) -> Evaluation:
    """Read qrels and evaluate runs; report on standard error what was left out."""
    from dcglearn.collections.runs import check_qrels_and_runs
    from dcglearn.systems.evaluate import evaluate_opened
    from dcglearn.systems.inputs import open_qrels_and_runs

    check_qrels_and_runs(qrels, runs)
    with reporting("reading qrels"):
        opened = open_qrels_and_runs(qrels, runs, scale)
    with reporting("evaluating runs") as advance:
        evaluation = evaluate_opened(*opened, measures, rules, advance)
    for note in evaluation.notes():
        print_note(note)
    return evaluation


def _check_supported(others: list[str], measures: list[str], runs: list[str]) -> None:
    if others or len(measures) != 1 or len(runs) < 2:
        fault = "one run" if len(measures) == 1 else counted(len(measures), "measure")
        raise InputError(
            f"{others[0]} with --supported" if others else f"--supported with {fault}",
            "give -m learned.json, several runs, and no other comparison",
        )


def _check_topics(topics: float | None, runs: list[str], rules: Rules) -> None:
    if topics is not None and (len(runs) < 2 or rules.unjudged == "bounds"):
        raise InputError("--topics compares single values", "give two or more runs, and no bounds")


def _compared(
    evaluation: Evaluation, baseline: str | None, asked: bool, seed: int, options: dict[str, Any]
) -> list[SystemComparison]:
    """Compare systems with a baseline, or all pairs without one; unasked, not too many."""
    import numpy as np

    from dcglearn.systems.compare_systems import compare_systems, too_much_to_compare

    why_not = None if asked or baseline is None else too_much_to_compare(evaluation, baseline)
    if why_not is not None:
        print_note(in_options(f"no tests: {why_not}"))
        return []
    rng, given = np.random.default_rng(seed), {k: v for k, v in options.items() if v is not None}
    with reporting("comparing systems") as advance:
        return compare_systems(evaluation, baseline, rng, **given, advance=advance)


def _supported(evaluation: Evaluation, seed: int, digits: int) -> Answer:
    """Compare systems under the measures that were drawn around a learned one."""
    import numpy as np

    from dcglearn.report.results import write_result
    from dcglearn.report.systems.supported import supported_json, supported_tables
    from dcglearn.systems.supported import drawn_measures, supported_systems

    with reporting("comparing systems"):
        rng = np.random.default_rng(seed)
        found = supported_systems(evaluation, *drawn_measures(evaluation), rng)

    def draw() -> Figure:
        from dcglearn.report.figures.system_figures import draw_supported

        return draw_supported(found)

    tables, document = supported_tables(found, digits), supported_json(found)
    return Answer(
        lambda: document,
        lambda: "\n\n".join(table.text(terminal_width()) for table in tables),
        lambda path: write_result(path, tables[0], document, draw),
    )


@command(
    "Write the pairs to a .csv, .tex, .md or .txt file, everything to a .json file, or draw the "
    "pairs to a .png, .svg or .pdf file.",
    "--out",
    "--figure",
    "-o",
    heading=OUTPUT,
)
def coherence(
    qrels: QrelsArgument,
    runs: RunsArgument,
    measure: Annotated[
        list[str] | None,
        several_measures(
            help="The first measure gives the discounts where only the gains are free, the gains "
            "where only the discounts are, and is the one that differences are tested under. "
            "JSON also compares the orders of systems by all measures. May be repeated; by default "
            "linear-log2, exponential-log2, zipf and binary.",
        ),
    ] = None,
    depth: Annotated[
        int,
        ranks_option(
            "--depth",
            rich_help_panel="Measures",
            help="Number of ranks of each run that are compared.",
        ),
    ] = 10,
    like: LikeOption = None,
    ties: TiesOption = None,
    unjudged: UnjudgedOption = None,
    missing: MissingOption = None,
    between: Annotated[
        list[str] | None,
        of_comparisons(
            metavar="A,B",
            help="Show two systems in detail, with the queries on which they differ most. By "
            "default every pair is compared. May be repeated.",
        ),
    ] = None,
    alpha: Annotated[
        float,
        of_comparisons(
            min=0,
            max=1,
            metavar="P",
            help="A difference is called significant if its p, corrected for all pairs of the runs "
            "given, is below this.",
        ),
    ] = 0.05,
    everything: Annotated[
        bool, of_output("--all", help="Show every pair, not only the clearest.")
    ] = False,
    scale: GradesOption = None,
    seed: DrawsSeedOption = 0,
) -> Answer:
    """Find the comparisons of systems that hold for all gains.

    Beside that is whether they are more than chance: differences are tested under the first
    measure. Other comparisons depend on the gains; for the clearest of them, gains that reverse
    the order are given.
    """
    import numpy as np

    from dcglearn.measures.names import as_ndcg
    from dcglearn.report.results import write_result
    from dcglearn.report.systems.coherence import (
        coherence_text,
        coherence_to_json,
        conclusions_table,
    )
    from dcglearn.systems.conclusions import coherence_rules, named_pair, system_conclusions
    from dcglearn.systems.orderings import compare_orderings

    if len(runs) < 2:
        raise InputError("one run", "give two or more to compare")
    asked = _rules(like, ties=ties, unjudged=unjudged, missing=missing)
    if asked.worthless is None:
        print_note(f"{like} leaves out queries without relevant documents; here they count 0")
        asked = replace(asked, worthless=0.0)
    rules = coherence_rules(asked)
    given = _by_name(measure or DEFAULT_PRESETS)
    texts = {name: as_ndcg(text, depth) for name, text in given.items()}
    measures = {texts[name] if name == text else name: texts[name] for name, text in given.items()}
    evaluation = _evaluate(qrels, runs, measures, rules, scale)
    with naming("--between"):
        pairs = [named_pair(text, evaluation.systems) for text in between or []] or None
    if asked != rules and any(run.has_ties for run in evaluation.runs):
        print_note("documents with equal scores: here in one order, that of the run's lines")
    with reporting("comparing systems") as advance:
        rng = np.random.default_rng(seed)
        found = system_conclusions(
            evaluation, depth, rng, between=pairs, alpha=alpha, advance=advance
        )
        orderings = compare_orderings(evaluation)
    if pairs is not None:
        orderings = [one.among(pairs) for one in orderings]

    def draw() -> Figure:
        from dcglearn.report.figures.system_figures import draw_pairs

        return draw_pairs(found)

    most = None if everything or pairs else SHOWN_PAIRS
    text = coherence_text(found, most, pairs is not None, terminal_width())
    if most is not None and len(found.pairs) > most:
        text += "\nevery pair: --all, or -o pairs.csv; two systems in detail: --between A,B"
    document = coherence_to_json(found, orderings, pairs is not None)
    return Answer(
        lambda: document,
        lambda: text,
        lambda path: write_result(path, conclusions_table(found), document, draw),
    )
