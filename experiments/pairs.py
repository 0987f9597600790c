"""Figures 1 and 2: how well W is learned as the number of training pairs grows."""

import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_all, judge_claim, judge_together
from dcglearn.lab.plots import BAND, CORRELATION, Figure, describe_C, over_pairs, paneled
from dcglearn.lab.repetitions import change_over_range, means, rows_where
from dcglearn.lab.simulation.truths import limit_on_permutations

COLUMNS = ("precision", "similarity", "identifiable", "offset")

LIMIT = limit_on_permutations(10)
"""The limit of similarity when all pairs reorder one list: cos(c, c - c_K), whatever the gains."""

CLOSE = 0.02
"""The largest difference from 95%, and from the limit, where no further growth is expected."""

NEAR_1, OFFSET_1 = 0.97, 0.99
"""The similarity from which W counts as learned, and that with 100 added as near 1."""

WHY_NOT_1 = (
    "Similarity rises, is then flat, and does not approach 1. Its limit, which it may exceed for a "
    f"while, is {LIMIT:.4f} = cos(c, c - c_K): pairs that reorder one list cannot distinguish "
    "discounts c from c - c_K. The similarity of what such pairs determine, and of all of W where "
    "lists differ in content, tends to 1 (figure 2b)."
)
ANY_TWO = "It makes any two matrices similar, even opposite ones: what was learned is not measured."
TRAINING = "training pairs"


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 1 and 2, and figure 2b, which explains figure 2."""
    paper, other = rows_where(table, lists="permutations"), rows_where(table, lists="drawn")
    return [*(_of_the_paper(paper) if len(paper) else ()), _where_it_can_reach_1(paper, other)]


def _of_the_paper(paper: pd.DataFrame) -> list[Figure]:
    ends = means(rows_where(paper, pairs=200), "precision", "{truth}, 200 pairs:")
    grows = change_over_range(paper[paper["pairs"] <= 200], "pairs", "precision")
    precision = (
        Claim(
            f"Precision is within {CLOSE} of 95% at 200 pairs, and higher than at 20.",
            judge_together(judge_all(ends, 0.95 - CLOSE, 0.95 + CLOSE), judge_all(grows, above=0)),
            "Precision grows with the number of training pairs and is “close to 95%” at 200.",
            "6.3, inferred",
            (f"close to 95%: within {CLOSE}",),
        ),
        Claim(
            "Precision is above 0.5 at 20 and at 200 pairs. Figures A1 to A3 compare with presets.",
            _above(0.5, paper, "precision", "{truth}, {pairs} pairs:"),
            "“Numerical simulations illustrate the effectiveness of our proposed methods.”",
            "abstract",
            ("effective: better than chance",),
        ),
    )
    similarity = (
        _rises(paper),
        _differently(paper),
        Claim(
            f"With 100 added to both W, similarity is above {OFFSET_1} at 20 and at 200 pairs.",
            _above(OFFSET_1, paper, "offset", "similarity with 100 added, {pairs} pairs:", ANY_TWO),
            "A large constant added to both W brings similarity near 1.",
            "6.2",
            (f"near 1: above {OFFSET_1}", "a large constant: 100"),
        ),
    )
    y_label, levels = "similarity (eq. 3)", {f"Limit {LIMIT:.4f}": LIMIT}
    one = over_pairs(paper, "precision", "truth", TRAINING, "precision")
    two = over_pairs(paper, "similarity", "truth", TRAINING, y_label, levels, CORRELATION)
    over = "over the number of training pairs"
    caption = f"Permutations of one list; {describe_C(paper)}. {BAND}"
    return [
        Figure("1", f"Precision {over}", one, precision, caption),
        Figure("2", f"Similarity {over}", two, similarity, caption),
    ]


def _above(limit: float, table: pd.DataFrame, what: str, label: str, reason: str = "") -> Finding:
    """Judge the claim that means are above a limit at 20 pairs and at 200."""
    found = [means(rows_where(table, pairs=n), what, label) for n in (20, 200)]
    return judge_together(*(judge_all(numbers, limit) for numbers in found), reason=reason)


def _rises(table: pd.DataFrame) -> Claim:
    second = sorted(table["pairs"].unique())[:2][-1]
    first, later = (
        change_over_range(table[table["pairs"].between(*span)], "pairs", "similarity")
        for span in ((0, second), (second, 200))
    )
    ends = means(rows_where(table, pairs=200), "similarity", "{truth}, 200 pairs:")
    begins, goes_on = judge_all(first, above=0).verdict, judge_all(later, above=0).verdict
    at_limit = judge_all(ends, LIMIT - CLOSE, LIMIT + CLOSE).verdict
    found = judge_claim(
        [*first, *later, *ends],
        begins == "holds" and "holds" in (goes_on, at_limit),
        begins == "does not hold",
        "" if goes_on == "holds" else WHY_NOT_1,
    )
    tested = f"Similarity rises at first, and then to 200 pairs or to within {CLOSE} of its limit."
    quote = "Similarity “generally grows” with the number of training pairs."
    return Claim(tested, found, quote, "6.3, inferred", (f"at its limit: within {CLOSE}",))


def _differently(table: pd.DataFrame) -> Claim:
    one, two = (rows_where(table, truth=truth) for truth in ("data-1", "data-2"))
    apart = [
        number
        for what in ("precision", "similarity")
        for number in means(one, what, f"{what}, Data 1 minus Data 2, mean over all sizes:", two)
    ]
    signs = {(number.low > 0) - (number.high < 0) for number in apart}
    return Claim(
        "One data set is ahead in precision and the other in similarity, in the mean over sizes.",
        judge_claim(apart, signs == {-1, 1}, signs in ({-1}, {1})),
        "Precision and similarity “sometimes give different conclusions” on Data 1 against Data 2.",
        "6.3, inferred",
    )


def _where_it_can_reach_1(paper: pd.DataFrame, other: pd.DataFrame) -> Figure:
    panels, levels, most = [], [], other["pairs"].max()
    for rows, what, title in (
        (other, "similarity", "other content"),
        (paper, "identifiable", "identifiable part"),
    ):
        limits = {"Exact": 1.0}, CORRELATION
        panels.append(over_pairs(rows, what, "truth", TRAINING, "similarity", *limits, title))
        levels += means(rows_where(rows, pairs=most), what, f"{title}, {most} pairs:")
    grows = change_over_range(other, "pairs", "similarity")
    claim = Claim(
        f"Where pairs determine W, similarity grows, and is above {NEAR_1} with the most pairs.",
        judge_together(judge_all(levels, above=NEAR_1), judge_all(grows, above=0)),
        thresholds=(f"tends to 1: above {NEAR_1} with the most pairs",),
        needs_all=True,
    )
    caption = (
        "Other content: independent uniform grades, similarity of eq. 3. Identifiable part: "
        f"permutations of one list, cosine of the double-centred matrices. {BAND}"
    )
    return paneled("2b", "Similarity where it can reach 1", panels, [claim], caption)
