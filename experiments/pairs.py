"""Figures 1 and 2: how well W is learned as the number of training pairs grows.

The number of pairs, the truth, and whether both lists of a pair have the same grades are varied.
"""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_above_zero, judge_claim
from dcglearn.lab.plots import BAND, CORRELATION, SHARE, Figure, Plot, curves, describe_C
from dcglearn.lab.repetitions import (
    MeanInterval,
    change_over_range,
    display_name,
    mean_over_repetitions,
    paired_difference,
    rows_where,
)
from dcglearn.trials.similarity import limit_on_permutations

COLUMNS = ("precision", "similarity", "identifiable", "offset")

LIMIT = limit_on_permutations(10)
"""The limit of similarity when all pairs reorder one list: cos(c, c - c_K), whatever the gains."""

CLOSE = 0.02
"""The largest difference from 95% that counts as close to it."""

CHANCE = 0.5

NEAR = 0.02
"""The largest difference from the limit at which similarity is not expected to grow further."""

NEAR_1 = 0.97
"""The similarity from which W counts as learned."""

OFFSET_1 = 0.99
"""The similarity from which it counts as near 1."""

WHY_NOT_1 = (
    "Similarity rises at first, is then flat, and does not approach 1. Its limit is "
    f"{LIMIT:.4f}: pairs that reorder one list cannot distinguish discounts c from c - c_K, and "
    f"cos(c, c - c_K) is that number for both data sets. At 200 pairs similarity is within {NEAR} "
    "of the limit, which it may exceed for a while. The similarity of the part that such pairs do "
    "determine (the identifiable part in figure 2b), and of all of W where lists differ in "
    "content, tends to 1."
)

