"""Figures L1 to L3: a learner that starts from the usual measures, beside the quadratic program.

The third learner, a product of gains and decreasing discounts under the hinge of the program, is
here because it needs few judgments too:

    minimise |W|^2 + C sum_i max(0, 1 - <W, x_i>)^2,    W = c g',    c and g decreasing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from dcglearn.lab.claims import Claim, judge_all, judge_between
from dcglearn.lab.decorators import judge, learner
from dcglearn.lab.plots import BAND, Figure, over_pairs
from dcglearn.lab.repetitions import MeanInterval, means, rows_where
from dcglearn.lab.setting import Setting
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.measure import Measure

COLUMNS = ("precision", "precision:linear-log2", "precision:exponential-log2")

LEARNERS = {"usual": "From the usual measures", "hinge": "Hinge, product", "qp": "W of the program"}
JUDGES = {
    "calibrated": "exact answers",
    "reversing": "20% of answers reversed",
    "lapsing": "logistic noise, 10% at random",
}
LISTS = {"permutations": "permutations", "drawn": "independent grades"}
TRUTHS = {
    "data-1": "linear-log2",
    "data-2": "exponential-log2",
    "DCG([1, 0.9, 0.8, 0.1, 0], [1, 1, 1, 1, 1, 0.2, 0.2, 0.2, 0.2, 0.2])": "steps",
    "gains-by-rank:1": "gains by rank",
    "DCG([1, 0, 0, 0, 0], zipf)": "best grade, zipf",
}
FLAT = "square root, .95^(i-1)"
DESIGN = "{lists}, {judge}, {truth}, {pairs:,} judgments:"
BY_RANK = "gains-by-rank:1"

FEW, ENOUGH = 500, 100
BEHIND = {20: 0.05, ENOUGH: 0.02}
"""By how much it may be behind the hinge: at 20 judgments, and from 100 on."""
FROM_TRUTH = {20: 0.08, 100: 0.05}
"""By how much it may be behind a usual measure that is the truth, which has a precision of 1."""


@judge
def reversing(
    truth: Measure,
    lists: np.ndarray,
    setting: Setting,
    rng: np.random.Generator,
    *,
    reversed_share: float = 0.2,
) -> np.ndarray:
    """Judge as the truth does, but for a share of answers that are reversed; leave out ties."""
    difference = score_differences(truth, lists)
    first = (difference > 0) ^ (rng.random(len(lists)) < reversed_share)
    return np.where(first[:, None, None], lists, lists[:, ::-1])[difference != 0]


@judge
def lapsing(
    truth: Measure,
    lists: np.ndarray,
    setting: Setting,
    rng: np.random.Generator,
    *,
    log_odds: float = 5.0,
    lapse_share: float = 0.1,
) -> np.ndarray:
    """Judge with logistic noise, and a share of answers at random; leave out ties of the truth.

    `log_odds` are those of the best grade at the first rank against the worst.
    """
    difference = score_differences(truth, lists)
    W = truth.matrix_for(setting.n_ranks)
    noisy = log_odds * difference / (W[0, 0] - W[0, -1]) + rng.logistic(size=len(lists))
    lapse, guess = rng.random((2, len(lists)))
    first = np.where(lapse < lapse_share, guess < 0.5, noisy > 0)
    return np.where(first[:, None, None], lists, lists[:, ::-1])[difference != 0]


@learner
def hinge(
    pairs: np.ndarray, setting: Setting, rng: np.random.Generator, *, cost: float = 1.0
) -> np.ndarray:
    """Return W = c g' with decreasing discounts and gains that minimises the program's objective.

    c and g are sums of steps of 0 or more. The problem is not convex: the best of two starts.
    """
    K, L = setting.n_ranks, setting.grades
    encoded = np.eye(L)[pairs]
    x = (encoded[:, 0] - encoded[:, 1]).reshape(len(pairs), -1)
    falls_k, falls_l = np.triu(np.ones((K, K))), np.triu(np.ones((L, L - 1)))
    falls_l -= falls_l.mean(axis=0)

    def objective(steps: np.ndarray) -> tuple[float, np.ndarray]:
        c, g = falls_k @ steps[:K], falls_l @ steps[K:]
        slack = np.maximum(0, 1 - x @ np.outer(c, g).ravel())
        pull = -2 * cost * (slack @ x).reshape(K, L)
        of_c, of_g = 2 * c * (g @ g) + pull @ g, 2 * g * (c @ c) + c @ pull
        value = (c @ c) * (g @ g) + cost * slack @ slack
        return float(value), np.concatenate([falls_k.T @ of_c, falls_l.T @ of_g])

    i = np.arange(1, K + 1)
    starts = [
        np.concatenate([-np.diff(c, append=0.0), np.diff(g[::-1])[::-1]])
        for c, g in (
            (1 / np.log2(i + 1), np.linspace(1, 0, L)),
            (1 / i, 2.0 ** np.arange(0, -L, -1)),
        )
    ]
    bounds = [(0, None)] * (K + L - 1)
    found = min(
        (minimize(objective, one, jac=True, method="L-BFGS-B", bounds=bounds) for one in starts),
        key=lambda one: float(one.fun),
    )
    return np.outer(falls_k @ found.x[:K], falls_l @ found.x[K:])


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return a figure for each judge, with a panel for each truth."""
    claims = {
        "calibrated": (_above_program, _overtaken),
        "reversing": (_beside_hinge, _above_hinge),
        "lapsing": (_near_truth,),
    }
    named = table.assign(
        truth=[TRUTHS.get(truth, FLAT) for truth in table["truth"]],
        lists=table["lists"].map(LISTS),
        judge=table["judge"].map(JUDGES),
        shown=table["learner"].map(LEARNERS),
    )
    return [
        _figure(rows, f"L{number}", tuple(claim(named) for claim in claims[name]))
        for number, name in enumerate(claims, 1)
        if len(rows := rows_where(named, judge=JUDGES[name]))
    ]


