"""Figures 11 and 12: the Hamming margin compared with the unit margin, on the same pairs."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_claim
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
from dcglearn.lab.repetitions import (
    MeanInterval,
    display_name,
    mean_over_repetitions,
    paired_difference,
    rows_where,
)

MARGINS = {"unit": "unit", "hamming": "Hamming"}

COLUMNS = ("precision", "similarity", "identifiable", "margin_correlation")

SMALL = 0.01
"""A gain below this does not count as significant."""

LITTLE = 0.3
"""A correlation below this says little."""


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 11 and 12."""
    why = Claim(
        "On the test pairs, the correlation of the Hamming distance with the true difference in "
        f"DCG is below {LITTLE}.",
        _correlation(table),
        "Hamming distances of rankings say little about their differences in DCG.",
        "7, inferred",
        (f"little: a correlation below {LITTLE}",),
    )
    return [_figure(table, "11", "similarity"), _figure(table, "12", "precision", why)]


def _correlation(table: pd.DataFrame) -> Finding:
    cells = rows_where(table, margin="hamming")
    numbers = [
        mean_over_repetitions(
            rows_where(cells, truth=truth),
            "margin_correlation",
            f"{display_name(truth)}, correlation of Hamming distance and difference in DCG:",
        )
        for truth in table["truth"].unique()
    ]
    little = all(n.high < LITTLE for n in numbers)
    return judge_claim(numbers, little, any(n.low > LITTLE for n in numbers))


def _figure(table: pd.DataFrame, number: str, what: str, *more: Claim) -> Figure:
    series = [
        curves(
            rows_where(table, margin=margin),
            "pairs",
            what,
            "truth",
            {"data-1": f"Data 1, {name}", "data-2": f"Data 2, {name}"},
        )
        for margin, name in MARGINS.items()
    ]
    unit, hamming = (rows_where(table, margin=margin) for margin in MARGINS)
    gains = differences(hamming, unit, "pairs", what, "truth")
    return Figure(
        number,
        f"{what.capitalize()} with the Hamming margin",
        Plot(
            "training pairs",
            what,
            (*series[0], *series[1]),
            within=SHARE if what == "precision" else CORRELATION,
        ),
        (
            Claim(
                f"With the Hamming margin, {what} is higher by less than {SMALL}, in the mean over "
                "all sizes and at the size of the largest gain.",
                _no_gain(table, what),
                f"The Hamming margin brings no significant gain in {what}.",
                "7, inferred",
                (f"significant: {SMALL} or more",),
            ),
            *more,
        ),
        f"Both margins on the same pairs; {describe_C(table)}. {BAND}",
        (Plot("training pairs", "Hamming minus unit", gains, {"": 0.0, str(SMALL): SMALL}),),
    )


def _no_gain(table: pd.DataFrame, what: str) -> Finding:
    numbers = []
    for truth in table["truth"].unique():
        cells = rows_where(table, truth=truth)
        gains = {
            n: _gain(rows_where(cells, pairs=n), what) for n in sorted(cells["pairs"].unique())
        }
        best = max(gains, key=lambda n: gains[n].mean)
        name = display_name(truth)
        numbers += [
            replace(_gain(cells, what), label=f"{name}, Hamming minus unit, mean over all sizes:"),
            replace(gains[best], label=f"{name}, largest gain, at {best} pairs:"),
        ]
    return judge_claim(
        numbers, all(n.high < SMALL for n in numbers), any(n.low > SMALL for n in numbers)
    )


def _gain(table: pd.DataFrame, what: str) -> MeanInterval:
    return paired_difference(
        rows_where(table, margin="hamming"), rows_where(table, margin="unit"), what
    )
