"""Figures 7 and 8: some of the grades are wrong, after the preferences were given."""

from __future__ import annotations

import pandas as pd

from dcglearn.study.findings import BAND, Figure, Plot, curves, falls

COLUMNS = ("precision", "similarity", "identifiable", "C")

CAPTION = (
    "200 training pairs, which hold 4,000 grades; C chosen on 1,000 independent exact pairs. "
    + BAND
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 7 and 8."""
    return [
        Figure(
            number,
            f"{what.capitalize()} when grades are wrong",
            Plot("wrong of 4,000 grades", what, curves(table, "wrong_grades", what, "truth")),
            f"{what.capitalize()} falls as more grades are wrong.",
            falls(table, "wrong_grades", what),
            CAPTION,
        )
        for number, what in (("7", "precision"), ("8", "similarity"))
    ]
