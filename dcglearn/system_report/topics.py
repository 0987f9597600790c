"""How many queries would find a difference of two systems, by measure."""

from __future__ import annotations

from typing import Any

from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.report.tables import Table
from dcglearn.statistics.power import LEVEL, POWER, paired_deviations, queries_needed


def topics_to_json(evaluation: Evaluation, difference: float) -> list[dict[str, Any]]:
    """Return for each measure the paired deviations of the runs, and the queries they ask for."""
    rows = []
    compared = evaluation.comparable()
    for m, named in enumerate(compared.measures):
        found = paired_deviations(compared.values[:, m])
        rows.append(
            {
                "measure": named.name,
                "deviation": found.mean,
                "queries": queries_needed(difference, found.mean),
                "largest deviation": found.largest,
                "queries for it": queries_needed(difference, found.largest),
            }
        )
    return rows


def topics_table(evaluation: Evaluation, difference: float) -> Table:
    """Return the same as a table."""
    rows = topics_to_json(evaluation, difference)
    caption = (
        f"Queries with which a paired t test at {LEVEL:g} finds a difference of {difference:g} "
        f"with a power of {POWER:.0%}"
    )
    note = "deviation: of the differences of two runs over queries, root mean square over all pairs"
    return Table(tuple(rows[0]), [tuple(row.values()) for row in rows], caption, notes=(note,))
