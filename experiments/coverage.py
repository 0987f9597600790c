"""Figures C1 and C2: how often 95% intervals of gains and discounts contain the truth."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import (
    BAND,
    Figure,
    describe_errors,
    over_pairs,
    paneled,
    panels,
)
from dcglearn.lab.repetitions import common_value, means, rows_where

COLUMNS = (
    "coverage",
    "coverage:gains",
    "coverage:discounts",
    "determined",
    "bounded",
    "width",
    "middle_gain",
    "p:link",
)

NAMES = {"data-1": "linear", "data-2": "exponential"}
OTHER = "like no preset"

LOW, HIGH = 0.93, 0.97
LEAST = 0.90

LEVELS = {"0.93": 0.93, "0.97": 0.97}
Y = "share of 95% intervals that contain the truth"


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures C1 and C2."""
    model = (
        f"Independent uniform grades ({common_value(table, 'grades')} grades at "
        f"{common_value(table, 'ranks')} ranks); free gains and discounts, with a side bias and a "
        f"share of random answers that are estimated too. {BAND}"
    )
    return [_by_lapses(table, model), _by_truth(table, model)]


def _by_lapses(table: pd.DataFrame, model: str) -> Figure:
    named = table.assign(lapses=[f"{share:.0%} answers at random" for share in table["lapses"]])
    found = means(named, "coverage", "{pairs:,} judgments, {lapses}:")
    claim = Claim(
        "Of 95% intervals, 93 to 97% contain the truth, for each number of judgments and each "
        "share of answers at random.",
        judge_between(found, LOW, HIGH),
        thresholds=("right coverage: 93 to 97%",),
    )
    fewest = table["pairs"].min()
    unbounded = 1 - rows_where(table, pairs=fewest)["bounded"].mean()
    caption = (
        f"All gains and discounts together, means over {table['truth'].nunique()} truths. An "
        "interval without bounds contains the truth and says nothing: with "
        f"{fewest:,} judgments, {unbounded:.0%} have none. {model} "
        f"{describe_errors(found, 'points')}"
    )
    plot = over_pairs(named, "coverage", "lapses", "judgments", Y, LEVELS)
    return Figure("C1", "Coverage of intervals", plot, (claim,), caption)


def _by_truth(table: pd.DataFrame, model: str) -> Figure:
    named = table.assign(truth=[NAMES.get(truth, OTHER) for truth in table["truth"]])
    parts = ["coverage:gains", "coverage:discounts"]
    long = named.melt(["truth", "pairs", "repetition"], parts, "part", "covered")
    long["part"] = long["part"].str.removeprefix("coverage:")
    found = [
        number
        for _, rows in long.groupby("truth", sort=False)
        for number in means(rows, "covered", "{part}, {truth}, {pairs:,} judgments:")
    ]
    shown = long.assign(part=long["part"].str.capitalize(), truth="gains: " + long["truth"])
    plots = panels(
        shown, "truth", lambda rows: over_pairs(rows, "covered", "part", "judgments", Y, LEVELS)
    )
    claim = Claim(
        "No truth has intervals of gains, or of discounts, that contain it in less than 90% of "
        "studies.",
        judge_between(found, LEAST, 1.0),
        thresholds=("least coverage: 90%",),
    )
    caption = (
        f"Means over {table['lapses'].nunique()} shares of answers at random. {model} "
        f"{describe_errors(found, 'points')}"
    )
    return paneled("C2", "Coverage by truth", plots, [claim], caption)
