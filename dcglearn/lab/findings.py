"""The findings of experiments as a table, and in LaTeX in the style of booktabs.

https://ctan.org/pkg/booktabs: no vertical lines, and horizontal ones of two weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

import pandas as pd

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

OWN = "this project"
"""Whose a claim is, where it is not the paper's."""


def findings_table(figures: Iterable[Figure]) -> pd.DataFrame:
    """Return one row per claim."""
    columns = ["figure", "of", "paper says", "section", "tested", "verdict", "reason", "means"]
    rows = [
        (
            figure.number,
            "the paper" if claim.of_paper else OWN,
            claim.quote,
            claim.section,
            claim.tested,
            claim.finding.verdict,
            claim.finding.reason,
            "; ".join(map(str, claim.finding.intervals)),
        )
        for figure in figures
        for claim in figure.claims
    ]
    return pd.DataFrame(rows, columns=columns)


def findings_latex(figures: Iterable[Figure]) -> str:
    r"""Return the claims about figures, their verdicts and means as a LaTeX table."""
    widths = (rf">{{\raggedright\arraybackslash}}p{{{w}\linewidth}}" for w in _COLUMNS.values())
    lines = [
        PACKAGES,
        r"\begingroup\small\setlength{\tabcolsep}{4pt}",
        rf"\begin{{longtable}}{{@{{}}{''.join(widths)}@{{}}}}",
        *(r"\toprule", rf"{' & '.join(_COLUMNS)} \\", r"\midrule", r"\endhead"),
        *(r"\bottomrule", r"\endfoot"),
        *(row for one in figures for claim in one.claims for row in _rows(one.number, claim)),
        r"\end{longtable}",
        r"\endgroup",
    ]
    return "\n".join(lines) + "\n"


def _rows(number: str, claim: Claim) -> list[str]:
    cells = " & ".join(map(latex_cell, (number, claim.section or OWN, claim.tested)))
    end = r"\\*" if claim.finding.intervals else r"\\"  # a claim is on the page of its first mean
    head = rf"{cells} & \textit{{{claim.finding.verdict}}} & {end}"
    *rows, last = [head, *map(_mean, claim.finding.intervals)]
    return [*rows, last + r"\addlinespace"]


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
