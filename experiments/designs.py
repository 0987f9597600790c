"""Figure C3: coverage where lists, answers and queries are of other kinds."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import BAND, Figure, describe_errors, over_pairs, paneled, panels
from dcglearn.lab.repetitions import means

COLUMNS = (
    "coverage",
    "determined",
    "bounded",
    "width",
    "middle_gain",
    "p:link",
)

LISTS = {"drawn": "uniform grades", "permutations": "permutations"}
LOW, HIGH = 0.93, 0.97


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure C3."""
    kinds = [
        ["ties"] * (ties != "strict") + [f"{clusters} queries"] * bool(clusters)
        for ties, clusters in zip(table["ties"], table["clusters"], strict=True)
    ]
    named = table.assign(
        kind=[", ".join(one).capitalize() or "Independent, no ties" for one in kinds],
        design=[
            ", ".join([LISTS[lists], *one])
            for lists, one in zip(table["lists"], kinds, strict=True)
        ],
    )
    levels = {"0.93": LOW, "0.97": HIGH}
    y_label = "share of 95% intervals that contain the truth"
    shown = named.assign(lists=named["lists"].map(LISTS))
    axes = "judgments", y_label, levels
    plots = panels(shown, "lists", lambda rows: over_pairs(rows, "coverage", "kind", *axes))
    found = means(named, "coverage", "{design}:")
    claim = Claim(
        "In each design 93 to 97% of the intervals contain the truth, in the mean over the numbers "
        "of judgments.",
        judge_between(found, LOW, HIGH),
        thresholds=("right coverage: 93 to 97%",),
    )
    caption = (
        "Only numbers that the judgments determine count: of lists that permute each other, the "
        "gain of the middle grade. Of 100 queries the largest has a tenth of the judgments; each "
        "shows four pairs of lists, which differ in more than grades. Linear gains, discount log2, "
        f"5% of answers at random. {BAND} {describe_errors(found)}"
    )
    return [paneled("C3", "Coverage in other designs", plots, [claim], caption)]
