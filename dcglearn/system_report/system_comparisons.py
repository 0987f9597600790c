"""Tables of comparisons of systems: differences, intervals and p-values."""

from __future__ import annotations

from collections.abc import Sequence

from dcglearn.report.tables import Table, UpperBound
from dcglearn.systems.compare_systems import SystemComparison

_SMALLEST_P = 1e-4
"""The smallest p-value above 0 that is shown with four decimals."""


def comparisons_table(comparisons: Sequence[SystemComparison], caption: str = "") -> Table:
    """Return the differences of systems from a baseline, with intervals and p-values.

    Parameters
    ----------
    comparisons : sequence of SystemComparison
    caption : str

    Returns
    -------
    Table
    """
    columns = ("measure", "system", "difference", "from", "to", "p", "corrected", "queries")
    shown, numbers = [], []
    for c in comparisons:
        start = c.measure, c.system, c.difference, c.low, c.high
        shown.append((*start, *_p(c), c.queries))
        numbers.append((*start, c.p, c.corrected, c.queries))
    return Table(columns, shown, caption, csv_rows=numbers)


def comparisons_in_words(comparisons: Sequence[SystemComparison], test: str) -> list[str]:
    """Return what the columns of :func:`comparisons_table` are, and the least p of the test.

    Parameters
    ----------
    comparisons : sequence of SystemComparison
    test : {"randomisation", "t"}

    Returns
    -------
    list of str
    """
    name = "randomisation test" if test == "randomisation" else "t test"
    lines = [
        f"p: paired {name}, two-sided; corrected: Holm's, over the systems of a measure; "
        "from, to: 95% bootstrap interval over queries"
    ]
    drawn = max((c.drawn for c in comparisons if _is_least(c)), default=0)
    if drawn:
        lines.append(
            f"p <= {1 / (drawn + 1):g}: none of {drawn:,} random exchanges of the two systems gave "
            "as large a difference"
        )
    few = min((c.queries for c in comparisons), default=0)
    if test == "randomisation" and comparisons and 2.0 ** (1 - few) >= 0.05:
        lines.append(f"with {few} queries no p can be below {2.0 ** (1 - few):g}")
    return lines


def _p(c: SystemComparison) -> tuple[float, float]:
    """Return p and the corrected p, as upper bounds where the test gives no more."""
    if _is_least(c):
        return UpperBound(c.p, "<="), UpperBound(c.corrected, "<=")
    p, corrected = (
        UpperBound(_SMALLEST_P, "<") if value < _SMALLEST_P / 2 else value
        for value in (c.p, c.corrected)
    )
    return p, corrected


def _is_least(c: SystemComparison) -> bool:
    return c.drawn > 0 and c.p < 1.5 / (c.drawn + 1)
