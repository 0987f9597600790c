"""Figures 10 and 10b: one list of each pair is optimally ordered; the other has other documents."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_claim
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curves, describe_C
from dcglearn.lab.repetitions import (
    MeanInterval,
    change_over_range,
    display_name,
    mean_over_repetitions,
    paired_difference,
    rows_where,
)

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

COLUMNS = ("precision", "similarity")

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
    restricted = rows_where(table, lists=RESTRICTED)
    return [_slowly(restricted), _restricted(table)] if len(restricted) else []


def _slowly(table: pd.DataFrame) -> Figure:
    names = {lists: name.capitalize() for lists, name in TESTS.items()}
    first, *more = (
        Plot(
            "training pairs",
            "precision",
            curves(rows, "pairs", "precision", "test_lists", names),
            {str(QUICK): QUICK},
            log_x=True,
            within=SHARE,
            title=display_name(truth),
        )
        for truth, rows in table.groupby("truth", sort=False)
    )
    return Figure(
        "10",
        "Precision with an optimal list of other content",
        first,
        (
            Claim(
                "Precision is higher with the most pairs than with the fewest, and on other lists "
                f"than the training pairs still below {QUICK}.",
                _grows(table),
                "Precision grows slowly with the number of pairs.",
                "6.5",
                (f"slowly: below {QUICK} with {table['pairs'].max()} pairs",),
                needs_all=True,
            ),
        ),
        "Trained on restricted pairs: a sorted list and an unsorted list with other grades. Tested "
        "on such pairs, on pairs of two unsorted lists with different grades, and on "
        f"permutations of one list. {describe_C(table)}. {BAND}",
        tuple(more),
    )


def _grows(table: pd.DataFrame) -> Finding:
    most, grows, levels = table["pairs"].max(), [], {}
    for lists, name in TESTS.items():
        cells = rows_where(table, test_lists=lists)
        for truth, number in change_over_range(cells, "pairs", "precision", "truth").items():
            grows.append(replace(number, label=f"{name}: {number.label}"))
            label = f"{name}: {display_name(truth)}, {most} pairs:"
            at_most = rows_where(cells, truth=truth, pairs=most)
            levels[lists, truth] = mean_over_repetitions(at_most, "precision", label)
    alike = [n for (lists, _), n in levels.items() if lists == RESTRICTED]
    others = [n for (lists, _), n in levels.items() if lists != RESTRICTED]
    holds = all(n.low > 0 for n in grows) and all(n.high < QUICK for n in others)
    contrary = any(n.high <= 0 for n in grows) or any(n.low >= QUICK for n in others)
    reason = EASY if any(n.low > QUICK for n in alike) else ""
    return judge_claim([*grows, *alike, *others], holds, contrary, reason)


def _restricted(table: pd.DataFrame) -> Figure:
    """Return the figure that compares restricted pairs with others."""
    first, *more = (
        Plot(
            "training pairs",
            "precision",
            curves(rows_where(table, test_lists=lists), "pairs", "precision", "lists", TRAINED),
            log_x=True,
            within=SHARE,
            title=f"tested {name}",
        )
        for lists, name in TESTS.items()
        if lists in set(table["test_lists"])
    )
    return Figure(
        "10b",
        "Restricted pairs against others",
        first,
        (
            Claim(
                "Tested on permutations, precision is lower after training on pairs with a sorted "
                f"list than after training on permutations, with the fewest pairs and with {AT}.",
                _needs_more(table),
                "Restricted pairs need more pairs for the same precision.",
                "6.5",
            ),
        ),
        "Means over Data 1 and Data 2. Three kinds of training pairs: restricted ones (a sorted "
        "list and an unsorted one with other grades), two unsorted lists with different grades, "
        f"and permutations of one list. {describe_C(table)}. {BAND}",
        tuple(more),
    )


def _needs_more(table: pd.DataFrame) -> Finding:
    sizes = (table["pairs"].min(), AT)
    fewer = [_behind(table, "permutations", "permutations", n) for n in sizes]
    alike = [_behind(table, RESTRICTED, "drawn", n) for n in sizes]
    levels = [
        mean_over_repetitions(
            rows_where(table, lists=lists, test_lists="permutations", pairs=AT),
            "precision",
            f"on permutations, trained on {what}, {AT} pairs:",
        )
        for lists, what in ((RESTRICTED, "restricted pairs"), ("permutations", "permutations"))
    ]
    holds = all(n.high < 0 for n in fewer)
    reason = NOT_EVERYWHERE if any(n.low > 0 for n in alike) else ""
    return judge_claim([*fewer, *levels, *alike], holds, any(n.low > 0 for n in fewer), reason)


def _behind(table: pd.DataFrame, test_lists: str, other: str, pairs: int) -> MeanInterval:
    """Return by how much restricted pairs are ahead of others, both tested alike."""
    cells = rows_where(table, test_lists=test_lists, pairs=pairs)
    return paired_difference(
        rows_where(cells, lists=RESTRICTED),
        rows_where(cells, lists=other),
        "precision",
        f"{TESTS[test_lists]}, restricted minus {TRAINED[other].split(' (')[0].lower()}, "
        f"{pairs} pairs:",
    )
