"""Figure 10: one list of each pair is optimally ordered; the other has other documents."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_claim
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curves, describe_C
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
"""The precision that about 200 pairs of permutations reach (figure 1)."""


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure 10."""
    names = {lists: name.capitalize() for lists, name in TESTS.items()}
    first, *more = (
        Plot(
            "training pairs",
            "precision",
            curves(rows, "pairs", "precision", "test_lists", names),
            log_x=True,
            within=SHARE,
            title=display_name(truth),
        )
        for truth, rows in table.groupby("truth", sort=False)
    )
    return [
        Figure(
            "10",
            "Precision with an optimal list of other content",
            first,
            (
                Claim(
                    "Precision grows slowly with the number of pairs: it grows, but on other lists "
                    f"it is still below {QUICK} with the most pairs.",
                    _grows(table),
                    section="6.5",
                ),
            ),
            "Trained on pairs of a sorted list and an unsorted list with other grades. Tested on "
            "pairs like these, on pairs of two unsorted lists with different grades, and on "
            f"permutations of one list. {describe_C(table)}. {BAND}",
            tuple(more),
        )
    ]


def _grows(table: pd.DataFrame) -> Finding:
    most, grows, levels = table["pairs"].max(), [], []
    for lists in (
        "drawn",
        "permutations",
    ):  # on pairs like the training pairs, precision is high from the start
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
