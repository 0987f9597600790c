"""Tables of how well measures agree with judgments: of agree and of compare."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dcglearn.base.numbers import counted
from dcglearn.report.tables import Row, Table, shown_p

if TYPE_CHECKING:  # scikit-learn, which it imports, takes seconds to load
    from dcglearn.inference.compare import MeasureComparison


def agreement_table(content: Mapping[str, Any], weighted: bool) -> Table:
    """Return the document of ``agree`` as a table; `weighted` says whether weights differ."""
    ties, queries = content["ties"], content["queries"]
    rows = []
    for one in content["rows"]:
        known = not math.isnan(one["low"])  # a single query has none
        cells: Row = {
            "measure": one["measure"],
            "agreement": one["agreement"],
            "95% interval": f"{one['low']:.4f} to {one['high']:.4f}" if known else "-",
        }
        shown = ("right", "tied", "wrong", *["with_ties"] * (ties > 0), "in full")
        rows.append(cells | {name.replace("_", " "): one[name] for name in shown})
    caption = (
        f"{counted(content['strict'], 'strict judgment')} "
        f"{queries_text(queries, content['without_query'])}; a tie under the measure counts 1/2; "
        f"intervals {independence_text(queries)}"
    )
    if ties:
        caption += "; " + with_ties_text(ties)
    if weighted:
        caption += "; agreement is weighted, the counts are not"
    return Table.of(rows, caption)


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
        row: Row = {
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
    queries, few = comparison.queries, ""
    if comparison.effective < queries / 2:
        few = f" (so uneven that they are worth {comparison.effective:,.0f} of equal size)"
    by = " by query" if queries else ""
    times = f", {comparison.n_repeats} times" if comparison.n_repeats > 1 else ""
    text = (
        f"Agreement with {counted(comparison.judgments, 'strict judgment')} "
        f"{queries_text(queries, comparison.without_query)}{few}; a tie under the measure counts "
        f"1/2. Learned measures: {comparison.n_folds}-fold cross-validation{by}{times}. Intervals "
        f"{independence_text(queries)}; leads are paired, and p is not corrected for the number of "
        f"measures. Near the line: p from {comparison.near[0]:.2f} to {comparison.near[1]:.2f}, or "
        "other folds could change the verdict."
    )
    if comparison.ties:
        definition = with_ties_text(comparison.ties)
        text += f" {definition[:1].upper()}{definition[1:]}."
    return text
