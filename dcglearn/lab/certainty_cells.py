"""Cells that measure what intervals and tests are worth: how often they are right.

Judges answer as a known truth says, with the noise and the lapses of the setting. A model of the
judgment is fitted, and its intervals and tests are compared with the truth. Over repetitions, the
share of 95% intervals that contain the truth is their coverage, and the share of true hypotheses
with p below .05 is the size of a test.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.inference.calibration import link_test
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.ratios import MIN_SHARE, Estimated
from dcglearn.inference.tests import likelihood_ratio, no_effect
from dcglearn.judgments.preferences import Preferences
from dcglearn.lab.draws import Draws
from dcglearn.lab.simulation.answering import simulated_answers
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility

LISTS_OF_A_QUERY = 4
"""Different pairs of lists that each query shows, where judgments come in queries."""

UNEVENNESS = 0.75
"""The r-th largest query has a size of r to minus this power: of 100, the first has a tenth."""

POSITIONS = "positions"
"""The model with gains of each rank."""


def certainty(draws: Draws) -> dict[str, Any]:
    """Fit a model to simulated judgments and compare its intervals and tests with the truth."""
    setting, truth = draws.setting, draws.truth
    if not isinstance(truth, DCG) and not setting.hypotheses:
        remedy = "name a DCG, or `hypotheses` to test"
        raise InputError(f"{setting.truth} has no gains and discounts", remedy, "truth")
    evidence = Evidence.of(simulated_judgments(draws), setting.ties)
    fits: dict[JudgmentModel, JudgmentFit] = {}

    def fitted(name: str) -> JudgmentFit:
        model = model_named(name, setting.ties)
        if model not in fits:
            fits[model] = model.fit(evidence)
        return fits[model]

    fit = fitted(f"{setting.gains}-{setting.discounts}")
    result = interval_record(fit, truth) if isinstance(truth, DCG) else {}
    result["lapse_share"] = fit.likelihood.value_of("lapses", fit.parameters)
    result["p:link"] = link_test(fit).p
    without = no_effect(fit) if setting.hypotheses else None
    for text in setting.hypotheses:
        smaller, word, larger = text.partition(" in ")
        if not word:
            problem = f"{text!r} does not name two models"
            raise InputError(problem, "write linear-free in free-free", "hypotheses")
        result[f"p:{text}"] = likelihood_ratio(fitted(smaller), fitted(larger), without).p
    return result


def simulated_judgments(draws: Draws) -> Preferences:
    """Draw lists and judge them."""
    setting, n, rng = draws.setting, draws.setting.pairs, draws.rng("training")
    effects, queries = np.zeros(n), np.full(n, None, object)
    if setting.clusters:
        lists, effects, numbers = _in_queries(draws, rng)
        queries = np.array([f"q{number}" for number in numbers.tolist()], object)
    else:
        lists = draws.first_lists(n, rng)
    W = in_log_odds(draws.truth.matrix_for(setting.n_ranks), setting.sensitivity)
    utility = LinearUtility(W).score(lists)
    v, ties = utility[:, 0] - utility[:, 1] + effects, setting.ties != "strict"
    answers = simulated_answers(v, draws.rng("judge"), setting.noise, setting.lapses, ties)
    judges = np.full(n, None, object)
    return Preferences(lists, answers, grade_scale(setting.grades), np.ones(n), queries, judges)


def interval_record(fit: JudgmentFit, truth: DCG) -> dict[str, float]:
    """Compare the intervals of a fit with the truth, of all numbers that are not given."""
    W = truth.matrix_for(len(fit.weights))
    gains, discounts = (W - W[:, -1:]).mean(axis=0), W[:, 0] - W[:, -1]
    of_gains = _compared(fit, fit.gains(), fit.gain_slopes, gains / gains[0])
    of_discounts = _compared(fit, fit.discounts(), fit.discount_slopes, discounts / discounts[0])
    found = _means("", [*of_gains, *of_discounts], "determined", "coverage", "bounded", "width")
    found |= _means(":gains", of_gains, "coverage") | _means(":discounts", of_discounts, "coverage")
    if of_gains:
        found |= _means("", of_gains[len(of_gains) // 2 :][:1], "middle_gain")
    return found


def _compared(
    fit: JudgmentFit, numbers: tuple[Estimated, ...], slopes: Floats, truths: Floats
) -> list[dict[str, float]]:
    """Compare each number that is not given with its truth."""
    found = []
    for number, slope, true in zip(numbers, slopes, truths.tolist(), strict=True):
        if number.given:
            continue
        decided = fit.covariance.share_of_data(slope) >= MIN_SHARE
        decided = decided and not np.isnan(number.estimate)
        one = {"determined": float(decided)}
        if decided:
            one["coverage"] = float(number.low <= true <= number.high)
            one["bounded"] = float(np.isfinite([number.low, number.high]).all())
            one["middle_gain"] = number.estimate - true
            if one["bounded"]:
                one["width"] = number.high - number.low
        found.append(one)
    return found


def _means(ending: str, numbers: list[dict[str, float]], *keys: str) -> dict[str, float]:
    """Return the means of what some of the numbers have, by key."""
    values = {key: [one[key] for one in numbers if key in one] for key in keys}
    return {f"{key}{ending}": float(np.mean(some)) for key, some in values.items() if some}


def model_named(text: str, ties: Any) -> JudgmentModel:
    """Return the model of a hypothesis."""
    if text == POSITIONS:
        return JudgmentModel(ties=ties, position_dependent=True)
    gains, hyphen, discounts = text.partition("-")
    if not hyphen:
        problem = f"{text!r} does not name gains and discounts"
        raise InputError(problem, f"write linear-log2, free-free or {POSITIONS}", "hypotheses")
    return JudgmentModel(gains=gains, discounts=discounts, ties=ties)


def in_log_odds(W: Floats, sensitivity: float) -> Floats:
    """Return W in units in which the best grade at rank 1 is worth so much more than the worst."""
    differences = W - W[:, -1:]
    return np.asarray(sensitivity * differences / differences[0, 0])


def _in_queries(draws: Draws, rng: np.random.Generator) -> tuple[Pairs, Floats, Integers]:
    """Draw lists (n, 2, K), what else makes a better than b (n,), and query numbers (n,)."""
    setting = draws.setting
    shown = draws.first_lists(setting.clusters * LISTS_OF_A_QUERY, rng)
    unseen = setting.unseen * rng.standard_normal(len(shown))
    sizes = np.arange(1.0, setting.clusters + 1) ** -UNEVENNESS
    ends = np.cumsum(sizes) / sizes.sum()
    which, pair, side = rng.random((setting.pairs, 3)).T
    numbers = np.searchsorted(ends, which).clip(max=setting.clusters - 1)
    rows = numbers * LISTS_OF_A_QUERY + (pair * LISTS_OF_A_QUERY).astype(int)
    swapped = side < 0.5
    lists = np.where(swapped[:, None, None], shown[rows, ::-1], shown[rows])
    return lists, np.where(swapped, -unseen[rows], unseen[rows]), numbers
