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
from dcglearn.design.own_functions import NO_FUNCTIONS, OwnFunctions
from dcglearn.design.sampling import PAIRS_PER_BLOCK, draw_lists
from dcglearn.design.setting import Setting
from dcglearn.inference.calibration import link_test
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.ratios import MIN_SHARE, Estimated
from dcglearn.inference.tests import likelihood_ratio, no_effect
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility
from dcglearn.simulation.answering import Answerer
from dcglearn.simulation.truths import grade_scale

LISTS_OF_A_QUERY = 4
"""Different pairs of lists that each query shows, where judgments come in queries."""

UNEVENNESS = 0.75
"""The r-th largest query has a size of r to minus this power: of 100, the first has a tenth."""

POSITIONS = "positions"
"""The model with gains of each rank."""


def certainty(
    setting: Setting,
    truth: Measure,
    list_rng: np.random.Generator,
    rng: np.random.Generator,
    own: OwnFunctions = NO_FUNCTIONS,
    drawn: Pairs | None = None,
) -> dict[str, Any]:
    """Fit a model to simulated judgments and compare its intervals and tests with the truth.

    Parameters
    ----------
    setting : Setting
    truth : DCG or LinearUtility
        Without gains and discounts of its own, only hypotheses are tested.
    list_rng : numpy.random.Generator
        Draws lists and queries.
    rng : numpy.random.Generator
        Draws answers.
    own : OwnFunctions, default none
        May draw the lists.
    drawn : ndarray of int8, shape (n, 2, K), optional
        The lists that `list_rng` would draw.

    Returns
    -------
    dict
        ``coverage``, of all numbers together, of ``coverage:gains`` and
        ``coverage:discounts``: the share of 95% intervals that contain the truth, among
        numbers that the judgments and not the prior decide (an unbounded interval contains
        it); ``determined``, the share of numbers that they decide; ``bounded``, the share of
        intervals of these that are bounded, and ``width``, their mean width;
        ``middle_gain``, its estimate minus the truth; ``lapse_share``, its estimate;
        ``p:HYPOTHESIS`` for each of `hypotheses`, and ``p:link``. What the judgments do not
        decide is left out.

    Raises
    ------
    InputError
        If the truth is not a DCG and there are no hypotheses, or a family or a hypothesis is
        unknown.
    SolverError
        If a maximum is not reached.
    """
    if not isinstance(truth, DCG) and not setting.hypotheses:
        remedy = "name a DCG, or `hypotheses` to test"
        raise InputError(f"{setting.truth} has no gains and discounts", remedy, "truth")
    data = simulated_judgments(setting, truth, list_rng, rng, own, drawn)
    evidence = Evidence.of(data, setting.ties)
    fits: dict[JudgmentModel, JudgmentFit] = {}

    def fitted(model: JudgmentModel) -> JudgmentFit:
        if model not in fits:
            fits[model] = model.fit(evidence)
        return fits[model]

    fit = fitted(model_named(f"{setting.gains}-{setting.discounts}", setting.ties))
    result = interval_record(fit, truth) if isinstance(truth, DCG) else {}
    result["lapse_share"] = fit.likelihood.value_of("lapses", fit.parameters)
    result["p:link"] = link_test(fit).p
    without = no_effect(fit) if setting.hypotheses else None
    for text in setting.hypotheses:
        smaller, larger = (fitted(one) for one in hypothesis_named(text, setting.ties))
        result[f"p:{text}"] = likelihood_ratio(smaller, larger, without).p
    return result


def simulated_judgments(
    setting: Setting,
    truth: Measure,
    list_rng: np.random.Generator,
    rng: np.random.Generator,
    own: OwnFunctions = NO_FUNCTIONS,
    drawn: Pairs | None = None,
) -> Preferences:
    """Draw lists and judge them.

    Parameters
    ----------
    setting : Setting
    truth : DCG or LinearUtility
    list_rng, rng : numpy.random.Generator
    own : OwnFunctions, default none
    drawn : ndarray of int8, shape (n, 2, K), optional
        The lists that `list_rng` would draw, where there are no clusters.

    Returns
    -------
    Preferences
        With query ids, if there are clusters.
    """
    n = setting.pairs
    W = in_log_odds(truth.matrix_for(setting.n_ranks), setting.sensitivity)
    if setting.clusters:
        lists, effects, numbers = _in_queries(setting, list_rng, own)
        queries = np.array([f"q{number}" for number in numbers.tolist()], object)
    else:
        lists = _drawn(setting, n, list_rng, own) if drawn is None else drawn
        effects = np.zeros(n)
        queries = np.full(n, None, object)
    utility = LinearUtility(W).score(lists)
    answerer = Answerer(setting.noise, setting.lapses, setting.ties != "strict")
    answers = answerer.answers(utility[:, 0] - utility[:, 1] + effects, rng)
    judges = np.full(n, None, object)
    return Preferences(lists, answers, grade_scale(setting.grades), np.ones(n), queries, judges)


