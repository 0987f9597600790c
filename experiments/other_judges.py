"""Figures C6 to C8: judges whose noise is not the one that the model assumes."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import FEW_SHARES, Claim, Finding, judge_above_zero, judge_between
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curves
from dcglearn.lab.repetitions import (
    MeanInterval,
    mean_over_repetitions,
    paired_difference,
    rows_where,
)

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
ASSUMED = "logistic"

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


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures C6 to C8."""
    noticed = table.assign(noticed=(table["p:link"] < LEVEL).astype(float))
    return [_coverage(table), _bias(table), _link(noticed)]


def _means(table: pd.DataFrame, y: str) -> list[MeanInterval]:
    return [
        mean_over_repetitions(
            rows_where(table, pairs=n, noise=noise), y, f"{NAMES[noise]}, {n:,} judgments:"
        )
        for noise in table["noise"].unique()
        for n in table["pairs"].unique()
    ]


def _coverage(table: pd.DataFrame) -> Figure:
    means = _means(table[table["pairs"] <= UP_TO], "coverage")
    return Figure(
        "C6",
        "Coverage with other judges",
        Plot(
            "judgments",
            "share of 95% intervals that contain the truth",
            curves(table, "pairs", "coverage", "noise", NAMES),
            {f"{LEAST:.2f}": LEAST},
            log_x=True,
            within=SHARE,
        ),
        (
            Claim(
                "Whether the noise is logistic, normal or Cauchy, 90% of the intervals or more "
                f"contain the truth up to {UP_TO:,} judgments.",
                judge_between(means, LEAST, 1.0),
                thresholds=(f"least coverage: 90%, up to {UP_TO:,} judgments",),
            ),
        ),
        f"{ABOUT} {BAND}",
    )


def _bias(table: pd.DataFrame) -> Figure:
    means = _means(table[table["pairs"] >= FROM], "middle_gain")
    return Figure(
        "C7",
        "Bias with other judges",
        Plot(
            "judgments",
            "middle gain, estimate minus truth",
            curves(table, "pairs", "middle_gain", "noise", NAMES),
            {"No bias": 0.0},
            log_x=True,
        ),
        (
            Claim(
                f"From {FROM:,} judgments the middle gain is wrong by at most {LARGEST_BIAS} in "
                "the mean, whatever the noise.",
                judge_between(means, -LARGEST_BIAS, LARGEST_BIAS),
                thresholds=(f"largest bias: {LARGEST_BIAS}, from {FROM:,} judgments",),
            ),
        ),
        f"{ABOUT} The best grade has a gain of 1, the worst 0. {BAND}",
    )


def _link(table: pd.DataFrame) -> Figure:
    most = table["pairs"].max()
    at = rows_where(table, pairs=most)
    assumed = rows_where(at, noise=ASSUMED)
    gaps = [
        paired_difference(
            rows_where(at, noise=noise),
            assumed,
            "noticed",
            f"{NAMES[noise]} minus logistic, {most:,} judgments:",
        )
        for noise in table["noise"].unique()
        if noise != ASSUMED
    ]
    return Figure(
        "C8",
        "How often the link is questioned",
        Plot(
            "judgments",
            f"share of studies with p < {LEVEL} in the test of the link",
            curves(table, "pairs", "noticed", "noise", NAMES),
            {str(LEVEL): LEVEL},
            log_x=True,
            within=SHARE,
        ),
        (
            Claim(
                f"With {most:,} judgments the test of the link rejects more often if the noise is "
                "normal or Cauchy than if it is logistic.",
                _noticed(gaps, _means(table, "noticed")),
                thresholds=(f"rejected: p < {LEVEL}",),
            ),
        ),
        f"{ABOUT} {BAND}",
    )


def _noticed(gaps: list[MeanInterval], means: list[MeanInterval]) -> Finding:
    if not gaps or min(gap.n for gap in gaps) < FEW_SHARES:
        return Finding("undecided", (*gaps, *means))
    return judge_above_zero(gaps, also=means)
