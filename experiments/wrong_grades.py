"""Figures 7 and 8: some grades are replaced by wrong ones after the preferences are given."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, falls
from dcglearn.lab.plots import BAND, CORRELATION, SHARE, Figure, Plot, curves, describe_C
from dcglearn.lab.repetitions import common_value
from dcglearn.trials.similarity import limit_on_permutations

COLUMNS = ("precision", "similarity", "identifiable", "chosen_C")


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 7 and 8."""
    n, limit = common_value(table, "pairs"), limit_on_permutations(int(table["ranks"].iloc[0]))
    grades = f"{2 * table['pairs'].max() * len(table['base'].iloc[0].split()):,}"
    return [
        Figure(
            number,
            f"{what.capitalize()} when grades are wrong",
            Plot(
                f"wrong of {grades} grades",
                what,
                curves(table, "wrong_grades", what, "truth"),
                levels,
                within=within,
            ),
            (
                Claim(
                    f"{what.capitalize()} falls as more grades are wrong.",
                    falls(table, "wrong_grades", what),
                    f"{what.capitalize()} falls as more grades are wrong.",
                    "6.4, inferred",
                ),
            ),
            f"{n} training pairs with {grades} grades; {describe_C(table)}. {BAND}",
        )
        for number, what, within, levels in (
            ("7", "precision", SHARE, {}),
            ("8", "similarity", CORRELATION, {f"Limit {limit:.4f}": limit}),
        )
    ]