def interval_record(fit: JudgmentFit, truth: DCG) -> dict[str, float]:
    """Compare the intervals of a fit with the truth.

    Parameters
    ----------
    fit : JudgmentFit
    truth : DCG

    Returns
    -------
    dict
        Those entries of :func:`certainty` that are about gains and discounts.
    """
    W = truth.matrix_for(len(fit.weights))
    gains, discounts = (W - W[:, -1:]).mean(axis=0), W[:, 0] - W[:, -1]
    of_gains = _compared(fit, fit.gains(), fit.gain_slopes, gains / gains[0])
    of_discounts = _compared(fit, fit.discounts(), fit.discount_slopes, discounts / discounts[0])
    numbers = [*of_gains, *of_discounts]
    found = {
        "determined": _mean([one["determined"] for one in numbers]),
        **{key: _mean([one[key] for one in numbers if key in one]) for key in _KEYS},
        "coverage:gains": _mean([one["coverage"] for one in of_gains if "coverage" in one]),
        "coverage:discounts": _mean([one["coverage"] for one in of_discounts if "coverage" in one]),
    }
    if of_gains and "error" in of_gains[len(of_gains) // 2]:
        found["middle_gain"] = of_gains[len(of_gains) // 2]["error"]
    return {key: value for key, value in found.items() if value is not None}


_KEYS = ("coverage", "bounded", "width")


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
            bounded = bool(np.isfinite([number.low, number.high]).all())
            one["coverage"] = float(number.low <= true <= number.high)
            one["bounded"] = float(bounded)
            one["error"] = number.estimate - true
            if bounded:
                one["width"] = number.high - number.low
        found.append(one)
    return found


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def model_named(text: str, ties: Any) -> JudgmentModel:
    """Return the model of a hypothesis.

    Parameters
    ----------
    text : str
        ``GAINS-DISCOUNTS``, families; or ``positions``.
    ties : {"strict", "davidson"}

    Raises
    ------
    InputError
        If the text has no hyphen.

    Examples
    --------
    >>> model_named("linear-free", "strict").gains
    'linear'
    """
    if text == POSITIONS:
        return JudgmentModel(ties=ties, position_dependent=True)
    gains, hyphen, discounts = text.partition("-")
    if not hyphen:
        problem = f"{text!r} does not name gains and discounts"
        raise InputError(problem, f"write linear-log2, free-free or {POSITIONS}", "hypotheses")
    return JudgmentModel(gains=gains, discounts=discounts, ties=ties)


def hypothesis_named(text: str, ties: Any) -> tuple[JudgmentModel, JudgmentModel]:
    """Return the smaller and the larger model of a hypothesis.

    Parameters
    ----------
    text : str
        ``linear-free in free-free``.
    ties : {"strict", "davidson"}

    Raises
    ------
    InputError
        If the text names something else.
    """
    smaller, word, larger = text.partition(" in ")
    if not word:
        problem = f"{text!r} does not name two models"
        raise InputError(problem, "write linear-free in free-free", "hypotheses")
    return model_named(smaller, ties), model_named(larger, ties)


def in_log_odds(W: Floats, sensitivity: float) -> Floats:
    """Return W in units in which the best grade at rank 1 is worth so much more than the worst.

    Parameters
    ----------
    W : ndarray of float, shape (K, L)
    sensitivity : float

    Returns
    -------
    ndarray of float, shape (K, L)
        The worst grade adds 0.
    """
    differences = W - W[:, -1:]
    return np.asarray(sensitivity * differences / differences[0, 0])


def _drawn(setting: Setting, n: int, rng: np.random.Generator, own: OwnFunctions) -> Pairs:
    """Draw lists in blocks, so that the first do not depend on how many follow."""
    blocks = -(-n // PAIRS_PER_BLOCK)
    drawn = [draw_lists(setting, setting.lists, PAIRS_PER_BLOCK, rng, own) for _ in range(blocks)]
    return np.concatenate(drawn)[:n]


def _in_queries(
    setting: Setting, rng: np.random.Generator, own: OwnFunctions
) -> tuple[Pairs, Floats, Integers]:
    """Draw lists (n, 2, K), what else makes a better than b (n,), and query numbers (n,)."""
    shown = _drawn(setting, setting.clusters * LISTS_OF_A_QUERY, rng, own)
    unseen = setting.unseen * rng.standard_normal(len(shown))
    sizes = np.arange(1.0, setting.clusters + 1) ** -UNEVENNESS
    ends = np.cumsum(sizes) / sizes.sum()
    which, pair, side = rng.random((setting.pairs, 3)).T
    numbers = np.searchsorted(ends, which).clip(max=setting.clusters - 1)
    rows = numbers * LISTS_OF_A_QUERY + (pair * LISTS_OF_A_QUERY).astype(int)
    swapped = side < 0.5
    lists = np.where(swapped[:, None, None], shown[rows, ::-1], shown[rows])
    return lists, np.where(swapped, -unseen[rows], unseen[rows]), numbers
