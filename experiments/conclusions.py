"""Figure C10: what is concluded from studies of many kinds, and how often it is right."""

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, paneled, series_of
from dcglearn.lab.repetitions import MeanInterval, means, rows_where
from dcglearn.lab.setting import STUDY_COLUMNS
from dcglearn.lab.simulation.designs import DESIGNS

COLUMNS = tuple(dict.fromkeys(["coverage", *STUDY_COLUMNS]))

TESTS = ("size:gains", "size:discounts", "size:measure", "size:side")
LARGEST_SIZE, FALSE_STOPS = 0.07, 0.03
NOT_SUMS = ("max", "err")


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure C10, with a panel for each share."""
    shown = [name for name in DESIGNS if name in set(table["design"])]
    sums = [name for name in shown if name not in NOT_SUMS]
    covered = [name for name in shown if DESIGNS[name].middle_gain is not None]
    allowed = [name for name in shown if DESIGNS[name].allowed]
    rejects, share = "share of studies that reject what is true", "share of studies"
    panels = [
        _panel(table, sums, "false_stop", rejects, "True gains or discounts rejected", FALSE_STOPS),
        _panel(table, sums, "size:gains", rejects, "True gains with p < 0.05", LARGEST_SIZE),
        _panel(table, sums, "size:discounts", rejects, "True discount with p < 0.05", LARGEST_SIZE),
        _panel(table, covered, "coverage", share, "95% intervals that hold the true gain", 0.95),
        _panel(table, shown, "recommended", share, "A measure is recommended"),
        _panel(table, shown, "no_dcg", share, "Documents are said not to add up"),
    ]
    most = rows_where(table, pairs=table["pairs"].max())
    where = "In designs that the model allows,"
    claims = [
        _claim(
            f"{where} at most 3% of studies reject true gains or a true discount.",
            _means(table, allowed, "false_stop"),
            (0.0, FALSE_STOPS),
        ),
        _claim(
            f"{where} tests of what is true have p below .05 in at most 7% of studies.",
            [one for one in _means(table, allowed, *TESTS) if one.n],
            (0.0, LARGEST_SIZE),
        ),
        _claim(
            f"{where} 93 to 97% of the intervals of the middle gain contain it.",
            _means(table, [name for name in allowed if name in covered], "coverage"),
            (0.93, 0.97),
        ),
        _claim(
            "Where the best document decides, or ERR, at least 80% of studies of the most "
            "judgments say that documents do not add up.",
            _means(most, [name for name in NOT_SUMS if name in shown], "no_dcg"),
            (0.8, 1.0),
        ),
    ]
    claims = [one for one in claims if one.finding.intervals]
    numbered = "; ".join(f"{i}: {one.about}" for i, one in enumerate(DESIGNS.values(), 1))
    caption = (
        f"{numbered}. Three grades at five ranks. A study rejects what has a corrected p below "
        f".01. {BAND}"
    )
    return [paneled("C10", "What is concluded from studies of many kinds", panels, claims, caption)]


def _panel(
    table: pd.DataFrame, names: list[str], column: str, y_label: str, title: str, *levels: float
) -> Plot:
    numbers, series = [str(1 + list(DESIGNS).index(name)) for name in names], []
    for pairs in sorted(table["pairs"].unique()):
        found = _means(rows_where(table, pairs=pairs), names, column)
        series.append(series_of(f"{pairs:,} judgments", dict(zip(numbers, found, strict=True))))
    named = {f"{level:.2f}": level for level in levels}
    return Plot("design", y_label, tuple(series), named, bars=True, within=SHARE, title=title)


def _means(table: pd.DataFrame, names: list[str], *columns: str) -> list[MeanInterval]:
    return [
        number
        for name in names
        for column in columns
        for number in means(
            rows_where(table, design=name), column, f"{DESIGNS[name].about}, {column}:"
        )
    ]


def _claim(words: str, found: list[MeanInterval], limits: tuple[float, float]) -> Claim:
    return Claim(words, judge_between(found, *limits), thresholds=("{:g} to {:g}".format(*limits),))
