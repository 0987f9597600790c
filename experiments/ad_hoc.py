"""Figures A1 to A3: a learned measure compared with the usual presets, on the same judgments.

After how many judgments is the learned measure better than a preset that is not the truth, and how
much worse is it than a preset that is? C is chosen on the same judgments or on more of them.
"""

from dataclasses import replace
from itertools import takewhile

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_all
from dcglearn.lab.plots import BAND, Figure, level, over_pairs
from dcglearn.lab.repetitions import MeanInterval, common_value, means, rows_where

COLUMNS = ("precision", "precision:PRESET", "chosen_C")

TITLES = {"data-1": "Data 1 (linear-log2)", "data-2": "Data 2 (exponential-log2)"}
OTHER = "a truth like no preset"
CHOSEN = {"cv": "Learned W", "validation": "Learned W, C from more judgments"}

RIGHT = 0.999
"""A preset with at least this precision counts as the truth itself."""

SHOWN = (100, 200)
"""Numbers of judgments at which the lead over the best other preset is given."""


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return one figure per truth, once it has cells whose C is chosen on the judgments."""
    return [
        _figure(rows_where(table, truth=truth), f"A{number}", TITLES.get(truth, OTHER))
        for number, truth in enumerate(table["truth"].unique(), 1)
        if len(rows_where(table, truth=truth, C="cv", learner="qp"))
    ]


def _figure(table: pd.DataFrame, number: str, truth: str) -> Figure:
    against = table["against"].iloc[0].split()
    leads = {f"lead:{name}": table["precision"] - table[f"precision:{name}"] for name in against}
    shown = table["C"].map(CHOSEN).where(table["learner"] == "qp", "From the usual measures")
    table = table.assign(shown=shown, **leads)
    x_label = f"judgments, {table['reliability'].iloc[0]:.0%} of them right"
    plot = over_pairs(table, "precision", "shown", x_label, "precision on exact pairs")
    presets = (level(table, f"precision:{name}", name) for name in against)
    claim = Claim(
        f"{truth[:1].upper()}{truth[1:]}: with enough judgments, a learned measure orders lists "
        "better than every preset that is not the truth. C is chosen on the same judgments.",
        _finding(table, against),
        thresholds=(f"a preset is the truth: precision of {RIGHT} or more",),
        needs_all=True,
    )
    caption = (
        f"Independent uniform grades at {common_value(table, 'ranks')} ranks. C chosen by five "
        f"folds of the judgments, or on {common_value(table, 'validation_pairs')} more without "
        f"errors (not on the axis). {BAND}"
    )
    plot = replace(plot, series=(*plot.series, *presets))
    return Figure(number, f"Learned against ad hoc: {truth}", plot, (claim,), caption)


def _finding(table: pd.DataFrame, against: list[str]) -> Finding:
    own, more = (rows_where(table, learner="qp", C=chosen) for chosen in CHOSEN)
    few, many = own["pairs"].min(), own["pairs"].max()
    most, extremes = rows_where(own, pairs=many), own[own["pairs"].isin([few, many])]
    precise = {name: most[f"precision:{name}"].mean() for name in against}
    right = [name for name in against if precise[name] >= RIGHT]
    wrong = sorted({*against} - {*right}, key=lambda name: -precise[name])
    at = more[more["pairs"].isin([few, *SHOWN, many])]
    label = "C chosen on more judgments minus on these, at {pairs:,} judgments:"
    also = [
        *_ahead(own[own["pairs"].isin(SHOWN)], wrong[0]),
        *(number for name in right for number in _ahead(extremes, name)),
        *means(at, "precision", label, minus=own),
    ]
    label = "from the usual measures minus learned W at {pairs:,} judgments:"
    also += means(rows_where(table, learner="usual"), "precision", label, minus=own)
    since = "; ".join(
        f"{words}: " + ", ".join(f"{_since(rows, name, many)} ({name})" for name in wrong)
        for words, rows in (("with C chosen on them", own), ("on more judgments", more))
    )
    reason = f"Judgments from which the whole interval of the lead is above 0, {since}."
    ahead = [number for name in wrong for number in _ahead(most, name)]
    return replace(judge_all(ahead, above=0, also=also), reason=reason)


def _ahead(table: pd.DataFrame, name: str) -> list[MeanInterval]:
    return means(table, f"lead:{name}", f"learned minus {name} at {{pairs:,}} judgments:")


def _since(table: pd.DataFrame, name: str, most: int) -> str:
    """Return the number of judgments from which on the learned measure beats a preset."""
    table = table.sort_values("pairs", ascending=False, kind="stable")
    ahead = zip(table["pairs"].unique(), _ahead(table, name), strict=True)
    sizes = [size for size, _ in takewhile(lambda one: one[1].low > 0, ahead)]
    return f"{sizes[-1]:,}" if sizes else f"more than {most:,}"
