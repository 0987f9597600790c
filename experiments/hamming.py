"""Figures 11 and 12: the Hamming margin compared with the unit margin, on the same pairs."""

import pandas as pd

from dcglearn.lab.claims import Claim, judge_all
from dcglearn.lab.plots import BAND, Figure, Plot, curves, describe_C, differences, paneled
from dcglearn.lab.repetitions import display_name, means, rows_where

COLUMNS = ("precision", "similarity", "identifiable", "margin_correlation")

WITHIN = {"precision": (0.0, 1.0), "similarity": (-1.0, 1.0)}
SMALL, LITTLE = 0.01, 0.3
"""A gain below this is not significant; a correlation below this says little."""


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 11 and 12."""
    label = "{truth}, correlation of Hamming distance and difference in DCG:"
    found = means(rows_where(table, margin="hamming"), "margin_correlation", label)
    tested = f"On test pairs Hamming distance and true difference in DCG correlate below {LITTLE}."
    quote = "Hamming distances of rankings say little about their differences in DCG."
    limits = (f"little: a correlation below {LITTLE}",)
    why = Claim(tested, judge_all(found, below=LITTLE), quote, "7, inferred", limits)
    return [_figure(table, "11", "similarity"), _figure(table, "12", "precision", why)]


def _figure(table: pd.DataFrame, number: str, what: str, *more: Claim) -> Figure:
    names = table["truth"].map(display_name) + ", " + table["margin"].replace("hamming", "Hamming")
    table = table.assign(shown=names)
    unit, hamming = (rows_where(table, margin=margin) for margin in ("unit", "hamming"))
    numbers = means(hamming, what, "{truth}, Hamming minus unit, mean over all sizes:", unit)
    for _, rows in hamming.groupby("truth", sort=False):
        at_sizes = means(rows, what, "{truth}, largest gain, at {pairs} pairs:", unit)
        numbers.append(max(at_sizes, key=lambda one: one.mean))
    tested = f"The Hamming margin gains less than {SMALL} of {what}, in the mean and at any size."
    quote = f"The Hamming margin brings no significant gain in {what}."
    limits = (f"significant: {SMALL} or more",)
    claim = Claim(tested, judge_all(numbers, below=SMALL), quote, "7, inferred", limits)
    series = curves(pd.concat([unit, hamming]), "pairs", what, "shown")
    gains = differences(hamming, unit, "pairs", what, "truth")
    plots = (
        Plot("training pairs", what, series, within=WITHIN[what]),
        Plot("training pairs", "Hamming minus unit", gains, {"": 0.0, str(SMALL): SMALL}),
    )
    title = f"{what.capitalize()} with the Hamming margin"
    caption = f"Both margins on the same pairs; {describe_C(table)}. {BAND}"
    return paneled(number, title, plots, [claim, *more], caption)
