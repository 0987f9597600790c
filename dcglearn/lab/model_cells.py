"""Cells that measure what intervals, tests and conclusions are worth: how often they are right.

Judges answer as a known truth says, with noise and lapses; the intervals and tests of a model
(:func:`certainty`), or :func:`conclusions`, are compared with it. Means over repetitions are the
coverage of intervals, the size and power of tests at 5%, and the shares of studies that recommend a
measure or reject what is true.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Pairs
from dcglearn.inference.covariance import MIN_SHARE
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.questions import conclude
from dcglearn.inference.tests import likelihood_ratio, link_test, no_effect, verdict_of
from dcglearn.judgments.preferences import Preferences, swap_lists
from dcglearn.lab.cells import Cell
from dcglearn.lab.draws import Draws
from dcglearn.lab.simulation.designs import DESIGNS, simulated_study
from dcglearn.lab.simulation.judges import simulated_answers
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.learning.record import Estimated
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure

LISTS_OF_A_QUERY = 4
"""Different pairs of lists that each query shows, where judgments come in queries."""

UNEVENNESS = 0.75
"""The r-th largest query has a size of r to minus this power: of 100, the first has a tenth."""

POSITIONS = "positions"
"""The model with gains of each rank."""


def certainty(draws: Draws) -> Cell:
    """Fit a model to simulated judgments and compare its intervals and tests with the truth."""
    setting, truth = draws.setting, draws.truth
    if not isinstance(truth, DCG) and not setting.hypotheses:
        raise InputError(
            f"{setting.truth} has no gains and discounts",
            "name a DCG, or `hypotheses` to test",
            "truth",
        )
    evidence = Evidence.of(simulated_judgments(draws), setting.ties)
    fitted = cache(lambda name: model_named(name, setting.ties).fit(evidence))
    fit = fitted(f"{setting.gains}-{setting.discounts}")
    result = interval_record(fit, truth) if isinstance(truth, DCG) else {}
    result["lapse_share"] = fit.likelihood.value_of("lapses", fit.parameters).item()
    result["p:link"] = link_test(fit).p
    without = no_effect(fit) if setting.hypotheses else None
    for text in setting.hypotheses:
        smaller, word, larger = text.partition(" in ")
        if not word:
            raise InputError(
                f"{text!r} does not name two models", "write linear-free in free-free", "hypotheses"
            )
        result[f"p:{text}"] = likelihood_ratio(fitted(smaller), fitted(larger), without).p
    return result


def simulated_judgments(draws: Draws) -> Preferences:
    """Draw lists and judge them; in clusters, a few pairs of lists of queries of uneven size."""
    setting, n, rng = draws.setting, draws.setting.pairs, draws.rng("training")
    unseen, queries = np.zeros(n), np.full(n, None, object)
    if setting.clusters:
        shown = draws.first_pairs(setting.lists, setting.clusters * LISTS_OF_A_QUERY, rng)
        worth = setting.unseen * rng.standard_normal(len(shown))
        sizes = np.arange(1.0, setting.clusters + 1) ** -UNEVENNESS
        which, pair, side = rng.random((n, 3)).T
        numbers = np.searchsorted(np.cumsum(sizes) / sizes.sum(), which)
        numbers = numbers.clip(max=setting.clusters - 1)
        queries = np.array([f"q{number}" for number in numbers.tolist()], object)
        rows = numbers * LISTS_OF_A_QUERY + (pair * LISTS_OF_A_QUERY).astype(int)
        lists, swapped = shown[rows].copy(), side < 0.5
        swap_lists(lists, swapped)
        unseen = np.where(swapped, -worth[rows], worth[rows])
    else:
        lists = draws.first_pairs(setting.lists, n, rng)
    differences, ties = log_odds(draws.truth, lists, setting.sensitivity), setting.ties != "strict"
    v = differences + unseen
    answers = simulated_answers(v, draws.rng("judge"), setting.noise, setting.lapses, ties)
    return Preferences(
        lists,
        answers,
        grade_scale(setting.grades),
        np.ones(n),
        queries,
        judges=np.full(n, None, object),
    )


def interval_record(fit: JudgmentFit, truth: DCG) -> dict[str, float]:
    """Compare the intervals of a fit with the truth, of all numbers that are not given."""
    W = truth.matrix_for(len(fit.weights))
    true_gains, true_discounts = (W - W[:, -1:]).mean(axis=0), W[:, 0] - W[:, -1]
    gains = _compared(fit, fit.gains(), fit.gain_slopes, true_gains)
    discounts = _compared(fit, fit.discounts(), fit.discount_slopes, true_discounts)
    determined, covered, bounded, width, _ = np.concatenate([gains, discounts]).T
    values = {
        "determined": determined,
        "coverage": covered,
        "bounded": bounded,
        "width": width,
        "coverage:gains": gains[:, 1],
        "coverage:discounts": discounts[:, 1],
        "middle_gain": gains[len(gains) // 2 :, 4][:1],
    }
    known = {key: some[~np.isnan(some)] for key, some in values.items()}
    return {key: float(some.mean()) for key, some in known.items() if len(some)}


def _compared(
    fit: JudgmentFit, numbers: tuple[Estimated, ...], slopes: Floats, truth: Floats
) -> Floats:
    """Return a row for each number that is not given, NaN where it makes no sense.

    Whether it is determined, whether the interval contains the truth and is bounded, its width,
    and the error of the estimate, in units of the first number.
    """
    rows = []
    for number, slope, true in zip(numbers, slopes, truth / truth[0], strict=True):
        width, error = number.high - number.low, number.estimate - true
        if fit.covariance.share_of_data(slope) < MIN_SHARE or np.isnan(error):
            row = [0.0, *[np.nan] * 4]
        else:
            bounded = np.isfinite(width)
            covered = number.low <= true <= number.high
            row = [1.0, covered, bounded, width if bounded else np.nan, error]
        if not number.given:
            rows.append(row)
    return np.array(rows, float).reshape(-1, 5)


def model_named(text: str, ties: Any) -> JudgmentModel:
    """Return the model of a hypothesis."""
    if text == POSITIONS:
        return JudgmentModel(ties=ties, position_dependent=True)
    gains, hyphen, discounts = text.partition("-")
    if not hyphen:
        raise InputError(
            f"{text!r} does not name gains and discounts",
            f"write linear-log2, free-free or {POSITIONS}",
            "hypotheses",
        )
    return JudgmentModel(gains=gains, discounts=discounts, ties=ties)


def log_odds(truth: Measure, lists: Pairs, sensitivity: float) -> Floats:
    """Return u(first) - u(second), where the best grade at rank 1 is worth `sensitivity` more."""
    W = truth.matrix_for(lists.shape[2])
    return np.asarray(sensitivity * score_differences(truth, lists) / (W[0, 0] - W[0, -1]))


LEVEL = 0.05


def conclusions(name: str, n: int, rng: np.random.Generator) -> dict[str, float]:
    """Draw n judgments of a design, and compare what is concluded with what is true.

    :data:`dcglearn.lab.setting.STUDY_COLUMNS` says what each 1 or 0 is.
    """
    design = DESIGNS[name]
    found, truth = conclude(simulated_study(design, n, rng)), design.middle_gain
    gains, other = ("exponential", "linear") if truth == 1 / 3 else ("linear", "exponential")
    true = {
        "gains": gains,
        "discounts": "log2",
        "measure": f"{gains}-log2",
        "positions": "the same gains at every rank",
        "additivity": "documents add up",
    }
    dcg = design.worth == "dcg"
    low = {(one.about, one.hypothesis): one.test.p < LEVEL for one in found.questions}
    result: dict[str, float] = {}
    if dcg:
        result = {f"size:{about}": low[about, name] for about, name in true.items()}
    if dcg and not design.coin:
        result["power:gains"] = low["gains", other]
        result["power:discounts"] = low["discounts", "constant"]
    if not design.side:
        result["size:side"] = low["side", "no side bias"]
    supported = found.support == "supported"
    result["recommended"] = supported
    if truth is not None:
        middle = found.free_gains.gains()[1]
        result["determined"] = middle.determined
        if middle.determined:
            result["coverage"] = middle.low <= truth <= middle.high
        if supported:
            result["right"] = found.answer[1:] == (gains, "log2")
    rejected = [one for one in found.questions if one.verdict == "rejected"]
    if dcg:  # where a coin decides, all hypotheses on what to use are true
        result["false_stop"] = any(
            design.coin or one.hypothesis == true[one.about]
            for one in rejected
            if one.about in ("gains", "discounts")
        )
    result["no_dcg"] = any(one.about == "additivity" for one in rejected)
    result["link"] = verdict_of(link_test(found.recommended).p) == "rejected"
    return {key: float(value) for key, value in result.items()}
