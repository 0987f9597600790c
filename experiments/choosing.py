"""Figures Q1 and Q2: how much less judgments are needed if the pairs are chosen."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dcglearn.asking.policies import as_preferences
from dcglearn.inference.usual import learn_dcg
from dcglearn.lab.claims import Claim, Finding, judge_claim
from dcglearn.lab.decorators import CellData, judge, policy, result
from dcglearn.lab.plots import BAND, Figure, Plot, curves
from dcglearn.lab.repetitions import MeanInterval, mean_interval, rows_where
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import preset

COLUMNS = ("precision", "gain_error")

POLICIES = {
    "random": "At random",
    "largest": "Largest difference",
    "smallest": "Smallest difference",
    "everything": "Most said about everything",
    "gains": "Most said about gains",
    "order": "Most said about the order",
}
JUDGES = {
    "calibrated": "exact answers",
    "reversing": "10% of answers reversed",
    "lapsing": "logistic noise, 10% at random",
}
LIMITS = {
    "calibrated": {20: 1.0, 50: 0.4, 100: 0.1},
    "reversing": {20: 1.0, 50: 0.85, 100: 0.5},
}
"""At most so much of the error of pairs at random, in the mean over truths."""

LATER, NEVER = 50, 1.1
"""From so many answers on, no truth has more than that share."""


@judge
def reversing(
    truth: Measure,
    lists: np.ndarray,
    setting: Setting,
    rng: np.random.Generator,
    *,
    reversed_share: float = 0.1,
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
def largest(
    lists: np.ndarray, judged: np.ndarray, n: int, setting: Setting, rng: np.random.Generator
) -> np.ndarray:
    """Choose the pairs that differ most by the measure learned so far."""
    return np.argsort(-_sizes(lists, judged, setting), kind="stable")[:n]


@policy
def smallest(
    lists: np.ndarray, judged: np.ndarray, n: int, setting: Setting, rng: np.random.Generator
) -> np.ndarray:
    """Choose the pairs that differ least by the measure learned so far; equal ones come last."""
    sizes = _sizes(lists, judged, setting)
    return np.argsort(np.where(sizes > 0, sizes, np.inf), kind="stable")[:n]


def _sizes(lists: np.ndarray, judged: np.ndarray, setting: Setting) -> np.ndarray:
    """Return differences by the measure learned so far; linear-log2 before the first answer."""
    known = as_preferences(judged, scale := grade_scale(setting.grades))
    usual = preset("linear-log2", scale, lists.shape[2])
    measure = usual if known is None else learn_dcg(known).dcg
    return np.abs(score_differences(measure, lists))


@result
def gain_error(truth: Measure, learned: Measure, data: CellData) -> float:
    """Root mean square error of the gains between the best and the worst, from 0 to 1."""
    K = data.setting.n_ranks
    gains = []
    for measure in (truth, learned):
        row = measure.matrix_for(K).sum(axis=0)
        gains.append(((row - row[-1]) / (row[0] - row[-1]))[1:-1])
    return float(np.sqrt(np.mean((gains[0] - gains[1]) ** 2)))


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures Q1 and Q2, with a panel for each kind of judge."""
    table = table.assign(error=1 - table["precision"])
    claims = tuple(_claims(table))
    return [
        _figure(table, "Q1", "Precision of chosen pairs", "error", "1 - precision", claims),
        _figure(table, "Q2", "Gains from chosen pairs", "gain_error", "error of gains", ()),
    ]


def _figure(
    table: pd.DataFrame, number: str, title: str, column: str, words: str, claims: tuple[Claim, ...]
) -> Figure:
    first, *more = (
        Plot(
            "answers",
            words,
            curves(rows, "pairs", column, "policy", POLICIES),
            log_x=True,
            within=(0.0, np.inf),
            title=JUDGES[str(name)],
        )
        for name, rows in table.groupby("judge", sort=False)
    )
    return Figure(
        number,
        title,
        first,
        claims,
        "The DCG that starts from the usual measures, learned from pairs of a pool of "
        f"{table['pool'].iloc[0]:,} permutations, chosen in rounds of 5 to 20. Means over "
        f"{table['truth'].nunique()} truths. {BAND}",
        tuple(more),
    )


def _claims(table: pd.DataFrame) -> list[Claim]:
    found, later = [], []
    for name, limits in LIMITS.items():
        rows = table[table["judge"] == name]
        asked = sorted(set(rows["pairs"]))
        numbers = [_ratio(rows_where(rows, pairs=n), f"{n} answers:") for n in limits if n in asked]
        shown = ", ".join(f"{limit:g} at {n}" for n, limit in limits.items())
        words = (
            f"{JUDGES[name].capitalize()}: the error with pairs that say most about the order, as "
            f"a share of that with pairs at random, is at most {shown} answers, in the mean over "
            "truths."
        )
        found.append(Claim(words, _below(numbers, [*limits.values()]), needs_all=True))
        later += [
            _ratio(rows_where(rows, pairs=n, truth=truth), f"{JUDGES[name]}, {truth}, {n} answers:")
            for n in asked
            for truth in rows["truth"].unique()
            if n >= LATER
        ]
    words = (
        f"From {LATER} answers on, that share is at most {NEVER:g} for each of these judges "
        "and truths."
    )
    return [*found, Claim(words, _below(later, [NEVER] * len(later)), needs_all=True)]


def _below(numbers: list[MeanInterval], limits: list[float]) -> Finding:
    """Judge the claim that each number is at most its limit."""
    pairs = [*zip(numbers, limits, strict=False)]
    holds = len(numbers) == len(limits) and all(one.high <= limit for one, limit in pairs)
    return judge_claim(numbers, holds, any(one.low > limit for one, limit in pairs))


def _ratio(table: pd.DataFrame, label: str) -> MeanInterval:
    """Return the error of chosen pairs over that of pairs at random, in the mean over truths.

    The interval is that of the ratio of means, expanded to first order in the repetitions.
    """
    shares = []
    for _, rows in table.groupby("truth", sort=False):
        by = rows.pivot_table("error", "repetition", "policy")
        if not {"order", "random"} <= set(by):
            return mean_interval([], label)
        chosen, at_random = by["order"], by["random"]
        share = chosen.mean() / at_random.mean()
        shares.append(share + (chosen - share * at_random) / at_random.mean())
    return mean_interval(np.mean(shares, axis=0), label)
