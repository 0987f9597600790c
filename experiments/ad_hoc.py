"""A learned measure compared with the usual presets, on the same simulated judgments.

After how many judgments is the learned measure better than a preset that is not the truth, and how
much worse is it than a preset that is? C is chosen on the same judgments or on more of them.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_all
from dcglearn.lab.plots import BAND, Figure, curve, level, over_pairs
from dcglearn.lab.repetitions import MeanInterval, common_value, means, rows_where

AGAINST = (
    "linear-log2",
    "exponential-log2",
    "jk:2",
    "zipf",
    "linear-discount:10",
    "constant",
    "rbp:0.8",
    "binary:5",
)

COLUMNS = ("precision", *(f"precision:{name}" for name in AGAINST), "chosen_C")

TITLES = {"data-1": "Data 1 (linear-log2)", "data-2": "Data 2 (exponential-log2)"}
OTHER = "a truth like no preset"

RIGHT = 0.999
"""A preset with at least this precision counts as the truth itself."""

PROGRAM, USUAL = "qp", "usual"
"""The learners: W of the quadratic program, and the DCG that starts from the usual measures."""

OWN, MORE = "cv", "validation"
"""How C is chosen: on the judgments themselves, or on more judgments, without errors."""

CHOSEN = {OWN: "Learned W", MORE: "Learned W, C from more judgments"}

SHOWN = (100, 200)
"""Numbers of judgments at which the lead over the best other preset is given."""


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return one figure per truth, once it has cells whose C is chosen on the judgments."""
    return [
        _figure(rows_where(table, truth=truth), f"A{number}", TITLES.get(truth, OTHER))
        for number, truth in enumerate(table["truth"].unique(), 1)
        if len(rows_where(table, truth=truth, C=OWN, learner=PROGRAM))
    ]


def _figure(table: pd.DataFrame, number: str, truth: str) -> Figure:
    program = rows_where(table, learner=PROGRAM)
    usual = rows_where(table, learner=USUAL).drop_duplicates(["pairs", "repetition"])  # has no C
    named = program.assign(C=program["C"].map(CHOSEN))
    x_label = f"judgments, {table['reliability'].iloc[0]:.0%} of them right"
    plot = over_pairs(named, "precision", "C", x_label, "precision on exact pairs")
    started = [curve(usual, "pairs", "precision", "From the usual measures")] * bool(len(usual))
    presets = (level(table, f"precision:{name}", name) for name in AGAINST)
    claim = Claim(
        f"{truth[:1].upper()}{truth[1:]}: with enough judgments, a learned measure orders lists "
        "better than every preset that is not the truth. C is chosen on the same judgments.",
        _finding(program, usual),
        thresholds=(f"a preset is the truth: precision of {RIGHT} or more",),
        needs_all=True,
    )
    caption = (
        f"Independent uniform grades at {common_value(table, 'ranks')} ranks. C chosen by five "
        "folds of the judgments themselves or, not counted on the axis, on "
        f"{common_value(table, 'validation_pairs')} more judgments without errors. {BAND}"
    )
    plot = replace(plot, series=(*plot.series, *started, *presets))
    return Figure(number, f"Learned against ad hoc: {truth}", plot, (claim,), caption)


def _finding(table: pd.DataFrame, usual: pd.DataFrame) -> Finding:
    own, more = rows_where(table, C=OWN), rows_where(table, C=MORE)
    sizes = sorted(own["pairs"].unique())
    ends, shown = [sizes[0], sizes[-1]], [n for n in SHOWN if n in sizes]
    most = rows_where(own, pairs=sizes[-1])
    precise = {name: most[f"precision:{name}"].mean() for name in AGAINST}
    ranked = sorted(AGAINST, key=lambda name: -precise[name])
    wrong = [name for name in ranked if precise[name] < RIGHT]
    right = [name for name in AGAINST if name not in wrong]
    label = "C chosen on more judgments minus on these, at {pairs:,} judgments:"
    gained = means(_at(more, [*ends, *shown]), "precision", label, minus=own.drop(columns="C"))
    label = "from the usual measures minus learned W at {pairs:,} judgments:"
    started = means(usual, "precision", label, minus=own)
    finding = judge_all(
        [number for name in wrong for number in _ahead(most, name)],
        above=0,
        also=[
            *_ahead(_at(own, shown), wrong[0]),
            *(number for name in right for number in _ahead(_at(own, ends), name)),
            *gained,
            *started,
        ],
    )
    since = "; ".join(
        f"{words}: " + ", ".join(f"{_from(rows, name, sizes)} ({name})" for name in wrong)
        for words, rows in (("with C chosen on them", own), ("on more judgments", more))
    )
    reason = (
        "The number of judgments from which the learned measure is better than a preset, with the "
        f"whole interval above 0, {since}."
    )
    return replace(finding, reason=reason)


def _at(table: pd.DataFrame, sizes: list[int]) -> pd.DataFrame:
    return table[table["pairs"].isin(sizes)]


def _ahead(table: pd.DataFrame, name: str) -> list[MeanInterval]:
    preset = table.assign(precision=table[f"precision:{name}"])
    label = f"learned minus {name} at {{pairs:,}} judgments:"
    return means(table, "precision", label, minus=preset)


def _from(table: pd.DataFrame, name: str, sizes: list[int]) -> str:
    """Return the number of judgments from which the learned measure beats a preset."""
    since = None
    for size in reversed(sizes):  # it must be ahead at all larger sizes too
        if judge_all(_ahead(_at(table, [size]), name), above=0).verdict != "holds":
            break
        since = size
    return f"{since:,}" if since else f"more than {sizes[-1]:,}"
