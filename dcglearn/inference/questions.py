"""What a team asks of its judgments, each question answered by a test and by its effect.

Does a preset fit? Are gains linear, exponential; are discounts those in use? At most one of the
gains is true, and at most one of the discounts: with p-values doubled, the chance of any false
rejection among all of them is bounded (Shaffer, J. Amer. Statist. Assoc. 81, 1986, on hypotheses
that exclude each other). Other questions are about the model itself, and stand alone: do gains
depend on the position, do documents add up, does the side matter, are some answers random?

A measure may be rejected and hardly matter: so beside the test stands the share of judgments, and
of all pairs of lists, that the restricted measure orders otherwise than the estimate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import SolverError
from dcglearn.base.tables.columns import distinct_rows
from dcglearn.base.types import Floats
from dcglearn.inference.calibration import additivity_test
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence, Judged, Judgments
from dcglearn.inference.tests import (
    LikelihoodRatio,
    TestVerdict,
    is_about_grades,
    likelihood_ratio,
    no_effect,
    verdict_of,
)
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import usual_presets

USUAL_GAINS = ("linear", "exponential")
USUAL_DISCOUNTS = ("log2", "zipf", "constant")

DECISIONS = ("measure", "gains", "discounts", "hypothesis")
"""What questions are about that decide what to use."""

UNANSWERED = LikelihoodRatio(0.0, 0.0, 0, math.inf, math.inf, 1.0)
"""The test of a hypothesis, or against a model, that has no maximum that was reached."""

MAX_LISTS = 1000
"""All pairs of at most so many distinct lists are compared, evenly taken."""


_Asked = tuple[str, str, JudgmentFit, JudgmentFit]
"""What a question is about, its hypothesis, the smaller model and the larger one."""


@dataclass(frozen=True)
class Question:
    """A restriction of the model, its test and its effect.

    Attributes
    ----------
    about : str
        ``measure``, ``gains``, ``discounts``, ``positions``, ``additivity``, ``side``, ``lapses``;
        of :func:`ask`, ``hypothesis`` if it decides what to use, otherwise ``model``.
    hypothesis : str
        Such as ``exponential-log2`` or ``the same gains at every rank``.
    restricted, fit : JudgmentFit
        Under the hypothesis, and without it; twice the same one if the other has no maximum.
    test : LikelihoodRatio
    corrected : float
        Its p-value, doubled if the question decides what to use.
    reversed_judged, reversed_all : float
        The share of judgments, and of all pairs of lists, that the two order differently; a tie
        of one of them counts 1/2.
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
    judgments: Judgments,
    model: JudgmentModel | None = None,
    measures: Mapping[str, Measure] | None = None,
) -> tuple[Question, ...]:
    """Ask the usual questions.

    Parameters
    ----------
    judgments : Preferences or PackedPairs
    model : JudgmentModel, optional
        How ties, side and lapses are modelled; by default ``JudgmentModel()``.
    measures : mapping from name to measure, optional
        By default every preset.

    Returns
    -------
    tuple of Question
        Measures, gains, discounts, positions, additivity, side and lapses, in this order.

    Raises
    ------
    InputError
        If no judgment can be used.

    Examples
    --------
    >>> from dcglearn.judgments.preferences import Preferences
    >>> from dcglearn.measures.scale import Scale
    >>> lists = [[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]], [[1, 1], [0, 1]]] * 20
    >>> data = Preferences.of(lists, ["a", "a", "a", "b"] * 20, Scale((1, 0)))
    >>> {one.about for one in usual_questions(data)} >= {"measure", "discounts"}
    True
    """
    model = JudgmentModel() if model is None else model
    evidence = model.evidence(judgments)
    scale, n_ranks = evidence.scale, evidence.layout.n_ranks
    if measures is None:
        measures = dict(usual_presets(scale, n_ranks))
    asked = [("measure", name, replace(model, measure=one)) for name, one in measures.items()]
    if len(scale) > 2:
        asked += [("gains", name, replace(model, gains=name)) for name in USUAL_GAINS]
    asked += [("discounts", name, replace(model, discounts=name)) for name in USUAL_DISCOUNTS]
    if len(scale) > 2 and n_ranks > 1:
        asked.append(("positions", "the same gains at every rank", model))
    if n_ranks > 1:
        asked.append(("additivity", "documents add up", model))
    if model.side:
        asked.append(("side", "no side bias", replace(model, side=False)))
    if model.lapses:
        asked.append(("lapses", "no random answers", replace(model, lapses=False)))
    fit = model.fit(evidence)
    fits: list[_Asked] = []
    for about, name, smaller in asked:
        larger = replace(model, position_dependent=True) if about == "positions" else model
        try:
            small, large = (fit if one is model else one.fit(evidence) for one in (smaller, larger))
            fits.append((about, name, small, large))
        except SolverError:  # this question is not answered, others are
            fits.append((about, name, fit, fit))
    return _answered(fits)


