"""Figure C9: how often the same gains at every rank are rejected, where that is true and not."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between, judge_together
from dcglearn.lab.plots import BAND, Figure, over_pairs
from dcglearn.lab.repetitions import common_value, means, rows_where

P = "p:free-free in positions"

COLUMNS = (P,)

LEVEL = 0.05
SIZE = 0.07
POWER = 0.8
"""Limits of the size, and of the power."""

NAMES = {
    "data-1": "The same, linear",
    "data-2": "The same, exponential",
    "gains-by-rank:0.5": "Middle grade from .63 to .35 of the best",
    "gains-by-rank:1": "Middle grade from .71 to .25 of the best",
}
TRUE = ("data-1", "data-2")


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure C9."""
    named = table.assign(truth=table["truth"].map(NAMES), rejected=1.0 * (table[P] < LEVEL))
    same, most = table["truth"].isin(TRUE), table["pairs"].max()
    sizes = means(named[same], "rejected", "{truth}:")
    powers = means(
        rows_where(named[~same], pairs=most), "rejected", f"{{truth}}, {most:,} judgments:"
    )
    claim = Claim(
        "Where gains are the same at every rank, that is rejected at the level of 5% in 7% of "
        "studies or fewer, in the mean over the numbers of judgments; where they are not, in 80% "
        f"or more with {most:,} judgments.",
        judge_together(judge_between(sizes, 0.0, SIZE), judge_between(powers, POWER, 1.0)),
        "Whether gains depend on the position can be tested.",
        "5.2",
        ("size: at most 7%", f"power: 80% with {most:,} judgments"),
        needs_all=True,
    )
    y_label = f"share of studies with p < {LEVEL}"
    plot = over_pairs(named, "rejected", "truth", "judgments", y_label, {str(LEVEL): LEVEL})
    caption = (
        f"Independent uniform grades ({common_value(table, 'grades')} grades at "
        f"{common_value(table, 'ranks')} ranks), discount log2, 5% of answers at random. The same "
        f"gains at every rank, W = c g', are tested against a free W by a likelihood ratio. {BAND}"
    )
    title = "The test of gains that depend on the position"
    return [Figure("C9", title, plot, (claim,), caption)]
