"""The command that finds comparisons that hold whatever the gains: coherence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.progress import reporting
from dcglearn.cli.inputs import check_files
from dcglearn.cli.options import MAX_RANKS, QrelsArgument, RunsArgument
from dcglearn.cli.output import print_note, terminal_width
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
)
from dcglearn.cli.systems import deliver, evaluate_runs, measures_of_names, rules_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_PRESETS = ("linear-log2", "exponential-log2", "zipf", "binary")
SHOWN_PAIRS = 10
"""Number of pairs of each kind that are shown without --all."""


def coherence(
    qrels: QrelsArgument,
    runs: RunsArgument,
    measure: Annotated[
        list[str] | None,
        of_measures(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="The first measure gives the discounts where only the gains are free, the gains "
            "where only the discounts are, and is the one that differences are tested under. "
            "JSON also compares the orders of systems by all measures. May be repeated; by default "
            "linear-log2, exponential-log2, zipf and binary.",
        ),
    ] = None,
    depth: Annotated[
        int,
        of_measures(
            "--K",
            "--depth",
            min=1,
            max=MAX_RANKS,
            metavar="K",
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
    out: Annotated[
        list[str] | None,
        of_output(
            "--out",
            "--figure",
            "-o",
            metavar="FILE",
            help="Write the pairs to a .csv, .tex, .md or .txt file, everything to a .json file, "
            "or draw the pairs to a .png, .svg or .pdf file. May be repeated.",
        ),
    ] = None,
    everything: Annotated[
        bool, of_output("--all", help="Show every pair, not only the clearest.")
    ] = False,
    scale: GradesOption = None,
    seed: ComparisonsSeedOption = 0,
    json: ResultsJsonOption = False,
) -> None:
    """Find the comparisons of systems that hold for all gains.

    Beside that is whether they are more than chance: differences are tested under the first
    measure. Other comparisons depend on the gains; for the clearest of them, gains that reverse
    the order are given.
    """
    import numpy as np

    from dcglearn.report.results import RESULT_FORMATS, Result
    from dcglearn.report.systems.coherence import (
        coherence_text,
        coherence_to_json,
        conclusions_table,
    )
    from dcglearn.systems.conclusions import coherence_rules, system_conclusions
    from dcglearn.systems.orderings import compare_orderings

    files = out or []
    if len(runs) < 2:
        raise InputError("one run", "give two or more to compare")
    asked = rules_of(like, ties=ties, unjudged=unjudged, missing=missing)
    if asked.worthless is None:
        print_note(f"{like} leaves out queries without relevant documents; here they count 0")
        asked = replace(asked, worthless=0.0)
    rules = coherence_rules(asked)
    given = measures_of_names(measure or DEFAULT_PRESETS)
    check_files(files, RESULT_FORMATS, qrels, runs, [*given.values()])
    texts = {name: as_ndcg(text, depth) for name, text in given.items()}
    measures = {texts[name] if name == text else name: texts[name] for name, text in given.items()}
    evaluation = evaluate_runs(qrels, runs, measures, rules, scale)
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

        return draw_pairs(found, evaluation.means()[:, 0])

    most = None if everything or pairs else SHOWN_PAIRS
    text = coherence_text(evaluation, found, most, pairs is not None, terminal_width())
    if most is not None and len(found.pairs) > most:
        text += "\nevery pair: --all, or -o pairs.csv; two systems in detail: --between A,B"
    content = coherence_to_json(evaluation, found, orderings, pairs is not None)
    deliver(Result(conclusions_table(found), content, draw), text, files, json)


def named_pair(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the two systems that a text names, with a comma between them.

    >>> named_pair("old, new", ["old", "new"]), named_pair("a,b,c", ["a,b", "c"])
    (('old', 'new'), ('a,b', 'c'))
    """
    splits = [(text[:at].strip(), text[at + 1 :].strip()) for at, c in enumerate(text) if c == ","]
    found = [(a, b) for a, b in splits if a in names and b in names]
    if len(found) == 1:
        return found[0]
    if len(splits) == 1:
        wrong = next(name for name in splits[0] if name not in names)
        raise unknown_name("system", wrong, names, "--between")
    known = f"Known: {', '.join(sorted(names))}"
    raise InputError(f"{text!r} is not one pair of systems", f"write A,B. {known}", "--between")


def as_ndcg(name: str, depth: int) -> str:
    """Return the name of the nDCG of a measure, cut at `depth` unless the name has a cutoff."""
    from dcglearn.measures.grammar import refuse_other_measures, resolve_alias
    from dcglearn.measures.names import is_measure_file_name, parse_measure, split_cutoff

    refuse_other_measures(name)
    called, cutoff = split_cutoff((resolve_alias(name) or name).strip())
    cut = f" @ {depth if cutoff is None else cutoff}"
    if cutoff is None and is_measure_file_name(called):
        own = parse_measure(called).measure.n_ranks
        cut = "" if own is not None and own < depth else cut  # it ends before `depth`
    if called.startswith("LinearUtility"):
        raise InputError("position-dependent weights have no nDCG", "name a DCG", name)
    if called.startswith(("nDCG(", "minmaxDCG(")):
        return called + cut
    return (f"n{called}" if called.startswith("DCG(") else f"nDCG({called})") + cut
