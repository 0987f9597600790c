"""Figures Q3 and Q4: intervals after pairs were chosen by the answers before them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dcglearn.asking.candidates import Candidates
from dcglearn.asking.plan import UNKNOWN, plan
from dcglearn.asking.policies import as_preferences, choose_pairs
from dcglearn.inference.estimate import JudgmentModel
from dcglearn.lab.claims import Claim, judge_all, judge_between
from dcglearn.lab.decorators import CellData, judge, policy, result
from dcglearn.lab.plots import BAND, Figure, Plot, curves, describe_errors, over_pairs
from dcglearn.lab.repetitions import MeanInterval, mean_interval, means
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.measure import Measure

COLUMNS = ("intervals",)

POLICIES = {
    "random": "At random",
    "everything": "Most said about everything",
    "gains": "Most said about gains",
    "misled": "Most said, from exponential-log2",
    "sure": "Most said if exponential-log2 were true",
}
TRUTHS = {"data-1": "linear gains"}
OTHER = "gains like no preset"

LOW, HIGH = 0.93, 0.97
WITHIN, FROM = 0.15, 200


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
    """Judge with logistic noise, and a share of answers at random.

    `log_odds` are those of the best grade at the first rank against the worst.
    """
    W = truth.matrix_for(setting.n_ranks)
    scaled = log_odds * score_differences(truth, lists) / (W[0, 0] - W[0, -1])
    noisy = scaled + rng.logistic(size=len(lists)) > 0
    lapse, guess = rng.random((2, len(lists)))
    first = np.where(lapse < lapse_share, guess < 0.5, noisy)
    return np.where(first[:, None, None], lists, lists[:, ::-1])


@policy
def misled(
    lists: np.ndarray, judged: np.ndarray, n: int, setting: Setting, rng: np.random.Generator
) -> np.ndarray:
    """Choose what says most to who starts from exponential-log2 alone."""
    scale = grade_scale(setting.grades)
    return choose_pairs("everything", lists, judged, n, scale, rng, "exponential-log2")


@policy
def sure(
    lists: np.ndarray, judged: np.ndarray, n: int, setting: Setting, rng: np.random.Generator
) -> np.ndarray:
    """Choose what says most around exponential-log2, whatever the answers were."""
    return misled(lists, judged[:0], n, setting, rng)


@result
def intervals(truth: Measure, learned: Measure, data: CellData) -> list[float]:
    """Return the share of 95% intervals that contain the truth, and half widths.

    These are means over the gains and discounts that a plan said to become known: as it foretold
    them after half of the answers, and as they came.
    """
    K, scale = data.setting.n_ranks, grade_scale(data.setting.grades)
    judged = as_preferences(data.training_pairs, scale)
    half = len(judged) // 2
    left = Candidates(data.training_pairs[half:], scale, np.full(len(judged) - half, ""))
    planned = plan(left, 1, judged=judged[:half], most_per_query=0, counts=[len(left)])
    fit = JudgmentModel().fit(judged)
    estimates = (*fit.gains()[1:-1], *fit.discounts()[1:])
    W = truth.matrix_for(K)
    gains, discounts = (W - W[:, -1:]).sum(axis=0), W[:, 0] - W[:, -1]
    true = [*(gains / gains[0])[1:-1], *(discounts / discounts[0])[1:]]
    covered = [one.low <= value <= one.high for one, value in zip(estimates, true, strict=True)]
    came = np.array([(one.high - one.low) / 2 for one in estimates])
    came = np.where(came < UNKNOWN, came, UNKNOWN)
    known = planned.after[-1] < UNKNOWN
    widths = (planned.after[-1][known], came[known]) if known.any() else (UNKNOWN, UNKNOWN)
    return [float(np.mean(one)) for one in (covered, *widths)]


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures Q3 and Q4, with a panel for each truth."""
    table = table.assign(truth=[TRUTHS.get(truth, OTHER) for truth in table["truth"]])
    model = (
        f"A pool of {table['pool'].iloc[0]} pairs of lists of 3 grades at 5 ranks; judges with "
        f"logistic noise who answer 10% at random. {BAND}"
    )
    return [_coverage(table, model), _widths(table, model)]


def _coverage(table: pd.DataFrame, model: str) -> Figure:
    named = table.assign(policy=table["policy"].map(POLICIES))
    found = means(named, "intervals_1", "{policy}, {truth}, {pairs:,} answers:")
    first, *more = (
        over_pairs(
            rows,
            "intervals_1",
            "policy",
            "answers",
            "share of 95% intervals that contain the truth",
            {"0.93": LOW, "0.97": HIGH},
            title=str(name),
        )
        for name, rows in named.groupby("truth", sort=False)
    )
    claim = Claim(
        "Of 95% intervals after chosen pairs, 93 to 97% contain the truth, also if the choice "
        "starts from a wrong measure, or never leaves it.",
        judge_between(found, LOW, HIGH),
        thresholds=("right coverage: 93 to 97%",),
    )
    caption = f"Gains and discounts together. {model} {describe_errors(found)}"
    return Figure("Q3", "Coverage after chosen pairs", first, (claim,), caption, tuple(more))


def _widths(table: pd.DataFrame, model: str) -> Figure:
    foretold, came = (
        table.assign(width=table[column], what=table["policy"].map(POLICIES) + words)
        for column, words in (("intervals_2", ", foretold"), ("intervals_3", ", as it came"))
    )
    first, *more = (
        Plot(
            "answers",
            "half width of 95% intervals",
            curves(rows, "pairs", "width", "what"),
            log_x=True,
            within=(0.0, UNKNOWN),
            title=str(name),
        )
        for name, rows in pd.concat([foretold, came]).groupby("truth", sort=False)
    )
    found = _ratios(table[table["pairs"] >= FROM])
    claim = Claim(
        "Half widths are within 15% of what a plan foretold after half of the answers, where "
        "these were 100 or more.",
        judge_all(found, above=1 - WITHIN, below=1 + WITHIN),
        thresholds=("as foretold: within 15%",),
        needs_all=True,
    )
    caption = f"Means over the gains and discounts that the plan said to become known. {model}"
    return Figure("Q4", "Widths that a plan foretells", first, (claim,), caption, tuple(more))


def _ratios(table: pd.DataFrame) -> list[MeanInterval]:
    """Return the mean half width as it came, over that foretold, for each design."""
    found = []
    for (truth, name, pairs), rows in table.groupby(["truth", "policy", "pairs"], sort=False):
        foretold, came = rows["intervals_2"].to_numpy(), rows["intervals_3"].to_numpy()
        ratio = came.mean() / foretold.mean()
        linear = ratio + (came - ratio * foretold) / foretold.mean()
        found.append(mean_interval(linear, f"{POLICIES[name]}, {truth}, {pairs:,} answers:"))
    return found
