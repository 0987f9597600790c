"""Figures L1 to L3: a learner that starts from the usual measures, beside the quadratic program.

The third learner, a product of gains and decreasing discounts under the hinge of the program, is
here because it needs few judgments too:

    minimise |W|^2 + C sum_i max(0, 1 - <W, x_i>)^2,    W = c g',    c and g decreasing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from dcglearn.axes.decorators import judge, learner
from dcglearn.design.setting import Setting
from dcglearn.lab.claims import Claim, judge_above_zero, judge_between
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curves
from dcglearn.lab.repetitions import MeanInterval, mean_over_repetitions, paired_difference
from dcglearn.lab.repetitions import rows_where as rows
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
        "calibrated": (_above_program(table), _overtaken(table)),
        "reversing": (_beside_hinge(table), _above_hinge(table)),
        "lapsing": (_near_truth(table),),
    }
    return [
        _figure(rows(table, judge=name), f"L{number}", JUDGES[name], claims[name])
        for number, name in enumerate(JUDGES, 1)
        if len(rows(table, judge=name))
    ]


def _figure(table: pd.DataFrame, number: str, answers: str, claims: tuple[Claim, ...]) -> Figure:
    shown = table["lists"].iloc[0]
    panels = [
        Plot(
            "judgments",
            "precision on exact pairs",
            curves(part, "pairs", "precision", "learner", LEARNERS),
            log_x=True,
            within=SHARE,
            title=f"{_name(truth)}",
        )
        for truth, part in rows(table, lists=shown).groupby("truth", sort=False)
    ]
    return Figure(
        number,
        f"Learned from the usual measures: {answers}",
        panels[0],
        claims,
        "Lists permute each other; claims are about lists of independent grades, too. Hinge: gains "
        f"and decreasing discounts under the hinge of the program, C = 1 in both. {BAND}",
        tuple(panels[1:]),
    )


def _name(truth: object) -> str:
    return TRUTHS.get(str(truth), FLAT)


def _differences(table: pd.DataFrame, other: str) -> list[MeanInterval]:
    """Return by how much the learner is ahead of another, in each design."""
    found = []
    for (lists, judges, truth, n), part in table.groupby(
        ["lists", "judge", "truth", "pairs"], sort=False
    ):
        label = f"{LISTS[lists]}, {JUDGES[judges]}, {_name(truth)}, {n:,} judgments:"
        one, two = (rows(part, learner=name) for name in ("usual", other))
        found.append(paired_difference(one, two, "precision", label))
    return found


def _over_designs(table: pd.DataFrame, other: str, label: str) -> MeanInterval:
    """Return the mean difference over all designs, one value for each repetition."""
    means = table.groupby(["learner", "repetition"])["precision"].mean().reset_index()
    one, two = (rows(means, learner=name) for name in ("usual", other))
    return paired_difference(one, two, "precision", label)


def _extremes(found: list[MeanInterval]) -> list[MeanInterval]:
    ordered = sorted(found, key=lambda one: one.mean)
    return [*ordered[:2], ordered[-1]]


def _above_program(table: pd.DataFrame) -> Claim:
    few = table[table["pairs"] < FEW]
    finding = judge_above_zero(
        _differences(few, "qp"),
        also=[_over_designs(few, "qp", f"mean of all designs below {FEW} judgments:")],
    )
    return Claim(f"Below {FEW} judgments it orders lists better than W, in each design.", finding)


def _overtaken(table: pd.DataFrame) -> Claim:
    part = rows(table, truth=BY_RANK, judge="calibrated")
    most = part[part["pairs"] == part["pairs"].max()]
    ahead = [
        MeanInterval(one.label, -one.mean, -one.high, -one.low, one.n)
        for one in _differences(most, "qp")
    ]
    return Claim(
        "Where gains change with the rank, W is ahead with enough exact answers.",
        judge_above_zero(ahead, also=_differences(part[part["pairs"] >= FEW], "qp")),
        needs_all=True,
    )


def _beside_hinge(table: pd.DataFrame) -> Claim:
    margins = []
    for n, part in table.groupby("pairs", sort=False):
        allowed = BEHIND[20] if n == 20 else BEHIND[ENOUGH]
        if n == 20 or n >= ENOUGH:
            margins += [
                MeanInterval(
                    one.label, one.mean + allowed, one.low + allowed, one.high + allowed, one.n
                )
                for one in _differences(part, "hinge")
            ]
    finding = judge_between(margins, 0.0, 1.0)
    return Claim(
        "It is never behind the product under the hinge by more than .05 at 20 judgments, and "
        ".02 from 100 on (shown: the difference plus these).",
        finding,
        thresholds=("behind: .05 at 20 judgments, .02 from 100 on",),
    )


def _above_hinge(table: pd.DataFrame) -> Claim:
    means = [
        _over_designs(part, "hinge", f"mean of all designs, {n:,} judgments:")
        for n, part in table.groupby("pairs", sort=False)
    ]
    return Claim(
        "In the mean of all designs it is ahead of the product under the hinge.",
        judge_above_zero(means),
    )


def _near_truth(table: pd.DataFrame) -> Claim:
    usual = table[table["truth"].isin(["data-1", "data-2"]) & (table["learner"] == "usual")]
    means = [
        mean_over_repetitions(
            part.assign(gap=1 - part["precision"] - FROM_TRUTH[n]),
            "gap",
            f"{LISTS[lists]}, {JUDGES[judges]}, {_name(truth)}, {n:,} judgments:",
        )
        for (lists, judges, truth, n), part in usual.groupby(
            ["lists", "judge", "truth", "pairs"], sort=False
        )
        if n in FROM_TRUTH
    ]
    return Claim(
        "Where a usual measure is the truth, it is within .08 of it at 20 judgments and .05 at "
        "100 (shown: the distance less these).",
        judge_between(means, -1.0, 0.0),
        thresholds=("near: .08 at 20 judgments, .05 at 100",),
    )
