"""Figure 9: one list of each pair is the optimal ordering of the same documents."""

from __future__ import annotations

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

FLAT = 0.05
"""A gain in precision below this does not count as growth."""

REASON = (
    "Precision does not grow, but it is above chance. If W = c g', such pairs put no constraint "
    "on the parameters: every decreasing discount orders them correctly. A free monotone W, "
    "however, can violate them: they constrain W[k, l] - W[k, l + 1] to decrease with the rank k."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure 9."""
    return [
        Figure(
            "9",
            "Precision with the optimal ordering of the same list",
            Plot(
                "training pairs",
                "precision on permutations",
                curves(table, "pairs", "precision", "truth"),
                {"Chance": 0.5},
                log_x=True,
                within=SHARE,
            ),
            (
                Claim(
                    f"From the fewest to the most pairs, precision grows by less than {FLAT}.",
                    _flat(table),
                    "Precision does not grow with the number of pairs: such pairs put “no "
                    "constraint” on the parameters.",
                    "6.5",
                    (f"growth: {FLAT} or more",),
                ),
            ),
            f"Trained on pairs of the sorted list and a permutation; {describe_C(table)}. {BAND}",
        )
    ]


def _flat(table: pd.DataFrame) -> Finding:
    changes = list(change_over_range(table, "pairs", "precision", "truth").values())
    levels = [
        mean_over_repetitions(
            rows_where(table, truth=truth),
            "precision",
            f"{display_name(truth)}, mean over all sizes:",
        )
        for truth in table["truth"].unique()
    ]
    flat = all(change.high < FLAT for change in changes)
    grows = any(change.low > FLAT for change in changes)
    above = all(level.low > 0.5 for level in levels)
    return judge_claim([*changes, *levels], flat, grows, REASON if above else "")
