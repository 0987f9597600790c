"""Figures C4, C5 and C9: how often tests reject hypotheses that are true, and that are wrong."""

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between, judge_together
from dcglearn.lab.plots import BAND, Figure, describe_errors, over_pairs
from dcglearn.lab.repetitions import means, rows_where

COLUMNS = ("p:HYPOTHESIS", "p:link", "coverage")

LINEAR, EXPONENTIAL = "p:linear-free in free-free", "p:exponential-free in free-free"
POSITIONS = "p:free-free in positions"

LEVEL, POWER = 0.05, 0.8
LOW, HIGH = 0.03, 0.07
"""Limits of the size."""

AT = 1000
"""The number of judgments at which the power is judged."""

SHARE = "judgments", f"share of studies with p < {LEVEL}"
ABOUT = "Independent uniform grades (3 grades at 5 ranks), discount log2, 5% of answers at random."
FAMILIES = f"{ABOUT} All families are tested against free gains and discounts, at the level of 5%."
SAME = {"data-1": "The same, linear", "data-2": "The same, exponential"}
DIFFERENT = {
    "gains-by-rank:0.5": "Middle grade from .63 to .35 of the best",
    "gains-by-rank:1": "Middle grade from .71 to .25 of the best",
}


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures C4 and C5 of families, or C9 where only positions are tested."""
    if LINEAR not in table:
        return [_positions(table)]
    linear = table["truth"] == "data-1"
    true = {
        "The family of gains that is true": table[LINEAR].where(linear, table[EXPONENTIAL]),
        "Discount log2": table["p:free-log2 in free-free"],
        "The same gains at every rank": table[POSITIONS],
        "The logistic link": table["p:link"],
    }
    wrong = {
        "Linear gains, where exponential ones are true": table[LINEAR].where(~linear),
        "Exponential gains, where linear ones are true": table[EXPONENTIAL].where(linear),
        "Constant discounts, where log2 is true": table["p:free-constant in free-free"],
    }
    return [_size(_rejected(table, true)), _power(_rejected(table, wrong))]


def _rejected(table: pd.DataFrame, p: dict[str, pd.Series]) -> pd.DataFrame:
    """Return what is rejected, 1 or 0, a row for each study and hypothesis that has a p."""
    keys = ["pairs", "repetition"]
    long = table[keys].assign(**p).melt(keys, list(p), "hypothesis", "p").dropna()
    return long.assign(rejected=1.0 * (long["p"] < LEVEL))


def _size(rejected: pd.DataFrame) -> Figure:
    found = means(rejected, "rejected", "{hypothesis}:")
    tested = "In the mean over all numbers of judgments, 3 to 7% of studies reject what is true."
    claim = Claim(tested, judge_between(found, LOW, HIGH), thresholds=("right size: 3 to 7%",))
    plot = over_pairs(rejected, "rejected", "hypothesis", *SHARE, {"0.03": LOW, "0.07": HIGH})
    caption = f"{FAMILIES} Means over linear and exponential gains. {BAND} {describe_errors(found)}"
    return Figure("C4", "Size of tests", plot, (claim,), caption)


def _power(rejected: pd.DataFrame) -> Figure:
    found = means(rows_where(rejected, pairs=AT), "rejected", f"{{hypothesis}}, {AT:,} judgments:")
    tested = f"With {AT:,} judgments, at least 80% of studies reject wrong gains or discounts."
    limits = (f"power: 80% with {AT:,} judgments",)
    claim = Claim(tested, judge_between(found, POWER, 1.0), thresholds=limits)
    plot = over_pairs(rejected, "rejected", "hypothesis", *SHARE, {f"{POWER:.1f}": POWER})
    return Figure("C5", "Power of tests", plot, (claim,), f"{FAMILIES} {BAND}")


def _positions(table: pd.DataFrame) -> Figure:
    names, rejected = table["truth"].map(SAME | DIFFERENT), 1.0 * (table[POSITIONS] < LEVEL)
    named = table.assign(truth=names, rejected=rejected)
    same, most = table["truth"].isin(SAME), table["pairs"].max()
    sizes = means(named[same], "rejected", "{truth}:")
    different = rows_where(named[~same], pairs=most)
    powers = means(different, "rejected", f"{{truth}}, {most:,} judgments:")
    claim = Claim(
        "Where gains are the same at every rank, that is rejected at the level of 5% in 7% of "
        "studies or fewer, in the mean over the numbers of judgments; where they are not, in 80% "
        f"or more with {most:,} judgments.",
        judge_together(judge_between(sizes, 0.0, HIGH), judge_between(powers, POWER, 1.0)),
        "Whether gains depend on the position can be tested.",
        "5.2",
        ("size: at most 7%", f"power: 80% with {most:,} judgments"),
        needs_all=True,
    )
    caption = f"{ABOUT} W = c g' is tested against a free W by a likelihood ratio. {BAND}"
    title = "The test of gains that depend on the position"
    plot = over_pairs(named, "rejected", "truth", *SHARE, {str(LEVEL): LEVEL})
    return Figure("C9", title, plot, (claim,), caption)
