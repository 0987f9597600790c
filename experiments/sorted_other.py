"""Figure 10: one list of each pair is optimally ordered, the other holds other documents."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from dcglearn.study.findings import BAND, Figure, Finding, Plot, Series, chosen_C, curves, rising
from dcglearn.study.means import along, at

TESTS = {
    "same": "on pairs like these",
    "drawn": "on unsorted pairs",
    "permutations": "on permutations",
}

COLUMNS = ("precision", "similarity")


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure 10."""
    series: list[Series] = []
    for lists, name in TESTS.items():
        names = {"data-1": f"Data 1, {name}", "data-2": f"Data 2, {name}"}
        series += curves(at(table, test_lists=lists), "pairs", "precision", "truth", names)
    return [
        Figure(
            "10",
            "Precision with an optimal list of other content",
            Plot(
                "training pairs",
                "precision",
                tuple(series),
                log_x=True,
            ),
            "Precision grows slowly with the number of pairs.",
            _grows(table),
            "Trained on pairs of a sorted list and an unsorted one of other grades; tested on "
            "pairs like these, on pairs of two unsorted lists of other grades, and on "
            f"permutations of one list; {chosen_C(table)}. {BAND}",
        )
    ]


def _grows(table: pd.DataFrame) -> Finding:
    numbers = [
        replace(number, label=f"{TESTS[lists]}: {number.label}")
        for lists in table["test_lists"].unique()
        for number in along(at(table, test_lists=lists), "pairs", "precision", "truth").values()
    ]
    return rising(numbers)
