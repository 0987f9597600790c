"""What judgments conclude: whether they support a measure at all, and which.

Gains and discounts are relative to the weight of the best grade at the first rank. If that does
not differ from 0, they are not determined; if it is below 0, people prefer the lists that the
measure would put last. Nothing is said of either before answers are seen to depend on the grades
at all (:mod:`dcglearn.inference.tests`).

The measure to use is the simplest that the judgments do not contradict: linear gains, or 2^g - 1,
if that is not rejected, otherwise estimated ones; and the discounts 1 / log2(i + 1), the only rule
that most tools have, otherwise decreasing ones. "Near the line" does not count as rejected for
discounts, but does for gains, because every tool takes any gains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.types import Floats
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import MANY_JUDGES, Judgments
from dcglearn.inference.families import FREE_FAMILY
from dcglearn.inference.judges import judge_lapses
from dcglearn.inference.questions import Question, usual_questions
from dcglearn.inference.tests import no_effect
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.measure import Measure

Support = Literal["supported", "contradicted", "open", "reversed"]
"""``supported`` if better grades win, ``reversed`` if they lose. Otherwise ``contradicted`` if a
usual measure is rejected nevertheless, and ``open`` if the judgments say nothing."""

NO_EFFECT_LEVEL = 0.05
"""From this p-value of no effect on, the judgments say nothing."""

MOST_LEFT_OUT = 1_000_000
"""Judgments times judges up to which each judge is left out in turn."""


@dataclass(frozen=True, eq=False)
class Conclusion:
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

    def fitted(model: JudgmentModel) -> JudgmentFit:
        return next((fit for fit in known if fit.model == model), None) or model.fit(evidence)

    model = recommended_model(questions)
    on_log2 = fitted(replace(model, discounts="log2"))
    support = support_of(on_log2, questions)
    wanted = model if support == "supported" else on_log2.model
    return Conclusion(
        questions,
        support,
        on_log2 if wanted == on_log2.model else fitted(wanted),
        fitted(JudgmentModel()),
        fitted(replace(wanted, gains=FREE_FAMILY)),
    )


@dataclass(frozen=True, eq=False)
class JudgeShare:
    """One of few judges: how often at random, and what would be concluded without them.

    `lapses` has the share of random answers, and its 95% interval; `without` is None where nothing
    could be concluded, or judges are not left out because judgments are many.
    """

    judge: str
    judgments: int
    lapses: tuple[float, float, float]
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
        numbers = (float(lapses.mean[i]), float(lapses.low[i]), float(lapses.high[i]))
        without = None
        if few:
            with suppress(InputError, SolverError):
                without = conclude(preferences[preferences.judges != name], {})
        shares.append(JudgeShare(name, int(lapses.judgments[i]), numbers, without))
    return tuple(shares)


def recommended_model(questions: Sequence[Question]) -> JudgmentModel:
    """Return the simplest model that the tests do not contradict."""
    verdicts = {(one.about, one.hypothesis): one.verdict for one in questions}
    gains = next(
        (
            hypothesis
            for (about, hypothesis), verdict in verdicts.items()
            if about == "gains" and verdict in ("not rejected", "not determined")
        ),
        FREE_FAMILY,
    )
    log2 = verdicts.get(("discounts", "log2"), "not rejected")
    return JudgmentModel(gains=gains, discounts="decreasing" if log2 == "rejected" else "log2")


def support_of(fit: JudgmentFit, questions: Sequence[Question]) -> Support:
    """Return whether judgments support a measure; the discounts of `fit` are given."""
    if no_effect(fit) >= NO_EFFECT_LEVEL:
        return "open"
    weight = np.zeros((1, *fit.table.shape))
    weight[0, 0, 0] = 1.0
    (t,) = t_of(fit, weight)
    if abs(t) > 1:
        return "supported" if t > 0 else "reversed"
    about_grades = ("measure", "gains", "discounts")
    rejected = [one for one in questions if one.verdict == "rejected"]
    return "contradicted" if any(one.about in about_grades for one in rejected) else "open"


def upside_down(fit: JudgmentFit) -> list[str]:
    """Return a sentence for each grade worth less than the next worse one; gains are free."""
    labels, n = fit.scale.labels, len(fit.scale) - 1
    steps = np.zeros((n, *fit.table.shape))
    steps[np.arange(n), 0, np.arange(n)], steps[np.arange(n), 0, np.arange(1, n + 1)] = 1.0, -1.0
    return [
        f"Grade {labels[i + 1]} is worth more than {labels[i]}, the better one."
        for i in np.flatnonzero(t_of(fit, steps, n) < -1)
    ]


def t_of(fit: JudgmentFit, contrasts: Floats, n_tests: int = 1) -> Floats:
    """Return <contrast, W> of each by half the width of its 95% interval, corrected for `n_tests`.

    Contrasts have the shape (m, K, L); it is 0 where they do not vary.
    """
    rows = contrasts.reshape(len(contrasts), -1)
    errors, df = fit.covariance.errors(fit.slopes(rows))
    varying = (errors > 0) & (not fit.covariance.one_cluster)
    half = np.where(varying, stdtrit(df, 1 - 0.025 / n_tests) * errors, np.inf)
    return np.asarray(rows @ fit.table.ravel() / half)
