"""Figures 9 and 10: one list of each pair is optimally ordered."""

import pandas as pd

from dcglearn.lab.claims import Claim, judge_all, judge_together
from dcglearn.lab.plots import BAND, Figure, describe_C, over_pairs, paneled, panels
from dcglearn.lab.repetitions import MeanInterval, change_over_range, means, rows_where

COLUMNS = ("precision", "similarity", "identifiable")

SAME, OTHER = "sorted-against-shuffled", "sorted-against-another"
TESTS = {OTHER: "Tested on restricted pairs", "drawn": "Tested on unsorted pairs"}
TRAINED = {OTHER: "Restricted pairs", "drawn": "Unsorted lists"}
KINDS = (
    "Restricted pairs: a sorted list and an unsorted list with other grades. Unsorted pairs: two "
    "unsorted lists with different grades. Permutations: two of one list."
)

FLAT = 0.05
"""A gain in precision below this does not count as growth."""

QUICK, AT = 0.95, 200
"""The precision that about 200 pairs of permutations reach (figure 1), the most in the paper."""

NO_CONSTRAINT = (
    "Precision does not grow, but it is above chance. If W = c g', such pairs put no constraint "
    "on the parameters: every decreasing discount orders them correctly. A free monotone W, "
    "however, can violate them: they constrain W[k, l] - W[k, l + 1] to decrease with the rank k."
)
EASY = (
    "On pairs like the training pairs precision passes .95 with the most pairs. Such pairs are "
    "easy, because the sorted list is usually better; the paper does not say what it tests on."
)
NOT_EVERYWHERE = (
    "On permutations, at every number of pairs. On pairs like the restricted ones, few restricted "
    "pairs are worth more than as many others."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure 9 of lists of the same documents, or 10 and 10b of others."""
    if len(rows_where(table, lists=SAME)):
        return [_same(table)]
    table = table.assign(
        tested=table["test_lists"].map(TESTS).fillna("Tested on permutations"),
        trained=table["lists"].map(TRAINED).fillna("Permutations (figure 1)"),
    )
    restricted = rows_where(table, lists=OTHER)
    return [_slowly(restricted), _restricted(table)] if len(restricted) else []


def _same(table: pd.DataFrame) -> Figure:
    levels = means(table, "precision", "{truth}, mean over all sizes:")
    reason = NO_CONSTRAINT if all(level.low > 0.5 for level in levels) else ""
    changes = change_over_range(table, "pairs", "precision")
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
    return Figure("9", title, plot, (claim,), caption)


def _slowly(table: pd.DataFrame) -> Figure:
    axes = "precision", "tested", "training pairs", "precision", {str(QUICK): QUICK}
    most = table["pairs"].max()
    at_most, label = rows_where(table, pairs=most), f"{{tested}}: {{truth}}, {most} pairs:"
    alike = means(rows_where(at_most, test_lists=OTHER), "precision", label)
    others = means(at_most[at_most["test_lists"] != OTHER], "precision", label)
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
    caption = f"Trained on restricted pairs. {KINDS} {describe_C(table)}. {BAND}"
    title = "Precision with an optimal list of other content"
    return paneled("10", title, panels(table, "truth", over_pairs, *axes), [claim], caption)


def _restricted(table: pd.DataFrame) -> Figure:
    """Return the figure that compares restricted pairs with others."""
    axes = "precision", "trained", "training pairs", "precision"
    at = table[table["pairs"].isin([table["pairs"].min(), AT])]
    fewer, alike = _behind(at, "permutations", "permutations"), _behind(at, OTHER, "drawn")
    named = rows_where(table, test_lists="permutations", pairs=AT)
    named = named[named["lists"].isin([OTHER, "permutations"])]
    levels = means(named, "precision", "{tested}, training: {trained}, {pairs} pairs:")
    reason = NOT_EVERYWHERE if any(one.low > 0 for one in alike) else ""
    claim = Claim(
        "Tested on permutations, precision is lower after training on pairs with a sorted list "
        f"than after training on permutations, with the fewest pairs and with {AT}.",
        judge_all(fewer, below=0, also=[*levels, *alike], reason=reason),
        "Restricted pairs need more pairs for the same precision.",
        "6.5",
    )
    caption = f"Means over Data 1 and Data 2. {KINDS} {describe_C(table)}. {BAND}"
    plots = panels(table, "tested", over_pairs, *axes)
    return paneled("10b", "Restricted pairs against others", plots, [claim], caption)


def _behind(table: pd.DataFrame, tested: str, other: str) -> list[MeanInterval]:
    """Return by how much restricted pairs are ahead of others, both tested alike."""
    one, two = (rows_where(table, test_lists=tested, lists=lists) for lists in (OTHER, other))
    words = "permutations" if other == "permutations" else TRAINED[other].lower()
    label = f"{{tested}}: restricted minus {words}, {{pairs}} pairs:"
    return means(one, "precision", label, minus=two)
