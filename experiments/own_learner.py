"""Figures O1 and O2: two learners, a judge and a result that are not part of the package."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from dcglearn.axes.decorators import CellData, judge, learner, result
from dcglearn.correlation.agreement import agreement, score_differences
from dcglearn.design.setting import Setting
from dcglearn.lab.claims import Claim, judge_above_zero
from dcglearn.lab.plots import BAND, CORRELATION, SHARE, Figure, Plot, curves, describe_C
from dcglearn.lab.repetitions import MeanInterval, display_name, paired_difference, rows_where
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility

COLUMNS = ("precision", "clear_precision", "regret", "kendall_tau")

RESULTS = {
    "precision": ("precision", SHARE),
    "regret": ("regret, share of the true difference", SHARE),
    "kendall_tau": ("Kendall's tau of all lists", CORRELATION),
}

NAMES = {"qp": "Quadratic program", "logistic": "Logistic regression", "counting": "Counting"}


@learner
def logistic(
    pairs: np.ndarray, setting: Setting, rng: np.random.Generator, *, penalty: float = 1.0
) -> np.ndarray:
    """Weights of a logistic regression on the difference of two lists, without an order of grades.

    Bradley & Terry 1952 with a utility that is linear in grades by rank.
    """
    encoded = one_hot(pairs, setting.grades)
    x = encoded[:, 0] - encoded[:, 1]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ w
        value = np.logaddexp(0, -z).sum() + penalty / 2 * w @ w
        return float(value), penalty * w - x.T @ expit(-z)

    found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x.reshape(setting.n_ranks, setting.grades))


@learner
def counting(
    pairs: np.ndarray, setting: Setting, rng: np.random.Generator, *, smoothing: float = 1.0
) -> np.ndarray:
    """Share of the lists with a grade at a rank that were preferred."""
    preferred, other = one_hot(pairs, setting.grades).sum(axis=0)
    shares = (preferred + smoothing) / (preferred + other + 2 * smoothing)
    return np.asarray(shares.reshape(setting.n_ranks, setting.grades))


def one_hot(pairs: np.ndarray, n_grades: int) -> np.ndarray:
    """Encode lists by which grade is at which rank, shape (n, 2, K L)."""
    encoded = np.eye(n_grades)[pairs]
    return np.asarray(encoded.reshape(*pairs.shape[:2], -1))


@judge
def skimming(
    truth: Measure,
    lists: np.ndarray,
    setting: Setting,
    rng: np.random.Generator,
    *,
    depth: int = 3,
) -> np.ndarray:
    """Judge by the first ranks only; lists that are equal there are left out."""
    seen = truth.matrix_for(setting.n_ranks).copy()
    seen[depth:] = 0
    difference = score_differences(LinearUtility(seen), lists)
    better = np.where((difference > 0)[:, None, None], lists, lists[:, ::-1])
    return np.asarray(better[difference != 0])


@result
def clear_precision(truth: Measure, learned: Measure, data: CellData) -> float:
    """Precision on the half of the test pairs whose lists differ most in truth."""
    size = score_differences(truth, data.test_pairs)
    return agreement(learned, data.test_pairs[size >= np.median(size)])


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure O1, with the judge of the package, and O2, with the one above."""
    kinds = {
        "calibrated": ("O1", f"{table['reliability'].iloc[0]:.0%} of the judgments are right"),
        "skimming": ("O2", "judges look at the first ranks only"),
    }
    found = table["judge"].unique()
    return [_figure(rows_where(table, judge=name), *kinds[name]) for name in found]


def _figure(table: pd.DataFrame, number: str, words: str) -> Figure:
    panels = [
        Plot(
            "judgments",
            label,
            curves(table, "pairs", column, "learner", NAMES),
            log_x=True,
            within=within,
            title=label.partition(",")[0].capitalize(),
        )
        for column, (label, within) in RESULTS.items()
    ]
    claim = Claim(
        f"Where {words}, the quadratic program loses less by its wrong preferences than logistic "
        "regression and than counting, in the mean over the numbers of judgments.",
        judge_above_zero(_regrets(table), also=_clear(table)),
    )
    return Figure(
        number,
        f"Learners of one's own where {words}",
        panels[0],
        (claim,),
        "Independent uniform grades at 10 ranks, tested on exact pairs. The quadratic program: "
        f"{describe_C(table)}. Regret is the share of the true difference of test pairs that is "
        f"lost by trusting the learned order. {BAND}",
        tuple(panels[1:]),
    )


def _regrets(table: pd.DataFrame) -> list[MeanInterval]:
    return [_ahead(table, name, "regret") for name in NAMES if name != "qp"]


def _clear(table: pd.DataFrame) -> list[MeanInterval]:
    return [_ahead(table, name, "clear_precision") for name in NAMES if name != "qp"]


def _ahead(table: pd.DataFrame, name: str, column: str) -> MeanInterval:
    """Return by how much another learner has more of a column than the quadratic program."""
    one, other = rows_where(table, learner=name), rows_where(table, learner="qp")
    words = f"{column.replace('_', ' ')}, {display_name(NAMES[name])} minus quadratic program:"
    return paired_difference(one, other, column, words)
