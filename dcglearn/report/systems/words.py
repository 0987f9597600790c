"""What evaluations and comparisons of systems mean: names, rules, tests, marks of significance.

A few comparisons are listed one by one. All pairs of many systems (63 make 1,953) are marks on the
means.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np

from dcglearn.base.numbers import counted, in_ranges
from dcglearn.measures.dcg import DCG
from dcglearn.measures.other_measures import ERR, RBP, BinaryMeasure
from dcglearn.report.tables import Row, Table, shown_p
from dcglearn.systems.compare_systems import (
    FEW_QUERIES,
    SystemComparison,
    has_several_baselines,
)
from dcglearn.systems.evaluate import Evaluation
from dcglearn.systems.rules import Rules
from dcglearn.systems.scoring import unjudged_in_ideal

_TIES = {
    "mean": "the mean over their orders",
    "input": "in the order of the run's lines",
    "docid": "by id, the largest first",
}
_UNJUDGED = {
    "worst": "count as the worst grade",
    "nothing": "keep their rank and gain nothing",
    "removed": "are removed",
    "bounds": "may have any grade of the scale: the smallest and the largest possible value",
}

LEAST_MOVE = 0.00005
"""A smaller move of a mean does not show in four decimals."""


def evaluation_in_words(evaluation: Evaluation) -> list[str]:
    """Return what a table of an evaluation means, one sentence per line."""
    queries = counted(len(evaluation.queries), "query", "queries")
    return [
        *_definitions(evaluation),
        f"{queries}; grades {evaluation.qrels.scale}",
        "judged@k: share of the run's first k documents that have a judgment; judged: of all",
        *rules_in_words(evaluation.rules, [one.measure for one in evaluation.measures]),
        *_ties(evaluation),
    ]


def rules_in_words(rules: Rules, measures: Sequence[object] = ()) -> list[str]:
    """Return the choices that the numbers depend on, as sentences.

    >>> rules_in_words(Rules())[0]
    'documents with equal scores: by id, the largest first, scores in single precision'
    >>> rules_in_words(Rules(), [BinaryMeasure("AP", levels=(1, 0))])[-1]
    'AP: relevant from grade 1 up, and a document without a judgment is not relevant'
    """

    def counts(value: float | None) -> str:
        return "are left out" if value is None else f"count {value:g}"

    single = ", scores in single precision" if rules.single else ""
    sentences = [
        f"documents with equal scores: {_TIES[rules.ties]}{single}",
        f"documents without a judgment {_UNJUDGED[rules.unjudged]}",
        f"queries whose ideal DCG is 0 (nothing relevant) {counts(rules.worthless)}; "
        f"queries missing from a run {counts(rules.missing)}",
    ]
    if rules.least is not None:
        others = any(isinstance(one, ERR | RBP) for one in measures)
        sentences.append(
            f"gains below {rules.least:g} count 0" + (", but not in ERR and RBP" if others else "")
        )
    if unjudged_in_ideal(rules, measures):
        whose = "those of all runs" if rules.shared_pool else "those of the run itself"
        sentences.append(f"unjudged documents in the ideal ranking: {whose}")
    if any(isinstance(one, DCG) and one.normalise and min(one.gains) < 0 for one in measures):
        sentences.append("the best possible run leaves out documents that gain less than 0")
    return [*sentences, *_other_rules(rules, measures)]


def _other_rules(rules: Rules, measures: Sequence[object]) -> list[str]:
    """Return the choices behind measures that are not a DCG."""
    binary = [one for one in measures if isinstance(one, BinaryMeasure)]
    unjudged = ", and a document without a judgment is not relevant"
    sentences = [
        f"{', '.join(str(one) for one in binary if str(one.rel) == grade)}: relevant from grade "
        f"{grade} up{unjudged if rules.unjudged != 'removed' else ''}"
        for grade in dict.fromkeys(str(one.rel) for one in binary)
    ]
    by_judgment = [one for one in binary if one.name in ("Bpref", "infAP")]
    if any(min(one.levels, default=0) < 0 for one in by_judgment):
        names = ", ".join(map(str, by_judgment))
        sentences.append(f"{names}: grades below 0 count as not judged")
    if any(isinstance(one, RBP) for one in measures):
        sentences.append(
            "most of RBP: with all judgments, and relevant documents below the end of the run"
            if rules.unjudged == "bounds"
            else "residual of RBP: the weight of documents without a judgment and of the ranks "
            "below the run or the cutoff; RBP can be larger by it"
        )
    return sentences


def _definitions(evaluation: Evaluation) -> list[str]:
    """Return what the names of measures mean, and which prefer lists that are not sorted."""
    lines = []
    for one in evaluation.comparable().measures:
        if one.name != str(one.measure):
            lines.append(f"{one.name} is {one.measure}")
        measure = one.measure
        if not isinstance(measure, DCG):
            continue
        if measure.n_grades > 2 and not any(measure.gains[1:]):
            lines.append(f"{one.name}: only the best grade counts")
        if measure.n_ranks is not None:
            rises = np.flatnonzero(np.diff(measure.discounts_for(measure.n_ranks)) > 0) + 1
            lines += [
                f"{one.name}: the discount rises from rank {k} to rank {k + 1}, so a list that is "
                "not sorted by gain can have the larger value"
                for k in rises[:1].tolist()
            ]
    return lines


def _ties(evaluation: Evaluation) -> list[str]:
    """Return by how much the order of documents with equal scores moves the means, if it does."""
    if evaluation.rules.ties == "mean":
        return []
    moves = np.nan_to_num(np.abs(evaluation.means_over_orders() - evaluation.means()))
    moved = int(np.count_nonzero(moves >= LEAST_MOVE))
    return [f"ties move {counted(moved, 'mean')} by up to {moves.max():.2g}"] if moved else []


SIGNIFICANT = 0.05
"""Differences whose corrected p is below it are significant."""

MOST_LISTED = 50
"""Of more pairs of systems, only the significant ones are marked."""


def are_many(comparisons: Sequence[SystemComparison]) -> bool:
    """Return whether there are too many pairs to list them."""
    return len(comparisons) > MOST_LISTED and has_several_baselines(comparisons)


def comparisons_table(comparisons: Sequence[SystemComparison]) -> Table:
    """Return the differences of systems, with intervals, p-values and counts of queries."""
    several = has_several_baselines(comparisons)
    rows = []
    for c in comparisons:
        row: Row = {"measure": c.measure, "system": c.system}
        if several:
            row["other system"] = c.baseline
        row |= {"difference": c.difference, "from": c.low, "to": c.high, "p": shown_p(c.p)}
        if c.correction != "none":
            row["corrected"] = shown_p(c.corrected)
        counts = {"better": c.better, "worse": c.worse, "equal": c.equal, "queries": c.queries}
        rows.append(row | counts)
    return Table.of(rows, f"Differences {'of all pairs' if several else f'from {c.baseline}'}")


def comparisons_in_words(comparisons: Sequence[SystemComparison]) -> list[str]:
    """Return what the tables of comparisons mean, one sentence per line."""
    numbers = [c.queries for c in comparisons]
    few, most = min(numbers), max(numbers)
    shared = [
        "two systems are compared on the queries that neither leaves out, "
        f"{few:,} to {most:,} of them"
    ] * (few < most)
    if are_many(comparisons):
        return [
            f"the JSON of this evaluation holds each of the {len(comparisons):,} comparisons",
            *shared,
        ]
    one = comparisons[0]
    other = "the other system" if has_several_baselines(comparisons) else one.baseline
    student = one.test == "t" or most < FEW_QUERIES
    interval = "by Student's t" if student else "by a bootstrap over queries"
    alone = ", of this comparison alone" if one.family > 1 else ""
    return [
        f"difference: mean of the system minus that of {other}; "
        f"from, to: its 95% interval, {interval}{alone}",
        f"p: {tested_in_words(comparisons)}",
        "better, worse, equal: queries on which the system's value is higher, lower, the same",
        *shared,
    ]


def tested_in_words(comparisons: Sequence[SystemComparison]) -> str:
    """Return the test of comparisons, and how its p-values are corrected."""
    one = comparisons[0]
    test = f"paired {one.test} test, two-sided"
    if len(comparisons) == 1 == one.family:
        return test
    whose = " of a measure" if one.family < len(comparisons) else ""
    number = f"{counted(one.family, 'comparison')}{whose}"
    corrected = {
        "none": "not corrected for the number of comparisons",
        "holm": f"corrected for {number} by Holm's method",
        "tukey": f"corrected for {number} by Tukey's HSD test with randomisation",
    }
    return f"{test}; {corrected[one.correction]}"


def significance_marks(
    systems: Sequence[str], comparisons: Sequence[SystemComparison]
) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Return the mark of (system, measure) where there is one, and a label for each system.

    Compared with one baseline, the means that differ from it have a star, and systems need no
    labels. After comparisons of all pairs, a mean has the labels of the systems that it is
    significantly above, as in the tables of ranx (Bassani, ECIR 2022).
    """
    significant = [c for c in comparisons if c.corrected < SIGNIFICANT]
    if not has_several_baselines(comparisons):
        return {(c.system, c.measure): "*" for c in significant}, []
    labels = [*map(str, range(1, len(systems) + 1))]
    if len(systems) <= len(ascii_lowercase):
        labels = [*ascii_lowercase[: len(systems)]]
    below: dict[tuple[str, str], set[int]] = {}
    for c in significant:
        ahead, behind = (c.system, c.baseline) if c.difference > 0 else (c.baseline, c.system)
        below.setdefault((ahead, c.measure), set()).add(systems.index(behind))
    return {key: in_ranges(sorted(found), labels) for key, found in below.items()}, labels


def marks_in_words(systems: Sequence[str], comparisons: Sequence[SystemComparison]) -> str:
    """Return what the marks mean, or that there are none, and when a difference is significant."""
    marks, labels = significance_marks(systems, comparisons)
    if labels:
        meaning = "labels after a mean name the systems that it is significantly above"
        meaning = meaning if marks else "no mean is significantly above another"
    else:
        found = "* differs" if marks else "no mean differs"
        meaning = f"{found} significantly from {comparisons[0].baseline}"
    return f"{meaning} (p < {SIGNIFICANT:g}; {tested_in_words(comparisons)})"
