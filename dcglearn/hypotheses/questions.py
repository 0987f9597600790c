"""What a team asks of its judgments, each question answered by a test and by its effect.

Does a preset fit? Are gains linear, exponential; are discounts those in use? Do gains depend on
the position? Does the side matter, are some answers random? Each question restricts a model, which
is tested by its likelihood ratio (:mod:`dcglearn.hypotheses.likelihood_ratios`); the p-values of
several questions are corrected by Holm's method. A measure may be rejected and hardly matter: so
the effect stands beside the test, the share of judgments that the restricted measure orders
otherwise than the estimate, of those that were judged and of all pairs of the lists that were
shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Grades
from dcglearn.hypotheses.likelihood_ratios import (
    LikelihoodRatio,
    TestVerdict,
    is_about_grades,
    likelihood_ratio,
    verdict_of,
)
from dcglearn.hypotheses.no_effect import no_effect
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import Scale
from dcglearn.naming.presets import usual_presets
from dcglearn.statistics.significance import holm

USUAL_GAINS = ("linear", "exponential")
USUAL_DISCOUNTS = ("log2", "zipf", "constant")

_NO_DIFFERENCE = 5e-10
MAX_LISTS = 1000
"""All pairs of at most so many distinct lists are compared, evenly taken."""


class AskedPair(NamedTuple):
    """A smaller model and a larger one that holds it, both estimated."""

    about: str
    hypothesis: str
    smaller: JudgmentFit
    larger: JudgmentFit


@dataclass(frozen=True)
class Question:
    """A restriction of the model, its test and its effect.

    Attributes
    ----------
    about : str
        ``measure``, ``gains``, ``discounts``, ``positions``, ``side`` or ``lapses``.
    hypothesis : str
        What is tested, such as ``exponential-log2`` or ``the same gains at every rank``.
    restricted, fit : JudgmentFit
        The model under the hypothesis, and without it.
    test : LikelihoodRatio
    corrected : float
        Its p-value, corrected for the number of questions.
    reversed_judged, reversed_all : float
        The share of judgments, and of all pairs of lists, that the restricted measure orders
        otherwise than the estimate; a tie of one of them counts 1/2.
    """

    about: str
    hypothesis: str
    restricted: JudgmentFit
    fit: JudgmentFit
    test: LikelihoodRatio
    corrected: float
    reversed_judged: float
    reversed_all: float

    @property
    def verdict(self) -> TestVerdict | Literal["not determined"]:
        """What the test says."""
        return verdict_of(self.corrected) if self.test.df else "not determined"


def usual_questions(
    preferences: Preferences,
    model: JudgmentModel | None = None,
    measures: Mapping[str, Measure] | None = None,
) -> tuple[Question, ...]:
    """Ask the usual questions.

    Parameters
    ----------
    preferences : Preferences
    model : JudgmentModel, optional
        What stays in all models: how ties, side and lapses are modelled. By default
        ``JudgmentModel()``.
    measures : mapping from name to measure, optional
        By default every preset.

    Returns
    -------
    tuple of Question
        Measures, gains, discounts, positions, side and lapses, in this order.

    Raises
    ------
    InputError
        If no judgment can be used.

    Examples
    --------
    >>> from dcglearn.measures.scale import Scale
    >>> lists = [[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]], [[1, 1], [0, 1]]] * 20
    >>> data = Preferences.of(lists, ["a", "a", "a", "b"] * 20, Scale((1, 0)))
    >>> {one.about for one in usual_questions(data)} >= {"measure", "discounts"}
    True
    """
    model = JudgmentModel() if model is None else model
    scale, evidence = preferences.scale, Evidence.of(preferences, model.ties)
    pairs = usual_pairs(
        lambda one: one.fit_evidence(evidence, scale), scale, preferences.n_ranks, model, measures
    )
    return answered(pairs, partial(_reversed, preferences))


def usual_pairs(
    fit_model: Callable[[JudgmentModel], JudgmentFit],
    scale: Scale,
    n_ranks: int,
    model: JudgmentModel,
    measures: Mapping[str, Measure] | None = None,
) -> list[AskedPair]:
    """Estimate the models of the usual questions.

    Parameters
    ----------
    fit_model : callable
        From a model to its estimate.
    scale : Scale
    n_ranks : int
    model, measures
        As those of :func:`usual_questions`.

    Returns
    -------
    list of AskedPair
    """
    if measures is None:
        measures = dict(usual_presets(scale, n_ranks))
    asked = [("measure", name, replace(model, measure=one)) for name, one in measures.items()]
    if len(scale) > 2:
        asked += [("gains", name, replace(model, gains=name)) for name in USUAL_GAINS]
    asked += [("discounts", name, replace(model, discounts=name)) for name in USUAL_DISCOUNTS]
    if model.side:
        asked.append(("side", "no side bias", replace(model, side=False)))
    if model.lapses:
        asked.append(("lapses", "no random answers", replace(model, lapses=False)))
    fit = fit_model(model)
    pairs = [AskedPair(about, name, fit_model(one), fit) for about, name, one in asked]
    if len(scale) > 2 and n_ranks > 1:
        wider = fit_model(replace(model, position_dependent=True))
        pairs.insert(-2, AskedPair("positions", "the same gains at every rank", fit, wider))
    return pairs


def ask(
    preferences: Preferences, hypothesis: JudgmentModel, model: JudgmentModel, name: str
) -> Question:
    """Ask one question.

    Parameters
    ----------
    preferences : Preferences
    hypothesis, model : JudgmentModel
        The smaller and the larger model.
    name : str
        Of the hypothesis.

    Returns
    -------
    Question

    Raises
    ------
    InputError
        If the larger model does not hold the smaller one, or no judgment can be used.
    """
    pair = AskedPair("hypothesis", name, hypothesis.fit(preferences), model.fit(preferences))
    return answered([pair], partial(_reversed, preferences))[0]


def answered(
    pairs: Sequence[AskedPair],
    reversed_shares: Callable[[Sequence[AskedPair]], list[tuple[float, float]]],
) -> tuple[Question, ...]:
    """Test hypotheses, and correct their p-values.

    Parameters
    ----------
    pairs : sequence of AskedPair
        Of the same judgments.
    reversed_shares : callable
        Returns for each pair the share of judgments, and of all pairs of lists, that the two order
        differently.

    Returns
    -------
    tuple of Question
    """
    about_grades = any(is_about_grades(one.smaller, one.larger) for one in pairs)
    without = no_effect(pairs[0].larger) if about_grades else None
    tests = [likelihood_ratio(one.smaller, one.larger, without) for one in pairs]
    corrected = holm(np.array([test.p for test in tests]))
    return tuple(
        Question(*pair, test, float(p), *shares)
        for pair, test, p, shares in zip(
            pairs, tests, corrected, reversed_shares(pairs), strict=True
        )
    )


def _reversed(preferences: Preferences, pairs: Sequence[AskedPair]) -> list[tuple[float, float]]:
    evidence = pairs[0].larger.likelihood.evidence
    judged, weights = preferences.lists[evidence.rows], preferences.weights[evidence.rows]

    def order(fit: JudgmentFit) -> NDArray[np.int8]:
        utilities = _utilities(judged, fit.weights)
        return _signs(utilities[:, 0] - utilities[:, 1])

    of_judged = [float(np.average(change, weights=weights)) for change in _changes(order, pairs)]
    return list(zip(of_judged, reversed_of_all(judged, pairs), strict=True))


def reversed_of_all(judged: Grades, pairs: Sequence[AskedPair]) -> list[float]:
    """Return the share of all pairs of lists that two models order differently.

    Parameters
    ----------
    judged : ndarray of int, shape (n, 2, K)
        The lists; at most :data:`MAX_LISTS` distinct ones are taken.
    pairs : sequence of AskedPair

    Returns
    -------
    list of float
        For each pair; a tie of one of the two counts 1/2.
    """
    shown = _lists_shown(judged)
    first, second = np.triu_indices(len(shown), 1)

    def order(fit: JudgmentFit) -> NDArray[np.int8]:
        utilities = _utilities(shown, fit.weights)
        return _signs(utilities[first] - utilities[second])

    return [float(change.mean()) if len(change) else 0.0 for change in _changes(order, pairs)]


def _changes(
    order: Callable[[JudgmentFit], NDArray[np.int8]], pairs: Sequence[AskedPair]
) -> Iterator[Floats]:
    """Yield by how much the orders of the two models of a pair differ: 1, 1/2 or 0."""
    fits = {id(fit): fit for pair in pairs for fit in pair[2:]}
    orders = {key: order(fit) for key, fit in fits.items()}
    for pair in pairs:
        yield np.abs(orders[id(pair.smaller)] - orders[id(pair.larger)]) / 2


def _signs(differences: Floats) -> NDArray[np.int8]:
    return (differences > _NO_DIFFERENCE).astype(np.int8) - (differences < -_NO_DIFFERENCE)


def _lists_shown(judged: Grades) -> Grades:
    """Return the distinct lists, at most :data:`MAX_LISTS` of them."""
    distinct = np.unique(judged.reshape(-1, judged.shape[2]), axis=0)
    step = -(-len(distinct) // MAX_LISTS)
    return np.asarray(distinct[::step])


def _utilities(lists: Grades, W: Floats) -> Floats:
    """Return the utility of lists (..., K); an empty rank adds nothing."""
    padded = np.hstack([W, np.zeros((len(W), 1))])
    return np.asarray(padded[np.arange(len(W)), lists].sum(axis=-1))
