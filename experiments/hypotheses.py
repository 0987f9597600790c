"""Figures C4 and C5: how often tests reject hypotheses that are true, and that are wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curve
from dcglearn.lab.repetitions import mean_over_repetitions, rows_where

LINEAR = "p:linear-free in free-free"
EXPONENTIAL = "p:exponential-free in free-free"
LOG2 = "p:free-log2 in free-free"
CONSTANT = "p:free-constant in free-free"
POSITIONS = "p:free-free in positions"
LINK = "p:link"

COLUMNS = (LINEAR, EXPONENTIAL, LOG2, CONSTANT, POSITIONS, LINK, "coverage")

LEVEL = 0.05

SIZES = (0.03, 0.07)
POWER = 0.8
AT = 1000
"""The number of judgments at which the power is judged."""

LINEAR_TRUTH = "data-1"

ABOUT = (
    "Independent uniform grades (3 grades at 5 ranks), discount log2, 5% of answers at random. All "
    "families are tested against free gains and discounts."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures C4 and C5."""
    linear = table["truth"] == LINEAR_TRUTH
    p = pd.DataFrame(
        {
            "the family of gains that is true": np.where(linear, table[LINEAR], table[EXPONENTIAL]),
            "discount log2": table[LOG2],
            "the same gains at every rank": table[POSITIONS],
            "the logistic link": table[LINK],
        }
    )
    return [_size(rejections(table, p)), _power(table, linear)]


def rejections(table: pd.DataFrame, p: pd.DataFrame) -> pd.DataFrame:
    """Return what is rejected, 1 or 0, beside the design; nan where there is no p."""
    rejected = (p < LEVEL).astype(float).where(p.notna())
    return pd.concat([table[["truth", "pairs", "repetition"]], rejected], axis=1)


def _size(table: pd.DataFrame) -> Figure:
    names = list(table.columns[3:])
    means = [mean_over_repetitions(table, name, f"{name}:") for name in names]
    return Figure(
        "C4",
        "Size of tests",
        Plot(
            "judgments",
            f"share of studies with p < {LEVEL}",
            tuple(curve(table, "pairs", name, _capital(name)) for name in names),
            {"0.03": 0.03, "0.07": 0.07},
            log_x=True,
            within=SHARE,
        ),
        (
            Claim(
                "A true hypothesis is rejected at the level of 5% in 3 to 7% of studies, in the "
                "mean over the numbers of judgments.",
                judge_between(means, *SIZES),
                thresholds=("right size: 3 to 7%",),
            ),
        ),
        f"{ABOUT} Means over linear and exponential gains. {BAND} "
        f"Standard errors of the means: up to "
        f"{100 * max((one.high - one.low) / 3.92 for one in means):.1f} percentage points.",
    )


def _power(table: pd.DataFrame, linear: pd.Series) -> Figure:
    """Return how often what is wrong is rejected."""
    p = pd.DataFrame(
        {
            "linear gains, where exponential ones are true": table[LINEAR].where(~linear),
            "exponential gains, where linear ones are true": table[EXPONENTIAL].where(linear),
            "constant discounts, where log2 is true": table[CONSTANT],
        }
    )
    p = p.loc[:, p.notna().any()]
    rejected = rejections(table, p)
    means = [
        mean_over_repetitions(rows_where(rejected, pairs=AT), name, f"{name}, {AT:,} judgments:")
        for name in p.columns
        if AT in rejected["pairs"].unique()
    ]
    return Figure(
        "C5",
        "Power of tests",
        Plot(
            "judgments",
            f"share of studies with p < {LEVEL}",
            tuple(curve(rejected, "pairs", name, _capital(name)) for name in p.columns),
            {f"{POWER:.1f}": POWER},
            log_x=True,
            within=SHARE,
        ),
        (
            Claim(
                f"With {AT:,} judgments, wrong families of gains and discounts are rejected in 80% "
                "of studies or more.",
                judge_between(means, POWER, 1.0),
                thresholds=(f"power: 80% with {AT:,} judgments",),
            ),
        ),
        f"{ABOUT} {BAND}",
    )


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
