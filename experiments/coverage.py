"""Figures C1 and C2: how often 95% intervals of gains and discounts contain the truth."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curve, curves
from dcglearn.lab.repetitions import MeanInterval, common_value, mean_over_repetitions, rows_where

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

BAND_OF_COVERAGE = (0.93, 0.97)
LEAST = 0.90

LEVELS = {"0.93": 0.93, "0.97": 0.97}
Y = "share of 95% intervals that contain the truth"


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures C1 and C2."""
    return [_by_lapses(table), _by_truth(table)]


def _by_lapses(table: pd.DataFrame) -> Figure:
    names = {share: f"{share:.0%} answers at random" for share in table["lapses"].unique()}
    means = [
        mean_over_repetitions(
            rows_where(table, pairs=n, lapses=share), "coverage", f"{n:,} judgments, {name}:"
        )
        for n in table["pairs"].unique()
        for share, name in names.items()
    ]
    return Figure(
        "C1",
        "Coverage of intervals",
        Plot(
            "judgments",
            Y,
            curves(table, "pairs", "coverage", "lapses", names),
            LEVELS,
            log_x=True,
            within=SHARE,
        ),
        (
            Claim(
                "Of 95% intervals, 93 to 97% contain the truth, for each number of judgments and "
                "each share of answers at random.",
                judge_between(means, *BAND_OF_COVERAGE),
                thresholds=("right coverage: 93 to 97%",),
            ),
        ),
        f"All gains and discounts together, means over {table['truth'].nunique()} truths. "
        f"{_bounded(table)} {describe_model(table)} {BAND} "
        f"{_precision(means)}",
    )


def _bounded(table: pd.DataFrame) -> str:
    fewest = table["pairs"].min()
    share = rows_where(table, pairs=fewest)["bounded"].mean()
    return (
        "An interval without bounds contains the truth and says nothing: with "
        f"{fewest:,} judgments, {1 - share:.0%} have none."
    )


def _precision(means: list[MeanInterval]) -> str:
    """Say how precise the points are."""
    widest = max(((one.high - one.low) / 3.92 for one in means), default=float("nan"))
    return f"Standard errors of the points: up to {100 * widest:.1f} percentage points."


def _by_truth(table: pd.DataFrame) -> Figure:
    panels, means = [], []
    for truth, group in table.groupby("truth", sort=False):
        kind = NAMES.get(str(truth), OTHER)
        series = tuple(
            curve(group, "pairs", f"coverage:{what}", what.capitalize())
            for what in ("gains", "discounts")
        )
        panels.append(
            Plot("judgments", Y, series, LEVELS, log_x=True, within=SHARE, title=f"gains: {kind}")
        )
        for what in ("gains", "discounts"):
            label = f"{what}, {kind}"
            means += [
                mean_over_repetitions(
                    rows_where(group, pairs=n), f"coverage:{what}", f"{label}, {n:,} judgments:"
                )
                for n in group["pairs"].unique()
            ]
    return Figure(
        "C2",
        "Coverage by truth",
        panels[0],
        (
            Claim(
                "No truth has intervals of gains, or of discounts, that contain it in less than "
                "90% of studies.",
                judge_between(means, LEAST, 1.0),
                thresholds=("least coverage: 90%",),
            ),
        ),
        f"Means over {table['lapses'].nunique()} shares of answers at random. "
        f"{describe_model(table)} {BAND} {_precision(means)}",
        tuple(panels[1:]),
    )


def describe_model(table: pd.DataFrame) -> str:
    """Say in words what was judged."""
    return (
        f"Independent uniform grades ({common_value(table, 'grades')} grades at "
        f"{common_value(table, 'ranks')} ranks); free gains and discounts, with a side bias and a "
        "share of random answers that are estimated too."
    )
