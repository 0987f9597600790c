"""Figure C10: what is concluded from studies of many kinds, and how often it is right."""

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curves, paneled
from dcglearn.lab.repetitions import MeanInterval, means, rows_where
from dcglearn.lab.setting import STUDY_COLUMNS
from dcglearn.lab.simulation.judges import DESIGNS

COLUMNS = tuple(dict.fromkeys(["coverage", *STUDY_COLUMNS]))

TESTS = ("size:gains", "size:discounts", "size:measure", "size:side")
LARGEST_SIZE, FALSE_STOPS = 0.07, 0.03
NOT_SUMS = ("max", "err")


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure C10, with a panel for each share."""
    numbers = {name: str(number) for number, name in enumerate(DESIGNS, 1)}
    designs = [DESIGNS[name] for name in table["design"]]
    table = table.assign(
        about=[one.about for one in designs],
        number=table["design"].map(numbers),
        judgments=[f"{pairs:,} judgments" for pairs in table["pairs"]],
    )
    sums = table[~table["design"].isin(NOT_SUMS)]
    covered = table[[one.middle_gain is not None for one in designs]]
    allowed = table[[one.allowed for one in designs]]
    most = rows_where(table, pairs=table["pairs"].max())
    rejects, share = "share of studies that reject what is true", "share of studies"
    panels = [
        _panel(sums, "false_stop", rejects, "True gains or discounts rejected", FALSE_STOPS),
        _panel(sums, "size:gains", rejects, "True gains with p < 0.05", LARGEST_SIZE),
        _panel(sums, "size:discounts", rejects, "True discount with p < 0.05", LARGEST_SIZE),
        _panel(covered, "coverage", share, "95% intervals that hold the true gain", 0.95),
        _panel(table, "recommended", share, "A measure is recommended"),
        _panel(table, "no_dcg", share, "Documents are said not to add up"),
    ]
    where = "In designs that the model allows,"
    stops, covers = (_means(allowed, column) for column in ("false_stop", "coverage"))
    sizes = [one for test in TESTS for one in _means(allowed, test)]
    no_sums = _means(most[most["design"].isin(NOT_SUMS)], "no_dcg")
    tested = {
        f"{where} at most 3% of studies reject true gains or discounts.": (stops, 0.0, FALSE_STOPS),
        f"{where} what is true has p < .05 in at most 7% of studies.": (sizes, 0.0, LARGEST_SIZE),
        f"{where} 93 to 97% of the intervals of the middle gain contain it.": (covers, 0.93, 0.97),
        "Where the best document decides, or ERR, at least 80% of the largest studies say that "
        "documents do not add up.": (no_sums, 0.8, 1.0),
    }
    claims = [
        Claim(words, judge_between(found, low, high), thresholds=(f"{low:g} to {high:g}",))
        for words, (found, low, high) in tested.items()
        if found
    ]
    numbered = "; ".join(f"{numbers[name]}: {one.about}" for name, one in DESIGNS.items())
    caption = f"{numbered}. Three grades at five ranks. Rejected: a corrected p below .01. {BAND}"
    return [paneled("C10", "What is concluded from studies of many kinds", panels, claims, caption)]


def _panel(table: pd.DataFrame, column: str, y_label: str, title: str, *levels: float) -> Plot:
    series = curves(table, "number", column, "judgments")
    named = {f"{level:.2f}": level for level in levels}
    return Plot("design", y_label, series, named, points=True, within=SHARE, title=title)


def _means(table: pd.DataFrame, column: str) -> list[MeanInterval]:
    return [one for one in means(table, column, f"{{about}}, {column}:") if one.n]
