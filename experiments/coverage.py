"""Figures C1 to C3 and C6 to C8: how often 95% intervals of gains and discounts hold the truth."""

from math import inf

import pandas as pd

from dcglearn.lab.claims import Claim, judge_all, judge_between
from dcglearn.lab.plots import BAND, Figure, describe_errors, over_pairs, paneled, panels
from dcglearn.lab.repetitions import means, rows_where

PARTS = ("coverage:gains", "coverage:discounts")
COLUMNS = ("coverage", *PARTS, "determined", "bounded", "width", "middle_gain", "p:link")

LOW, HIGH, LEAST = 0.93, 0.97, 0.90
RIGHT = ("right coverage: 93 to 97%",)
LEVELS = {"0.93": LOW, "0.97": HIGH}
COVERED = "judgments", "share of 95% intervals that contain the truth"

LEVEL, BIAS = 0.05, 0.02
UP_TO, FROM = 5000, 1000
"""With other noise, coverage is judged up to, and bias from, so many judgments."""

GAINS = {"data-1": "gains: linear", "data-2": "gains: exponential"}
LISTS = {"drawn": "uniform grades", "permutations": "permutations"}
NOISES = {"logistic": "Logistic, as the model assumes", "normal": "Normal", "cauchy": "Cauchy"}

UNIFORM = "Independent uniform grades (3 grades at 5 ranks)"
MODEL = f"{UNIFORM}; gains, discounts, a side bias and the share of random answers are free. {BAND}"
NOISE = f"{UNIFORM}, exponential-log2, 5% random answers; noises as steep at difference 0. {BAND}"


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures C1 and C2, C3 of other designs, or C6 to C8 of other noise."""
    varied = next(column for column in table if column in ("lapses", "lists", "noise"))
    if varied == "lapses":  # settings that vary are the first columns
        return [_by_lapses(table), _by_truth(table)]
    return _with_noise(table) if varied == "noise" else [_in_designs(table)]


def _by_lapses(table: pd.DataFrame) -> Figure:
    named = table.assign(lapses=[f"{share:.0%} answers at random" for share in table["lapses"]])
    found = means(named, "coverage", "{pairs:,} judgments, {lapses}:")
    tested = "Coverage is 93 to 97% at each number of judgments and each share of random answers."
    claim = Claim(tested, judge_between(found, LOW, HIGH), thresholds=RIGHT)
    fewest = table["pairs"].min()
    unbounded = 1 - rows_where(table, pairs=fewest)["bounded"].mean()
    caption = (
        f"Gains and discounts together, means over {table['truth'].nunique()} truths. Intervals "
        "without bounds contain the truth, and say nothing. These are "
        f"{unbounded:.0%} at {fewest:,} judgments. {MODEL} {describe_errors(found, 'points')}"
    )
    plot = over_pairs(named, "coverage", "lapses", *COVERED, LEVELS)
    return Figure("C1", "Coverage of intervals", plot, (claim,), caption)


def _by_truth(table: pd.DataFrame) -> Figure:
    named = table.assign(truth=table["truth"].map(GAINS).fillna("gains: like no preset"))
    long = named.melt(["truth", "pairs", "repetition"], PARTS, "part", "covered")
    long["part"] = long["part"].str.removeprefix("coverage:").str.capitalize()
    found = means(long, "covered", "{truth}; {part}, {pairs:,} judgments:")
    tested = "For each truth, coverage of its gains, and of its discounts, is 90% or more."
    limits = ("least coverage: 90%",)
    claim = Claim(tested, judge_between(found, LEAST, 1.0), thresholds=limits)
    over, errors = table["lapses"].nunique(), describe_errors(found, "points")
    caption = f"Means over {over} shares of answers at random. {MODEL} {errors}"
    plots = panels(long, "truth", over_pairs, "covered", "part", *COVERED, LEVELS)
    return paneled("C2", "Coverage by truth", plots, [claim], caption)


def _in_designs(table: pd.DataFrame) -> Figure:
    ties = table["ties"].map({"davidson": ", ties"}).fillna("")
    kind = ties + [f", {n} queries" if n else "" for n in table["clusters"]]
    lists = table["lists"].map(LISTS)
    named = table.assign(lists=lists, design=lists + kind, kind=kind.str[2:].str.capitalize())
    named["kind"] = named["kind"].replace("", "Independent, no ties")
    plots = panels(named, "lists", over_pairs, "coverage", "kind", *COVERED, LEVELS)
    found = means(named, "coverage", "{design}:")
    tested = "In each design coverage is 93 to 97%, in the mean over the numbers of judgments."
    claim = Claim(tested, judge_between(found, LOW, HIGH), thresholds=RIGHT)
    caption = (
        "Only numbers that the judgments determine count: of lists that permute each other, the "
        "gain of the middle grade. Of 100 queries the largest has a tenth of the judgments; each "
        "shows four pairs of lists, which differ in more than grades. Linear gains, discount log2, "
        f"5% of answers at random. {BAND} {describe_errors(found)}"
    )
    return paneled("C3", "Coverage in other designs", plots, [claim], caption)


def _with_noise(table: pd.DataFrame) -> list[Figure]:
    named = table.assign(noise=table["noise"].map(NOISES), noticed=1.0 * (table["p:link"] < LEVEL))
    label, most = "{noise}, {pairs:,} judgments:", table["pairs"].max()
    small, large = named[named["pairs"] <= UP_TO], named[named["pairs"] >= FROM]
    at = rows_where(named, pairs=most)
    assumed = rows_where(at, noise=NOISES["logistic"]).drop(columns="noise")
    others = at[at["noise"] != NOISES["logistic"]]
    covered = Claim(
        f"Up to {UP_TO:,} judgments coverage is 90% or more, whatever the noise.",
        judge_between(means(small, "coverage", label), LEAST, 1.0),
        thresholds=(f"least coverage: 90%, up to {UP_TO:,} judgments",),
    )
    unbiased = Claim(
        f"From {FROM:,} judgments the middle gain is biased by at most {BIAS}, whatever the noise.",
        judge_between(means(large, "middle_gain", label), -BIAS, BIAS),
        thresholds=(f"largest bias: {BIAS}, from {FROM:,} judgments",),
    )
    gaps = means(others, "noticed", f"{{noise}} minus logistic, {most:,} judgments:", assumed)
    questioned = Claim(
        f"At {most:,} judgments the test rejects normal and Cauchy noise more often than logistic.",
        judge_all(gaps, above=0, also=means(named, "noticed", label)),
        thresholds=(f"rejected: p < {LEVEL}",),
        needs_all=True,
    )
    p = f"share of studies with p < {LEVEL} in the test of the link"
    gain, no_bias, free = "middle gain, estimate minus truth", {"No bias": 0.0}, (-inf, inf)
    coverage = over_pairs(named, "coverage", "noise", *COVERED, {f"{LEAST:.2f}": LEAST})
    bias = over_pairs(named, "middle_gain", "noise", "judgments", gain, no_bias, free)
    link = over_pairs(named, "noticed", "noise", "judgments", p, {str(LEVEL): LEVEL})
    scale = "The best grade has a gain of 1, the worst 0."
    return [
        Figure("C6", "Coverage with other judges", coverage, (covered,), NOISE),
        Figure("C7", "Bias with other judges", bias, (unbiased,), f"{NOISE} {scale}"),
        Figure("C8", "How often the link is questioned", link, (questioned,), NOISE),
    ]
