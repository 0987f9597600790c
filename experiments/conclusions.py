"""Figure C10: what is concluded from studies of many kinds, and how often it is right."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, paneled, series_of
from dcglearn.lab.repetitions import MeanInterval, means, rows_where
from dcglearn.lab.simulation.designs import DESIGNS

COLUMNS = (
    "coverage",
    "determined",
    "size:gains",
    "size:discounts",
    "size:measure",
    "size:side",
    "size:positions",
    "size:additivity",
    "power:gains",
    "power:discounts",
    "recommended",
    "right",
    "false_stop",
    "no_dcg",
    "link",
)

LARGEST_SIZE, FALSE_STOPS, COVERED = 0.07, 0.03, (0.93, 0.97)

NOT_SUMS = ("max", "err")


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure C10, with a panel for each share."""
    shown = [name for name in DESIGNS if name in set(table["design"])]
    sums = [name for name in shown if name not in NOT_SUMS]
    covered = [name for name in shown if DESIGNS[name].middle_gain is not None]
    allowed = [name for name in shown if DESIGNS[name].allowed]
    rejects, share = "share of studies that reject what is true", "share of studies"
    panels = (
        _panel(table, sums, "false_stop", "True gains or discounts rejected", rejects, FALSE_STOPS),
        _panel(table, sums, "size:gains", "True gains with p < 0.05", rejects, LARGEST_SIZE),
        _panel(table, sums, "size:discounts", "True discount with p < 0.05", rejects, LARGEST_SIZE),
        _panel(table, covered, "coverage", "95% intervals that hold the true gain", share, 0.95),
        _panel(table, shown, "recommended", "A measure is recommended", share),
        _panel(table, shown, "no_dcg", "Documents are said not to add up", share),
    )
    tests = ("size:gains", "size:discounts", "size:measure", "size:side")
    most = rows_where(table, pairs=table["pairs"].max())
    claims = (
        _claim(
            "In designs that the model allows, at most 3% of studies reject true gains or a true "
            "discount.",
            _means(table, allowed, ["false_stop"]),
            (0.0, FALSE_STOPS),
        ),
        _claim(
            "In designs that the model allows, tests of what is true have p below .05 in at most "
            "7% of studies.",
            [one for one in _means(table, allowed, tests) if one.n],
            (0.0, LARGEST_SIZE),
        ),
        _claim(
            "In designs that the model allows, 93 to 97% of the intervals of the middle gain "
            "contain it.",
            _means(table, [name for name in allowed if name in covered], ["coverage"]),
            COVERED,
        ),
        _claim(
            "Where the best document decides, or ERR, at least 80% of studies of the most "
            "judgments say that documents do not add up.",
            _means(most, [name for name in NOT_SUMS if name in shown], ["no_dcg"]),
            (0.8, 1.0),
        ),
    )
    numbered = "; ".join(f"{i}: {one.about}" for i, one in enumerate(DESIGNS.values(), 1))
    caption = (
        f"{numbered}. Three grades at five ranks. A study rejects what has a corrected p below "
        f".01. {BAND}"
    )
    judged = tuple(one for one in claims if one.finding.intervals)
    title = "What is concluded from studies of many kinds"
    return [paneled("C10", title, panels, judged, caption)]


def _panel(
    table: pd.DataFrame,
    names: list[str],
    column: str,
    title: str,
    y_label: str,
    level: float | None = None,
) -> Plot:
    numbers = [str(1 + list(DESIGNS).index(name)) for name in names]
    series = []
    for pairs in sorted(table["pairs"].unique()):
        found = _means(rows_where(table, pairs=pairs), names, [column])
        series.append(series_of(f"{pairs:,} judgments", dict(zip(numbers, found, strict=True))))
    levels = {} if level is None else {f"{level:.2f}": level}
    return Plot("design", y_label, tuple(series), levels, bars=True, within=SHARE, title=title)


def _means(table: pd.DataFrame, names: list[str], columns: Iterable[str]) -> list[MeanInterval]:
    return [
        number
        for name in names
        for column in columns
        for number in means(
            rows_where(table, design=name), column, f"{DESIGNS[name].about}, {column}:"
        )
    ]


def _claim(words: str, found: list[MeanInterval], within: tuple[float, float]) -> Claim:
    low, high = within
    return Claim(words, judge_between(found, low, high), thresholds=(f"{low:g} to {high:g}",))
