"""What may be concluded about systems, and which gains reverse the order of two.

A few pairs are listed one by one, many are counted. Every verdict is in the JSON, with its proof.
"""

from typing import Any

import numpy as np

from dcglearn.base.numbers import counted
from dcglearn.measures.dcg import DCG
from dcglearn.report.systems.evaluations import measures_in_full, rules_in_words
from dcglearn.report.systems.explanation import labels_of
from dcglearn.report.tables import Cell, Row, Table, page, shown_p
from dcglearn.report.words import extent_in_words
from dcglearn.systems.compare_systems import compare_orderings
from dcglearn.systems.conclusions import (
    EXTENTS,
    PairConclusion,
    SystemConclusions,
    conclusion_row,
    graded_rankings,
)

CLEAREST_QUERIES = 6


def digest_table(conclusions: SystemConclusions) -> Table:
    """Return the number of pairs by the parameters for which they hold, and significance."""
    rows = []
    for extent in EXTENTS:
        found = [one.significant for one in conclusions.pairs if one.holds_for == extent]
        row: Row = {"holds for": extent_in_words(extent)}
        if conclusions.tested:
            row |= {"significant": found.count(True), "may be chance": found.count(False)}
        rows += [row | {"pairs": len(found)}] * bool(found)
    return Table.of(rows, _caption(conclusions), notes=conclusions_in_words(conclusions))


def conclusions_table(conclusions: SystemConclusions) -> Table:
    """Return what may be concluded about each pair, the system that is ahead first.

    CSV has every verdict, one number per cell, as
    :meth:`~dcglearn.systems.conclusions.SystemConclusions.to_frame`.
    """
    rows = []
    for one in conclusions.pairs:
        ahead, behind = (one.b, one.a) if one.leader == "b" else (one.a, one.b)
        row: Row = {
            "system": ahead,
            "other system": behind,
            "holds for": extent_in_words(one.holds_for),
            "ahead by": abs(one.difference),
        }
        if conclusions.tested:
            row["p"] = shown_p(one.p, "*" * bool(one.significant))
        rows.append(row)
    return Table.of(
        rows,
        _caption(conclusions),
        records=[conclusion_row(one) for one in conclusions.pairs],
        notes=[
            "the first system of a row is ahead, unless they are equal, under "
            f"{conclusions.measure}",
            *conclusions_in_words(conclusions),
        ],
    )


def reversals_table(conclusions: SystemConclusions, most: int | None) -> Table:
    """Return the pairs whose order by mean nDCG depends on the gains, with gains that show it.

    Of more than `most`, the significant ones are kept, and then those that differ most.
    """
    depending = [one for one in conclusions.pairs if one.holds_for == "depends"]
    depending.sort(key=lambda one: (not one.significant, -min(map(abs, one.mean_ndcg.differences))))
    rows: list[list[Cell]] = []
    for one in depending[:most]:
        found = one.mean_ndcg
        ahead = zip((one.a, one.b), found.witnesses, found.differences, strict=True)
        rows.append([cell for name, dcg, by in ahead for cell in (name, _gains(dcg), abs(by))])
    return Table(
        ("ahead", "with gains", "by", "ahead with other gains", "gains", "by"),
        rows,
        f"The clearest reversals, of {counted(len(depending), 'pair')} whose order by mean nDCG "
        "depends on the gains",
    )


def clearest_queries_table(conclusions: SystemConclusions, one: PairConclusion) -> Table:
    """Return the queries on which two systems differ most, with the grades at each rank.

    Values and differences are under the tested measure.
    """
    names, evaluation = (one.a, one.b), conclusions.evaluation
    pair = [evaluation.systems.index(name) for name in names]
    values = evaluation.values[pair, 0]
    differences = np.nan_to_num(values[0] - values[1]).tolist()
    most = np.argsort(-np.abs(differences), kind="stable")[:CLEAREST_QUERIES].tolist()
    rankings, _, _ = graded_rankings(evaluation, conclusions.given, conclusions.n_ranks)
    rows = [
        (
            evaluation.queries[q],
            *values[:, q].tolist(),
            differences[q],
            *(" ".join(labels_of(rankings[s, q], evaluation.qrels.scale)) for s in pair),
        )
        for q in sorted(most, key=differences.__getitem__, reverse=True)
        if differences[q]
    ]
    return Table(
        ("query", *names, "difference", *(f"grades, {x}" for x in names)),
        rows,
        f"{one.a} and {one.b}: the queries that differ most",
    )


