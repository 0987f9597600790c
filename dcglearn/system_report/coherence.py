"""What may be concluded about systems, and which gains reverse the order of two.

A few pairs are listed one by one, many are counted. What is not shown here (every verdict, gains
and discounts that prove it, the smallest changes, the orders by other measures) is in the JSON.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from dcglearn.base.numbers import TINY, counted, decimals
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.evaluation.scoring import with_least
from dcglearn.measures.discounts import format_number
from dcglearn.measures.scale import Scale
from dcglearn.report.tables import Cell, Table, UpperBound
from dcglearn.system_report.p_values import is_least, shown_p
from dcglearn.system_report.systems import rules_in_words
from dcglearn.systems.conclusions import SystemConclusions, given_measure
from dcglearn.systems.graded_rankings import graded_rankings
from dcglearn.systems.orderings import OrderingComparison
from dcglearn.systems.pair_conclusion import EXTENTS, Extent, PairConclusion, conclusion_row

_IN_WORDS: dict[Extent, str] = {"depends": "depends on the gains"}
_ALWAYS_SHOWN: tuple[Extent, ...] = ("nDCG any gains, DCG both", "nDCG any gains", "depends")

CLEAREST_QUERIES = 3
"""Number of queries that are shown for each of two systems."""

MOST_RANKS = 10
"""Number of ranks of which grades are shown."""


def digest_table(conclusions: SystemConclusions) -> Table:
    """Return the number of pairs by the parameters for which they hold, and significance."""
    counts = conclusions.counts()
    rows: list[tuple[Cell, ...]] = []
    for extent in EXTENTS:
        tested = [counts.get((extent, significant), 0) for significant in (True, False, None)]
        if sum(tested) or extent in _ALWAYS_SHOWN:
            shown = tested[:2] if conclusions.tested else []
            rows.append((_IN_WORDS.get(extent, extent), *shown, sum(tested)))
    columns = ("significant", "may be chance") if conclusions.tested else ()
    return Table(("holds for", *columns, "pairs"), rows, _caption(conclusions))


def conclusions_table(conclusions: SystemConclusions) -> Table:
    """Return what may be concluded about each pair, the system that is ahead first.

    CSV has every verdict, one number per cell, as
    :meth:`~dcglearn.systems.conclusions.SystemConclusions.to_frame`.
    """
    rows: list[tuple[Cell, ...]] = []
    for one in conclusions.pairs:
        names = one.pair.a, one.pair.b
        ahead, behind = ("b", "a") if one.leader == "b" else ("a", "b")
        queries = [one.n_queries(winner) for winner in (ahead, behind, "depends", "equal")]
        p = _marked_p(one, conclusions.drawn)
        rows.append(
            (
                *(names if ahead == "a" else names[::-1]),
                _IN_WORDS.get(one.holds_for, one.holds_for),
                abs(one.difference),
                *([p] if conclusions.tested else []),
                "/".join(map(str, queries)),
            )
        )
    columns = ("system", "other system", "holds for", "ahead by")
    numbers = [conclusion_row(one) for one in conclusions.pairs]
    return Table(
        (*columns, *(["p"] if conclusions.tested else []), "queries"),
        rows,
        _caption(conclusions),
        csv_columns=list(numbers[0]),
        csv_rows=[[_csv_cell(value) for value in row.values()] for row in numbers],
        notes=conclusions_in_words(conclusions),
    )


def reversals_table(conclusions: SystemConclusions, most: int | None = None) -> Table:
    """Return the pairs whose order by mean nDCG depends on the gains, with gains that show it.

    Of more than `most`, those are kept that are significant under the tested measure, and then
    those with the largest differences.
    """
    depending = [one for one in conclusions.pairs if one.pair.mean_ndcg.winner == "depends"]
    depending.sort(
        key=lambda one: (not one.significant, -min(map(abs, one.pair.mean_ndcg.differences)))
    )
    rows: list[tuple[Cell, ...]] = []
    for one in depending[:most]:
        pair, by = one.pair, one.pair.mean_ndcg.differences
        gains = ["" if dcg is None else _gains(dcg.gains) for dcg in pair.mean_ndcg.witnesses]
        rows.append((pair.a, gains[0], abs(by[0]), pair.b, gains[1], abs(by[1])))
    caption = f"The clearest reversals, of {counted(len(depending), 'pair')} whose order by mean"
    columns = ("ahead", "with gains", "by", "ahead with other gains", "gains", "by")
    return Table(columns, rows, f"{caption} nDCG depends on the gains")


def clearest_queries_table(
    conclusions: SystemConclusions,
    one: PairConclusion,
    evaluation: Evaluation,
    most: int = CLEAREST_QUERIES,
) -> Table:
    """Return the queries on which two systems differ most, with the grades at each rank.

    At most `most` for each of the systems, those on which the first is ahead first. Values and
    differences are under the tested measure.
    """
    a, b = (evaluation.systems.index(name) for name in (one.pair.a, one.pair.b))
    values = evaluation.values[:, 0]
    differences = np.nan_to_num(values[a] - values[b])
    order = np.argsort(-differences, kind="stable")
    ahead = [q for q in order[:most] if differences[q] > 0]
    behind = [q for q in order[::-1][:most] if differences[q] < 0]
    given = given_measure(conclusions.measure, conclusions.n_ranks)
    rankings = graded_rankings(evaluation, given, conclusions.n_ranks).rankings
    scale = evaluation.qrels.scale
    winners = {"a": one.pair.a, "b": one.pair.b, "depends": "depends on the gains"}
    rows = [
        (
            evaluation.queries[q],
            *(float(x) for x in (values[a, q], values[b, q], differences[q])),
            winners.get(str(one.query_winners[q]), "equal"),
            *(_grades(rankings[s, q].tolist(), scale) for s in (a, b)),
        )
        for q in (*ahead, *behind[::-1])
    ]
    names = one.pair.a, one.pair.b
    columns = ("query", *names, "difference", "ahead by itself", *(f"grades, {x}" for x in names))
    return Table(columns, rows, f"{names[0]} and {names[1]}: the queries that differ most")


def conclusions_in_words(conclusions: SystemConclusions, listed: bool = True) -> list[str]:
    """Return what the words of the tables mean; of the columns only if pairs are `listed`."""
    given = given_measure(conclusions.measure, conclusions.n_ranks)
    discounts = given.discounts if isinstance(given.discounts, str) else "the given"
    if given.n_ranks is not None and given.n_ranks < conclusions.n_ranks:
        discounts = f"{discounts} @ {given.n_ranks}"
    lines = [
        f"nDCG any gains: the same system is ahead by mean nDCG with any gains at {discounts} "
        "discounts; DCG both: also by mean DCG with any gains and any discounts"
    ]
    decided = [one for one in conclusions.pairs if one.decided]
    if decided:
        usual = sum(one.pair.usual_discounts for one in decided)
        lines.append(
            f"{usual:,} of {counted(len(decided), 'pair')} decided for any gains: so at every "
            f"usual discount and every cutoff up to {conclusions.n_ranks} as well"
        )
    if any(one.holds_for == "not settled" for one in conclusions.pairs):
        lines.append(
            "not settled: the search over all gains ended at its limit, with no gains found that "
            "reverse the order and no proof that there are none"
        )
    if listed:
        lines.append(
            f"the first system of a row is ahead, unless they are equal, under "
            f"{conclusions.measure.name}; queries: on how many it is by itself ahead whatever the "
            "gains, behind, ahead or behind depending on the gains, equal"
        )
    if not conclusions.tested:
        return [*lines, "no test: two systems share fewer than two queries"]
    systems = len(conclusions.systems)
    drawn = f" ({conclusions.drawn:,} random orders)" if conclusions.drawn else ""
    pairs = f"all {systems * (systems - 1) // 2:,} pairs of {systems:,} systems"
    corrected = f", corrected for {pairs}" if systems > 2 else ""
    mark = "*, significant" if listed else "significant"
    return [
        *lines,
        f"p: Tukey's HSD test with randomisation{drawn} under {conclusions.measure.name}"
        f"{corrected}; {mark}: below {conclusions.alpha:g}",
    ]


def coherence_text(
    evaluation: Evaluation,
    conclusions: SystemConclusions,
    most: int | None = None,
    in_detail: bool = False,
    width: int | None = None,
) -> str:
    """Return what may be concluded and the clearest reversals, as tables and sentences.

    More than `most` pairs are counted, and as many reversals are shown; `in_detail` adds the
    queries on which the systems of each pair differ most. Wider tables are folded to `width`
    characters.
    """
    listed = most is None or len(conclusions.pairs) <= most
    tables = [conclusions_table(conclusions) if listed else digest_table(conclusions)]
    reversals = reversals_table(conclusions, most)
    tables += [reversals] if reversals.rows else []
    if in_detail:
        tables += [clearest_queries_table(conclusions, x, evaluation) for x in conclusions.pairs]
    n_ranks = conclusions.n_ranks
    given = with_least(given_measure(conclusions.measure, n_ranks), evaluation.rules.least)
    queries = counted(len(evaluation.queries), "query", "queries")
    ranks = "the first rank" if n_ranks == 1 else f"the first {n_ranks} ranks"
    worst = "the worst grade gains 0" if given.gains[-1] == 0 else "and are 0 or more"
    notes = [
        *conclusions_in_words(conclusions, listed),
        *rules_in_words(evaluation.rules, [one.measure for one in evaluation.measures]),
        f"gains never rise from a better grade to a worse one, {worst}; discounts never rise",
    ]
    head = f"{len(evaluation.systems)} systems, {queries}, {ranks}"
    texts = [replace(table, notes=()).text(width) for table in tables]
    return "\n\n".join([head, *texts, "\n".join(notes)])


def coherence_to_json(
    evaluation: Evaluation,
    conclusions: SystemConclusions,
    orderings: Sequence[OrderingComparison],
    by_query: bool = False,
) -> dict[str, Any]:
    """Return a comparison of systems as a JSON-able dict."""
    pairs = [one.to_json() for one in conclusions.pairs]
    if by_query:
        for one, pair in zip(conclusions.pairs, pairs, strict=True):
            pair["by query"] = dict(zip(conclusions.queries, one.query_winners, strict=True))
    test = {
        "measure": conclusions.measure.name,
        "alpha": conclusions.alpha,
        "systems": len(conclusions.systems),
        "drawn": conclusions.drawn,
    }
    return {
        "queries": len(evaluation.queries),
        "depth": conclusions.n_ranks,
        "rules": dict(vars(evaluation.rules)),
        "measures": {one.name: str(one.measure) for one in evaluation.measures},
        "tested": test if conclusions.tested else None,
        "counts": [
            {"holds_for": extent, "significant": significant, "pairs": number}
            for (extent, significant), number in sorted(conclusions.counts().items(), key=str)
        ],
        "pairs": pairs,
        "orderings": [asdict(one) for one in orderings],
    }


def _caption(conclusions: SystemConclusions) -> str:
    pairs = counted(len(conclusions.pairs), "pair")
    chance = ", and whether it is more than chance" if conclusions.tested else ""
    return f"What may be concluded about {pairs} of systems: where the order holds{chance}"


def _marked_p(one: PairConclusion, drawn: int) -> str:
    p = shown_p(one.p, is_least(one.p, drawn))
    sign = p.sign if isinstance(p, UpperBound) else ""
    return f"{sign}{decimals(p)}{'*' if one.significant else ''}"


def _gains(gains: Sequence[float]) -> str:
    tiny = max(map(abs, gains)) < TINY
    return " ".join(f"{gain:.5g}" if tiny else format_number(round(gain, 4)) for gain in gains)


def _grades(row: Sequence[int], scale: Scale) -> str:
    """Return the grades at the first ranks, - where there is no document."""
    labels = [str(label) for label in scale.labels]
    shown = ["-" if grade < 0 else labels[grade] for grade in row[:MOST_RANKS]]
    while shown and shown[-1] == "-":
        shown.pop()
    text = (" " if max(map(len, labels)) == 1 else ", ").join(shown)
    return f"{text} ..." if any(grade >= 0 for grade in row[MOST_RANKS:]) else text or "none"


def _csv_cell(value: str | float | bool | None) -> Cell:
    if isinstance(value, bool):
        return str(value).lower()
    return None if isinstance(value, float) and math.isnan(value) else value
