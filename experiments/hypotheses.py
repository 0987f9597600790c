"""Figures C4 and C5: how often tests reject hypotheses that are true, and that are wrong."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import BAND, Figure, Plot, describe_errors, over_pairs
from dcglearn.lab.repetitions import means, rows_where

LINEAR = "p:linear-free in free-free"
EXPONENTIAL = "p:exponential-free in free-free"
LOG2 = "p:free-log2 in free-free"
CONSTANT = "p:free-constant in free-free"
POSITIONS = "p:free-free in positions"
LINK = "p:link"

COLUMNS = (LINEAR, EXPONENTIAL, LOG2, CONSTANT, POSITIONS, LINK, "coverage")

LEVEL = 0.05

LOW, HIGH = 0.03, 0.07
POWER = 0.8
AT = 1000
"""The number of judgments at which the power is judged."""

ABOUT = (
    "Independent uniform grades (3 grades at 5 ranks), discount log2, 5% of answers at random. All "
    "families are tested against free gains and discounts."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures C4 and C5."""
    linear = table["truth"] == "data-1"
    true = {
        "the family of gains that is true": table[LINEAR].where(linear, table[EXPONENTIAL]),
        "discount log2": table[LOG2],
        "the same gains at every rank": table[POSITIONS],
        "the logistic link": table[LINK],
    }
    wrong = {
        "linear gains, where exponential ones are true": table[LINEAR].where(~linear),
        "exponential gains, where linear ones are true": table[EXPONENTIAL].where(linear),
        "constant discounts, where log2 is true": table[CONSTANT],
    }
    return [_size(_rejected(table, true)), _power(_rejected(table, wrong))]


def _rejected(table: pd.DataFrame, p: dict[str, pd.Series]) -> pd.DataFrame:
    """Return what is rejected, 1 or 0, a row for each study and hypothesis that has a p."""
    keys = ["pairs", "repetition"]
    long = table[keys].assign(**p).melt(keys, list(p), "hypothesis", "p").dropna()
    return long.assign(rejected=1.0 * (long["p"] < LEVEL))


def _plot(rejected: pd.DataFrame, levels: dict[str, float]) -> Plot:
    names = rejected["hypothesis"]
    named = rejected.assign(hypothesis=names.str[:1].str.upper() + names.str[1:])
    y_label = f"share of studies with p < {LEVEL}"
    return over_pairs(named, "rejected", "hypothesis", "judgments", y_label, levels)


def _size(rejected: pd.DataFrame) -> Figure:
    found = means(rejected, "rejected", "{hypothesis}:")
    claim = Claim(
        "A true hypothesis is rejected at the level of 5% in 3 to 7% of studies, in the mean over "
        "the numbers of judgments.",
        judge_between(found, LOW, HIGH),
        thresholds=("right size: 3 to 7%",),
    )
    plot = _plot(rejected, {"0.03": LOW, "0.07": HIGH})
    caption = f"{ABOUT} Means over linear and exponential gains. {BAND} {describe_errors(found)}"
    return Figure("C4", "Size of tests", plot, (claim,), caption)


def _power(rejected: pd.DataFrame) -> Figure:
    label = f"{{hypothesis}}, {AT:,} judgments:"
    claim = Claim(
        f"With {AT:,} judgments, wrong families of gains and discounts are rejected in 80% of "
        "studies or more.",
        judge_between(means(rows_where(rejected, pairs=AT), "rejected", label), POWER, 1.0),
        thresholds=(f"power: 80% with {AT:,} judgments",),
    )
    plot = _plot(rejected, {f"{POWER:.1f}": POWER})
    return Figure("C5", "Power of tests", plot, (claim,), f"{ABOUT} {BAND}")
