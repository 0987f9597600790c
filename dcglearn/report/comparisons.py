"""Tables of how well measures agree with judgments: of agree and of compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dcglearn.base.numbers import counted
from dcglearn.judgments.folds import query_counts
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.agreement import JudgedAgreement
from dcglearn.report.tables import Cell, Table, shown_p

if TYPE_CHECKING:  # scikit-learn, which it imports, takes seconds to load
    from dcglearn.inference.compare import MeasureComparison


_LONGEST = 60
"""Characters of a measure in full in a table."""


def agreement_table(
    rows: Sequence[tuple[str, JudgedAgreement, str]], preferences: Preferences
) -> Table:
    """Return a table of the agreement of measures with judgments."""
    ties = len(preferences) - len(preferences.pairs)
    shown = []
    for name, row, full in rows:
        known = not math.isnan(row.low)  # a single query has none
        cells: dict[str, Cell] = {
            "measure": name,
            "agreement": row.agreement,
            "95% interval": f"{row.low:.4f} to {row.high:.4f}" if known else "-",
            "right": row.right,
            "tied": row.tied,
            "wrong": row.wrong,
        }
        if ties:
            cells["with ties"] = row.with_ties
        shown.append(cells | {"in full": full})
    n_queries, alone = query_counts(preferences.queries[preferences.strict])
    caption = (
        f"{counted(len(preferences.pairs), 'strict judgment')} {queries_text(n_queries, alone)}; "
        f"a tie under the measure counts 1/2; intervals {independence_text(n_queries)}"
    )
    if ties:
        caption += "; " + with_ties_text(ties)
    if (preferences.weights != preferences.weights[0]).any():
        caption += "; agreement is weighted, the counts are not"
    return Table.of(shown, caption)


def agreement_json(
    name: str, rows: Sequence[tuple[str, JudgedAgreement, str]], preferences: Preferences
) -> dict[str, Any]:
    """Return the agreement of measures with judgments as a JSON document."""
    strict = len(preferences.pairs)
    n_queries, alone = query_counts(preferences.queries[preferences.strict])
    return {
        "file": name,
        "judgments": len(preferences),
        "strict": strict,
        "ties": len(preferences) - strict,
        "queries": n_queries,
        "without_query": alone,
        "rows": [{"measure": one, **asdict(row), "in full": full} for one, row, full in rows],
    }


def queries_text(n_queries: int, alone: int) -> str:
    """Name the queries of judgments, and how many judgments have none."""
    if not n_queries:
        return "without query ids"
    return f"of {counted(n_queries, 'query', 'queries')}" + (
        f" and {alone:,} without a query" if alone else ""
    )


def independence_text(n_queries: int) -> str:
    """Say what intervals take as independent."""
    return "keep a query together" if n_queries else "take each judgment as independent"


def with_ties_text(ties: int) -> str:
    """Define agreement with ties counted in."""
    return (
        f"with ties: agreement with all answers, where the measure calls the {ties:,} closest "
        "pairs ties, as many as people did"
    )


def comparison_table(comparison: MeasureComparison) -> Table:
    """Return a table of a comparison, one row per measure; CSV has what JSON has of each."""
    rows = []
    for one in comparison.rows:
        lead = "" if one.ahead_low is None else f"{one.ahead_low:+.4f} to {one.ahead_high:+.4f}"
        row: dict[str, Cell] = {
            "measure": one.name,
            "agreement": one.agreement,
            "95% interval": f"{one.low:.4f} to {one.high:.4f}",
            f"lead of {comparison.against}": one.ahead,
            "95% interval of lead": lead,
            "p": None if one.p is None else shown_p(one.p),
            "verdict": one.verdict,
        }
        if comparison.ties:
            row["with ties"] = one.with_ties
        rows.append(row | {"in full": one.measure})
    return Table.of(rows, _caption(comparison), records=comparison.to_json()["rows"])


def _caption(comparison: MeasureComparison) -> str:
    by = " by query" if comparison.queries else ""
    times = f", {comparison.n_repeats} times" if comparison.n_repeats > 1 else ""
    few = ""
    if comparison.queries and comparison.effective < comparison.queries / 2:
        few = f" (so uneven that they are worth {comparison.effective:,.0f} of equal size)"
    learned = f"{comparison.n_folds}-fold cross-validation{by}{times}"
    text = (
        f"Agreement with {counted(comparison.judgments, 'strict judgment')} "
        f"{queries_text(comparison.queries, comparison.without_query)}{few}; a tie under the "
        f"measure counts 1/2. Learned measures: {learned}. "
        f"Intervals {independence_text(comparison.queries)}; leads are paired, and p is not "
        f"corrected for the number of measures. Near the line: p from {comparison.near[0]:.2f} to "
        f"{comparison.near[1]:.2f}, or other folds could change the verdict."
    )
    if comparison.ties:
        definition = with_ties_text(comparison.ties)
        text += f" {definition[:1].upper()}{definition[1:]}."
    return text
