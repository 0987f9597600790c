"""Figure 13: rankings of documents without grades."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_all, judge_together
from dcglearn.lab.plots import BAND, CORRELATION, Figure, describe_C, over_pairs
from dcglearn.lab.repetitions import change_over_range, display_name, means, rows_where

COLUMNS = ("precision", "identifiable", "gains_correlation")

PRECISE = 0.93
"""The precision from which preferences count as learned precisely."""

MOST = 800
"""The number of training pairs at which the claims are judged."""

ALIKE = 0.98
"""The correlation from which learned gains of documents count as their relevance."""

REASON = (
    "The number of pairs needed depends on K, which the paper does not give. With K = 5, the "
    "K x K matrix is learned precisely from 200 pairs. With K = 10, as in the other figures, the "
    "matrix has 100 entries and several times as many pairs are needed."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure 13, and 13b about what W without grades means."""
    K = [len(base.split()) for base in table["base"]]
    shown = [f"{display_name(truth)}, K = {k}" for truth, k in zip(table["truth"], K, strict=True)]
    table = table.assign(K=K, shown=shown)
    return [_precision(table), _relevance(table)]


def _precision(table: pd.DataFrame) -> Figure:
    early = means(rows_where(table, pairs=200), "precision", "{shown}, 200 pairs:")
    late = means(rows_where(table, pairs=MOST), "precision", f"{{shown}}, {MOST} pairs:")
    grows = change_over_range(table, "pairs", "precision", "K = {K}, {truth}")
    claim = Claim(
        f"Precision grows with the number of pairs, and is {PRECISE} or more at {MOST}.",
        judge_together(
            judge_all(late, above=PRECISE, also=early),
            judge_all(grows, above=0),
            reason="" if all(one.low >= PRECISE for one in early) else REASON,
        ),
        "Preferences over rankings are learned precisely without grades.",
        "8",
        (f"precisely: {PRECISE} or more, with {MOST} pairs",),
        needs_all=True,
    )
    levels = {str(PRECISE): PRECISE}
    plot = over_pairs(table, "precision", "shown", "training pairs", "precision", levels)
    caption = f"A K x K matrix from rankings of K documents; {describe_C(table)}. {BAND}"
    return Figure("13", "Precision without grades", plot, (claim,), caption)


def _relevance(table: pd.DataFrame) -> Figure:
    what = "gains_correlation"
    early = means(rows_where(table, pairs=200), what, "{shown}, 200 pairs:")
    late = means(rows_where(table, pairs=MOST), what, f"{{shown}}, {MOST} pairs:")
    claim = Claim(
        "The gains of documents, from the rank-1 part of W, have a correlation above "
        f"{ALIKE} with the gains of their grades at {MOST} pairs.",
        judge_all(late, above=ALIKE, also=early),
        "Without grades, W says how relevant each document is.",
        "8",
        (f"says how relevant: correlation above {ALIKE}, with {MOST} pairs",),
        needs_all=True,
    )
    y_label, levels = "correlation with true gains", {str(ALIKE): ALIKE}
    plot = over_pairs(table, what, "shown", "training pairs", y_label, levels, CORRELATION)
    caption = (
        "The grades are not used to learn W; the gains of the K documents are compared with "
        f"those that the true measure gives to their grades. {describe_C(table)}. {BAND}"
    )
    return Figure("13b", "Relevance learned without grades", plot, (claim,), caption)
