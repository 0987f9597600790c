"""Tables of systems: their means, their queries, and what sets them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcglearn.evaluation.compare_systems import SystemComparison
from dcglearn.evaluation.rules import Rules
from dcglearn.evaluation.systems import Evaluation
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.report.tables import Cell, Table

_TIES = {
    "mean": "the mean over their orders",
    "input": "in the order of the run's lines",
    "docid": "by id, the larger first",
}
_UNJUDGED = {
    "worst": "count as the worst grade",
    "nothing": "keep their rank and gain nothing",
    "removed": "are taken out",
    "bounds": "may be of any grade of the qrels, or of --scale: the least and the largest possible "
    "value",
}


def rules_in_words(rules: Rules, measures: Sequence[Measure] = ()) -> list[str]:
    """Say every choice that numbers rest on.

    Parameters
    ----------
    rules : Rules
    measures : sequence of DCG or LinearUtility
        What is said of some measures only is said if they are among these.

    Returns
    -------
    list of str
        A sentence each.

    Examples
    --------
    >>> rules_in_words(Rules())[0]
    'documents with equal scores: the mean over their orders'
    """

    def counts(value: float | None) -> str:
        return "are left out" if value is None else f"count {value:g}"

    found = [
        f"documents with equal scores: {_TIES[rules.ties]}"
        + (", scores in single precision" if rules.single else ""),
        f"documents without a judgment {_UNJUDGED[rules.unjudged]}",
        f"queries without anything to gain {counts(rules.worthless)}; "
        f"queries missing from a run {counts(rules.missing)}",
    ]
    if rules.least is not None:
        found.append(f"gains below {rules.least:g} count 0")
    if any(isinstance(m, DCG) and m.normalise and min(m.gains) < 0 for m in measures):
        found.append("the best possible run leaves out documents that gain less than 0")
    return found


def means_table(found: Evaluation, caption: str = "") -> Table:
    """Return the mean of each measure, and the share of judged documents, by system.

    Parameters
    ----------
    found : Evaluation
    caption : str

    Returns
    -------
    Table
    """
    columns = ["system", *_measure_columns(found), *_judged_columns(found)]
    some_missing = found.missing.any()
    rows: list[list[Cell]] = []
    means, high, judged = found.means(), found.high_means(), found.judged_means()
    for s, system in enumerate(found.systems):
        row: list[Cell] = [system]
        for m in range(len(found.measures)):
            row += [_number(x[s, m]) for x in (means, high) if x is not None]
        row += [_number(share) for share in judged[s]]
        rows.append(row + ([int(found.missing[s].sum())] if some_missing else []))
    return Table([*columns, *(["missing"] if some_missing else [])], rows, caption)


def queries_table(found: Evaluation, caption: str = "") -> Table:
    """Return the value of each measure by system and query.

    Parameters
    ----------
    found : Evaluation
    caption : str

    Returns
    -------
    Table
        An empty cell where a query is left out.
    """
    columns = ["system", "query", *_measure_columns(found), *_judged_columns(found)]
    rows: list[list[Cell]] = []
    for s, system in enumerate(found.systems):
        for q, query in enumerate(found.queries):
            row: list[Cell] = [system, query]
            for m in range(len(found.measures)):
                row += [_number(x[s, m, q]) for x in (found.values, found.high) if x is not None]
            rows.append(row + [_number(share) for share in found.judged[s, :, q]])
    return Table(columns, rows, caption)


def comparisons_table(found: Sequence[SystemComparison], caption: str = "") -> Table:
    """Return what sets systems apart from a baseline.

    Parameters
    ----------
    found : sequence of SystemComparison
    caption : str

    Returns
    -------
    Table
    """
    columns = ("measure", "system", "difference", "from", "to", "p", "corrected", "queries")
    rows = [
        (c.measure, c.system, c.difference, c.low, c.high, c.p, c.corrected, c.queries)
        for c in found
    ]
    return Table(columns, rows, caption)


def evaluation_to_json(
    found: Evaluation, rules: Rules, comparisons: Sequence[SystemComparison], per_query: bool
) -> dict[str, Any]:
    """Return everything as a JSON-able dict.

    Parameters
    ----------
    found : Evaluation
    rules : Rules
    comparisons : sequence of SystemComparison
    per_query : bool
        Whether the values of single queries are wanted.

    Returns
    -------
    dict
    """
    means, high, judged = found.means(), found.high_means(), found.judged_means()
    systems = []
    for s, system in enumerate(found.systems):
        entry: dict[str, Any] = {
            "system": system,
            "means": {one.name: float(means[s, m]) for m, one in enumerate(found.measures)},
            "judged": {_judged_name(c): float(judged[s, i]) for i, c in enumerate(found.cutoffs)},
            "missing": int(found.missing[s].sum()),
            "left out": len(found.extra[s]),
        }
        if high is not None:
            entry["largest"] = {one.name: float(high[s, m]) for m, one in enumerate(found.measures)}
        if per_query:
            if found.high is not None:
                entry["largest by query"] = {
                    query: {
                        one.name: float(found.high[s, m, q]) for m, one in enumerate(found.measures)
                    }
                    for q, query in enumerate(found.queries)
                }
            entry["queries"] = {
                query: {
                    one.name: float(found.values[s, m, q]) for m, one in enumerate(found.measures)
                }
                for q, query in enumerate(found.queries)
            }
        systems.append(entry)
    return {
        "measures": {one.name: str(one.measure) for one in found.measures},
        "rules": dict(vars(rules)),
        "queries": len(found.queries),
        "systems": systems,
        "comparisons": [one.to_json() for one in comparisons],
    }


def _measure_columns(found: Evaluation) -> list[str]:
    names = [one.name for one in found.measures]
    if found.high is None:
        return names
    return [f"{name}, {end}" for name in names for end in ("least", "most")]


def _judged_columns(found: Evaluation) -> list[str]:
    return [_judged_name(cutoff) for cutoff in found.cutoffs]


def _judged_name(cutoff: int | None) -> str:
    return "judged" if cutoff is None else f"judged@{cutoff}"


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
