"""Figure 13: rankings of documents without grades."""

import pandas as pd

from dcglearn.lab.claims import Claim, judge_all, judge_together
from dcglearn.lab.plots import BAND, CORRELATION, Figure, describe_C, over_pairs
from dcglearn.lab.repetitions import change_over_range, display_name, means, rows_where

COLUMNS = ("precision", "identifiable", "gains_correlation")

PRECISE, ALIKE, MOST = 0.93, 0.98, 800
"""Learned precisely, in precision; gains like those of grades, in correlation; at so many pairs."""

MANY_ENTRIES = (
    "The paper does not give K. With K = 5, W is learned precisely from 200 pairs. With K = 10, as "
    "in the other figures, it has 100 entries, and needs several times as many pairs."
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
    both = judge_all(late, above=PRECISE, also=early), judge_all(grows, above=0)
    reason = "" if all(one.low >= PRECISE for one in early) else MANY_ENTRIES
    tested = f"Precision grows with the number of pairs, and is {PRECISE} or more at {MOST}."
    quote = "Preferences over rankings are learned precisely without grades."
    limits = (f"precisely: {PRECISE} or more, with {MOST} pairs",)
    found = judge_together(*both, reason=reason)
    precise = Claim(tested, found, quote, "8", limits, needs_all=True)
    tested = f"With {MOST} pairs, gains have a correlation above {ALIKE} with the true ones."
    quote = "Without grades, W says how relevant each document is."
    limits = (f"says how relevant: correlation above {ALIKE}, with {MOST} pairs",)
    found = judge_all(many, above=ALIKE, also=few)
    relevant = Claim(tested, found, quote, "8", limits, needs_all=True)
    x, y, levels = "training pairs", "correlation with true gains", {str(ALIKE): ALIKE}
    one = over_pairs(table, "precision", "shown", x, "precision", {str(PRECISE): PRECISE})
    other = over_pairs(table, "gains_correlation", "shown", x, y, levels, CORRELATION)
    chosen = f"{describe_C(table)}. {BAND}"
    about = f"A K x K matrix W from rankings of K documents; {chosen}"
    compared = (
        "W is learned without grades. The gains of the K documents, from its rank-1 part, are "
        f"compared with the true gains of their grades. {chosen}"
    )
    return [
        Figure("13", "Precision without grades", one, (precise,), about),
        Figure("13b", "Relevance learned without grades", other, (relevant,), compared),
    ]
