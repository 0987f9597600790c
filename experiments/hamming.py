"""Figures 11 and 12: the Hamming margin compared with the unit margin, on the same pairs."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_all
from dcglearn.lab.plots import (
    BAND,
    CORRELATION,
    SHARE,
    Figure,
    Plot,
    curves,
    describe_C,
    differences,
)
from dcglearn.lab.repetitions import display_name, means, rows_where

COLUMNS = ("precision", "similarity", "identifiable", "margin_correlation")

SMALL = 0.01
"""A gain below this does not count as significant."""

LITTLE = 0.3
"""A correlation below this says little."""


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 11 and 12."""
    label = "{truth}, correlation of Hamming distance and difference in DCG:"
    correlations = means(rows_where(table, margin="hamming"), "margin_correlation", label)
    why = Claim(
        "On the test pairs, the correlation of the Hamming distance with the true difference in "
        f"DCG is below {LITTLE}.",
        judge_all(correlations, below=LITTLE),
        "Hamming distances of rankings say little about their differences in DCG.",
        "7, inferred",
        (f"little: a correlation below {LITTLE}",),
    )
    return [_figure(table, "11", "similarity"), _figure(table, "12", "precision", why)]


def _figure(table: pd.DataFrame, number: str, what: str, *more: Claim) -> Figure:
    unit, hamming = (rows_where(table, margin=margin) for margin in ("unit", "hamming"))
    names = [
        f"{display_name(truth)}, {margin.replace('ham', 'Ham')}"
        for truth, margin in zip(table["truth"], table["margin"], strict=True)
    ]
    first = table["margin"].eq("unit").sort_values(ascending=False, kind="stable").index
    series = curves(table.assign(shown=names).loc[first], "pairs", what, "shown")
    gains = differences(hamming, unit, "pairs", what, "truth")
    claim = Claim(
        f"With the Hamming margin, {what} is higher by less than {SMALL}, in the mean over all "
        "sizes and at the size of the largest gain.",
        _no_gain(hamming, unit, what),
        f"The Hamming margin brings no significant gain in {what}.",
        "7, inferred",
        (f"significant: {SMALL} or more",),
    )
    return Figure(
        number,
        f"{what.capitalize()} with the Hamming margin",
        Plot(
            "training pairs",
            what,
            series,
            within=SHARE if what == "precision" else CORRELATION,
        ),
        (claim, *more),
        f"Both margins on the same pairs; {describe_C(table)}. {BAND}",
        (Plot("training pairs", "Hamming minus unit", gains, {"": 0.0, str(SMALL): SMALL}),),
    )


def _no_gain(hamming: pd.DataFrame, unit: pd.DataFrame, what: str) -> Finding:
    numbers = []
    for truth in hamming["truth"].unique():
        cells = rows_where(hamming, truth=truth)
        numbers += means(cells, what, "{truth}, Hamming minus unit, mean over all sizes:", unit)
        at_sizes = means(cells, what, "{truth}, largest gain, at {pairs} pairs:", unit)
        numbers.append(max(at_sizes, key=lambda one: one.mean))
    return judge_all(numbers, below=SMALL)
