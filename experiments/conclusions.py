"""Figure C10: what is concluded from studies of many kinds, and how often it is right."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, Series, series_of
from dcglearn.lab.repetitions import MeanInterval, mean_over_repetitions, rows_where
from dcglearn.simulation.designs import DESIGNS

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
    stops = [name for name in shown if name not in NOT_SUMS]
    covered = [name for name in shown if DESIGNS[name].middle_gain is not None]
    allowed = [name for name in shown if DESIGNS[name].allowed]
    panels = [
        _panel(table, stops, "false_stop", "True gains or discounts rejected", FALSE_STOPS),
        _panel(table, stops, "size:gains", "True gains with p < 0.05", LARGEST_SIZE),
        _panel(table, stops, "size:discounts", "True discount with p < 0.05", LARGEST_SIZE),
        _panel(table, covered, "coverage", "95% intervals that hold the true gain", 0.95),
        _panel(table, shown, "recommended", "A measure is recommended"),
        _panel(table, shown, "no_dcg", "Documents are said not to add up"),
    ]
    numbered = "; ".join(f"{i}: {DESIGNS[name].about}" for i, name in enumerate(DESIGNS, 1))
    claims = (
        _claim(
            "In designs that the model allows, at most 3% of studies reject true gains or a true "
            "discount.",
            [_mean(table, name, "false_stop") for name in allowed],
            (0.0, FALSE_STOPS),
        ),
        _claim(
            "In designs that the model allows, tests of what is true have p below .05 in at most "
            "7% of studies.",
            [
                _mean(table, name, column)
                for name in allowed
                for column in ("size:gains", "size:discounts", "size:measure", "size:side")
                if table.loc[table["design"] == name, column].notna().any()
            ],
            (0.0, LARGEST_SIZE),
        ),
        _claim(
            "In designs that the model allows, 93 to 97% of the intervals of the middle gain "
            "contain it.",
            [_mean(table, name, "coverage") for name in allowed if name in covered],
            COVERED,
        ),
        _claim(
            "Where the best document decides, or ERR, at least 80% of studies of the most "
            "judgments say that documents do not add up.",
            [
                _mean(rows_where(table, pairs=table["pairs"].max()), name, "no_dcg")
                for name in NOT_SUMS
                if name in shown
            ],
            (0.8, 1.0),
        ),
    )
    return [
        Figure(
            "C10",
            "What is concluded from studies of many kinds",
            panels[0],
            tuple(one for one in claims if one is not None),
            f"{numbered}. Three grades at five ranks. A study rejects what has a corrected p below "
            f".01. {BAND}",
            tuple(panels[1:]),
        )
    ]


def _panel(
    table: pd.DataFrame, names: list[str], column: str, words: str, level: float | None = None
) -> Plot:
    series = [
        _shares(rows_where(table, pairs=pairs), names, column, f"{pairs:,} judgments")
        for pairs in sorted(table["pairs"].unique().tolist())
    ]
    levels = {} if level is None else {f"{level:.2f}": level}
    rejects = column.startswith("size:") or column == "false_stop"
    y_label = "share of studies that reject what is true" if rejects else "share of studies"
    return Plot("design", y_label, tuple(series), levels, bars=True, within=SHARE, title=words)


def _shares(table: pd.DataFrame, names: list[str], column: str, label: str) -> Series:
    numbers = {name: str(i) for i, name in enumerate(DESIGNS, 1)}
    found = {numbers[name]: _mean(table, name, column) for name in names}
    return series_of(label, found)


def _mean(table: pd.DataFrame, name: str, column: str) -> MeanInterval:
    label = f"{DESIGNS[name].about}, {column}:"
    return mean_over_repetitions(rows_where(table, design=name), column, label)


def _claim(words: str, found: list[MeanInterval], within: tuple[float, float]) -> Claim | None:
    if not found:
        return None
    low, high = within
    return Claim(words, judge_between(found, low, high), thresholds=(f"{low:g} to {high:g}",))
