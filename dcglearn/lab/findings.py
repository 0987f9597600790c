"""The findings of experiments as a table, and in LaTeX in the style of booktabs.

https://ctan.org/pkg/booktabs: no vertical lines, and horizontal ones of two weights.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from dcglearn.base.text import latex_cell
from dcglearn.lab.plots import Figure

PACKAGES = r"% needs \usepackage{array,booktabs,longtable}"

_WIDTHS = {"figure": 0.075, "section": 0.1, "tested": 0.275, "verdict": 0.13, "means": 0.28}
"""The columns, and their widths as shares of a line. The rest is between them."""

OWN = "this project"


def findings_table(figures: Iterable[Figure]) -> pd.DataFrame:
    """Return one row per claim."""
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
    return pd.DataFrame(
        rows,
        columns=["figure", "of", "paper says", "section", "tested", "verdict", "reason", "means"],
    )


def findings_latex(figures: Iterable[Figure]) -> str:
    r"""Return the claims about figures, their verdicts and means, one per row, as a LaTeX table."""
    table = findings_table(figures)[[*_WIDTHS]]
    table["section"] = table["section"].replace("", OWN)
    rows = table.assign(means=table["means"].str.split("; ")).explode("means")
    rows.loc[rows.index.duplicated(), [*_WIDTHS][:-1]] = ""
    widths = (rf">{{\raggedright\arraybackslash}}p{{{w}\linewidth}}" for w in _WIDTHS.values())
    text = rows.map(latex_cell).to_latex(
        index=False, longtable=True, column_format=f"@{{}}{''.join(widths)}@{{}}"
    )
    return f"{PACKAGES}\n{text}"
