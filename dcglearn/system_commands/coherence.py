"""The command that finds comparisons that hold whatever the gains: coherence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_outputs, write_text
from dcglearn.base.json_text import json_document
from dcglearn.base.progress import reporting
from dcglearn.system_commands.systems import (
    evaluate_runs,
    given_name_and_measure,
    measures_of_names,
    rules_of,
)
from dcglearn.terminal.choices import (
    FixedTiesChoice,
    GradedUnjudgedChoice,
    PrintFormat,
)
from dcglearn.terminal.options import (
    MAX_RANKS,
    QrelsArgument,
    RunsArgument,
)
from dcglearn.terminal.output import (
    print_document,
    print_json,
    print_note,
    print_text,
    terminal_width,
)
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
    from dcglearn.systems.conclusions import SystemConclusions

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
            help="The first measure gives the discounts where only the gains are free, the gains "
            "where only the discounts are, and is the one that differences are tested under. "
            "JSON also compares the orders of systems by all measures. May be repeated; by default "
            "linear-log2, exponential-log2, zipf and binary.",
            rich_help_panel=MEASURES,
        ),
    ] = None,
    depth: Annotated[
        int,
        typer.Option(
            "--K",
            "--depth",
            min=1,
            max=MAX_RANKS,
            metavar="K",
            help="Number of ranks of each run that are compared.",
            rich_help_panel=MEASURES,
        ),
    ] = 10,
    like: LikeOption = None,
    ties: Annotated[
        FixedTiesChoice | None,
        typer.Option(
            "--ties",
            help="Order of documents with equal scores: by document id, the largest first, or "
            "that of the run's lines. By default docid.",
            rich_help_panel=RULES,
        ),
    ] = None,
    unjudged: Annotated[
        GradedUnjudgedChoice | None,
        typer.Option(
            "--unjudged",
            help="Retrieved documents that the qrels do not grade: they keep their rank but gain "
            "nothing, count as the worst grade, or are removed from the run. By default nothing.",
            rich_help_panel=RULES,
        ),
    ] = None,
    missing: MissingOption = None,
    between: Annotated[
        list[str] | None,
        typer.Option(
            "--between",
            metavar="A,B",
            help="Show two systems in detail, with the queries on which they differ most. By "
            "default every pair is compared. May be repeated.",
            rich_help_panel=COMPARISONS,
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha",
            min=0,
            max=1,
            metavar="P",
            help="A difference is called significant if its p, corrected for all pairs of the runs "
            "given, is below this.",
            rich_help_panel=COMPARISONS,
        ),
    ] = 0.05,
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            "--figure",
            "-o",
            metavar="FILE",
            help="Write the pairs to a .csv, .tex, .md or .txt file, everything to a .json file, "
            "or draw the pairs to a .png, .svg or .pdf file. May be repeated.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    form: Annotated[
        PrintFormat,
        typer.Option(
            "--format",
            help="What is printed: text, one table for a paper (md, latex), or csv with a row per "
            "pair.",
            rich_help_panel=OUTPUT,
        ),
    ] = "text",
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Show every pair, not only the clearest.", rich_help_panel=OUTPUT
        ),
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
    if json and form != "text":
        raise InputError(f"--json with --format {form}", "use one of them")
    files = out or []
    _check(qrels, runs, files)
    import numpy as np

    from dcglearn.systems.conclusions import system_conclusions
    from dcglearn.systems.graded_rankings import coherence_rules
    from dcglearn.systems.orderings import compare_orderings

    asked = rules_of(like, ties, unjudged, None, missing)
    if asked.worthless is None:
        print_note(f"{like} leaves out queries without relevant documents; here they count 0")
        asked = replace(asked, worthless=0.0)
    rules = coherence_rules(asked)
    names = [_normalised(name, depth) for name in measure or DEFAULT_PRESETS]
    evaluation = evaluate_runs(qrels, runs, measures_of_names(names), rules, scale)
    pairs = _pairs(between, evaluation.systems)
    if like is not None and asked != rules and any(run.has_ties for run in evaluation.runs):
        print_note(
            f"{like} takes the mean over the orders of documents with equal scores; here they have "
            "one order, that of the run's lines"
        )
    with reporting("comparing systems") as advance:
        conclusions = system_conclusions(
            evaluation,
            depth,
            np.random.default_rng(seed),
            between=pairs,
            alpha=alpha,
            advance=advance,
        )
        orderings = compare_orderings(evaluation)
    orderings = orderings if pairs is None else [one.among(pairs) for one in orderings]
    from dcglearn.report.tables import TABLE_FORMATS
    from dcglearn.system_report.coherence import (
        coherence_text,
        coherence_to_json,
        conclusions_table,
    )

    content = coherence_to_json(evaluation, conclusions, orderings, pairs is not None)
    for path in files:
        _write(path, conclusions, evaluation, content)
    if json:
        print_json(content)
    elif form != "text":
        suffix = {"md": ".md", "latex": ".tex", "csv": ".csv"}[form]
        print_document(TABLE_FORMATS[suffix](conclusions_table(conclusions)))
    else:
        most = None if everything or pairs is not None else SHOWN_PAIRS
        in_detail, width = pairs is not None, terminal_width()
        print_text(coherence_text(evaluation, conclusions, most, in_detail, width))
        if most is not None and len(conclusions.pairs) > most:
            print_text("every pair: --all, or -o pairs.csv; two systems in detail: --between A,B")
        for path in files:
            print_text(f"wrote {Path(path)}")


def _check(qrels: str, runs: list[str], files: list[str]) -> None:
    """Refuse what cannot be compared, drawn or written before anything is read."""
    from dcglearn.report.tables import FIGURE_FORMATS, TABLE_FORMATS

    if len(runs) < 2:
        raise InputError("one run", "give two or more to compare")
    check_outputs(files, [qrels, *runs], [*TABLE_FORMATS, ".json", *FIGURE_FORMATS])


def _pairs(between: list[str] | None, systems: Sequence[str]) -> list[tuple[str, str]] | None:
    """Return the pairs that are asked for, None for all."""
    from dcglearn.system_commands.between import named_pair
    from dcglearn.systems.system_coherence import chosen_pairs

    if not between:
        return None
    pairs = [named_pair(text, systems) for text in between]
    chosen_pairs(systems, pairs)
    return pairs


def _write(
    path: str, conclusions: SystemConclusions, evaluation: Evaluation, content: dict[str, Any]
) -> None:
    """Write the pairs as a table, draw them, or write everything as JSON."""
    from dcglearn.report.tables import FIGURE_FORMATS

    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        write_text(path, json_document(content) + "\n")
        return
    if suffix not in FIGURE_FORMATS:
        from dcglearn.system_report.coherence import conclusions_table

        conclusions_table(conclusions).write(path)
        return
    from dcglearn.figures.style import save
    from dcglearn.figures.system_figures import draw_pairs

    pairs = [one.pair for one in conclusions.pairs]
    means = evaluation.means()[:, 0]
    name = conclusions.measure.name
    ahead = [one.ahead if one.significant else None for one in conclusions.pairs]
    significant_for = ahead if conclusions.tested else None
    save(draw_pairs(pairs, evaluation.systems, means, name, significant_for), path)


def _normalised(name: str, depth: int) -> str:
    """Return the name of the nDCG of a measure, cut at `depth` unless the name has a cutoff."""
    from dcglearn.naming.grammar import refuse_other_measures, resolve_alias
    from dcglearn.naming.names import is_measure_file_name, parse_measure, split_cutoff

    given, text = given_name_and_measure(name)
    if given is not None:
        return f"{given}={_normalised(text, depth)}"
    refuse_other_measures(text)
    called, cutoff = split_cutoff(resolve_alias(name) or name)
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