def ask(
    judgments: Judgments, hypothesis: JudgmentModel, model: JudgmentModel, name: str
) -> Question:
    """Ask one question.

    Parameters
    ----------
    judgments : Preferences or PackedPairs
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
    evidence = model.evidence(judgments)
    otherwise = replace(hypothesis, side=model.side, lapses=model.lapses)
    decides = not model.position_dependent and otherwise != model
    about = "hypothesis" if decides else "model"
    return _answered([(about, name, hypothesis.fit(evidence), model.fit(evidence))])[0]


def _answered(asked: Sequence[_Asked]) -> tuple[Question, ...]:
    """Test hypotheses, and correct their p-values."""
    fits = [(smaller, larger) for _, _, smaller, larger in asked]
    fit = fits[0][1]
    about_grades = any(is_about_grades(*both) for both in fits)
    without = no_effect(fit) if about_grades else None
    judged, every = reversed_judged(fit.evidence, fits), _reversed_all(fit.evidence, fits)
    found = []
    for (about, name, smaller, larger), *shares in zip(asked, judged, every, strict=True):
        if about == "additivity":
            test = additivity_test(larger)
        elif smaller is larger:
            test = UNANSWERED
        else:
            test = likelihood_ratio(smaller, larger, without)
        corrected = min(1.0, 2 * test.p) if about in DECISIONS else test.p
        found.append(Question(about, name, smaller, larger, test, corrected, *shares))
    return tuple(found)


def reversed_judged(evidence: Evidence, pairs: Sequence[Sequence[JudgmentFit]]) -> list[float]:
    """Return the share of judgments that two models order differently; a tie counts 1/2."""
    evidence = evidence.distinct or evidence
    tables = np.stack([fit.table.ravel() for pair in pairs for fit in pair], axis=1)

    def sums(judged: Judged) -> tuple[Floats, float]:
        signs = _signs(evidence.layout.differences.product(judged.codes, tables))
        changes = np.abs(signs[:, ::2] - signs[:, 1::2]) / 2
        return judged.weights @ changes, float(judged.weights.sum())

    totals, weights = zip(*evidence.map(sums), strict=True)
    return list((sum(totals) / sum(weights)).tolist())


def _reversed_all(evidence: Evidence, pairs: Sequence[Sequence[JudgmentFit]]) -> list[float]:
    """Return the share of pairs of distinct lists, some if packed, that are ordered differently."""
    rows = evidence.judged.lists.reshape(-1, evidence.n_ranks)
    distinct = rows[distinct_rows(rows.T)[0]]
    shown = distinct[:: -(-len(distinct) // MAX_LISTS)]
    first, second = np.triu_indices(len(shown), 1)

    @cache
    def order(fit: JudgmentFit) -> NDArray[np.int8]:
        utilities = fit.utilities(shown)
        return _signs(utilities[first] - utilities[second])

    changes = (np.abs(order(one) - order(other)) for one, other in pairs)
    return [float(change.sum() / max(2 * len(first), 1)) for change in changes]


def _signs(differences: Floats) -> NDArray[np.int8]:
    return np.sign(np.round(differences, 9)).astype(np.int8)
