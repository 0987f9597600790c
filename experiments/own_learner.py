"""Figures O1 and O2: three learners, a judge and a result that are not part of the package."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from dcglearn.lab.claims import Claim, judge_all
from dcglearn.lab.decorators import CellData, judge, learner, result
from dcglearn.lab.plots import BAND, CORRELATION, SHARE, Figure, describe_C, over_pairs
from dcglearn.lab.repetitions import MeanInterval, common_value, means, rows_where
from dcglearn.lab.setting import Setting
from dcglearn.measures.agreement import agreement, score_differences
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility

COLUMNS = ("precision", "clear_precision", "regret", "kendall_tau")

JUDGES = {"calibrated": "with noise", "skimming": "looking at the first ranks only"}

NAMES = {
    "qp": "Quadratic program",
    "monotone": "Monotone logistic regression",
    "logistic": "Logistic regression",
    "counting": "Counting",
}

RESULTS = {
    "precision": "precision",
    "clear_precision": "precision on clear pairs",
    "regret": "regret",
    "kendall_tau": "Kendall's tau",
}

ALIKE = 0.01
"""Learners whose means differ by less count as alike."""


@learner
def logistic(
    pairs: np.ndarray, setting: Setting, rng: np.random.Generator, *, penalty: float = 1.0
) -> np.ndarray:
    """Weights of a logistic regression on the difference of two lists, without an order of grades.

    Bradley & Terry 1952 with a utility that is linear in grades by rank.
    """
    return _regression(pairs, setting, penalty, np.eye(setting.grades), None)


@learner
def monotone(
    pairs: np.ndarray, setting: Setting, rng: np.random.Generator, *, penalty: float = 1.0
) -> np.ndarray:
    """Weights of the same regression that do not increase from the best grade to the worst."""
    steps = np.triu(np.ones((setting.grades, setting.grades - 1)))
    return _regression(pairs, setting, penalty, steps - steps.mean(axis=0), 0.0)


def _regression(
    pairs: np.ndarray, setting: Setting, penalty: float, steps: np.ndarray, least: float | None
) -> np.ndarray:
    """Return the regression whose rows are sums of columns of `steps`, with factors of `least`."""
    encoded = np.eye(setting.grades)[pairs] @ steps
    x = (encoded[:, 0] - encoded[:, 1]).reshape(len(pairs), -1)

    def loss(factors: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ factors
        pull = penalty * (factors.reshape(setting.n_ranks, -1) @ steps.T @ steps).ravel()
        return float(np.logaddexp(0, -z).sum() + factors @ pull / 2), pull - x.T @ expit(-z)

    start, bounds = np.zeros(x.shape[1]), [(least, None)] * x.shape[1]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x.reshape(setting.n_ranks, -1) @ steps.T)


@learner
def counting(
    pairs: np.ndarray, setting: Setting, rng: np.random.Generator, *, smoothing: float = 1.0
) -> np.ndarray:
    """Share of the lists with a grade at a rank that were preferred."""
    preferred, other = np.eye(setting.grades)[pairs].sum(axis=0)
    return np.asarray((preferred + smoothing) / (preferred + other + 2 * smoothing))


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
    table = table.assign(
        judge=[f"judges {JUDGES[name]}" for name in table["judge"]],
        shown=table["learner"].map(NAMES),
    )
    lost = (
        "Regret: the share of the true difference of test pairs that is lost by trusting the "
        "learned order, 0.5 by chance. Clear pairs: the half of the test pairs whose lists differ "
        "most."
    )
    tau = "Kendall's tau between the true and the learned order of 2,000 lists."
    return [
        _figure(table, "O1", "Regret with learners of one's own", "regret", lost),
        _figure(table, "O2", "Order of lists", "kendall_tau", tau),
    ]


def _figure(table: pd.DataFrame, number: str, title: str, column: str, about: str) -> Figure:
    shown, within, better, beside = {
        "regret": ("regret", SHARE, "less regret", "clear_precision"),
        "kendall_tau": ("Kendall's tau", CORRELATION, "an order more like the truth", "precision"),
    }[column]
    panels = [
        over_pairs(rows, column, "shown", "judgments", shown, {}, within, str(judges).capitalize())
        for judges, rows in table.groupby("judge", sort=False)
    ]
    alike, gained = (
        (_ahead(table, column, *two), _ahead(table, beside, *two))
        for two in (("qp", "monotone"), ("monotone", "logistic"))
    )
    claims = (
        Claim(
            f"The quadratic program and a monotone logistic regression differ by less than {ALIKE} "
            f"in {shown}, in the mean over the numbers of judgments, whoever judges.",
            judge_all(alike[0], -ALIKE, ALIKE, also=alike[1]),
            thresholds=(f"alike: within {ALIKE}",),
        ),
        Claim(
            f"A logistic regression has {better} if it is monotone, in the mean over the numbers "
            "of judgments, whoever judges.",
            judge_all(gained[0], above=0, also=gained[1]),
        ),
    )
    right, depth = f"{table['reliability'].iloc[0]:.0%}", common_value(table, "options.depth")
    caption = (
        f"{about} Independent uniform grades at 10 ranks. Judges with noise are right in {right} "
        f"of their judgments; the others see the first {depth} ranks, and say nothing where these "
        f"are worth the same. The quadratic program: {describe_C(table)}. Logistic regressions: a "
        "fixed penalty. Monotone: weights do not increase from the best grade to the worst, as in "
        f"the program. {BAND}"
    )
    return Figure(number, title, panels[0], claims, caption, tuple(panels[1:]))


def _ahead(table: pd.DataFrame, column: str, better: str, worse: str) -> list[MeanInterval]:
    """Return by how much one learner is better than another, for each judge."""
    names = (worse, better) if column == "regret" else (better, worse)
    one, two = (rows_where(table, learner=name) for name in names)
    label = f"{{judge}}: {RESULTS[column]}, {NAMES[names[0]].lower()} minus "
    return means(one, column, f"{label}{NAMES[names[1]].lower()}:", minus=two)
