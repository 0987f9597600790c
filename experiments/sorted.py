"""Figures 9 and 10: one list of each pair is optimally ordered."""

import pandas as pd

from dcglearn.lab.claims import Claim, judge_all, judge_together
from dcglearn.lab.plots import BAND, Figure, describe_C, over_pairs, paneled, panels
from dcglearn.lab.repetitions import MeanInterval, change_over_range, means, rows_where

COLUMNS = ("precision", "similarity", "identifiable")

SAME, OTHER = "sorted-against-shuffled", "sorted-against-another"
TESTS = {OTHER: "Tested on restricted pairs", "drawn": "Tested on unsorted pairs"}
TRAINED = {OTHER: "Restricted pairs", "drawn": "Unsorted lists"}
KINDS = "Restricted: a sorted list and another. Unsorted: two lists. Permutations: two of one list."

FLAT = 0.05
"""A gain in precision below this does not count as growth."""

QUICK, AT = 0.95, 200
"""The precision that about 200 pairs of permutations reach (figure 1), the most in the paper."""

NO_GROWTH = (
    "Precision does not grow with the number of pairs: such pairs put “no constraint” on the "
    "parameters."
)
NO_CONSTRAINT = (
    "Yet it is above chance. Such pairs put no constraint on c and g: every decreasing discount "
    "orders them correctly. They do constrain a free W: W[k, l] - W[k, l + 1] falls with rank k."
)
EASY = (
    f"On pairs like the training pairs precision passes {QUICK}: there, the sorted list is usually "
    "better. The paper does not say what it tests on."
)
NOT_EVERYWHERE = "Tested on restricted pairs, few of these are worth more than as many others."


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
    tested = f"From the fewest to the most pairs, precision grows by less than {FLAT}."
    found = judge_all(changes, below=FLAT, also=levels, reason=reason)
    claim = Claim(tested, found, NO_GROWTH, "6.5", (f"growth: {FLAT} or more",))
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
    both = judge_all(grows, above=0, also=alike), judge_all(others, below=QUICK)
    reason = EASY if any(one.low > QUICK for one in alike) else ""
    tested = f"Precision grows, and is still below {QUICK} on other lists than those of training."
    quote = "Precision grows slowly with the number of pairs."
    limits = (f"slowly: below {QUICK} with {most} pairs",)
    found = judge_together(*both, reason=reason)
    claim = Claim(tested, found, quote, "6.5", limits, needs_all=True)
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
        f"Tested on permutations, precision is lower with the fewest, and with {AT}, restricted "
        "pairs than with as many permutations.",
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
    label = f"{{tested}}: restricted minus {TRAINED.get(other, other).lower()}, {{pairs}} pairs:"
    return means(one, "precision", label, minus=two)
