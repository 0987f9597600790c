"""Figures 7 and 8: some grades are replaced by wrong ones after the preferences are given."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, falls
from dcglearn.lab.plots import BAND, Figure, Plot, curves, describe_C
from dcglearn.lab.repetitions import common_value

COLUMNS = ("precision", "similarity", "identifiable", "chosen_C")


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 7 and 8."""
    n = common_value(table, "pairs")
    grades = f"{2 * table['pairs'].max() * len(table['base'].iloc[0].split()):,}"
    return [
        Figure(
            number,
            f"{what.capitalize()} when grades are wrong",
            Plot(f"wrong of {grades} grades", what, curves(table, "wrong_grades", what, "truth")),
            (
                Claim(
                    f"{what.capitalize()} falls as more grades are wrong.",
                    falls(table, "wrong_grades", what),
                    section="6.4",
                ),
            ),
            f"{n} training pairs with {grades} grades; {describe_C(table)}. {BAND}",
        )
        for number, what in (("7", "precision"), ("8", "similarity"))
    ]
