"""Figures 5 and 6: some of the training preferences are reversed."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, falls
from dcglearn.lab.plots import BAND, CORRELATION, SHARE, Figure, Plot, curves, describe_C
from dcglearn.lab.repetitions import common_value
from dcglearn.trials.similarity import limit_on_permutations

COLUMNS = ("precision", "similarity", "identifiable", "chosen_C")


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 5 and 6."""
    n, limit = common_value(table, "pairs"), limit_on_permutations(int(table["ranks"].iloc[0]))
    return [
        Figure(
            number,
            f"{what.capitalize()} when preferences are flipped",
            Plot(
                f"flipped of {n} preferences",
                what,
                curves(table, "flips", what, "truth"),
                levels,
                within=within,
            ),
            (
                Claim(
                    f"{what.capitalize()} falls as more preferences are flipped.",
                    falls(table, "flips", what),
                    f"{what.capitalize()} falls as more preferences are wrong.",
                    "6.4, inferred",
                ),
            ),
            f"{n} training pairs; {describe_C(table)}. {BAND}",
        )
        for number, what, within, levels in (
            ("5", "precision", SHARE, {}),
            ("6", "similarity", CORRELATION, {f"Limit {limit:.4f}": limit}),
        )
    ]
