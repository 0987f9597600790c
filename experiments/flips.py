"""Figures 5 to 8: some training preferences are reversed, or some grades replaced by wrong ones."""

import pandas as pd

from dcglearn.lab.claims import Claim, falls
from dcglearn.lab.plots import BAND, CORRELATION, SHARE, Figure, Plot, curves, describe_C
from dcglearn.lab.simulation.truths import limit_on_permutations

COLUMNS = ("precision", "similarity", "identifiable", "chosen_C")

ERRORS = {"flips": ("56", "preferences", "flipped"), "wrong_grades": ("78", "grades", "wrong")}
"""For each setting that may vary: the figures, what is changed, and how it is called then."""


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 5 and 6 about reversed preferences, or 7 and 8 about wrong grades."""
    varied = next(column for column in table if column in ERRORS)  # settings that vary are first
    numbers, things, wrong = ERRORS[varied]
    pairs, ranks = int(table["pairs"].max()), int(table["ranks"].iloc[0])
    n, limit = pairs if varied == "flips" else 2 * pairs * ranks, limit_on_permutations(ranks)
    drawn = []
    for number, what, within, levels in (
        (numbers[0], "precision", SHARE, {}),
        (numbers[1], "similarity", CORRELATION, {f"Limit {limit:.4f}": limit}),
    ):
        series = curves(table, varied, what, "truth")
        plot = Plot(f"{wrong} of {n:,} {things}", what, series, levels, within=within)
        claim = Claim(
            f"{what.capitalize()} falls as more {things} are {wrong}.",
            falls(table, varied, what),
            f"{what.capitalize()} falls as more {things} are wrong.",
            "6.4, inferred",
        )
        title = f"{what.capitalize()} when {things} are {wrong}"
        caption = f"{pairs:,} training pairs; {describe_C(table)}. {BAND}"
        drawn.append(Figure(number, title, plot, (claim,), caption))
    return drawn