def _figure(table: pd.DataFrame, number: str, claims: tuple[Claim, ...]) -> Figure:
    labels = "judgments", "precision on exact pairs"
    panels = [
        over_pairs(rows, "precision", "shown", *labels, title=str(truth))
        for truth, rows in rows_where(table, lists=table["lists"].iloc[0]).groupby(
            "truth", sort=False
        )
    ]
    title = f"Learned from the usual measures: {table['judge'].iloc[0]}"
    caption = (
        "Lists permute each other; claims are about lists of independent grades, too. Hinge: gains "
        f"and decreasing discounts under the hinge of the program, C = 1 in both. {BAND}"
    )
    return Figure(number, title, panels[0], claims, caption, tuple(panels[1:]))


def _differences(table: pd.DataFrame, one: str, other: str, label: str = "") -> list[MeanInterval]:
    """Return the precision of a learner minus that of another, in each design or as labelled."""
    first, second = (rows_where(table, learner=name) for name in (one, other))
    return means(first, "precision", label or DESIGN, minus=second)


def _above_program(table: pd.DataFrame) -> Claim:
    few = table[table["pairs"] < FEW]
    over_all = _differences(few, "usual", "qp", f"mean of all designs below {FEW} judgments:")
    found = judge_all(_differences(few, "usual", "qp"), above=0, also=over_all)
    return Claim(f"Below {FEW} judgments it orders lists better than W, in each design.", found)


def _overtaken(table: pd.DataFrame) -> Claim:
    part = rows_where(table, truth=TRUTHS[BY_RANK], judge=JUDGES["calibrated"])
    ahead = _differences(rows_where(part, pairs=part["pairs"].max()), "qp", "usual")
    others = _differences(part[part["pairs"] >= FEW], "usual", "qp")
    return Claim(
        "Where gains change with the rank, W is ahead with enough exact answers.",
        judge_all(ahead, above=0, also=others),
        needs_all=True,
    )


def _beside_hinge(table: pd.DataFrame) -> Claim:
    part = table[(table["pairs"] == 20) | (table["pairs"] >= ENOUGH)]
    behind = part["pairs"].eq(20).map({True: BEHIND[20], False: BEHIND[ENOUGH]})
    allowed = part["precision"] + behind.where(part["learner"] == "usual", 0)
    margins = _differences(part.assign(precision=allowed), "usual", "hinge")
    return Claim(
        "It is never behind the product under the hinge by more than .05 at 20 judgments, and "
        ".02 from 100 on (shown: the difference plus these).",
        judge_between(margins, 0.0, 1.0),
        thresholds=("behind: .05 at 20 judgments, .02 from 100 on",),
    )


def _above_hinge(table: pd.DataFrame) -> Claim:
    ahead = _differences(table, "usual", "hinge", "mean of all designs, {pairs:,} judgments:")
    return Claim(
        "In the mean of all designs it is ahead of the product under the hinge.",
        judge_all(ahead, above=0),
    )


def _near_truth(table: pd.DataFrame) -> Claim:
    usual = rows_where(table, learner="usual")
    true = [TRUTHS[truth] for truth in ("data-1", "data-2")]
    part = usual[usual["truth"].isin(true) & usual["pairs"].isin(list(FROM_TRUTH))]
    gaps = part.assign(gap=1 - part["precision"] - part["pairs"].map(FROM_TRUTH))
    return Claim(
        "Where a usual measure is the truth, it is within .08 of it at 20 judgments and .05 at "
        "100 (shown: the distance less these).",
        judge_between(means(gaps, "gap", DESIGN), -1.0, 0.0),
        thresholds=("near: .08 at 20 judgments, .05 at 100",),
    )
