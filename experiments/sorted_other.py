"""Figures 10 and 10b: one list of each pair is optimally ordered; the other has other documents."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_all, judge_together
from dcglearn.lab.plots import BAND, Figure, describe_C, over_pairs, paneled, panels
from dcglearn.lab.repetitions import MeanInterval, change_over_range, means, rows_where

COLUMNS = ("precision", "similarity")

RESTRICTED = "sorted-against-another"
TESTS = {
    RESTRICTED: "on restricted pairs",
    "drawn": "on unsorted pairs",
    "permutations": "on permutations",
}
TRAINED = {
    RESTRICTED: "Restricted pairs",
    "drawn": "Unsorted lists",
    "permutations": "Permutations (figure 1)",
}

QUICK = 0.95
"""The precision that about 200 pairs of permutations reach (figure 1)."""

AT = 200
"""The number of pairs at which kinds of pairs are compared, the most in the paper."""

EASY = (
    "On pairs like the training pairs precision passes .95 with the most pairs. Such pairs are "
    "easy, because the sorted list is usually better; the paper does not say what it tests on."
)

NOT_EVERYWHERE = (
    "On permutations, at every number of pairs. On pairs like the restricted ones, few restricted "
    "pairs are worth more than as many others."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 10 and 10b, if there are cells of restricted pairs."""
    table = table.assign(tested=table["test_lists"].map(TESTS), trained=table["lists"].map(TRAINED))
    restricted = rows_where(table, lists=RESTRICTED)
    return [_slowly(restricted), _restricted(table)] if len(restricted) else []


def _slowly(table: pd.DataFrame) -> Figure:
    most = table["pairs"].max()
    named = table.assign(tested=table["tested"].str.capitalize())
    axes = "training pairs", "precision", {str(QUICK): QUICK}
    plots = panels(named, "truth", lambda rows: over_pairs(rows, "precision", "tested", *axes))
    at_most, label = rows_where(table, pairs=most), f"{{tested}}: {{truth}}, {most} pairs:"
    alike = means(rows_where(at_most, test_lists=RESTRICTED), "precision", label)
    others = means(at_most[at_most["test_lists"] != RESTRICTED], "precision", label)
    grows = change_over_range(table, "pairs", "precision", "{tested}: {truth}")
    claim = Claim(
        "Precision is higher with the most pairs than with the fewest, and on other lists than the "
        f"training pairs still below {QUICK}.",
        judge_together(
            judge_all(grows, above=0, also=alike),
            judge_all(others, below=QUICK),
            reason=EASY if any(one.low > QUICK for one in alike) else "",
        ),
        "Precision grows slowly with the number of pairs.",
        "6.5",
        (f"slowly: below {QUICK} with {most} pairs",),
        needs_all=True,
    )
    caption = (
        "Trained on restricted pairs: a sorted list and an unsorted list with other grades. Tested "
        "on such pairs, on pairs of two unsorted lists with different grades, and on "
        f"permutations of one list. {describe_C(table)}. {BAND}"
    )
    title = "Precision with an optimal list of other content"
    return paneled("10", title, plots, [claim], caption)


def _restricted(table: pd.DataFrame) -> Figure:
    """Return the figure that compares restricted pairs with others."""
    shown = table.assign(tested="tested " + table["tested"])
    axes = "training pairs", "precision"
    plots = panels(shown, "tested", lambda rows: over_pairs(rows, "precision", "trained", *axes))
    at = table[table["pairs"].isin([table["pairs"].min(), AT])]
    fewer = _behind(rows_where(at, test_lists="permutations"), "permutations")
    alike = _behind(rows_where(at, test_lists=RESTRICTED), "drawn")
    levels = [
        number
        for lists, what in ((RESTRICTED, "restricted pairs"), ("permutations", "permutations"))
        for number in means(
            rows_where(table, lists=lists, test_lists="permutations", pairs=AT),
            "precision",
            f"on permutations, trained on {what}, {AT} pairs:",
        )
    ]
    claim = Claim(
        "Tested on permutations, precision is lower after training on pairs with a sorted list "
        f"than after training on permutations, with the fewest pairs and with {AT}.",
        judge_all(
            fewer,
            below=0,
            also=[*levels, *alike],
            reason=NOT_EVERYWHERE if any(one.low > 0 for one in alike) else "",
        ),
        "Restricted pairs need more pairs for the same precision.",
        "6.5",
    )
    caption = (
        "Means over Data 1 and Data 2. Three kinds of training pairs: restricted ones (a sorted "
        "list and an unsorted one with other grades), two unsorted lists with different grades, "
        f"and permutations of one list. {describe_C(table)}. {BAND}"
    )
    title = "Restricted pairs against others"
    return paneled("10b", title, plots, [claim], caption)


def _behind(table: pd.DataFrame, other: str) -> list[MeanInterval]:
    """Return by how much restricted pairs are ahead of others, both tested alike."""
    words = TRAINED[other].split(" (")[0].lower()
    label = f"{{tested}}, restricted minus {words}, {{pairs}} pairs:"
    one, two = (rows_where(table, lists=lists) for lists in (RESTRICTED, other))
    return means(one, "precision", label, minus=two)
