"""Figures 11 and 12: the Hamming margin beside the unit margin, on the same pairs."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from dcglearn.lab.claims import Finding, finding_of
from dcglearn.lab.plots import BAND, Figure, Plot, chosen_C, curves
from dcglearn.lab.repetitions import Number, at, difference, name_of

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
        f"The Hamming margin brings no significant gain in {what} (of {SMALL} or more).",
        _no_gain(table, what),
        f"Both margins on the same pairs, {chosen_C(table)}. {BAND}",
    )


def _no_gain(table: pd.DataFrame, what: str) -> Finding:
    numbers = []
    for truth in table["truth"].unique():
        cells = at(table, truth=truth)
        gains = {n: _gain(at(cells, pairs=n), what) for n in sorted(cells["pairs"].unique())}
        best = max(gains, key=lambda n: gains[n].mean)
        name = name_of(truth)
        numbers += [
            replace(_gain(cells, what), label=f"{name}, Hamming minus unit, mean over all sizes:"),
            replace(gains[best], label=f"{name}, where it is most, {best} pairs:"),
        ]
    return finding_of(
        numbers, all(n.high < SMALL for n in numbers), any(n.low > SMALL for n in numbers)
    )


def _gain(table: pd.DataFrame, what: str) -> Number:
    return difference(at(table, margin="hamming"), at(table, margin="unit"), what)
