"""The command that finds comparisons that hold for every DCG: coherence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.files.files import check_writable, checked_suffix
from dcglearn.system_commands.systems import (
    evaluate_runs,
    measures_of_names,
    rules_of,
)
from dcglearn.terminal.choices import (
    FixedTiesChoice,
    GradedUnjudgedChoice,
    LikeChoice,
    MissingChoice,
)
from dcglearn.terminal.options import (
    MAX_RANKS,
    FigureOption,
    JsonOption,
    LenientRunsOption,
    QrelsArgument,
    RunsArgument,
    ScaleOption,
)
from dcglearn.terminal.output import print_json, print_note, print_text

if TYPE_CHECKING:
    from dcglearn.measures.dcg import DCG
    from dcglearn.naming.names import NamedMeasure

DEFAULT_PRESETS = ("linear-log2", "exponential-log2", "zipf", "binary")
SHOWN_PAIRS = 10
"""Number of pairs of each kind that are shown without --all."""


def coherence(
    qrels: QrelsArgument,
    runs: RunsArgument,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="Measures whose orderings of the systems are compared; the gains and discounts "
            "of the first are the given ones. May be repeated.",
        ),
    ] = None,
    depth: Annotated[
        int,
        typer.Option(
            "--K", "--depth", min=1, max=MAX_RANKS, metavar="K", help="Number of ranks to compare."
        ),
    ] = 10,
    like: Annotated[
        LikeChoice | None,
        typer.Option(
            "--like",
            metavar="TOOL",
            help="Compare the rankings that trec_eval, ir_measures, ranx, sklearn or gdeval "
            "scores; the other options override its conventions.",
        ),
    ] = None,
    ties: Annotated[
        FixedTiesChoice | None,
        typer.Option(
            "--ties",
            help="Documents with equal scores: order of the run, or order by document id; by "
            "default input.",
        ),
    ] = None,
    unjudged: Annotated[
        GradedUnjudgedChoice | None,
        typer.Option(
            "--unjudged",
            help="Unjudged documents: count as the worst grade, gain nothing, or are removed; by "
            "default worst.",
        ),
    ] = None,
    missing: Annotated[
        MissingChoice | None,
        typer.Option(
            "--missing",
            help="Value of a query that is missing from a run, or out to leave it out of the "
            "run's mean; by default 0.",
        ),
    ] = None,
    figure: FigureOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show every pair, not only the clearest.")
    ] = False,
    scale: ScaleOption = None,
    lenient: LenientRunsOption = False,
    json: JsonOption = False,
) -> None:
    """Find the comparisons of systems that hold for every DCG.

    The others depend on the gains or the discounts; for them, the smallest changes that reverse
    the order are given.
    """
    _check(runs, figure)
    from dcglearn.evaluation.scoring import with_least
    from dcglearn.systems.graded_runs import coherence_rules
    from dcglearn.systems.orderings import compare_orderings
    from dcglearn.systems.system_coherence import system_pairs

    asked = rules_of(like, ties, unjudged, None, missing)
    if asked.worthless is None:
        print_note(f"{like} leaves out queries without relevant documents; here they count 0")
        asked = replace(asked, worthless=0.0)
    rules = coherence_rules(asked)
    names = [_normalised(name, depth) for name in measure or DEFAULT_PRESETS]
    evaluation = evaluate_runs(qrels, runs, measures_of_names(names), rules, scale, lenient)
    measures = evaluation.measures
    given = with_least(_given(measures[0], depth), rules.least)
    if like is not None and asked != rules and any(run.has_ties for run in evaluation.runs):
        print_note(
            f"{like} takes the mean over the orders of documents with equal scores; here they have "
            "one order, that of the run's lines"
        )
    with reporting("comparing systems"):
        try:
            pairs = system_pairs(evaluation, given, depth)
        except InputError as error:
            raise error.at(measures[0].name) from error
        orderings = compare_orderings(evaluation)
    if figure is not None:
        from dcglearn.figures.style import save
        from dcglearn.figures.system_figures import draw_pairs

        means = evaluation.means()[:, 0]
        save(draw_pairs(pairs, evaluation.systems, means, measures[0].name), figure)
    if json:
        print_json(
            {
                "queries": len(evaluation.queries),
                "depth": depth,
                "rules": dict(vars(rules)),
                "measures": {one.name: str(one.measure) for one in measures},
                "pairs": [pair.to_json() for pair in pairs],
                "orderings": [one.to_json() for one in orderings],
            }
        )
        return
    from dcglearn.system_report.system_coherence import coherence_text
    from dcglearn.system_report.systems import rules_in_words

    queries = counted(len(evaluation.queries), "query", "queries")
    print_text(
        f"{len(evaluation.systems)} systems, {queries}, "
        "the first " + ("rank" if depth == 1 else f"{depth} ranks")
    )
    most = None if everything else SHOWN_PAIRS
    print_text("\n" + coherence_text(pairs, orderings, given, depth, most))
    print_text("\n".join(rules_in_words(rules, [one.measure for one in measures])))
    print_text(
        "gains never rise from a better grade to a worse one, "
        + ("the worst grade gains 0" if given.gains[-1] == 0 else "and are 0 or more")
        + "; discounts never rise"
    )
    if figure is not None:
        print_text(f"wrote {Path(figure)}")


def _check(runs: list[str], figure: str | None) -> None:
    """Refuse what cannot be compared or drawn before anything is read."""
    from dcglearn.report.tables import FIGURE_FORMATS

    if len(runs) < 2:
        raise InputError("one run", "give two or more to compare")
    if figure is not None:
        checked_suffix(figure, FIGURE_FORMATS)
        check_writable(figure)


def _normalised(name: str, depth: int) -> str:
    """Return the name of the nDCG of a measure, cut at `depth` unless the name has a cutoff."""
    from dcglearn.naming.aliases import other_name, split_given_name
    from dcglearn.naming.names import is_measure_file_name, parse_measure, split_cutoff

    given, text = (None, name) if Path(name).exists() else split_given_name(name)
    if given is not None:
        return f"{given}={_normalised(text, depth)}"
    called, cutoff = split_cutoff(other_name(name) or name)
    cut = f"@ {depth if cutoff is None else cutoff}"
    if cutoff is None and is_measure_file_name(called):
        own = parse_measure(called).measure.n_ranks
        cut = "" if own is not None and own < depth else cut  # it ends before `depth`
    if called.startswith("LinearUtility"):
        raise InputError("position-dependent weights have no nDCG", "name a DCG", name)
    if called.startswith(("nDCG(", "minmaxDCG(")):
        return f"{called.strip()} {cut}"
    if called.strip().startswith("DCG("):
        return f"n{called.strip()} {cut}"
    return f"nDCG({called.strip()}) {cut}".strip()


def _given(named: NamedMeasure, depth: int) -> DCG:
    from dcglearn.measures.dcg import DCG

    if not isinstance(named.measure, DCG):
        raise InputError("position-dependent weights have no nDCG", "name a DCG", named.name)
    if named.measure.cutoff is not None and named.measure.cutoff > depth:
        raise InputError(
            f"has {named.measure.cutoff} ranks, and {depth} are compared", "raise --K", named.name
        )
    plain = named.measure.plain()
    own = plain.n_ranks
    return plain if own is None or own >= depth else plain @ own
