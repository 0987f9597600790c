"""Figures 11 and 12: the Hamming margin beside the unit margin, on the same pairs."""

from __future__ import annotations

import pandas as pd

from dcglearn.study.findings import BAND, Figure, Finding, Plot, chosen_C, curves, judged
from dcglearn.study.means import at, difference, name_of

COLUMNS = ("precision", "similarity", "identifiable")

SMALL = 0.01
"""A gain below this is not worth naming."""


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 11 and 12."""
    return [_figure(table, "11", "similarity"), _figure(table, "12", "precision")]


def _figure(table: pd.DataFrame, number: str, what: str) -> Figure:
    series = [
        curves(
            at(table, margin=margin),
            "pairs",
            what,
            "truth",
            {"data-1": f"Data 1, {margin} margin", "data-2": f"Data 2, {margin} margin"},
        )
        for margin in ("unit", "hamming")
    ]
    return Figure(
        number,
        f"{what.capitalize()} with the Hamming margin",
        Plot("training pairs", what, (*series[0], *series[1])),
        f"The Hamming margin brings no significant gain in {what}.",
        _no_gain(table, what),
        f"Both margins on the same pairs, {chosen_C(table)}. {BAND}",
    )


def _no_gain(table: pd.DataFrame, what: str) -> Finding:
    numbers = []
    for truth in table["truth"].unique():
        for pairs in (table["pairs"].min(), table["pairs"].max()):
            cells = at(table, truth=truth, pairs=pairs)
            label = f"{name_of(truth)}, Hamming minus unit at {pairs} pairs:"
            both = at(cells, margin="hamming"), at(cells, margin="unit")
            numbers.append(difference(*both, what, label))
    gains = any(number.low > SMALL for number in numbers)
    return judged(numbers, all(number.high < SMALL for number in numbers), gains)