def conclusions_in_words(conclusions: SystemConclusions) -> list[str]:
    """Return what the words of the tables mean."""
    lines = [
        "nDCG any gains: the same system is ahead by mean nDCG with any gains and the discounts of "
        f"{conclusions.given}; DCG both: also by mean DCG with any gains and any discounts"
    ]
    decided = [one for one in conclusions.pairs if one.decided]
    if decided:
        usual = sum(one.usual_discounts for one in decided)
        lines.append(
            f"of {counted(len(decided), 'pair')} decided for any gains at these discounts, "
            f"{usual:,} decided alike at every usual discount and every cutoff up to "
            f"{conclusions.n_ranks}"
        )
    if any(one.holds_for == "not settled" for one in conclusions.pairs):
        lines.append("not settled: the search found no gains that reverse the order, and no proof")
    if conclusions.evaluation.rules.missing is None and conclusions.evaluation.missing.any():
        lines.append(
            "systems have different queries: each mean is over a system's own, and p is of those "
            "that two share"
        )
    if not conclusions.tested:
        return [*lines, "no test: two systems share fewer than two queries"]
    n = len(conclusions.evaluation.systems)
    drawn = f" ({conclusions.drawn:,} random orders)" if conclusions.drawn else ""
    pairs = f", corrected for all {n * (n - 1) // 2:,} pairs of {n:,} systems" if n > 2 else ""
    return [
        *lines,
        f"p: Tukey's HSD test with randomisation{drawn} under {conclusions.measure}{pairs}; "
        f"*, significant: below {conclusions.alpha:g}",
    ]


def coherence_text(
    conclusions: SystemConclusions,
    most: int | None,
    in_detail: bool,
) -> str:
    """Return what may be concluded and the clearest reversals, as tables and sentences.

    More than `most` pairs are counted, and as many reversals are shown; `in_detail` adds the
    queries on which the systems of each pair differ most.
    """
    evaluation = conclusions.evaluation
    listed = most is None or len(conclusions.pairs) <= most
    main = conclusions_table if listed else digest_table
    tables = [main(conclusions), reversals_table(conclusions, most)]
    if in_detail:
        tables += [clearest_queries_table(conclusions, x) for x in conclusions.pairs]
    queries = counted(len(evaluation.queries), "query", "queries")
    notes = [
        *rules_in_words(evaluation),
        "gains never rise from a better grade to a worse one, and a worst gain of 0 stays 0; "
        "discounts never rise",
    ]
    ranks = counted(conclusions.n_ranks, "rank")
    head = f"{len(evaluation.systems)} systems, {queries}, the first {ranks}"
    return page(head, *(one for one in tables if one.rows), "\n".join(notes))


def coherence_to_json(conclusions: SystemConclusions, by_query: bool) -> dict[str, Any]:
    """Return a comparison of systems as a JSON-able dict."""
    evaluation = conclusions.evaluation
    pairs = [one.to_json() for one in conclusions.pairs]
    named = [(one.a, one.b) for one in conclusions.pairs]
    if by_query:
        for one, pair in zip(conclusions.pairs, pairs, strict=True):
            pair["by query"] = dict(zip(evaluation.queries, one.query_winners, strict=True))
    return {
        "queries": len(evaluation.queries),
        "depth": conclusions.n_ranks,
        "rules": evaluation.rules,
        "measures": measures_in_full(evaluation),
        "tested": conclusions.tested
        and {
            "measure": conclusions.measure,
            "alpha": conclusions.alpha,
            "systems": len(evaluation.systems),
            "drawn": conclusions.drawn,
        },
        "pairs": pairs,
        "orderings": [one.among(named) for one in compare_orderings(evaluation)],
    }


def _caption(conclusions: SystemConclusions) -> str:
    pairs = counted(len(conclusions.pairs), "pair")
    chance = ", and whether it is more than chance" if conclusions.tested else ""
    return f"What may be concluded about {pairs} of systems: where the order holds{chance}"


def _gains(dcg: DCG | None) -> str:
    return "" if dcg is None else " ".join(f"{gain:.4g}" for gain in dcg.gains)
