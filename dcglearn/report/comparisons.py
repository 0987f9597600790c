"""Tables of how well measures agree with judgments: of agree and of compare."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dcglearn.base.numbers import counted
from dcglearn.report.tables import Row, Table, shown_p

if TYPE_CHECKING:
    from dcglearn.inference.compare import MeasureComparison


def agreement_table(content: Mapping[str, Any], weighted: bool) -> Table:
    """Return the document of ``agree`` as a table; `weighted` says whether weights differ."""
    ties, rows = content["ties"], []
    for one in content["rows"]:
        known = not math.isnan(one["low"])  # a single query has none
        row: Row = {
            "measure": one["measure"],
            "agreement": one["agreement"],
            "95% interval": f"{one['low']:.4f} to {one['high']:.4f}" if known else "-",
        }
        shown = ("right", "tied", "wrong", *["with_ties"] * (ties > 0), "in full")
        rows.append(row | {name.replace("_", " "): one[name] for name in shown})
    about = _about(content["strict"], content["queries"], content["without_query"], ties)
    about += ["agreement is weighted, the counts are not"] * weighted
    return Table.of(rows, "; ".join(about))


def queries_text(n_queries: int, alone: int) -> str:
    """Name the queries of judgments, and how many judgments have none."""
    if not n_queries:
        return "without query ids"
    return f"of {counted(n_queries, 'query', 'queries')}" + (
        f" and {alone:,} without a query" if alone else ""
    )


def _about(strict: int, queries: int, alone: int, ties: int) -> list[str]:
    independent = "keep a query together" if queries else "take each judgment as independent"
    with_ties = (
        f"with ties: agreement with all answers, where the measure calls the {ties:,} closest "
        "pairs ties, as many as people did"
    )
    return [
        f"Agreement with {counted(strict, 'strict judgment')} {queries_text(queries, alone)}",
        "a tie under the measure counts 1/2",
        f"intervals {independent}",
        *[with_ties] * (ties > 0),
    ]


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
    near = comparison.near
    about = [
        *_about(
            comparison.judgments, comparison.queries, comparison.without_query, comparison.ties
        ),
        f"learned measures: {comparison.n_folds}-fold cross-validation, "
        f"{counted(comparison.n_repeats, 'time')}",
        "leads are paired, and p is not corrected for the number of measures",
        f"near the line: p from {near[0]:.2f} to {near[1]:.2f}, or other folds could change the "
        "verdict",
    ]
    if comparison.effective < comparison.queries / 2:
        about.insert(
            1, f"queries so uneven that they are worth {comparison.effective:,.0f} of equal size"
        )
    return Table.of(rows, "; ".join(about), records=comparison.to_json()["rows"])
