"""Figures 5 to 8: some training preferences are reversed, or some grades replaced by wrong ones."""

import pandas as pd

from dcglearn.lab.claims import Claim, falls
from dcglearn.lab.plots import BAND, CORRELATION, SHARE, Figure, Plot, curves, describe_C
from dcglearn.lab.repetitions import common_value
from dcglearn.lab.similarity import limit_on_permutations

COLUMNS = ("precision", "similarity", "identifiable", "chosen_C")

ERRORS = {"flips": "preferences are flipped", "wrong_grades": "grades are wrong"}


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 5 and 6 about reversed preferences, or 7 and 8 about wrong grades."""
    n, limit = common_value(table, "pairs"), limit_on_permutations(int(table["ranks"].iloc[0]))
    grades = f"{2 * table['pairs'].max() * len(table['base'].iloc[0].split()):,} grades"
    varied = next(column for column in table if column in ERRORS)  # settings that vary are first
    if varied == "flips":
        numbers, x, trained = "56", f"flipped of {n} preferences", f"{n} training pairs"
        quote = "preferences are wrong"
    else:
        numbers, x, trained = "78", f"wrong of {grades}", f"{n} training pairs with {grades}"
        quote = "grades are wrong"
    drawn = []
    for number, what, within, levels in (
        (numbers[0], "precision", SHARE, {}),
        (numbers[1], "similarity", CORRELATION, {f"Limit {limit:.4f}": limit}),
    ):
        title = f"{what.capitalize()} when {ERRORS[varied]}"
        plot = Plot(x, what, curves(table, varied, what, "truth"), levels, within=within)
        claim = Claim(
            f"{what.capitalize()} falls as more {ERRORS[varied]}.",
            falls(table, varied, what),
            f"{what.capitalize()} falls as more {quote}.",
            "6.4, inferred",
        )
        caption = f"{trained}; {describe_C(table)}. {BAND}"
        drawn.append(Figure(number, title, plot, (claim,), caption))
    return drawn
