"""Figures C6 to C8: judges whose noise is not the one that the model assumes."""

from __future__ import annotations

from math import inf

import pandas as pd

from dcglearn.lab.claims import FEW_SHARES, Claim, Finding, judge_all, judge_between
from dcglearn.lab.plots import BAND, Figure, over_pairs
from dcglearn.lab.repetitions import means, rows_where

COLUMNS = (
    "coverage",
    "coverage:gains",
    "coverage:discounts",
    "bounded",
    "width",
    "middle_gain",
    "p:link",
)

NAMES = {"logistic": "Logistic, as the model assumes", "normal": "Normal", "cauchy": "Cauchy"}

LEVEL = 0.05
LEAST = 0.90
UP_TO = 5000
LARGEST_BIAS = 0.02
FROM = 1000
"""Coverage is judged up to, and bias from, so many judgments."""

ABOUT = (
    "Independent uniform grades (3 grades at 5 ranks), exponential gains, discount log2, 5% of "
    "answers at random; all noises are equally steep where the difference is 0."
)
LABEL = "{noise}, {pairs:,} judgments:"


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures C6 to C8."""
    noticed = (table["p:link"] < LEVEL).astype(float)
    named = table.assign(noise=table["noise"].map(NAMES), noticed=noticed)
    return [_coverage(named), _bias(named), _link(named)]


def _coverage(table: pd.DataFrame) -> Figure:
    found = means(table[table["pairs"] <= UP_TO], "coverage", LABEL)
    claim = Claim(
        "Whether the noise is logistic, normal or Cauchy, 90% of the intervals or more contain the "
        f"truth up to {UP_TO:,} judgments.",
        judge_between(found, LEAST, 1.0),
        thresholds=(f"least coverage: 90%, up to {UP_TO:,} judgments",),
    )
    y_label = "share of 95% intervals that contain the truth"
    levels = {f"{LEAST:.2f}": LEAST}
    plot = over_pairs(table, "coverage", "noise", "judgments", y_label, levels)
    return Figure("C6", "Coverage with other judges", plot, (claim,), f"{ABOUT} {BAND}")


def _bias(table: pd.DataFrame) -> Figure:
    found = means(table[table["pairs"] >= FROM], "middle_gain", LABEL)
    claim = Claim(
        f"From {FROM:,} judgments the middle gain is wrong by at most {LARGEST_BIAS} in the mean, "
        "whatever the noise.",
        judge_between(found, -LARGEST_BIAS, LARGEST_BIAS),
        thresholds=(f"largest bias: {LARGEST_BIAS}, from {FROM:,} judgments",),
    )
    y_label, free = "middle gain, estimate minus truth", (-inf, inf)
    plot = over_pairs(table, "middle_gain", "noise", "judgments", y_label, {"No bias": 0.0}, free)
    caption = f"{ABOUT} The best grade has a gain of 1, the worst 0. {BAND}"
    return Figure("C7", "Bias with other judges", plot, (claim,), caption)


def _link(table: pd.DataFrame) -> Figure:
    most = table["pairs"].max()
    at = rows_where(table, pairs=most)
    assumed = at["noise"] == NAMES["logistic"]
    label = f"{{noise}} minus logistic, {most:,} judgments:"
    gaps = means(at[~assumed], "noticed", label, at[assumed].drop(columns="noise"))
    shares = means(table, "noticed", LABEL)
    enough = all(gap.n >= FEW_SHARES for gap in gaps)
    claim = Claim(
        f"With {most:,} judgments the test of the link rejects more often if the noise is normal "
        "or Cauchy than if it is logistic.",
        judge_all(gaps, above=0, also=shares) if enough else Finding("undecided", (*gaps, *shares)),
        thresholds=(f"rejected: p < {LEVEL}",),
    )
    y_label = f"share of studies with p < {LEVEL} in the test of the link"
    plot = over_pairs(table, "noticed", "noise", "judgments", y_label, {str(LEVEL): LEVEL})
    title = "How often the link is questioned"
    return Figure("C8", title, plot, (claim,), f"{ABOUT} {BAND}")
