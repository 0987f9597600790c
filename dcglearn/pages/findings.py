"""The findings of experiments as a LaTeX table in the style of booktabs.

https://ctan.org/pkg/booktabs: no vertical lines, and horizontal ones of two weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

from dcglearn.base.text import latex_cell
from dcglearn.lab.claims import Claim
from dcglearn.lab.plots import Figure
from dcglearn.lab.repetitions import MeanInterval

PACKAGES = r"% needs \usepackage{array,booktabs,longtable}"
"""The first line of the table."""

_COLUMNS = {
    "Figure": 0.08,
    "Section": 0.1,
    "Claim": 0.34,
    "Verdict; mean (95\\% interval)": 0.33,
    "$n$": 0.05,
}
"""The columns, and their widths as shares of a line. The rest is between them."""

_WITHOUT_MEANS = {"Figure": 0.08, "Section": 0.1, "Claim": 0.52, "Verdict": 0.22}

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
    >>> print(lines[-3])
    1 & 6.3 & Precision is 95\%. & \textit{holds} & \\\addlinespace
    """
    rows = [
        row
        for figure in figures
        for claim in figure.claims
        for row in _rows(figure.number, claim, intervals)
    ]
    columns = _COLUMNS if intervals else _WITHOUT_MEANS
    widths = (rf">{{\raggedright\arraybackslash}}p{{{w}\linewidth}}" for w in columns.values())
    lines = [
        PACKAGES,
        r"\begingroup\small\setlength{\tabcolsep}{4pt}",
        rf"\begin{{longtable}}{{@{{}}{''.join(widths)}@{{}}}}",
        *(r"\toprule", rf"{' & '.join(columns)} \\", r"\midrule", r"\endhead"),
        *(r"\bottomrule", r"\endfoot"),
        *rows,
        r"\end{longtable}",
        r"\endgroup",
    ]
    return "\n".join(lines) + "\n"


def _rows(number: str, claim: Claim, intervals: bool) -> list[str]:
    cells = [*map(latex_cell, (number, claim.section or OWN, claim.tested)), claim.finding.verdict]
    means = claim.finding.intervals if intervals else ()
    if intervals:
        cells[-1] = rf"\textit{{{cells[-1]}}} & "
    end = r" \\*" if means else r" \\"  # a claim is on the page of its first mean
    rows = [" & ".join(cells).rstrip() + end, *map(_mean, means)]
    return [*rows[:-1], rows[-1] + r"\addlinespace"]


def _mean(interval: MeanInterval) -> str:
    r"""Write a mean with its interval as a row.

    >>> print(_mean(MeanInterval("Data_1:", -0.5, -0.6, -0.4, 9)))
     & & \hangindent=1.5em\quad Data\_1 & $-0.500$ ($-0.600$ to $-0.400$) & 9 \\
    """
    bounds = f" (${interval.low:z.3f}$ to ${interval.high:z.3f}$)"
    bounds = "" if isnan(interval.low) else bounds
    mean = "--" if isnan(interval.mean) else f"${interval.mean:z.3f}$"
    label = latex_cell(interval.label.rstrip(":"))
    return rf" & & \hangindent=1.5em\quad {label} & {mean}{bounds} & {interval.n} \\"
