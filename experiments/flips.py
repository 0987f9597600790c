"""Figures 5 and 6: some of the training preferences are turned round."""

from __future__ import annotations

import pandas as pd

from dcglearn.study.findings import BAND, Figure, Plot, curves, falls

COLUMNS = ("precision", "similarity", "identifiable", "C")

CAPTION = f"200 training pairs; C chosen on 1,000 independent exact pairs. {BAND}"


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 5 and 6."""
    return [
        Figure(
            number,
            f"{what.capitalize()} when preferences are flipped",
            Plot("flipped of 200 preferences", what, curves(table, "flips", what, "truth")),
            f"{what.capitalize()} falls as more preferences are flipped.",
            falls(table, "flips", what),
            CAPTION,
        )
        for number, what in (("5", "precision"), ("6", "similarity"))
    ]
