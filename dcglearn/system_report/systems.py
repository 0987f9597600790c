"""Tables of systems: means, values by query, and the rules behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.evaluation.rules import Rules
from dcglearn.evaluation.scoring import unjudged_in_ideal
from dcglearn.measures.dcg import DCG
from dcglearn.report.tables import Cell, Table
from dcglearn.system_report.other_measures import other_rules_in_words
from dcglearn.systems.compare_systems import SystemComparison

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

_MANY_CUTOFFS = 3
"""Of more cutoffs than this, a brief table has only the smallest and the largest."""


def rules_in_words(rules: Rules, measures: Sequence[object] = ()) -> list[str]:
    """Return the choices that the numbers depend on, as sentences.

    >>> rules_in_words(Rules())[0]
    'documents with equal scores: by id, the largest first, scores in single precision'
    """

    def counts(value: float | None) -> str:
        return "are left out" if value is None else f"count {value:g}"

    missing = f"queries missing from a run {counts(rules.missing)}"
    others = other_rules_in_words(rules, measures)
    sentences = [
        f"documents with equal scores: {_TIES[rules.ties]}"
        + (", scores in single precision" if rules.single else ""),
        f"documents without a judgment {_UNJUDGED[rules.unjudged]}",
        f"queries whose ideal DCG is 0 (nothing relevant) {counts(rules.worthless)}; {missing}",
    ]
    if rules.least is not None:
        sentences.append(f"gains below {rules.least:g} count 0")
    if unjudged_in_ideal(rules, measures):
        whose = "those of all runs" if rules.shared_pool else "those of the run itself"
        sentences.append(
            f"the ideal ranking of a query holds documents without a judgment: {whose}"
        )
    if any(isinstance(m, DCG) and m.normalise and min(m.gains) < 0 for m in measures):
        sentences.append("the best possible run leaves out documents that gain less than 0")
    return sentences + others


def ties_in_words(evaluation: Evaluation) -> list[str]:
    """Return by how much the order of documents with equal scores moves the means, if it does.

    Examples
    --------
    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> ties_in_words(evaluate({"q": {"d": 1, "e": 0}}, {"q": {"d": 1.0, "e": 1.0}}, "zipf"))
    ['ties move 1 mean by up to 0.25']
    """
    if evaluation.rules.ties == "mean":
        return []
    moves = np.nan_to_num(np.abs(evaluation.means_over_orders() - evaluation.means()))
    moved = int(np.count_nonzero(moves >= LEAST_MOVE))
    if not moved:
        return []
    return [f"ties move {counted(moved, 'mean')} by up to {moves.max():.2g}"]


def means_table(evaluation: Evaluation, caption: str = "", brief: bool = False) -> Table:
    """Return the mean of each measure and the share of judged documents, one row per system."""
    at = _extreme_cutoffs(evaluation) if brief else list(range(len(evaluation.cutoffs)))
    columns = ["system", *_value_columns(evaluation, at)]
    some_missing = evaluation.missing.any()
    judged = evaluation.judged_means()[:, at]
    arrays = _low_and_high(evaluation.means(), evaluation.high_means())
    rows: list[list[Cell]] = []
    for s, system in enumerate(evaluation.systems):
        row: list[Cell] = [system]
        for m in range(len(evaluation.measures)):
            row += [_number(array[s, m]) for array in arrays]
        row += [_number(share) for share in judged[s]]
        rows.append(row + ([int(evaluation.missing[s].sum())] if some_missing else []))
    return Table([*columns, *(["missing"] if some_missing else [])], rows, caption)


def queries_table(evaluation: Evaluation, caption: str = "") -> Table:
    """Return the value of each measure, one row per system and query."""
    columns = ["system", "query", *_value_columns(evaluation, range(len(evaluation.cutoffs)))]
    arrays = _low_and_high(evaluation.values, evaluation.high)
    rows: list[list[Cell]] = []
    for s, system in enumerate(evaluation.systems):
        for q, query in enumerate(evaluation.queries):
            row: list[Cell] = [system, query]
            for m in range(len(evaluation.measures)):
                row += [_number(array[s, m, q]) for array in arrays]
            rows.append(row + [_number(share) for share in evaluation.judged[s, :, q]])
    return Table(columns, rows, caption)


def judged_in_words(evaluation: Evaluation) -> str:
    """Return which share of the documents is judged, from the system with least to the most.

    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> found = evaluate({"q": {"d": 1}}, {"q": {"d": 2, "e": 1}}, ["zipf", "zipf @ 1"])
    >>> judged_in_words(found)
    'judged: 50% of all documents, 100% of the first 1'
    """
    parts = []
    judged = evaluation.judged_means()
    for at in _extreme_cutoffs(evaluation):
        least, most = np.nanmin(judged[:, at]), np.nanmax(judged[:, at])
        low, high = (f"{100 * share:.3g}" for share in (least, most))
        cutoff = evaluation.cutoffs[at]
        of = "all documents" if cutoff is None else f"the first {cutoff:,}"
        parts.append(f"{low}% of {of}" if low == high else f"{low}% to {high}% of {of}")
    return f"judged: {', '.join(parts)}"


def judged_columns_in_words(evaluation: Evaluation) -> str:
    """Return what the columns of judged documents are.

    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> found = evaluate({"q": {"d": 1}}, {"q": {"d": 2, "e": 1}}, ["zipf", "zipf @ 1"])
    >>> judged_columns_in_words(found)
    "judged@1: share of the run's first 1 documents that have a judgment; judged: of all of them"
    """
    cutoffs = sorted(cutoff for cutoff in evaluation.cutoffs if cutoff is not None)
    share = "share of the run's"
    if not cutoffs:
        return f"judged: {share} documents that have a judgment"
    k = f"{cutoffs[0]}" if len(cutoffs) == 1 else "k"
    words = f"judged@{k}: {share} first {k} documents that have a judgment"
    return f"{words}; judged: of all of them" if None in evaluation.cutoffs else words


def definitions_in_words(evaluation: Evaluation) -> list[str]:
    """Return what the names of measures mean, and which prefer lists that are not sorted."""
    meanings = [
        f"{one.name} is {one.measure}{_one_grade_in_words(one.measure)}"
        for one in evaluation.comparable().measures
        if one.name != str(one.measure)
    ]
    rises = [(one.name, _first_rise(one.measure)) for one in evaluation.measures]
    return meanings + [
        f"{name}: the discount rises from rank {rank} to rank {rank + 1}, so a list that is not "
        "sorted by gain can have the larger value"
        for name, rank in rises
        if rank is not None
    ]


def _one_grade_in_words(measure: object) -> str:
    """Return that only the best of several grades counts, as in the preset binary, if it does."""
    if not isinstance(measure, DCG) or measure.n_grades < 3 or any(measure.gains[1:]):
        return ""
    return ": only the best grade counts"


def _first_rise(measure: object) -> int | None:
    """Return the first rank, from 1, below which a discount of a DCG is larger; rules fall."""
    if not isinstance(measure, DCG) or measure.n_ranks is None:
        return None
    rises = np.flatnonzero(np.diff(measure.discounts_for(measure.n_ranks)) > 0)
    return int(rises[0]) + 1 if len(rises) else None


def evaluation_to_json(
    evaluation: Evaluation, comparisons: Sequence[SystemComparison], per_query: bool
) -> dict[str, Any]:
    """Return an evaluation and its comparisons as a JSON-able dict."""
    names = [one.name for one in evaluation.measures]
    means, high = evaluation.means(), evaluation.high_means()
    judged = evaluation.judged_means()

    def by_name(row: Floats) -> dict[str, float]:
        return dict(zip(names, row.tolist(), strict=True))

    def by_query(values: Floats) -> dict[str, dict[str, float]]:
        rows = zip(evaluation.queries, values.T, strict=True)
        return {query: by_name(row) for query, row in rows}

    systems = []
    for s, system in enumerate(evaluation.systems):
        entry: dict[str, Any] = {
            "system": system,
            "means": by_name(means[s]),
            "judged": {
                _judged_name(cutoff): float(judged[s, c])
                for c, cutoff in enumerate(evaluation.cutoffs)
            },
            "missing": int(evaluation.missing[s].sum()),
            "left out": len(evaluation.extra[s]),
        }
        if high is not None:
            entry["largest"] = by_name(high[s])
        if per_query and evaluation.high is not None:
            entry["largest by query"] = by_query(evaluation.high[s])
        if per_query:
            entry["queries"] = by_query(evaluation.values[s])
        systems.append(entry)
    return {
        "measures": {one.name: str(one.measure) for one in evaluation.measures},
        "rules": dict(vars(evaluation.rules)),
        "queries": len(evaluation.queries),
        "systems": systems,
        "comparisons": [one.to_json() for one in comparisons],
    }


def _extreme_cutoffs(evaluation: Evaluation) -> list[int]:
    """Return the places of all cutoffs, or of the smallest and the largest if they are many."""
    depths = [np.inf if cutoff is None else cutoff for cutoff in evaluation.cutoffs]
    if len(depths) <= _MANY_CUTOFFS:
        return list(range(len(depths)))
    return [int(np.argmin(depths)), int(np.argmax(depths))]


def _value_columns(evaluation: Evaluation, cutoffs: Sequence[int]) -> list[str]:
    names = [one.name for one in evaluation.measures]
    if evaluation.high is not None:
        names = [f"{name}, {end}" for name in names for end in ("least", "most")]
    return names + [_judged_name(evaluation.cutoffs[c]) for c in cutoffs]


def _low_and_high(low: Floats, high: Floats | None) -> list[Floats]:
    return [low] if high is None else [low, high]


def _judged_name(cutoff: int | None) -> str:
    return "judged" if cutoff is None else f"judged@{cutoff}"


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
