"""P-values as tables show them, and the level below which a difference is significant.

A randomisation test that draws N signs or orders gives no p below 1 / (N + 1). If none of the draws
was as extreme as what was observed, that number is an upper bound and is shown as one. Below .0001,
four decimals would show 0.
"""

from __future__ import annotations

from dcglearn.report.tables import UpperBound

SIGNIFICANT = 0.05
"""Differences whose corrected p is below it are significant."""

_SMALLEST = 1e-4
"""The smallest p-value above 0 that is shown with four decimals."""


def is_least(p: float, drawn: int) -> bool:
    """Return whether a test cannot give a smaller p.

    >>> is_least(0.01, 99), is_least(0.02, 99), is_least(0.01, 0)
    (True, False, False)
    """
    return drawn > 0 and p < 1.5 / (drawn + 1)


def shown_p(p: float, least: bool) -> float:
    """Return a p-value as a cell of a table.

    >>> shown_p(0.01, True).sign, shown_p(1e-9, False).sign, shown_p(0.02, False)
    ('<=', '<', 0.02)
    """
    if least:
        return UpperBound(p, "<=")
    return UpperBound(_SMALLEST, "<") if p < _SMALLEST / 2 else p
