"""Tables of what may be concluded about systems: what holds whatever the gains, and by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dcglearn.base.numbers import counted
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.measures.scale import Scale
from dcglearn.report.tables import Cell, Table
from dcglearn.system_report.p_values import is_least, shown_p
from dcglearn.systems.conclusions import SystemConclusions, given_measure
from dcglearn.systems.graded_rankings import graded_rankings
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
    caption = f"{counted(len(conclusions.pairs), 'pair')}: where the order holds"
    caption += ", and whether it is more than chance" if conclusions.tested else ""
    return Table(("holds for", *columns, "pairs"), rows, caption)


def conclusions_table(
    conclusions: SystemConclusions,
    pairs: Sequence[PairConclusion] | None = None,
    caption: str = "What may be concluded",
) -> Table:
    """Return what may be concluded about each pair.

    The system that is ahead is the first of its row. CSV has every verdict, one number per cell, as
    :meth:`~dcglearn.systems.conclusions.SystemConclusions.to_frame`.
    """
    chosen = conclusions.pairs if pairs is None else pairs
    tests = ("p", "significant") if conclusions.tested else ()
    rows = [
        (
            *leader_first(one),
            _IN_WORDS.get(one.holds_for, one.holds_for),
            abs(one.difference),
            *([shown_p(one.p, is_least(one.p, conclusions.drawn))] if tests else []),
            *(["yes" if one.significant else "no"] if tests else []),
            _agreeing(one),
            *queries_by_verdict(one),
        )
        for one in chosen
    ]
    columns = ("system", "other system", "holds for", "ahead by", *tests)
    queries = ("agree", "queries for", "against", "depend", "equal")
    numbers = [conclusion_row(one) for one in chosen]
    return Table(
        (*columns, *queries),
        rows,
        f"{caption}; differences are under {conclusions.measure.name}",
        csv_columns=list(numbers[0]) if numbers else None,
        csv_rows=[[_csv_cell(value) for value in row.values()] for row in numbers],
    )


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


def significant_but_depending(
    conclusions: SystemConclusions, most: int | None = None
) -> Table | None:
    """Return the pairs that are significant, but whose order depends on the gains.

    Of more than `most`, those with the largest differences are kept; None if there is none.
    """
    found = [one for one in conclusions.pairs if one.significant and one.holds_for == "depends"]
    found.sort(key=lambda one: -abs(one.difference))
    caption = f"Significant, but the order depends on the gains: {counted(len(found), 'pair')}"
    if most is not None and len(found) > most:
        caption += f", of which the {most} with the largest differences"
    return conclusions_table(conclusions, found[:most], caption) if found else None


def discounts_in_words(conclusions: SystemConclusions) -> str:
    """Return the given discounts, in words."""
    given = given_measure(conclusions.measure, conclusions.n_ranks)
    plain = given.discounts if isinstance(given.discounts, str) else "the given"
    cut = given.n_ranks is not None and given.n_ranks < conclusions.n_ranks
    return f"{plain} @ {given.n_ranks}" if cut else plain


def conclusions_in_words(conclusions: SystemConclusions, with_queries: bool = True) -> list[str]:
    """Return what the words of the tables mean."""
    given = discounts_in_words(conclusions)
    lines = [
        f"nDCG any gains: the same system is ahead by mean nDCG with any gains at {given} "
        "discounts; DCG both: also by mean DCG with any gains and any discounts"
    ]
    if any(one.holds_for == "not settled" for one in conclusions.pairs):
        lines.append(
            "not settled: the search over all gains ended at its limit, with no gains found that "
            "reverse the order and no proof that there are none"
        )
    if with_queries:
        lines.append(
            "the first system of a row is ahead, unless they are equal; queries for, against: on "
            "the query by itself it is ahead, or behind, whatever the gains; depend: that order "
            "depends on the gains; agree: share of queries for"
        )
    if not conclusions.tested:
        return [*lines, "no test: two systems share fewer than two queries"]
    systems = len(conclusions.systems)
    drawn = f" ({conclusions.drawn:,} random orders)" if conclusions.drawn else ""
    pairs = f"all {systems * (systems - 1) // 2:,} pairs of {systems:,} systems"
    corrected = f", corrected for {pairs}" if systems > 2 else ""
    return [
        *lines,
        f"p: Tukey's HSD test with randomisation{drawn} under {conclusions.measure.name}"
        f"{corrected}; significant: below {conclusions.alpha:g}",
    ]


def leader_first(one: PairConclusion) -> tuple[str, str]:
    """Return the systems of a pair, the one that is ahead first."""
    names = one.pair.a, one.pair.b
    return names[::-1] if one.leader == "b" else names


def queries_by_verdict(one: PairConclusion) -> tuple[int, int, int, int]:
    """Return how many queries, by themselves, are for the system that is ahead, and against it.

    For it, against it, those that depend on the gains, and those on which both are equal.
    """
    leader = one.leader or "a"
    other = "b" if leader == "a" else "a"
    ahead, behind = one.n_queries(leader), one.n_queries(other)
    return ahead, behind, one.n_queries("depends"), one.n_queries("equal")


def _agreeing(one: PairConclusion) -> float | None:
    return None if math.isnan(one.agreeing) else one.agreeing


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
