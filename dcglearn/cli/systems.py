"""Commands on systems and measures: evaluate, coherence, measures, explain, export, threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

import dcglearn
from dcglearn import report
from dcglearn.base.errors import InputError, naming
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.command import Answer, command
from dcglearn.cli.options import (
    FORMATS_HELP,
    SEVERAL_HELP,
    JudgmentOptions,
    RanksOption,
    ScaleOption,
    SeedOption,
    check_distinct,
    name_files,
    ranks_option,
    refuse_together,
    seeded,
)
from dcglearn.cli.output import in_options, print_note, print_text

DEFAULT_MEASURES = ("nDCG(linear-log2) @ 10", "nDCG(linear-log2)", "nDCG(exponential-log2) @ 10")
DEFAULT_PRESETS = ("linear-log2", "exponential-log2", "zipf", "binary")

SHOWN_PAIRS = 10
"""Number of pairs of each kind that are shown without --all."""

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


@dataclass(frozen=True)
class RuleOptions:
    """The rules of an evaluation.

    Rules
    -----
    like : TOOL
        Treat ties, unjudged documents and missing queries as trec_eval, ir_measures, ranx, sklearn
        or gdeval does. An option below replaces that one rule.
    ties
        Order of documents with equal scores: by document id, the largest first, as in trec_eval;
        the mean value over all their orders; or that of the run's lines. By default docid.
    unjudged
        Retrieved documents that the qrels do not grade: they keep their rank but gain nothing, as
        in trec_eval; count as the worst grade; are removed from the run; or may have any grade,
        which gives the least and the largest possible value (bounds). By default nothing.
    worthless
        Value of nDCG for a query without relevant documents: 0, 1, or out to leave the query out.
        By default 0.
    missing
        Value of a query that a run does not answer: 0, or out to leave it out of the run's mean. By
        default 0.
    pool
        Unjudged documents in the ideal ranking, where they may gain something (worst grade above 0,
        or bounds): those of all runs, so that every run is divided by the same ideal, or the run's
        own. By default all; own with --unjudged bounds.
    """

    like: Literal["trec_eval", "ir_measures", "ranx", "sklearn", "gdeval"] | None = None
    ties: Literal["docid", "mean", "input"] | None = None
    unjudged: Literal["nothing", "worst", "removed", "bounds"] | None = None
    worthless: Literal["0", "1", "out"] | None = None
    missing: Literal["0", "out"] | None = None
    pool: Literal["all", "own"] | None = None


@command(
    "Write a file as well: a table for a paper with marks of significance (.tex, .md), means with "
    "all digits (.csv), a row per system, measure and query (.parquet), the lines of trec_eval -q "
    "(.eval), everything (.json); with --supported also a figure (.png, .svg, .pdf)."
)
def evaluate(
    qrels: QrelsArgument,
    runs: RunsArgument,
    given: RuleOptions,
    measure: list[str] | None = None,
    baseline: str | None = None,
    compare: Literal["baseline", "all"] | None = None,
    test: Literal["randomisation", "t", "none"] | None = None,
    correct: Literal["measure", "all", "none"] | None = None,
    resamples: int | None = None,
    topics: float | None = None,
    per_query: bool = False,
    digits: Annotated[int, Option(min=1, max=12)] = 4,
    sort: str | None = None,
    supported: bool = False,
    scale: ScaleOption = None,
    seed: SeedOption = 0,
) -> Answer:
    """Evaluate runs under any measures, and compare the systems.

    Parameters
    ----------
    measure, -m : MEASURE
        nDCG@10 (linear gains, as trec_eval's), a preset (zipf@10, see dcglearn measures), a file
        (learned.json), or in full ('nDCG([3, 1, 0], log2) @ 10'); P@10, AP, RR(rel=2), ERR@20,
        RBP(p=0.8) and the like. NAME=MEASURE names it in the tables. May be repeated; by default
        nDCG with linear gains, at 10 and of the whole run, and with exponential gains at 10.
    per_query
        A row per system and query in place of means and comparisons.
    digits : N
        Decimals of values in text, .md and .tex.
    sort : MEASURE|given
        Sort the systems by their mean of this measure, best first, or keep the order given. By
        default the first measure.

    Comparisons
    -----------
    baseline : SYSTEM
        Name of the system that the others are compared with. By default that of the first file,
        wherever it is sorted to.
    compare
        Compare every system with the baseline, or all pairs of systems. By default with the
        baseline, unless that makes more than 50 comparisons.
    test
        Paired test of the differences over queries. By default randomisation.
    correct
        Correct p for the comparisons of each measure, or for those of all measures together. The
        method is Holm's with a baseline, Tukey's HSD with randomisation for all pairs. By default
        measure.
    resamples : N
        Random draws of the test, and of the 95% intervals from 50 queries on; p of the
        randomisation test is 1 / (N + 1) at least. By default 9999.
    topics : DIFFERENCE
        Say how many queries would find a difference of two means, such as 0.02, with a power of
        80%, by the variance of the differences of these runs.
    supported
        In place of tests: in how many of the measures that the judgments of a learned file support
        (fit --draws 1000) each system is ahead. -o takes .json, a table and a figure (.png, .svg,
        .pdf).
    """
    from dcglearn.systems.compare_systems import too_much_to_compare
    from dcglearn.systems.ranked import LIKE, chosen_rules

    refuse_together({"--compare all": compare == "all"}, {"--baseline": baseline})
    tested: dict[str, Any] = {"--test": test, "--correct": correct, "--resamples": resamples}
    others = {"--per-query": per_query, "--topics": topics, "--sort": sort}
    refuse_together({"--supported": supported}, others | tested)
    untested = {"--per-query": per_query, "--supported": supported, "--test none": test == "none"}
    refuse_together({"--compare": compare, "--baseline": baseline}, untested)
    if supported and (len(measure or []) != 1 or len(runs) < 2):
        raise InputError(
            "--supported compares runs under one learned measure",
            "give -m learned.json and two or more runs",
        )
    rules = chosen_rules(**vars(given))
    if topics is not None and (len(runs) < 2 or rules.unjudged == "bounds"):
        raise InputError("--topics compares single values", "give two or more runs, and no bounds")
    evaluation = _evaluate(qrels, runs, _by_name(measure or DEFAULT_MEASURES), rules, scale)
    if supported:
        return _supported(evaluation, seed, digits)
    if given.like == "ranx" and any(run.has_ties for run in evaluation.runs):
        print_note("ranx sorts equal scores in no fixed order: its values may differ")
    first = baseline or evaluation.systems[0]
    evaluation = evaluation if sort == "given" else evaluation.best_first(sort)
    comparisons: list[dcglearn.SystemComparison] = []
    if test != "none" and len(runs) > 1 and not per_query:
        if not (compare or baseline) and (why_not := too_much_to_compare(evaluation, first)):
            print_note(in_options(f"no tests: {why_not}"))
        else:
            with reporting("comparing systems") as advance:
                chosen = {
                    name.removeprefix("--"): value
                    for name, value in tested.items()
                    if value is not None
                }
                comparisons = dcglearn.compare_systems(
                    evaluation,
                    None if compare == "all" else first,
                    seeded(seed),
                    **chosen,
                    advance=advance,
                )

    def write(path: str) -> list[Path]:
        written = dcglearn.write_evaluation(
            evaluation, path, comparisons, per_query=per_query, digits=digits
        )
        if written[0].suffix == ".eval" and rules != LIKE["trec_eval"]:
            print_note(".eval: values by other rules than trec_eval's; see --like trec_eval")
        return written

    shown = evaluation, comparisons, per_query, topics
    return Answer(
        lambda: report.evaluation_to_json(*shown),
        lambda: report.evaluation_text(*shown, digits),
        write,
    )


def _by_name(names: Sequence[str], in_full: Callable[[str], str] = str) -> dict[str, str]:
    """Return the measures of options by name; ``NAME=MEASURE`` names one."""
    from dcglearn.measures.grammar import split_given_name

    given = [(own, in_full(text)) for own, text in map(split_given_name, names)]
    check_distinct([own or text for own, text in given])
    return {own or text: text for own, text in given}


def _evaluate(
    qrels: str, runs: list[str], measures: dict[str, str], rules: dcglearn.Rules, scale: str | None
) -> dcglearn.Evaluation:
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


def _supported(evaluation: dcglearn.Evaluation, seed: int, digits: int) -> Answer:
    """Compare systems under the measures that were drawn around a learned one."""
    from dcglearn.systems.supported import drawn_measures

    with reporting("comparing systems"):
        found = dcglearn.supported_systems(evaluation, *drawn_measures(evaluation), seeded(seed))

    tables = report.supported_tables(found, digits)
    return Answer(
        lambda: report.supported_json(found),
        lambda: report.page(*tables),
        table=tables[0],
        draw=lambda: report.draw_supported(found),
    )


@command()
def measures() -> Answer:
    """List the measures that have names, here and in other tools."""
    known = report.known_measures()
    return Answer(
        lambda: {name: table.named_rows() for name, table in known.items()},
        lambda: report.page(report.OPENING, *known.values()),
    )


@command(
    "Write the pairs (.csv, .tex, .md, .txt), everything (.json), or a figure (.png, .svg, .pdf).",
    without=["worthless", "pool"],
)
def coherence(
    qrels: QrelsArgument,
    runs: RunsArgument,
    given: RuleOptions,
    measure: list[str] | None = None,
    depth: Annotated[int, ranks_option("--depth")] = 10,
    between: list[str] | None = None,
    alpha: float = 0.05,
    everything: Annotated[bool, Option("--all")] = False,
    scale: ScaleOption = None,
    seed: SeedOption = 0,
) -> Answer:
    """Find the comparisons of systems that hold for all gains.

    Beside that is whether they are more than chance: differences are tested under the first
    measure. Other comparisons depend on the gains; for the clearest of them, gains that reverse
    the order are given.

    Parameters
    ----------
    measure, -m : MEASURE
        The first measure gives the discounts where only the gains are free, the gains where only
        the discounts are, and is the one that differences are tested under. JSON also compares the
        orders of systems by all measures. May be repeated; by default linear-log2,
        exponential-log2, zipf and binary.
    depth
        Number of ranks of each run that are compared.
    everything
        Show every pair, not only the clearest.

    Comparisons
    -----------
    between : A,B
        Show two systems in detail, with the queries on which they differ most. By default every
        pair is compared. May be repeated.
    alpha : P
        A difference is called significant if its p, corrected for all pairs of the runs given, is
        below this.
    """
    from dcglearn.measures.names import as_ndcg
    from dcglearn.systems.conclusions import named_pair
    from dcglearn.systems.ranked import chosen_rules

    asked = chosen_rules(**vars(replace(given, worthless="0")))
    rules = dcglearn.coherence_rules(asked)
    measures = _by_name(measure or DEFAULT_PRESETS, partial(as_ndcg, depth=depth))
    evaluation = _evaluate(qrels, runs, measures, rules, scale)
    pairs = [named_pair(text, evaluation.systems) for text in between or []] or None
    if asked != rules and any(run.has_ties for run in evaluation.runs):
        print_note("documents with equal scores: here in one order, that of the run's lines")
    with reporting("comparing systems") as advance:
        found = dcglearn.system_conclusions(
            evaluation, depth, seeded(seed), between=pairs, alpha=alpha, advance=advance
        )
        document = report.coherence_to_json(found, pairs is not None)

    most = None if everything or pairs else SHOWN_PAIRS
    text = report.coherence_text(found, most, pairs is not None)
    if most is not None and len(found.pairs) > most:
        text += "\nevery pair: --all, or -o pairs.csv; two systems in detail: --between A,B"
    return Answer(
        lambda: document,
        lambda: text,
        table=report.conclusions_table(found),
        draw=lambda: report.draw_pairs(found),
    )


@command()
def explain(
    first: str,
    second: str,
    a: str | None = None,
    b: str | None = None,
    scale: ScaleOption = None,
    n_ranks: RanksOption = None,
) -> Answer:
    """Explain why two measures differ, on two lists or an example.

    Without lists, the example is the one on which the measures differ most.

    Parameters
    ----------
    first : MEASURE
        A measure file, a preset, or a measure in full.
    second : MEASURE
        The measure to compare it with.
    a : GRADES
        Grades of a list from the first rank, such as 2,0,1; - for an empty rank.
    b : GRADES
        The list to compare it with.
    """
    from dcglearn.coherence import explain as explanations
    from dcglearn.measures.names import measures_on_one_scale
    from dcglearn.measures.scale import parse_lists

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
    shown = explanations.explain(one, other, *lists), named, lists, declared
    return Answer(
        lambda: report.explanation_to_json(*shown),
        lambda: opening + report.explanation_text(*shown),
    )


@command()
def export(
    measure: str,
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
        Option(),
    ],
    out: str | None = None,
    labels: str | None = None,
    scale: ScaleOption = None,
    n_ranks: Annotated[int | None, ranks_option()] = None,
) -> None:
    """Write a measure in another tool's terms.

    Differences between the tool and dcglearn are noted on standard error.

    Parameters
    ----------
    measure : MEASURE
        A measure file, a name (nDCG@10, zipf) with --scale, or a measure in full, which holds its
        grades: 'nDCG({2: 3, 1: 1, 0: 0}, log2) @ 10'.
    to : TARGET
        One of trec_eval, ir_measures, pyterrier, ranx, scikit-learn, lightgbm, xgboost, torch,
        pandas or json.
    out, -o : FILE
        Write to a file, of any name, instead of printing.
    labels : BEST,...,WORST
        Labels of the grades in the tool's data, where they differ; by default those of the scale.
    n_ranks
        Number of discounts that json and pandas list for a rule, and the n of linear-discount; by
        default 10. Write MEASURE @ K to cut the measure itself.
    """
    from dcglearn.base.files import write_text
    from dcglearn.measures.names import named_measure

    named = named_measure(measure, scale, n_ranks)
    exported = dcglearn.export(named.measure, to, labels, n_ranks or 10)
    text = exported.text.rstrip("\n")
    if out is None:
        print_text(text)
    for note in exported.notes:
        print_note(f"note: {note}")
    if out is not None:
        write_text(out, text + "\n")
        print_note(f"wrote {out}")


@command(
    without=[
        "scale",
        "n_ranks",
        "documents",
        "qrels",
        "run",
        "answers",
        "unjudged",
        "null_values",
        "drop_judge",
    ]
)
def threshold(
    files: Annotated[
        list[str],
        Argument(
            metavar="DOCUMENTS",
            help=f"{FORMATS_HELP} Columns: score, grade (empty if not judged) and, where known, "
            f"id. {SEVERAL_HELP}",
        ),
    ],
    judgments: JudgmentOptions,
    credit: Annotated[float | None, Option(min=0)] = None,
    debit: Annotated[float | None, Option(min=0)] = None,
    relevant: str | None = None,
    measure: str | None = None,
    cost: float | None = None,
    beta: float = 0.1,
    gamma: float = 0.05,
) -> Answer:
    """Learn which score a document must reach to be delivered.

    The threshold follows the Beta-Gamma regulation.

    Parameters
    ----------
    credit : X
        Worth of a relevant document; by default 3.
    debit : X
        Cost of any other document; by default 2.
    relevant : GRADE,...
        Relevant grades; by default numbers above 0.
    measure, -m : MEASURE
        Worth of each grade: the gains of a measure file, or of a DCG in full that names its grades.
    cost : X
        Cost of reading a document, in units of gain; required with --measure.
    beta : X
        Limit of alpha after many judgments, 0 to 1.
    gamma : X
        Rate at which judgments lower alpha.
    """
    from dcglearn.systems.beta_gamma import by_relevance, net_gains, read_scored, utilities_of

    linear = {"--credit": credit, "--debit": debit, "--relevant": relevant}
    refuse_together(linear, {"--measure": measure})
    file = name_files(files)
    with reporting(f"reading {file}") as advance:
        documents = read_scored(files, advance, judgments.read_options())
    if (measure is None) != (cost is None):
        raise InputError("--measure and --cost belong together", "give both, such as --cost .3")
    if measure is None or cost is None:
        unjudged = -2.0 if debit is None else -debit
        with naming("--relevant"):
            worth = by_relevance(documents, relevant, 3.0 if credit is None else credit, unjudged)
    else:
        with naming("--measure"):
            worth = net_gains(measure, cost)
        unjudged = min(worth.values())
    judged = [grade is not None for grade in documents.grades]
    with naming(file):
        utilities = utilities_of(documents, worth, unjudged)
        found = dcglearn.beta_gamma_threshold(documents.scores, utilities, judged, beta, gamma)
    thresholds = {
        "theta_opt": found.theta_optimal,
        "theta_zero": found.theta_zero,
        "theta": found.theta,
    }
    cuts = {
        name: {"score": theta, **found.passing(theta)._asdict()}
        for name, theta in thresholds.items()
    }
    content = {
        "file": file,
        "documents": len(judged),
        "judged": found.n_judged,
        "worth": worth,
        "unjudged": unjudged,
        "beta": beta,
        "gamma": gamma,
        "alpha": found.alpha,
        "pays": cuts["theta_opt"]["documents"] > 0,
        **cuts,
    }
    return Answer(lambda: content, lambda: report.threshold_text(content))
