"""Figure 13: rankings of documents without grades."""

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

COLUMNS = ("precision", "identifiable")

PRECISE = 0.93
"""The precision from which preferences count as learned precisely."""

MOST = 800
"""The number of training pairs at which the claim is judged."""

REASON = (
    "The number of pairs needed depends on K, which the paper does not give. With K = 5, the "
    "K x K matrix is learned precisely from 200 pairs. With K = 10, as in the other figures, the "
    "matrix has 100 entries and several times as many pairs are needed."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure 13."""
    series = []
    for base in table["base"].unique():
        K = len(base.split())
        names = {"data-1": f"Data 1, K = {K}", "data-2": f"Data 2, K = {K}"}
        series += curves(rows_where(table, base=base), "pairs", "precision", "truth", names)
    return [
        Figure(
            "13",
            "Precision without grades",
            Plot(
                "training pairs",
                "precision",
                tuple(series),
                {"95%": 0.95},
                log_x=True,
                within=SHARE,
            ),
            (
                Claim(
                    "Preferences over rankings are learned precisely without grades (from "
                    f"{MOST} pairs, with a precision of {PRECISE} or more).",
                    _precise(table),
                    section="8",
                    needs_all=True,
                ),
            ),
            f"A K x K matrix from rankings of K documents; {describe_C(table)}. {BAND}",
        )
    ]


def _precise(table: pd.DataFrame) -> Finding:
    at_200, at_most, grows = [], [], []
    for base in table["base"].unique():
        K = len(base.split())
        for truth in table["truth"].unique():
            cells = rows_where(table, base=base, truth=truth)
            for found, n in ((at_200, 200), (at_most, MOST)):
                label = f"{display_name(truth)}, K = {K}, {n} pairs:"
                found.append(mean_over_repetitions(rows_where(cells, pairs=n), "precision", label))
        changes = change_over_range(
            rows_where(table, base=base), "pairs", "precision", "truth"
        ).values()
        grows += [replace(number, label=f"K = {K}, {number.label}") for number in changes]
    early = all(number.low >= PRECISE for number in at_200)
    holds = all(number.low >= PRECISE for number in at_most) and all(n.low > 0 for n in grows)
    contrary = any(n.high < PRECISE for n in at_most) or any(n.high <= 0 for n in grows)
    return judge_claim([*at_200, *at_most, *grows], holds, contrary, "" if early else REASON)
