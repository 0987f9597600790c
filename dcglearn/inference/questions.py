"""What a team asks of its judgments, each question answered by a test and by its effect.

Does a preset fit? Are gains linear, exponential; are discounts those in use? At most one of the
gains is true, and at most one of the discounts: with p-values doubled, the chance of any false
rejection among all of them is bounded (Shaffer, J. Amer. Statist. Assoc. 81, 1986, on hypotheses
that exclude each other). Other questions are about the model itself, and stand alone: do gains
depend on the position, do documents add up, does the side matter, are some answers random?

A measure may be rejected and hardly matter: so beside the test stands the share of judgments that
the restricted measure orders otherwise than the estimate.

What is concluded: gains and discounts are relative to the weight of the best grade at the first
rank. If that does not differ from 0, they are not determined; if it is below 0, people prefer the
lists that the measure would put last. Nothing is said of either before answers are seen to depend
on the grades at all (:mod:`dcglearn.inference.tests`). The measure to use is the simplest that the
judgments do not contradict: linear gains, or 2^g - 1, if that is not rejected, otherwise estimated
ones; and the discounts 1 / log2(i + 1), the only rule that most tools have, otherwise decreasing
ones. "Near the line" does not count as rejected for discounts, but does for gains, because every
tool takes any gains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import stdtrit

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.types import Floats
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel, judge_lapses
from dcglearn.inference.evidence import MANY_JUDGES, Evidence, Judged, Judgments
from dcglearn.inference.families import FREE_FAMILY
from dcglearn.inference.tests import (
    LikelihoodRatio,
    additivity_test,
    is_about_grades,
    likelihood_ratio,
    no_effect,
    verdict_of,
)
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.record import HypothesisRecord
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import usual_presets

USUAL_GAINS = ("linear", "exponential")
USUAL_DISCOUNTS = ("log2", "zipf", "constant")

DECISIONS = ("measure", "gains", "discounts", "hypothesis")
"""What questions are about that decide what to use."""

Support = Literal["supported", "contradicted", "open", "reversed"]
"""``supported`` if better grades win, ``reversed`` if they lose. Otherwise ``contradicted`` if a
usual measure is rejected nevertheless, and ``open`` if the judgments say nothing."""

NO_EFFECT_LEVEL = 0.05
"""From this p-value of no effect on, the judgments say nothing."""

MOST_LEFT_OUT = 1_000_000
"""Judgments times judges up to which each judge is left out in turn."""


_Asked = tuple[str, str, dict[str, Any]]
"""What a question is about, its hypothesis, and how that changes the model."""

_ABOUT_GAINS: list[_Asked] = [("gains", name, {"gains": name}) for name in USUAL_GAINS]

_Fitted = tuple[str, str, JudgmentFit, JudgmentFit]
"""What a question is about, its hypothesis, the smaller model and the larger one."""


@dataclass(frozen=True)
class Question(HypothesisRecord):
    """A restriction of the model, its test and its effect.

    Attributes
    ----------
    hypothesis : str
        Such as ``exponential-log2`` or ``the same gains at every rank``.
    verdict : str
        What the test says, or ``not determined``.
    corrected : float
        Its p-value, doubled if the question decides what to use.
    gains : tuple of float
        Under the hypothesis, if it is about gains.
    reversed_judged : float
        The share of judgments that the two order differently; a tie of one of them counts 1/2.
    about : str
        ``measure``, ``gains``, ``discounts``, ``positions``, ``additivity``, ``side``, ``lapses``;
        of :func:`ask`, ``hypothesis`` if it decides what to use, otherwise ``model``.
    restricted, fit : JudgmentFit
        Under the hypothesis, and without it; twice the same one if the other has no maximum.
    test : LikelihoodRatio
    """

    about: str
    restricted: JudgmentFit
    fit: JudgmentFit
    test: LikelihoodRatio


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
    model = model or JudgmentModel()
    evidence = model.evidence(judgments)
    scale, n_ranks = evidence.scale, evidence.layout.n_ranks
    if measures is None:
        measures = usual_presets(scale, n_ranks)
    asked: list[_Asked] = [("measure", name, {"measure": one}) for name, one in measures.items()]
    if len(scale) > 2:
        asked += _ABOUT_GAINS
    asked += [("discounts", name, {"discounts": name}) for name in USUAL_DISCOUNTS]
    if len(scale) > 2 and n_ranks > 1:
        asked.append(("positions", "the same gains at every rank", {"position_dependent": True}))
    if n_ranks > 1:
        asked.append(("additivity", "documents add up", {}))
    if model.side:
        asked.append(("side", "no side bias", {"side": False}))
    if model.lapses:
        asked.append(("lapses", "no random answers", {"lapses": False}))
    return _tested(asked, model.fit(evidence))


def gain_questions(fit: JudgmentFit) -> tuple[Question, ...]:
    """Ask, against a model with free gains, whether the usual ones fit."""
    return _tested(_ABOUT_GAINS if len(fit.scale) > 2 else [], fit)


def _tested(asked: Sequence[_Asked], fit: JudgmentFit) -> tuple[Question, ...]:
    """Test what is asked: changes of a model, which is larger but for positions."""
    fits = list[_Fitted]()
    for about, name, change in asked:
        other = fit
        with suppress(SolverError):  # this question is not determined, others are
            near = None if about in DECISIONS else fit
            other = replace(fit.model, **change).fit(fit.evidence, near) if change else fit
        both = (fit, other) if about == "positions" else (other, fit)
        fits.append((about, name, *both))
    return _answered(fits) if fits else ()


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


def _answered(asked: Sequence[_Fitted]) -> tuple[Question, ...]:
    """Test hypotheses, and correct their p-values."""
    fits = [both for _, _, *both in asked]
    fit = fits[0][1]
    without = no_effect(fit) if any(is_about_grades(*both) for both in fits) else None
    found, reversed_of = [], reversed_judged(fit.evidence, fits)
    for (about, name, smaller, larger), of_judged in zip(asked, reversed_of, strict=True):
        additive = about == "additivity"
        test = additivity_test(larger) if additive else likelihood_ratio(smaller, larger, without)
        corrected = min(1.0, 2 * test.p) if about in DECISIONS else test.p
        verdict = verdict_of(corrected) if test.df else "not determined"
        given = smaller.likelihood.family.gains.generators[: len(smaller.scale), 0]
        gains = tuple(given.tolist()) if about == "gains" else ()
        said = name, verdict, corrected, gains, of_judged
        found.append(Question(*said, about, smaller, larger, test))
    return tuple(found)


def reversed_judged(evidence: Evidence, pairs: Sequence[Sequence[JudgmentFit]]) -> list[float]:
    """Return the share of judgments that two models order differently; a tie counts 1/2."""
    evidence = evidence.counted
    tables = np.stack([fit.table.ravel() for pair in pairs for fit in pair], axis=1)

    def sums(judged: Judged) -> tuple[Floats, Any]:
        differences = evidence.layout.differences.product(judged.codes, tables)
        signs = np.sign(np.round(differences, 9))
        changes = np.abs(signs[:, ::2] - signs[:, 1::2]) / 2
        return judged.weights @ changes, judged.weights.sum()

    totals, weights = zip(*evidence.map(sums, with_ids=False), strict=True)
    return list((sum(totals) / sum(weights)).tolist())


class Conclusion(NamedTuple):
    """What a set of judgments says: its questions, whether it supports a measure, and which.

    `recommended` has discounts 1 / log2(i + 1) where nothing is supported; `free` has free gains
    and discounts, `free_gains` the recommended discounts and free gains.
    """

    questions: tuple[Question, ...]
    support: Support
    recommended: JudgmentFit
    free: JudgmentFit
    free_gains: JudgmentFit

    @property
    def answer(self) -> tuple[str, str, str]:
        """In short: support, gains, discounts; without support, the last two say nothing."""
        if self.support != "supported":
            return self.support, "", ""
        model = self.recommended.model
        return self.support, str(model.gains), str(model.discounts)


def conclude(judgments: Judgments, measures: Mapping[str, Measure] | None = None) -> Conclusion:
    """Ask the usual questions of judgments, and conclude what to use."""
    evidence = JudgmentModel().evidence(judgments)
    questions = usual_questions(evidence, measures=measures)
    known = [fit for one in questions for fit in (one.fit, one.restricted)]

    @cache
    def fitted(model: JudgmentModel) -> JudgmentFit:
        return next((fit for fit in known if fit.model == model), None) or model.fit(evidence)

    model = recommended_model(questions)
    on_log2 = fitted(replace(model, discounts="log2"))
    support = support_of(on_log2, questions)
    wanted = model if support == "supported" else on_log2.model
    free_gains = fitted(replace(wanted, gains=FREE_FAMILY))
    return Conclusion(questions, support, fitted(wanted), questions[0].fit, free_gains)


@dataclass(frozen=True, eq=False)
class JudgeShare:
    """One of few judges: how often at random, and what would be concluded without them.

    `lapses` has the share of random answers, and its 95% interval; `without` is None where nothing
    could be concluded, or judges are not left out because judgments are many.
    """

    judge: str
    judgments: int
    lapses: tuple[float, ...]
    without: Conclusion | None


def judge_shares(preferences: Preferences, found: Conclusion) -> tuple[JudgeShare, ...]:
    """Return how much each judge matters, where few judged most: those with most judgments first.

    At most 19 are listed; none where judges are many, or unknown.
    """
    evidence = found.free.evidence
    if not evidence.has_judges or evidence.has_many_judges or evidence.parts:
        return ()
    lapses = judge_lapses(found.free.likelihood, found.free.parameters)
    names = preferences.judges[evidence.rows]
    first = np.unique(evidence.judged.judges, return_index=True)[1]
    listed = np.argsort(-lapses.judgments, kind="stable")[: MANY_JUDGES - 1].tolist()
    few = len(evidence) * len(listed) <= MOST_LEFT_OUT
    shares = []
    for i in listed:
        name = names[first[i]]
        n, *numbers = (one[i].item() for one in lapses)
        without = None
        if few:
            with suppress(InputError, SolverError):
                without = conclude(preferences[preferences.judges != name], {})
        shares.append(JudgeShare(name, n, tuple(numbers), without))
    return tuple(shares)


def recommended_model(questions: Sequence[Question]) -> JudgmentModel:
    """Return the simplest model that the tests do not contradict."""
    verdicts = {(one.about, one.hypothesis): one.verdict for one in questions}
    kept = ("not rejected", "not determined")
    fitting = (name for name in USUAL_GAINS if verdicts.get(("gains", name)) in kept)
    rejected = verdicts.get(("discounts", "log2")) == "rejected"
    discounts = "decreasing" if rejected else "log2"
    return JudgmentModel(gains=next(fitting, FREE_FAMILY), discounts=discounts)


def support_of(fit: JudgmentFit, questions: Sequence[Question]) -> Support:
    """Return whether judgments support a measure; the discounts of `fit` are given."""
    least = min(one.test.p for one in questions if one.about in DECISIONS)
    if least >= NO_EFFECT_LEVEL and no_effect(fit) >= NO_EFFECT_LEVEL:  # which is at most that
        return "open"
    (t,) = _t_of(fit, np.eye(fit.table.size)[:1])
    if abs(t) > 1:
        return "supported" if t > 0 else "reversed"
    rejected = {one.about for one in questions if one.verdict == "rejected"}
    return "contradicted" if rejected & {*DECISIONS} else "open"


def upside_down(fit: JudgmentFit) -> list[str]:
    """Return a sentence for each grade worth less than the next worse one; gains are free."""
    labels, rows, n = fit.scale.labels, np.eye(fit.table.size), len(fit.scale) - 1
    return [
        f"Grade {labels[i + 1]} is worth more than {labels[i]}, the better one."
        for i in np.flatnonzero(_t_of(fit, rows[:n] - rows[1 : n + 1], n) < -1)
    ]


def _t_of(fit: JudgmentFit, rows: Floats, n_tests: int = 1) -> Floats:
    """Return sums of weights by half the width of their 95% intervals, corrected for `n_tests`.

    A row of (m, K L) has the share of each weight. It is 0 where the sum does not vary.
    """
    values, slopes = fit.products(rows)
    errors, df = fit.covariance.errors(slopes)
    varying = (errors > 0) & (not fit.covariance.one_cluster)
    half = np.where(varying, stdtrit(df, 1 - 0.025 / n_tests) * errors, np.inf)
    return values / half
