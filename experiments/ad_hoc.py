"""A learned measure compared with the usual presets, on the same simulated judgments.

After how many judgments is the learned measure better than a preset that is not the truth, and how
much worse is it than a preset that is? C is chosen on the same judgments or on more of them.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_above_zero
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curve, curves, level
from dcglearn.lab.repetitions import (
    MeanInterval,
    common_value,
    paired_difference,
    rows_where,
)

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
    presets = (level(table, f"precision:{name}", name) for name in AGAINST)
    program, usual = rows_where(table, learner=PROGRAM), _usual(table)
    started = (curve(usual, "pairs", "precision", "From the usual measures"),) if len(usual) else ()
    return Figure(
        number,
        f"Learned against ad hoc: {truth}",
        Plot(
            f"judgments, {table['reliability'].iloc[0]:.0%} of them right",
            "precision on exact pairs",
            (*curves(program, "pairs", "precision", "C", CHOSEN), *started, *presets),
            log_x=True,
            within=SHARE,
        ),
        (
            Claim(
                f"{truth[:1].upper()}{truth[1:]}: with enough judgments, a learned measure orders "
                "lists better than every preset that is not the truth. C is chosen on the same "
                "judgments.",
                _finding(program, usual),
                thresholds=(f"a preset is the truth: precision of {RIGHT} or more",),
                needs_all=True,
            ),
        ),
        f"Independent uniform grades at {common_value(table, 'ranks')} ranks. C chosen by five "
        "folds of the judgments themselves or, not counted on the axis, on "
        f"{common_value(table, 'validation_pairs')} more judgments without errors. {BAND}",
    )


def _usual(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the learner without a C, once each."""
    usual = rows_where(table, learner=USUAL)
    return usual.drop_duplicates(["pairs", "repetition"])


def _finding(table: pd.DataFrame, usual: pd.DataFrame) -> Finding:
    own = rows_where(table, C=OWN)
    sizes = sorted(own["pairs"].unique())
    most = rows_where(own, pairs=sizes[-1])
    means = {name: most[f"precision:{name}"].mean() for name in AGAINST}
    right = [name for name in AGAINST if means[name] >= RIGHT]
    wrong = sorted((n for n in AGAINST if n not in right), key=lambda n: -means[n])
    ahead = [_ahead(most, name, sizes[-1]) for name in wrong]
    others = [_ahead(rows_where(own, pairs=n), wrong[0], n) for n in SHOWN if n in sizes]
    others += [
        _ahead(rows_where(own, pairs=n), name, n) for name in right for n in (sizes[0], sizes[-1])
    ]
    started = [
        paired_difference(
            rows_where(usual, pairs=n),
            rows_where(own, pairs=n),
            "precision",
            f"from the usual measures minus learned W at {n:,} judgments:",
        )
        for n in sizes
        if len(rows_where(usual, pairs=n))
    ]
    finding = judge_above_zero(ahead, also=[*others, *_gains_by_more(table), *started])
    since = "; ".join(
        f"{words}: " + ", ".join(f"{_from(rows, name, sizes)} ({name})" for name in wrong)
        for words, rows in (
            ("with C chosen on them", own),
            ("on more judgments", rows_where(table, C=MORE)),
        )
    )
    reason = (
        "The number of judgments from which the learned measure is better than a preset, with the "
        f"whole interval above 0, {since}."
    )
    return replace(finding, reason=reason)


def _gains_by_more(table: pd.DataFrame) -> list[MeanInterval]:
    """Return what choosing C on more judgments gains in precision."""
    sizes = sorted(table["pairs"].unique())
    return [
        paired_difference(
            rows_where(table, C=MORE, pairs=n),
            rows_where(table, C=OWN, pairs=n),
            "precision",
            f"C chosen on more judgments minus on these, at {n:,} judgments:",
        )
        for n in (sizes[0], *(n for n in SHOWN if n in sizes), sizes[-1])
    ]


def _ahead(table: pd.DataFrame, name: str, size: int) -> MeanInterval:
    preset = table.assign(precision=table[f"precision:{name}"])
    return paired_difference(
        table, preset, "precision", f"learned minus {name} at {size:,} judgments:"
    )


def _from(table: pd.DataFrame, name: str, sizes: list[int]) -> str:
    """Return the number of judgments from which the learned measure beats a preset."""
    since = None
    for size in reversed(sizes):  # it must be ahead at all larger sizes too
        if not _ahead(rows_where(table, pairs=size), name, size).low > 0:
            break
        since = size
    return f"{since:,}" if since else f"more than {sizes[-1]:,}"
