"""Figure 10: one list of each pair is optimally ordered, the other holds other documents."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from dcglearn.lab.claims import Finding, judge_claim
from dcglearn.lab.plots import BAND, Figure, Plot, Series, curves, describe_C
from dcglearn.lab.repetitions import (
    change_over_range,
    display_name,
    mean_over_repetitions,
    rows_where,
)

TESTS = {
    "same": "on pairs like these",
    "drawn": "on unsorted pairs",
    "permutations": "on permutations",
}

COLUMNS = ("precision", "similarity")

QUICK = 0.95
"""What pairs of permutations reach with about 200 (figure 1)."""


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure 10."""
    series: list[Series] = []
    for lists, name in TESTS.items():
        names = {"data-1": f"Data 1, {name}", "data-2": f"Data 2, {name}"}
        series += curves(rows_where(table, test_lists=lists), "pairs", "precision", "truth", names)
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
            "Precision grows slowly with the number of pairs: it grows, and with the most pairs "
            f"is still below {QUICK} on other lists.",
            _grows(table),
            "Trained on pairs of a sorted list and an unsorted one of other grades; tested on "
            "pairs like these, on pairs of two unsorted lists of other grades, and on "
            f"permutations of one list; {describe_C(table)}. {BAND}",
        )
    ]


def _grows(table: pd.DataFrame) -> Finding:
    most, grows, levels = table["pairs"].max(), [], []
    for lists in ("drawn", "permutations"):  # on pairs like these it is high from the start
        cells = rows_where(table, test_lists=lists)
        for truth, number in change_over_range(cells, "pairs", "precision", "truth").items():
            grows.append(replace(number, label=f"{TESTS[lists]}: {number.label}"))
            label = f"{TESTS[lists]}: {display_name(truth)}, {most} pairs:"
            levels.append(
                mean_over_repetitions(
                    rows_where(cells, truth=truth, pairs=most), "precision", label
                )
            )
    holds = all(n.low > 0 for n in grows) and all(n.high < QUICK for n in levels)
    contrary = any(n.high <= 0 for n in grows) or any(n.low >= QUICK for n in levels)
    return judge_claim([*grows, *levels], holds, contrary)
