"""Figure C9: how often the same gains at every rank are rejected, where that is true and not."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import FEW_SHARES, Claim, Finding, judge_between, judge_claim
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curves
from dcglearn.lab.repetitions import MeanInterval, common_value, mean_over_repetitions, rows_where

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
    rejected = table.assign(rejected=(table[P] < LEVEL).astype(float))
    most = table["pairs"].max()
    independent = [
        mean_over_repetitions(rows_where(rejected, truth=truth), "rejected", f"{NAMES[truth]}:")
        for truth in rejected["truth"].unique()
        if truth in TRUE
    ]
    dependent = [
        mean_over_repetitions(
            rows_where(rejected, truth=truth, pairs=most),
            "rejected",
            f"{NAMES[truth]}, {most:,} judgments:",
        )
        for truth in rejected["truth"].unique()
        if truth not in TRUE
    ]
    return [
        Figure(
            "C9",
            "The test of gains that depend on the position",
            Plot(
                "judgments",
                f"share of studies with p < {LEVEL}",
                curves(rejected, "pairs", "rejected", "truth", NAMES),
                {str(LEVEL): LEVEL},
                log_x=True,
                within=SHARE,
            ),
            (
                Claim(
                    "Where gains are the same at every rank, that is rejected at the level of 5% "
                    "in 7% of studies or fewer, in the mean over the numbers of judgments; where "
                    f"they are not, in 80% or more with {most:,} judgments.",
                    _finding(independent, dependent),
                    "Whether gains depend on the position can be tested.",
                    "5.2",
                    ("size: at most 7%", f"power: 80% with {most:,} judgments"),
                    needs_all=True,
                ),
            ),
            f"Independent uniform grades ({common_value(table, 'grades')} grades at "
            f"{common_value(table, 'ranks')} ranks), discount log2, 5% of answers at random. The "
            "same gains at every rank, W = c g', are tested against a free W by a likelihood "
            f"ratio. {BAND}",
        )
    ]


def _finding(independent: list[MeanInterval], dependent: list[MeanInterval]) -> Finding:
    numbers = [*independent, *dependent]
    if any(one.n < FEW_SHARES for one in numbers):
        return Finding("undecided", tuple(numbers))
    sizes, powers = judge_between(independent, 0.0, SIZE), judge_between(dependent, POWER, 1.0)
    verdicts = {sizes.verdict, powers.verdict}
    return judge_claim(numbers, verdicts == {"holds"}, "does not hold" in verdicts)
