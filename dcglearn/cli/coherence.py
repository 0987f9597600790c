"""The command that says which comparisons of systems stand: coherence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_writable, checked_suffix
from dcglearn.base.progress import reporting
from dcglearn.base.suggestions import unknown_name
from dcglearn.cli.evaluate import (
    LenientRunsOption,
    QrelsArgument,
    RunsArgument,
    evaluated,
    measures_on,
    open_files,
    rules_of,
)
from dcglearn.cli.options import JsonOption, ScaleOption, print_json, say

if TYPE_CHECKING:
    from dcglearn.evaluation.system_coherence import PairOfSystems, SystemCoherence
    from dcglearn.measures.dcg import DCG
    from dcglearn.measures.names import NamedMeasure

DEFAULTS = ("linear-log2", "exponential-log2", "zipf", "binary")
SHOWN = 10
"""Pairs that are shown of each kind, unless all are asked for."""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(coherence)


def coherence(
    qrels: QrelsArgument,
    runs: RunsArgument,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="Whose orderings are compared; the first gives the gains and discounts that "
            "are said to be given.",
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option("--depth", min=1, metavar="K", help="Ranks that count.")
    ] = 10,
    ties: Annotated[
        str,
        typer.Option("--ties", metavar="input|docid", help="Order of documents with equal scores."),
    ] = "input",
    unjudged: Annotated[
        str,
        typer.Option(
            "--unjudged",
            metavar="worst|removed",
            help="What documents without a judgment count as.",
        ),
    ] = "worst",
    figure: Annotated[
        str | None,
        typer.Option("--figure", metavar="FILE", help="Draw all pairs: .png, .svg or .pdf."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show every pair, not only the clearest.")
    ] = False,
    scale: ScaleOption = None,
    lenient: LenientRunsOption = False,
    json: JsonOption = False,
) -> None:
    """Say which comparisons of systems stand whatever the gains and discounts."""
    _check(runs, ties, figure)
    asked = rules_of(None, ties, unjudged, None, None)
    from dcglearn.evaluation.system_coherence import (
        pairs_of_systems,
        rules_for_tables,
        system_coherence,
    )

    order, removed, rules = rules_for_tables(asked)
    known, read = open_files(qrels, runs, scale, lenient)
    names = measure or [*DEFAULTS]
    measures = measures_on([_normalised(name, depth) for name in names], known, read)
    given = _given(measures[0], depth)
    found = evaluated(known, read, runs, measures, rules, lenient)
    with reporting("comparing systems"):
        try:
            pairs = pairs_of_systems(known, read, given, depth, order, removed)
        except InputError as error:
            raise error.at(measures[0].name) from error
        compared = system_coherence(found)
    if figure is not None:
        from dcglearn.report.style import save
        from dcglearn.report.system_figures import draw_pairs

        save(draw_pairs(pairs, found.systems, found.means()[:, 0], measures[0].name), figure)
    if json:
        print_json(
            {
                "queries": len(found.queries),
                "depth": depth,
                "measures": {one.name: str(one.measure) for one in measures},
                "pairs": [pair.to_json() for pair in pairs],
                "orderings": [one.to_json() for one in compared],
            }
        )
        return
    from dcglearn.report.systems import rules_in_words

    say(f"{len(found.systems)} systems, {len(found.queries)} queries, the first {depth} ranks")
    _print_tables(pairs, compared, given, depth, None if everything else SHOWN)
    say("\n".join(rules_in_words(rules, [one.measure for one in measures])))
    say(
        "gains never rise from a better grade to a worse one, "
        + ("the worst grade gains 0" if given.gains[-1] == 0 else "and are 0 or more")
        + "; discounts never rise"
    )
    if figure is not None:
        say(f"wrote {Path(figure)}")


def _print_tables(
    pairs: list[PairOfSystems],
    compared: list[SystemCoherence],
    given: DCG,
    depth: int,
    most: int | None,
) -> None:
    from dcglearn.report.system_coherence import (
        changes_table,
        decided_table,
        depending_table,
        flips_table,
        orderings_table,
        winners_table,
    )

    plain = given.discounts if isinstance(given.discounts, str) else "the given"
    if given.n_ranks is not None and given.n_ranks < depth:
        plain += f" @ {given.n_ranks}"
    gains = " ".join(f"{gain:g}" for gain in given.gains)
    say("\n" + decided_table(pairs, gains, plain).text())
    if most is None or len(pairs) <= most:
        say("\n" + winners_table(pairs).text())
    if any(pair.mean.winner == "depends" for pair in pairs):
        say("\n" + depending_table(pairs, most).text())
    changes = changes_table(pairs, given, depth, most)
    if changes.rows:
        say("\n" + changes.text())
    if compared:
        say("\nOrderings of the systems by\n" + orderings_table(compared).text())
    if any(one.flipped for one in compared):
        say("\n" + flips_table(compared, most and max(1, most // len(compared))).text())
    say("")
    if changes.rows:
        say(
            "changes are shares of the length of the given gains, or discounts, as vectors; the "
            "best gain and the first discount stay"
        )


def _check(runs: list[str], ties: str, figure: str | None) -> None:
    """Refuse what cannot be compared, or drawn, before anything is read."""
    from dcglearn.report.tables import FORMATS

    if len(runs) < 2:
        raise InputError("one run", "give two or more: runs are compared with each other")
    if ties == "mean":
        raise unknown_name("--ties", "mean", ("input", "docid"))
    if figure is not None:
        checked_suffix(figure, FORMATS)
        check_writable(figure)


def _normalised(name: str, depth: int) -> str:
    """Return the nDCG of what a name means, cut at the depth, unless it says otherwise."""
    from dcglearn.measures.names import is_measure_file_name, parse_measure, split_cutoff

    called, cutoff = split_cutoff(name)
    cut = f"@ {depth if cutoff is None else cutoff}"
    if cutoff is None and is_measure_file_name(called):
        own = parse_measure(called).measure.n_ranks
        cut = "" if own is not None and own < depth else cut  # it ends before
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
            f"cut at {named.measure.cutoff}, and {depth} ranks count", "give --depth", named.name
        )
    plain = named.measure.plain()
    own = plain.n_ranks
    return plain if own is None or own >= depth else plain @ own
