"""The findings of experiments as a LaTeX table in the style of booktabs.

https://ctan.org/pkg/booktabs: no vertical lines, and horizontal ones of two weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

from dcglearn.base.plain_text import latex_cell
from dcglearn.lab.claims import Claim
from dcglearn.lab.plots import Figure
from dcglearn.lab.repetitions import MeanInterval

PACKAGES = r"% needs \usepackage{booktabs,longtable}"
"""The first line of the table."""

OWN = "this project"
"""In place of a section of the paper, where the claim is not the paper's."""


def findings_latex(figures: Iterable[Figure], intervals: bool = True) -> str:
    r"""Return the claims about figures and their verdicts as a LaTeX table.

    Parameters
    ----------
    figures : iterable of Figure
    intervals : bool, default True
        Whether the means that a verdict rests on follow it, with their 95% intervals and the
        number of repetitions.

    Returns
    -------
    str
        A ``longtable``, which may go over several pages; its text is escaped.

    Examples
    --------
    >>> from dcglearn.lab.claims import Finding
    >>> from dcglearn.lab.plots import Plot
    >>> claim = Claim("Precision is 95%.", Finding("holds"), section="6.3")
    >>> lines = findings_latex([Figure("1", "", Plot("", "", ()), (claim,))]).splitlines()
    >>> print(lines[-2])
    1 & 6.3 & Precision is 95\%. & holds \\
    """
    rows = [
        row
        for figure in figures
        for claim in figure.claims
        for row in _rows(figure.number, claim, intervals)
    ]
    head = r"Figure & Section & Claim & Verdict \\"
    if intervals:
        head = r"Figure & Section & Claim, and its means & Verdict, mean (95\% interval; $n$) \\"
    lines = [
        PACKAGES,
        r"\begin{longtable}{@{}llp{0.42\linewidth}p{0.3\linewidth}@{}}",
        *(r"\toprule", head, r"\midrule", r"\endhead"),
        *(r"\bottomrule", r"\endfoot"),
        *rows,
        r"\end{longtable}",
    ]
    return "\n".join(lines) + "\n"


def _rows(number: str, claim: Claim, intervals: bool) -> list[str]:
    cells = (number, claim.section or OWN, claim.tested, claim.finding.verdict)
    rows = [" & ".join(map(latex_cell, cells)) + r" \\"]
    if intervals:
        rows += [_mean(interval) for interval in claim.finding.intervals]
    return rows


def _mean(interval: MeanInterval) -> str:
    r"""Write a mean with its interval as a row.

    >>> print(_mean(MeanInterval("Data_1:", -0.5, -0.6, -0.4, 9)))
     & & \quad Data\_1 & $-0.500$ ($-0.600$ to $-0.400$; 9) \\
    """
    bounds = f"${interval.low:z.3f}$ to ${interval.high:z.3f}$; "
    where = f"({'' if isnan(interval.low) else bounds}{interval.n})"
    mean = "--" if isnan(interval.mean) else f"${interval.mean:z.3f}$"
    return rf" & & \quad {latex_cell(interval.label.rstrip(':'))} & {mean} {where} \\"
