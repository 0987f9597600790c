"""Figures 5 and 6: some of the training preferences are reversed."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, falls
from dcglearn.lab.plots import BAND, Figure, Plot, curves, describe_C
from dcglearn.lab.repetitions import common_value

COLUMNS = ("precision", "similarity", "identifiable", "chosen_C")


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 5 and 6."""
    n = common_value(table, "pairs")
    return [
        Figure(
            number,
            f"{what.capitalize()} when preferences are flipped",
            Plot(f"flipped of {n} preferences", what, curves(table, "flips", what, "truth")),
            (
                Claim(
                    f"{what.capitalize()} falls as more preferences are flipped.",
                    falls(table, "flips", what),
                    section="6.4",
                ),
            ),
            f"{n} training pairs; {describe_C(table)}. {BAND}",
        )
        for number, what in (("5", "precision"), ("6", "similarity"))
    ]