ANY_TWO = (
    "A large constant makes any two matrices similar, those of opposite preferences too. So this "
    "does not measure what was learned."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 1 and 2, and figure 2b, which explains figure 2."""
    paper, other = rows_where(table, lists="permutations"), rows_where(table, lists="drawn")
    return [*(_of_the_paper(paper) if len(paper) else ()), _where_it_can_reach_1(paper, other)]


def _of_the_paper(paper: pd.DataFrame) -> list[Figure]:
    return [
        Figure(
            "1",
            "Precision over the number of training pairs",
            Plot(
                "training pairs",
                "precision",
                curves(paper, "pairs", "precision", "truth"),
                log_x=True,
                within=SHARE,
            ),
            (
                Claim(
                    f"Precision is within {CLOSE} of 95% at 200 pairs, and higher than at 20.",
                    _precision(paper),
                    "Precision grows with the number of training pairs and is “close to 95%” at "
                    "200.",
                    "6.3, inferred",
                    (f"close to 95%: within {CLOSE}",),
                ),
                Claim(
                    "With 20 pairs, and with 200, W orders more than half of the test pairs as the "
                    "truth does. Figures A1 to A3 compare it with ad hoc parameters, which the "
                    "paper does not.",
                    _effective(paper),
                    "“Numerical simulations illustrate the effectiveness of our proposed methods.”",
                    "abstract",
                    ("effective: better than chance",),
                ),
            ),
            f"Permutations of one list; {describe_C(paper)}. {BAND}",
        ),
        Figure(
            "2",
            "Similarity over the number of training pairs",
            Plot(
                "training pairs",
                "similarity (eq. 3)",
                curves(paper, "pairs", "similarity", "truth"),
                {f"Limit {LIMIT:.4f}": LIMIT},
                log_x=True,
                within=CORRELATION,
            ),
            (
                Claim(
                    "Similarity rises from 20 to 40 pairs, and from there to 200 or until it is "
                    f"within {NEAR} of its limit.",
                    _similarity(paper),
                    "Similarity “generally grows” with the number of training pairs.",
                    "6.3, inferred",
                    (f"at its limit: within {NEAR}",),
                ),
                Claim(
                    "In the mean over all numbers of pairs, one data set is ahead in precision and "
                    "the other in similarity.",
                    _differently(paper),
                    "Precision and similarity “sometimes give different conclusions” on Data 1 "
                    "against Data 2.",
                    "6.3, inferred",
                ),
                Claim(
                    f"With 100 added to both W, similarity is above {OFFSET_1} at 20 and at 200 "
                    "pairs.",
                    _offset(paper),
                    "A large constant added to both W brings similarity near 1.",
                    "6.2",
                    (f"near 1: above {OFFSET_1}", "a large constant: 100"),
                ),
            ),
            f"Permutations of one list; {describe_C(paper)}. {BAND}",
        ),
    ]


def _where_it_can_reach_1(paper: pd.DataFrame, other: pd.DataFrame) -> Figure:
    return Figure(
        "2b",
        "Similarity where it can reach 1",
        Plot(
            "training pairs",
            "similarity",
            curves(other, "pairs", "similarity", "truth"),
            {"Exact": 1.0},
            log_x=True,
            within=CORRELATION,
            title="other content",
        ),
        (
            Claim(
                "Where pairs can determine W, similarity grows and tends to 1 (above "
                f"{NEAR_1} with the most pairs).",
                _reaches_1(other, paper),
                thresholds=(f"tends to 1: above {NEAR_1} with the most pairs",),
                needs_all=True,
            ),
        ),
        "Other content: lists of independent uniform grades, with the similarity of eq. 3. "
        "Identifiable part: permutations of one list, with the cosine of the double-centred "
        f"matrices. {BAND}",
        (
            Plot(
                "training pairs",
                "similarity",
                curves(paper, "pairs", "identifiable", "truth"),
                {"Exact": 1.0},
                log_x=True,
                within=CORRELATION,
                title="identifiable part",
            ),
        ),
    )


def _precision(table: pd.DataFrame) -> Finding:
    ends = [
        mean_over_repetitions(
            rows_where(table, pairs=200, truth=truth), "precision", f"{name}, 200 pairs:"
        )
        for truth, name in (("data-1", "Data 1"), ("data-2", "Data 2"))
    ]
    upto = table[table["pairs"] <= 200]
    grows = list(change_over_range(upto, "pairs", "precision", "truth").values())
    close = all(end.low >= 0.95 - CLOSE and end.high <= 0.95 + CLOSE for end in ends)
    far = any(end.high < 0.95 - CLOSE or end.low > 0.95 + CLOSE for end in ends)
    growth = judge_above_zero(grows).verdict
    return judge_claim(
        [*ends, *grows], close and growth == "holds", far or growth == "does not hold"
    )


def _effective(table: pd.DataFrame) -> Finding:
    numbers = [
        mean_over_repetitions(
            rows_where(table, pairs=n, truth=truth),
            "precision",
            f"{display_name(truth)}, {n} pairs:",
        )
        for truth in table["truth"].unique()
        for n in (20, 200)
    ]
    better = all(number.low > CHANCE for number in numbers)
    return judge_claim(numbers, better, any(number.high <= CHANCE for number in numbers))


def _similarity(table: pd.DataFrame) -> Finding:
    first, later = _early(table), _late(table)
    ends = [
        mean_over_repetitions(
            rows_where(table, pairs=200, truth=truth),
            "similarity",
            f"{display_name(truth)}, 200 pairs:",
        )
        for truth in table["truth"].unique()
    ]
    on = all(n.low > 0 for n in later)
    full = all(n.low >= LIMIT - NEAR and n.high <= LIMIT + NEAR for n in ends)
    grows = all(n.low > 0 for n in first) and (on or full)
    contrary = all(n.high <= 0 for n in first)
    return judge_claim([*first, *later, *ends], grows, contrary, "" if on else WHY_NOT_1)


def _differently(table: pd.DataFrame) -> Finding:
    one, two = rows_where(table, truth="data-1"), rows_where(table, truth="data-2")
    apart = [
        paired_difference(one, two, what, f"{what}, Data 1 minus Data 2, mean over all sizes:")
        for what in ("precision", "similarity")
    ]
    same = all(n.low > 0 for n in apart) or all(n.high < 0 for n in apart)
    return judge_claim(apart, _differ(*apart) or _differ(*reversed(apart)), same)


def _offset(table: pd.DataFrame) -> Finding:
    numbers = [
        mean_over_repetitions(
            rows_where(table, pairs=n), "offset", f"similarity with 100 added, {n} pairs:"
        )
        for n in (20, 200)
    ]
    near = all(n.low > OFFSET_1 for n in numbers)
    return judge_claim(numbers, near, any(n.high < OFFSET_1 for n in numbers), ANY_TWO)


def _early(table: pd.DataFrame) -> list[MeanInterval]:
    """Return the changes of similarity from the smallest number of pairs to the next one."""
    upto = table[table["pairs"] <= sorted(table["pairs"].unique())[:2][-1]]
    return list(change_over_range(upto, "pairs", "similarity", "truth").values())


def _late(table: pd.DataFrame) -> list[MeanInterval]:
    """Return the changes of similarity from there to 200 pairs, the largest number in the paper."""
    since = sorted(table["pairs"].unique())[:2][-1]
    rows = table[(table["pairs"] >= since) & (table["pairs"] <= 200)]
    return list(change_over_range(rows, "pairs", "similarity", "truth").values())


def _differ(one: MeanInterval, other: MeanInterval) -> bool:
    """Return whether one interval is above 0 and the other below."""
    return one.low > 0 and other.high < 0


def _reaches_1(other: pd.DataFrame, paper: pd.DataFrame) -> Finding:
    most = other["pairs"].max()
    numbers = [
        mean_over_repetitions(
            rows_where(other, pairs=most), "similarity", f"other content, {most} pairs:"
        ),
        mean_over_repetitions(
            rows_where(paper, pairs=most), "identifiable", f"identifiable part, {most} pairs:"
        ),
        *change_over_range(other, "pairs", "similarity", "truth").values(),
    ]
    levels, grows = numbers[:2], numbers[2:]
    holds = all(n.low > NEAR_1 for n in levels) and all(n.low > 0 for n in grows)
    contrary = any(n.high < NEAR_1 for n in levels) or any(n.high <= 0 for n in grows)
    return judge_claim(numbers, holds, contrary)
