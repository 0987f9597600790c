"""Figure 9: one list of each pair is the optimal ordering of the same documents."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_all
from dcglearn.lab.plots import BAND, Figure, describe_C, over_pairs
from dcglearn.lab.repetitions import change_over_range, means

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
    changes = change_over_range(table, "pairs", "precision")
    levels = means(table, "precision", "{truth}, mean over all sizes:")
    reason = REASON if all(level.low > 0.5 for level in levels) else ""
    claim = Claim(
        f"From the fewest to the most pairs, precision grows by less than {FLAT}.",
        judge_all(changes, below=FLAT, also=levels, reason=reason),
        "Precision does not grow with the number of pairs: such pairs put “no constraint” on the "
        "parameters.",
        "6.5",
        (f"growth: {FLAT} or more",),
    )
    y_label = "precision on permutations"
    plot = over_pairs(table, "precision", "truth", "training pairs", y_label, {"Chance": 0.5})
    caption = f"Trained on pairs of the sorted list and a permutation; {describe_C(table)}. {BAND}"
    title = "Precision with the optimal ordering of the same list"
    return [Figure("9", title, plot, (claim,), caption)]
