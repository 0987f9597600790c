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
from dcglearn.report.tables import Table

if TYPE_CHECKING:  # scikit-learn, which it imports, takes seconds to load
    from dcglearn.inference.compare import MeasureComparison


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
        f"{counted(len(preferences.pairs), 'strict judgment')} {queries_text(n_queries, alone)}; "
        f"a tie under the measure counts 1/2; intervals {independence_text(n_queries)}"
    )
    if ties:
        columns.append("with ties")
        caption += "; " + with_ties_text(ties)
    if (preferences.weights != preferences.weights[0]).any():
        caption += "; agreement is weighted, the counts are not"
    return Table((*columns, "in full"), cells, caption)


def agreement_json(
    name: str, rows: Sequence[tuple[str, JudgedAgreement, str]], preferences: Preferences
) -> dict[str, Any]:
    """Return the agreement of measures with judgments as a JSON document.

    Parameters
    ----------
    name : str
        The file of the judgments.
    rows : sequence of (name, JudgedAgreement, measure in full)
    preferences : Preferences
        The judgments of weight above 0.

    Returns
    -------
    dict
    """
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
    """Return a table of a comparison, one row per measure.

    Parameters
    ----------
    comparison : MeasureComparison

    Returns
    -------
    Table
        In CSV, with one number per cell.
    """
    ties = comparison.ties > 0
    lead = f"lead of {comparison.against}"
    columns = ["measure", "agreement", "95% interval", lead, "95% interval of lead", "p", "verdict"]
    in_csv = ["measure", "agreement", "low", "high", "ahead", "ahead_low", "ahead_high"]
    in_csv += ["p", "corrected_p", "verdict"]
    columns += [*(["with ties"] if ties else []), "in full"]
    in_csv += [*(["with_ties"] if ties else []), "in full"]
    rows, csv_rows = [], []
    for row in comparison.rows:
        end = [*([row.with_ties] if ties else []), row.measure]
        interval = f"{row.low:.4f} to {row.high:.4f}"
        ahead = "" if row.ahead_low is None else f"{row.ahead_low:+.4f} to {row.ahead_high:+.4f}"
        p = "" if row.p is None else p_text(row.p)
        rows.append([row.name, row.agreement, interval, row.ahead, ahead, p, row.verdict, *end])
        numbers = [row.agreement, row.low, row.high, row.ahead, row.ahead_low, row.ahead_high]
        csv_rows.append([row.name, *numbers, row.p, row.corrected, row.verdict, *end])
    return Table(columns, rows, _caption(comparison), csv_columns=in_csv, csv_rows=csv_rows)


def p_text(p: float) -> str:
    """Return a p-value with two or three decimals."""
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


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
