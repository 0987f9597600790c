"""Figures O1 and O2: three learners, a judge and a result that are not part of the package."""

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import expit

from dcglearn.base.types import Floats, Pairs
from dcglearn.lab.claims import Claim, judge_all
from dcglearn.lab.decorators import CellData, judge, learner, result
from dcglearn.lab.plots import BAND, CORRELATION, Figure, describe_C, over_pairs, paneled, panels
from dcglearn.lab.repetitions import MeanInterval, common_value, means, rows_where
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.judges import true_pairs
from dcglearn.measures.agreement import agreement, score_differences
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility

COLUMNS = ("precision", "clear_precision", "regret", "kendall_tau")

JUDGES = {"calibrated": "Judges with noise", "skimming": "Judges looking at the first ranks only"}
NAMES = {
    "qp": "Quadratic program",
    "monotone": "Monotone logistic regression",
    "logistic": "Logistic regression",
    "counting": "Counting",
}
RESULTS = {"clear_precision": "precision on clear pairs", "kendall_tau": "Kendall's tau"}

ALIKE = 0.01
"""Learners whose means differ by less count as alike."""


@learner
def logistic(pairs: Pairs, setting: Setting, rng: Generator, *, penalty: float = 1.0) -> Floats:
    """Weights of a logistic regression on the difference of two lists, without an order of grades.

    Bradley & Terry 1952 with a utility that is linear in grades by rank.
    """
    return _regression(pairs, setting, penalty, np.eye(setting.grades), None)


@learner
def monotone(pairs: Pairs, setting: Setting, rng: Generator, *, penalty: float = 1.0) -> Floats:
    """Weights of the same regression that do not increase from the best grade to the worst."""
    steps = np.triu(np.ones((setting.grades, setting.grades - 1)))
    return _regression(pairs, setting, penalty, steps - steps.mean(axis=0), 0.0)


def _regression(
    pairs: Pairs, setting: Setting, penalty: float, steps: Floats, least: float | None
) -> Floats:
    """Return the regression whose rows are sums of columns of `steps`, with factors of `least`."""
    encoded = np.eye(setting.grades)[pairs] @ steps
    x = (encoded[:, 0] - encoded[:, 1]).reshape(len(pairs), -1)

    def loss(factors: Floats) -> tuple[float, Floats]:
        z = x @ factors
        pull = penalty * (factors.reshape(setting.n_ranks, -1) @ steps.T @ steps).ravel()
        return float(np.logaddexp(0, -z).sum() + factors @ pull / 2), pull - x.T @ expit(-z)

    start, bounds = np.zeros(x.shape[1]), [(least, None)] * x.shape[1]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x.reshape(setting.n_ranks, -1) @ steps.T


@learner
def counting(pairs: Pairs, setting: Setting, rng: Generator, *, smoothing: float = 1.0) -> Floats:
    """Share of the lists with a grade at a rank that were preferred."""
    preferred, other = np.eye(setting.grades)[pairs].sum(axis=0)
    return (preferred + smoothing) / (preferred + other + 2 * smoothing)


@judge
def skimming(
    truth: Measure, lists: Pairs, setting: Setting, rng: Generator, *, depth: int = 3
) -> Pairs:
    """Judge by the first ranks only; lists that are equal there are left out."""
    seen = truth.matrix_for(setting.n_ranks).copy()
    seen[depth:] = 0
    return true_pairs(LinearUtility(seen), lists)


@result
def clear_precision(truth: Measure, learned: Measure, data: CellData) -> float:
    """Precision on the half of the test pairs whose lists differ most in truth."""
    size = score_differences(truth, data.test_pairs)
    return agreement(learned, data.test_pairs[size >= np.median(size)])


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures O1 and O2, with a panel for each judge."""
    table = table.assign(judge=table["judge"].map(JUDGES), shown=table["learner"].map(NAMES))
    right, depth = f"{table['reliability'].iloc[0]:.0%}", common_value(table, "options.depth")
    caption = (
        f"Independent uniform grades at 10 ranks. Judges with noise are right in {right} of their "
        f"judgments; others see the first {depth} ranks, and leave out lists that are equal there. "
        f"Quadratic program: {describe_C(table)}. Logistic regressions: a fixed penalty. Monotone: "
        f"no weight is less than that of a worse grade, as in the program. {BAND}"
    )
    lost = (
        "Regret: the share of the true difference of test pairs that the learned order loses, 0.5 "
        f"by chance. Clear pairs: the half of them whose lists differ most. {caption}"
    )
    tau = f"Kendall's tau between the true and the learned order of 2,000 lists. {caption}"
    of_regret = panels(table, "judge", over_pairs, "regret", "shown", "judgments", "regret")
    axes = "kendall_tau", "shown", "judgments", "Kendall's tau", None, CORRELATION
    of_order = panels(table, "judge", over_pairs, *axes)
    regret = _claims(table, "regret", "clear_precision", "less regret")
    order = _claims(table, "kendall_tau", "precision", "an order more like the truth")
    return [
        paneled("O1", "Regret with learners of one's own", of_regret, regret, lost),
        paneled("O2", "Order of lists", of_order, order, tau),
    ]


def _claims(table: pd.DataFrame, column: str, beside: str, better: str) -> list[Claim]:
    shown = RESULTS.get(column, column)
    where = "for each judge, in the mean over the numbers of judgments"
    alike, also, gained, too = (
        _ahead(table, what, *learners)
        for learners in (("qp", "monotone"), ("monotone", "logistic"))
        for what in (column, beside)
    )
    near = f"A monotone regression is within {ALIKE} of the quadratic program in {shown}, {where}."
    gain = f"A logistic regression has {better} if it is monotone, {where}."
    limits = (f"alike: within {ALIKE}",)
    return [
        Claim(near, judge_all(alike, -ALIKE, ALIKE, also=also), thresholds=limits),
        Claim(gain, judge_all(gained, above=0, also=too)),
    ]


def _ahead(table: pd.DataFrame, column: str, better: str, worse: str) -> list[MeanInterval]:
    """Return by how much one learner is better than another, for each judge."""
    names = (worse, better) if column == "regret" else (better, worse)
    one, two = (rows_where(table, learner=name) for name in names)
    label = f"{{judge}}: {RESULTS.get(column, column)}, {NAMES[names[0]].lower()} minus "
    return means(one, column, f"{label}{NAMES[names[1]].lower()}:", minus=two)
