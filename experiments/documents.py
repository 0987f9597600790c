"""Figure 13: rankings of documents without grades."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_claim
from dcglearn.lab.plots import BAND, CORRELATION, SHARE, Figure, Plot, Series, curves, describe_C
from dcglearn.lab.repetitions import (
    change_over_range,
    display_name,
    mean_over_repetitions,
    rows_where,
)

COLUMNS = ("precision", "identifiable", "gains_correlation")

PRECISE = 0.93
"""The precision from which preferences count as learned precisely."""

MOST = 800
"""The number of training pairs at which the claims are judged."""

ALIKE = 0.98
"""The correlation from which learned gains of documents count as their relevance."""

REASON = (
    "The number of pairs needed depends on K, which the paper does not give. With K = 5, the "
    "K x K matrix is learned precisely from 200 pairs. With K = 10, as in the other figures, the "
    "matrix has 100 entries and several times as many pairs are needed."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure 13, and 13b about what W without grades means."""
    return [
        Figure(
            "13",
            "Precision without grades",
            Plot(
                "training pairs",
                "precision",
                _curves(table, "precision"),
                {str(PRECISE): PRECISE},
                log_x=True,
                within=SHARE,
            ),
            (
                Claim(
                    f"Precision grows with the number of pairs, and is {PRECISE} or more at "
                    f"{MOST}.",
                    _precise(table),
                    "Preferences over rankings are learned precisely without grades.",
                    "8",
                    (f"precisely: {PRECISE} or more, with {MOST} pairs",),
                    needs_all=True,
                ),
            ),
            f"A K x K matrix from rankings of K documents; {describe_C(table)}. {BAND}",
        ),
        Figure(
            "13b",
            "Relevance learned without grades",
            Plot(
                "training pairs",
                "correlation with true gains",
                _curves(table, "gains_correlation"),
                {str(ALIKE): ALIKE},
                log_x=True,
                within=CORRELATION,
            ),
            (
                Claim(
                    "The gains of documents, from the rank-1 part of W, have a correlation above "
                    f"{ALIKE} with the gains of their grades at {MOST} pairs.",
                    _relevant(table),
                    "Without grades, W says how relevant each document is.",
                    "8",
                    (f"says how relevant: correlation above {ALIKE}, with {MOST} pairs",),
                    needs_all=True,
                ),
            ),
            "The grades are not used to learn W; the gains of the K documents are compared with "
            f"those that the true measure gives to their grades. {describe_C(table)}. {BAND}",
        ),
    ]


def _curves(table: pd.DataFrame, what: str) -> tuple[Series, ...]:
    series: list[Series] = []
    for base in table["base"].unique():
        K = len(base.split())
        names = {"data-1": f"Data 1, K = {K}", "data-2": f"Data 2, K = {K}"}
        series += curves(rows_where(table, base=base), "pairs", what, "truth", names)
    return tuple(series)


def _relevant(table: pd.DataFrame) -> Finding:
    numbers = [
        mean_over_repetitions(
            rows_where(table, base=base, truth=truth, pairs=n),
            "gains_correlation",
            f"{display_name(truth)}, K = {len(base.split())}, {n} pairs:",
        )
        for n in (200, MOST)
        for base in table["base"].unique()
        for truth in table["truth"].unique()
    ]
    at_most = numbers[len(numbers) // 2 :]
    alike = all(n.low > ALIKE for n in at_most)
    return judge_claim(numbers, alike, any(n.high < ALIKE for n in at_most))


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
