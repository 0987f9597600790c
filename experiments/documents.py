"""Figure 13: rankings of documents without grades."""

import pandas as pd

from dcglearn.lab.claims import Claim, judge_all, judge_together
from dcglearn.lab.plots import BAND, CORRELATION, Figure, describe_C, over_pairs
from dcglearn.lab.repetitions import change_over_range, display_name, means, rows_where

COLUMNS = ("precision", "identifiable", "gains_correlation")

PRECISE, ALIKE, MOST = 0.93, 0.98, 800
"""Learned precisely, in precision; gains like those of grades, in correlation; at so many pairs."""

MANY_ENTRIES = (
    "The number of pairs needed depends on K, which the paper does not give. With K = 5, the "
    "K x K matrix is learned precisely from 200 pairs. With K = 10, as in the other figures, the "
    "matrix has 100 entries and several times as many pairs are needed."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure 13, and 13b about what W without grades means."""
    shown = table["truth"].map(display_name) + ", K = " + table["ranks"].astype(str)
    table = table.assign(shown=shown)
    (early, late), (few, many) = (
        [means(rows_where(table, pairs=n), what, f"{{shown}}, {n} pairs:") for n in (200, MOST)]
        for what in ("precision", "gains_correlation")
    )
    grows = change_over_range(table, "pairs", "precision", "K = {ranks}, {truth}")
    precise = Claim(
        f"Precision grows with the number of pairs, and is {PRECISE} or more at {MOST}.",
        judge_together(
            judge_all(late, above=PRECISE, also=early),
            judge_all(grows, above=0),
            reason="" if all(one.low >= PRECISE for one in early) else MANY_ENTRIES,
        ),
        "Preferences over rankings are learned precisely without grades.",
        "8",
        (f"precisely: {PRECISE} or more, with {MOST} pairs",),
        needs_all=True,
    )
    relevant = Claim(
        "The gains of documents, from the rank-1 part of W, have a correlation above "
        f"{ALIKE} with the gains of their grades at {MOST} pairs.",
        judge_all(many, above=ALIKE, also=few),
        "Without grades, W says how relevant each document is.",
        "8",
        (f"says how relevant: correlation above {ALIKE}, with {MOST} pairs",),
        needs_all=True,
    )
    x, y, levels = "training pairs", "correlation with true gains", {str(ALIKE): ALIKE}
    one, other = (
        over_pairs(table, "precision", "shown", x, "precision", {str(PRECISE): PRECISE}),
        over_pairs(table, "gains_correlation", "shown", x, y, levels, CORRELATION),
    )
    chosen = f"{describe_C(table)}. {BAND}"
    about = f"A K x K matrix from rankings of K documents; {chosen}"
    compared = (
        "The grades are not used to learn W; the gains of the K documents are compared with "
        f"those that the true measure gives to their grades. {chosen}"
    )
    return [
        Figure("13", "Precision without grades", one, (precise,), about),
        Figure("13b", "Relevance learned without grades", other, (relevant,), compared),
    ]
