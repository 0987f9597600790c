"""Tables of how well measures agree with judgments: of agree and of compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcglearn.data.preferences import Preferences
from dcglearn.data.query_groups import query_counts
from dcglearn.evaluation.judged_agreement import JudgedAgreement
from dcglearn.report.tables import Table

if TYPE_CHECKING:  # scikit-learn, which it imports, takes seconds to load
    from dcglearn.learning.compare import MeasureComparison


def agreement_table(
    rows: Sequence[tuple[str, JudgedAgreement, str]], preferences: Preferences
) -> Table:
    """Return a table of the agreement of measures with judgments.

    Parameters
    ----------
    rows : sequence of (name, JudgedAgreement, measure in full)
    preferences : Preferences
        The judgments of weight above 0.

    Returns
    -------
    Table
    """
    ties = len(preferences) - len(preferences.pairs)
    columns = ["measure", "agreement", "95% interval", "right", "tied", "wrong"]
    cells = []
    for name, row, full in rows:
        known = not math.isnan(row.low)  # a single query has none
        interval = f"{row.low:.4f} to {row.high:.4f}" if known else "-"
        counts = (row.right, row.tied, row.wrong)
        all_answers = (row.with_ties,) if ties else ()
        cells.append((name, row.agreement, interval, *counts, *all_answers, full))
    n_queries, alone = query_counts(preferences.queries[preferences.strict])
    caption = (
        f"{len(preferences.pairs):,} strict judgments {queries_text(n_queries, alone)}; "
        f"a tie under the measure counts 1/2; intervals {independence_text(n_queries)}"
    )
    if ties:
        columns.append("with ties")
        caption += "; " + with_ties_text(ties)
    if (preferences.weights != preferences.weights[0]).any():
        caption += "; agreement is weighted, the counts are not"
    return Table((*columns, "in full"), cells, caption)


def queries_text(n_queries: int, alone: int) -> str:
    """Name the queries of judgments, and how many judgments have none."""
    if not n_queries:
        return "without query ids"
    noun = "query" if n_queries == 1 else "queries"
    return f"of {n_queries:,} {noun}" + (f" and {alone:,} without a query" if alone else "")


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
    """Return a table of a comparison, one row per measure."""
    rows = [
        (
            row.name,
            row.agreement,
            f"{row.low:.4f} to {row.high:.4f}",
            row.ahead,
            "" if row.ahead_low is None else f"{row.ahead_low:+.4f} to {row.ahead_high:+.4f}",
            row.verdict,
            row.measure,
        )
        for row in comparison.rows
    ]
    columns = (
        "measure",
        "agreement",
        "95% interval",
        "lead of learned",
        "95% interval of lead",
        "verdict",
        "in full",
    )
    in_csv = (*columns[:3], "learned ahead by", "95% interval of that", *columns[5:])
    caption = (
        f"Agreement with {comparison.judgments:,} strict judgments of {comparison.queries:,} "
        f"queries; a tie under the measure counts 1/2. Learned: {comparison.n_folds}-fold "
        "cross-validation by query. Intervals: bootstrap over queries, paired, not corrected "
        "for the number of measures."
    )
    return Table(columns, rows, caption, csv_columns=in_csv)
