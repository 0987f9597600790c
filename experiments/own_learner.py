"""Figures O1 and O2: two learners, a judge and a result that are not part of the package."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from dcglearn.axes.decorators import CellData, judge, learner, result
from dcglearn.design.setting import Setting
from dcglearn.lab.claims import Claim, judge_above_zero
from dcglearn.lab.plots import BAND, CORRELATION, SHARE, Figure, Plot, curves, describe_C
from dcglearn.lab.repetitions import MeanInterval, common_value, paired_difference, rows_where
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility
from dcglearn.naming.agreement import agreement

COLUMNS = ("precision", "clear_precision", "regret", "kendall_tau")

JUDGES = {"calibrated": "with noise", "skimming": "looking at the first ranks only"}

NAMES = {"qp": "Quadratic program", "logistic": "Logistic regression", "counting": "Counting"}

RESULTS = {
    "precision": "precision",
    "clear_precision": "precision on clear pairs",
    "regret": "regret",
    "kendall_tau": "Kendall's tau",
}


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
    """Return figures O1 and O2, with a panel for each judge."""
    regret = Claim(
        "Wrong preferences cost less with the quadratic program than with logistic regression and "
        "with counting, in the mean over the numbers of judgments, whoever judges.",
        judge_above_zero(
            _differences(table, "regret", 1), also=_differences(table, "clear_precision", -1)
        ),
    )
    tau = Claim(
        "The quadratic program orders lists more like the truth than logistic regression and "
        "counting, in the mean over the numbers of judgments, whoever judges.",
        judge_above_zero(
            _differences(table, "kendall_tau", -1), also=_differences(table, "precision", -1)
        ),
    )
    return [
        _figure(table, "O1", "Regret with learners of one's own", "regret", SHARE, regret),
        _figure(table, "O2", "Order of lists", "kendall_tau", CORRELATION, tau),
    ]


def _figure(
    table: pd.DataFrame,
    number: str,
    title: str,
    column: str,
    within: tuple[float, float],
    claim: Claim,
) -> Figure:
    panels = [
        Plot(
            "judgments",
            RESULTS[column],
            curves(rows, "pairs", column, "learner", NAMES),
            log_x=True,
            within=within,
            title=f"Judges {JUDGES[str(name)]}",
        )
        for name, rows in table.groupby("judge", sort=False)
    ]
    what = {
        "regret": "Regret: the share of the true difference of test pairs that is lost by "
        "trusting the learned order, 0.5 by chance. Clear pairs: the half of the test pairs whose "
        "lists differ most.",
        "kendall_tau": "Kendall's tau between the true and the learned order of 2,000 lists.",
    }
    right, depth = f"{table['reliability'].iloc[0]:.0%}", common_value(table, "options.depth")
    return Figure(
        number,
        title,
        panels[0],
        (claim,),
        f"{what[column]} Independent uniform grades at 10 ranks. Judges with noise are right in "
        f"{right} of their judgments; the others see the first {depth} ranks, and say nothing "
        f"where these are worth the same. The quadratic program: {describe_C(table)}. Logistic "
        f"regression: a fixed penalty. {BAND}",
        tuple(panels[1:]),
    )


def _differences(table: pd.DataFrame, column: str, sign: int) -> list[MeanInterval]:
    """Return by how much the quadratic program is better, for each judge and other learner."""
    found = []
    for name, rows in table.groupby("judge", sort=False):
        solved = rows_where(rows, learner="qp")
        for other in (one for one in rows["learner"].unique() if one != "qp"):
            sides = [(NAMES[other].lower(), rows_where(rows, learner=other))]
            sides.insert(sign > 0, ("quadratic program", solved))
            (one, more), (two, less) = sides
            label = f"judges {JUDGES[str(name)]}: {RESULTS[column]}, {one} minus {two}:"
            found.append(paired_difference(more, less, column, label))
    return found
