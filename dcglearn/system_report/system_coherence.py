"""Tables of what is certain about systems, and of pairs that measures order differently."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dcglearn.base.numbers import TINY, counted
from dcglearn.base.overflow import usual_size
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.evaluation.scoring import with_least
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number
from dcglearn.report.tables import Cell, Table
from dcglearn.system_report.conclusions import (
    clearest_queries_table,
    conclusions_in_words,
    conclusions_table,
    digest_table,
    discounts_in_words,
    significant_but_depending,
)
from dcglearn.system_report.systems import rules_in_words
from dcglearn.systems.conclusions import SystemConclusions, given_measure
from dcglearn.systems.orderings import OrderingComparison
from dcglearn.systems.system_coherence import SystemPair

_RELATIVE = (
    "changes of the gains, or of the discounts: in per cent of the Euclidean norm of the given "
    "ones; the best gain and the first discount are held fixed"
)


_TAU = "tau: Kendall's; tau_ap: AP correlation, in which the top of an order counts more"


def decided_table(pairs: Sequence[SystemPair], gains: str, discounts: str) -> Table:
    """Return the number of decided pairs, by which parameters are free."""
    kinds: dict[tuple[str, str, str], Sequence[str]] = {
        ("mean DCG", "any", "any"): [pair.any_parameters.winner for pair in pairs],
        ("mean DCG", "any", discounts): [pair.any_gains.winner for pair in pairs],
        ("mean DCG", gains, "any"): [pair.any_discounts.winner for pair in pairs],
        ("mean nDCG", "any", discounts): [pair.mean_ndcg.winner for pair in pairs],
    }
    counts = [Counter(winners) for winners in kinds.values()]
    equal = any(count["equal"] for count in counts)
    rows: list[tuple[Cell, ...]] = [
        (
            *of,
            count["a"] + count["b"],
            *([count["equal"]] if equal else []),
            count["depends"],
            count["undecided"],
        )
        for of, count in zip(kinds, counts, strict=True)
    ]
    columns = ("by", "gains", "discounts", "decided", *(["equal"] if equal else []))
    caption = (
        f"{counted(len(pairs), 'pair')} of systems: how many have one order with all gains and "
        "discounts of a row"
    )
    return Table((*columns, "depends", "not settled"), rows, caption)


def winners_table(pairs: Sequence[SystemPair]) -> Table:
    """Return who is ahead in each pair, by which parameters are free."""
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        verdicts = (pair.any_parameters, pair.any_gains, pair.any_discounts, pair.mean_ndcg)
        names = {"a": pair.a, "b": pair.b, "undecided": "not settled"}
        rows.append((pair.a, pair.b, *(names.get(one.winner, one.winner) for one in verdicts)))
    columns = (
        "system",
        "other system",
        "DCG, any gains and discounts",
        "DCG, any gains",
        "DCG, any discounts",
        "nDCG, any gains",
    )
    return Table(columns, rows, "Who is ahead")


def depending_table(pairs: Sequence[SystemPair], most: int | None = None) -> Table:
    """Return the pairs whose order by mean nDCG depends on the gains, with gains that show it.

    Of more than `most`, those with the largest differences are kept.
    """
    depending = [pair for pair in pairs if pair.mean_ndcg.winner == "depends"]
    depending.sort(key=lambda pair: -min(map(abs, pair.mean_ndcg.differences)))
    rows: list[tuple[Cell, ...]] = []
    for pair in depending[:most]:
        gains = ["" if one is None else _gains(one.gains) for one in pair.mean_ndcg.witnesses]
        by = pair.mean_ndcg.differences
        rows.append((pair.a, gains[0], by[0], pair.b, gains[1], by[1]))
    caption = f"Order depends on the gains, by mean nDCG: {counted(len(depending), 'pair')}"
    if most is not None and len(depending) > most:
        caption += f", of which the {most} clearest"
    columns = ("ahead", "with gains", "by", "ahead with other gains", "gains", "by")
    return Table(columns, rows, caption)


def changes_table(
    pairs: Sequence[SystemPair], given: DCG, n_ranks: int, most: int | None = None
) -> Table:
    """Return the smallest changes of gains, and of discounts, that reverse an order.

    Of more than `most`, those with the smallest changes are kept. Pairs that are tied, or that no
    change reverses, are left out.
    """
    sizes = [usual_size(x) for x in (np.array(given.gains), given.discounts_for(n_ranks))]

    def relative(pair: SystemPair) -> list[float]:
        changes = pair.gains_change, pair.discounts_change
        return [
            np.inf
            if change is None
            else math.ldexp(change.distance, -exponent) / float(np.linalg.norm(scaled))
            for change, (scaled, exponent) in zip(changes, sizes, strict=True)
        ]

    reversible = [pair for pair in pairs if pair.difference and min(relative(pair)) < np.inf]
    reversible.sort(key=lambda pair: min(relative(pair)))
    rows: list[tuple[Cell, ...]] = []
    for pair in reversible[:most]:
        ahead, behind = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
        tied = "" if pair.gains_change is None else _gains(pair.gains_change.tie)
        changes = ["none" if size == np.inf else f"{size:.1%}" for size in relative(pair)]
        rows.append((ahead, behind, abs(pair.difference), changes[0], tied, changes[1]))
    caption = (
        f"Smallest changes that reverse an order by mean DCG: {counted(len(reversible), 'pair')}"
    )
    if most is not None and len(reversible) > most:
        caption += f", of which the {most} with the smallest changes"
    columns = ("ahead", "behind", "by", "of the gains", "tied at gains", "of the discounts")
    return Table(columns, rows, caption)


def orderings_table(comparisons: Sequence[OrderingComparison]) -> Table:
    """Return how alike the orderings of systems are, by pair of measures."""
    rows = [
        (one.first, one.second, one.tau, one.tau_ap, len(one.reversed_pairs)) for one in comparisons
    ]
    return Table(("measure", "other measure", "tau", "tau_ap", "pairs reversed"), rows)


def reversed_pairs_table(
    comparisons: Sequence[OrderingComparison], most: int | None = None
) -> Table:
    """Return the pairs of systems that measures order differently, with the queries that differ.

    At most `most` rows per pair of measures, those with the largest differences.
    """
    rows: list[tuple[Cell, ...]] = []
    left_out = 0
    for one in comparisons:
        pairs = sorted(one.reversed_pairs, key=lambda pair: -min(pair.first, -pair.second))
        left_out += max(0, len(pairs) - (most or len(pairs)))
        for pair in pairs[:most]:
            causes = ", ".join(pair.causes)
            rows.append(
                (one.first, one.second, pair.ahead, pair.behind, pair.first, pair.second, causes)
            )
    columns = ("measure", "other measure", "ahead", "behind", "by", "by (other)", "queries")
    caption = "Pairs of systems reversed, and the queries that change most"
    return Table(columns, rows, caption + (f" ({left_out:,} more not shown)" if left_out else ""))


def coherence_text(
    evaluation: Evaluation,
    conclusions: SystemConclusions,
    orderings: Sequence[OrderingComparison],
    most: int | None = None,
    in_detail: bool = False,
    width: int | None = None,
) -> str:
    """Return the tables of a comparison of systems that have something to show.

    At most `most` pairs of each kind are shown; `in_detail` shows the queries on which the systems
    of each pair differ most, in place of the orderings of all systems. Wider tables are folded to
    `width` characters.
    """
    n_ranks = conclusions.n_ranks
    given = with_least(given_measure(conclusions.measure, n_ranks), evaluation.rules.least)
    plain = discounts_in_words(conclusions)
    gains = " ".join(f"{gain:g}" for gain in given.gains)
    pairs = [one.pair for one in conclusions.pairs]
    texts = [digest_table(conclusions).text(width), decided_table(pairs, gains, plain).text(width)]
    surprising = significant_but_depending(conclusions, most)
    shown = most is None or len(pairs) <= most
    if shown:
        texts += [conclusions_table(conclusions).text(width), winners_table(pairs).text(width)]
    elif surprising is not None:
        texts.append(surprising.text(width))
    if in_detail:
        texts += [
            clearest_queries_table(conclusions, one, evaluation).text(width)
            for one in conclusions.pairs
        ]
    if any(pair.mean_ndcg.winner == "depends" for pair in pairs):
        texts.append(depending_table(pairs, most).text(width))
    changes = changes_table(pairs, given, n_ranks, most)
    if changes.rows:
        texts.append(changes.text(width))
    if orderings and not in_detail:
        texts.append(
            "How alike two measures order the systems\n" + orderings_table(orderings).text(width)
        )
    if any(one.reversed_pairs for one in orderings):
        per_pair = most and max(1, most // len(orderings))
        texts.append(reversed_pairs_table(orderings, per_pair).text(width))
    queries = counted(len(evaluation.queries), "query", "queries")
    ranks = "the first rank" if n_ranks == 1 else f"the first {n_ranks} ranks"
    worst = "the worst grade gains 0" if given.gains[-1] == 0 else "and are 0 or more"
    notes = [
        *conclusions_in_words(conclusions, shown or surprising is not None),
        *([_RELATIVE] if changes.rows else []),
        *([_TAU] if orderings and not in_detail else []),
        *rules_in_words(evaluation.rules, [one.measure for one in evaluation.measures]),
        f"gains never rise from a better grade to a worse one, {worst}; discounts never rise",
    ]
    head = f"{len(evaluation.systems)} systems, {queries}, {ranks}"
    return "\n\n".join([head, *texts, "\n".join(notes)])


def coherence_to_json(
    evaluation: Evaluation,
    conclusions: SystemConclusions,
    orderings: Sequence[OrderingComparison],
    by_query: bool = False,
) -> dict[str, Any]:
    """Return a comparison of systems as a JSON-able dict."""
    content = conclusions.to_json()
    if by_query:
        for one, pair in zip(conclusions.pairs, content["pairs"], strict=True):
            pair["by query"] = dict(zip(conclusions.queries, one.query_winners, strict=True))
    return {
        "queries": len(evaluation.queries),
        "depth": conclusions.n_ranks,
        "rules": dict(vars(evaluation.rules)),
        "measures": {one.name: str(one.measure) for one in evaluation.measures},
        **content,
        "orderings": [one.to_json() for one in orderings],
    }


def _gains(gains: Sequence[float]) -> str:
    tiny = max(map(abs, gains)) < TINY
    return " ".join(f"{gain:.5g}" if tiny else format_number(round(gain, 4)) for gain in gains)
