"""What a team asks of its judgments, each question answered by a test and by its effect.

Does a preset fit? Are gains linear, exponential; are discounts those in use? Do gains depend on
the position? Does the side matter, are some answers random? Each question restricts a model, which
is tested by its likelihood ratio (:mod:`dcglearn.inference.hypotheses`); the p-values of several
questions are corrected by Holm's method. A measure may be rejected and hardly matter: so the
effect stands beside the test, the share of judgments that the restricted measure orders otherwise
than the estimate, of those that were judged and of all pairs of the lists that were shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Grades, Integers
from dcglearn.data.preferences import Preferences
from dcglearn.evaluation.significance import holm
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.hypotheses import (
    LikelihoodRatio,
    TestVerdict,
    likelihood_ratio,
    verdict_of,
)
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import usual_presets

USUAL_GAINS = ("linear", "exponential")
USUAL_DISCOUNTS = ("log2", "zipf", "constant")

MAX_LISTS = 1000
"""All pairs of at most so many distinct lists are compared, evenly taken."""


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
    scale, n_ranks = preferences.scale, preferences.n_ranks
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
    evidence = Evidence.of(preferences, model.ties)
    fit = model.fit_evidence(evidence, scale)
    pairs = [(about, name, one.fit_evidence(evidence, scale), fit) for about, name, one in asked]
    if len(scale) > 2 and n_ranks > 1:
        wider = replace(model, position_dependent=True).fit_evidence(evidence, scale)
        pairs.insert(-2, ("positions", "the same gains at every rank", fit, wider))
    return _answered(preferences, pairs)


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
    pair = ("hypothesis", name, hypothesis.fit(preferences), model.fit(preferences))
    return _answered(preferences, [pair])[0]


def _answered(
    preferences: Preferences, pairs: list[tuple[str, str, JudgmentFit, JudgmentFit]]
) -> tuple[Question, ...]:
    tests = [likelihood_ratio(smaller, larger) for _, _, smaller, larger in pairs]
    corrected = holm(np.array([test.p for test in tests]))
    evidence = pairs[0][3].likelihood.evidence
    judged, weights = preferences.lists[evidence.rows], preferences.weights[evidence.rows]
    shown = _lists_shown(judged)
    lists = np.triu_indices(len(shown), 1)
    fits = {id(fit): fit for pair in pairs for fit in pair[2:]}
    orders = {key: _orders(judged, shown, lists, fit.weights) for key, fit in fits.items()}
    questions = []
    for (about, name, smaller, larger), test, p in zip(pairs, tests, corrected, strict=True):
        (between, across), (of_larger, all_of_larger) = orders[id(smaller)], orders[id(larger)]
        questions.append(
            Question(
                about,
                name,
                smaller,
                larger,
                test,
                float(p),
                float(np.average(np.abs(between - of_larger) / 2, weights=weights)),
                float(np.abs(across - all_of_larger).mean() / 2) if len(across) else 0.0,
            )
        )
    return tuple(questions)


def _orders(
    judged: Grades, shown: Grades, lists: tuple[Integers, Integers], W: Floats
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return which list of each judged pair is better, 1, 0 or -1, and of each pair of lists."""
    scores, all_scores = _utilities(judged, W), _utilities(shown, W)
    differences = scores[:, 0] - scores[:, 1], all_scores[lists[0]] - all_scores[lists[1]]
    between, across = (np.sign(np.round(one, 9)).astype(np.int8) for one in differences)
    return between, across


def _lists_shown(judged: Grades) -> Grades:
    """Return the distinct lists, at most :data:`MAX_LISTS` of them."""
    distinct = np.unique(judged.reshape(-1, judged.shape[2]), axis=0)
    step = -(-len(distinct) // MAX_LISTS)
    return np.asarray(distinct[::step])


def _utilities(lists: Grades, W: Floats) -> Floats:
    """Return the utility of lists (..., K); an empty rank adds nothing."""
    padded = np.hstack([W, np.zeros((len(W), 1))])
    return np.asarray(padded[np.arange(len(W)), lists].sum(axis=-1))
