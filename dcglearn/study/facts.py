"""The numbers of a study, computed once for every format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcglearn.base.checks import checked_rng
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.inference.calibration import HeldOut, LinkTest, held_out, link_test
from dcglearn.inference.conclusions import JudgeShare, Support, conclude, judge_shares
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.questions import Question
from dcglearn.interop.export import export
from dcglearn.judgments.inspection import Inspection, inspect_judgments
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.agreement import outcomes
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.naming.presets import usual_presets
from dcglearn.statistics.clustered_means import clustered_mean

STUDY_TOOLS = ("lightgbm", "xgboost", "trec_eval", "ir_measures", "ranx", "scikit-learn")
"""Tools that a study says what to put into."""


@dataclass(frozen=True)
class Agreement:
    """How often a measure prefers what people prefer.

    Attributes
    ----------
    measure : str
    share, low, high : float
        Of the strict judgments, by weight; a tie counts 1/2. The 95% interval keeps a query
        together (:mod:`dcglearn.statistics.clustered_means`).
    """

    measure: str
    share: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """What a set of judgments says.

    Attributes
    ----------
    name : str
        Of the file.
    data : Preferences
    inspection : Inspection
    questions : tuple of Question
    support : {"supported", "contradicted", "open", "reversed"}
        Whether better grades win; nothing is recommended otherwise.
    recommended : JudgmentFit
        The measure to use, if it is supported.
    free : JudgmentFit
        Gains and discounts both free.
    with_free_gains : JudgmentFit
        The recommended discounts, with free gains.
    judges : tuple of JudgeShare
        Each of few judges, and what would be concluded without them.
    link : LinkTest
        Of the recommended model.
    held_out : HeldOut or None
        None if there is only one query.
    agreement : tuple of Agreement
        Of the recommended measure, if there is one, then of presets.
    ties : JudgmentFit or None
        The recommended model with ties after Davidson; None if there are none.
    tools : mapping from tool to text
        What to put into it; of those that can express the measure.
    in_use : str or None
        The measure that the team uses, if it was named.
    """

    name: str
    data: Preferences
    inspection: Inspection
    questions: tuple[Question, ...]
    support: Support
    recommended: JudgmentFit
    free: JudgmentFit
    with_free_gains: JudgmentFit
    judges: tuple[JudgeShare, ...]
    link: LinkTest
    held_out: HeldOut | None
    agreement: tuple[Agreement, ...]
    ties: JudgmentFit | None
    tools: Mapping[str, str]
    in_use: str | None

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {counted(len(self.data), 'judgment')})"

    def question(self, about: str, hypothesis: str) -> Question | None:
        """Return one of the questions, None if it was not asked.

        Parameters
        ----------
        about, hypothesis : str
        """
        found = (q for q in self.questions if (q.about, q.hypothesis) == (about, hypothesis))
        return next(found, None)


def study_judgments(
    preferences: Preferences,
    name: str,
    rng: np.random.Generator,
    in_use: Mapping[str, Measure] | None = None,
    advance: Advance = silent,
) -> Study:
    """Compute everything that a study reports.

    Parameters
    ----------
    preferences : Preferences
    name : str
        Of the file.
    rng : numpy.random.Generator
        Draws folds and resamples.
    in_use : mapping of one name to its measure, optional
        The measure that the team uses; it is tested beside the presets.
    advance : callable
        Called with (steps done, steps in all).

    Returns
    -------
    Study

    Raises
    ------
    InputError
        If no judgment can be used.
    """
    checked_rng(rng)
    scale, n_ranks = preferences.scale, preferences.n_ranks
    measures = dict(in_use or {}) | dict(usual_presets(scale, n_ranks))
    inspection = inspect_judgments(preferences)
    concluded = conclude(preferences, measures)
    recommended, supported = concluded.recommended, concluded.support == "supported"
    model = recommended.model
    advance(1, 4)
    judges = judge_shares(preferences, concluded)
    advance(2, 4)
    ties = None
    if not preferences.strict.all():
        try:
            ties = replace(model, ties="davidson").fit(preferences)
        except InputError:  # all ties are of equal lists, or weigh nothing
            ties = None
    try:
        predicted = held_out(model, preferences, rng)
    except InputError:
        predicted = None
    advance(3, 4)
    own: dict[str, Measure] = {"recommended": recommended.dcg} if supported else {}
    found = Study(
        name,
        preferences,
        inspection,
        concluded.questions,
        concluded.support,
        recommended,
        concluded.free,
        concluded.free_gains,
        judges,
        link_test(recommended),
        predicted,
        _agreement(preferences, own | measures),
        ties,
        _tools(recommended) if supported else {},
        next(iter(in_use), None) if in_use else None,
    )
    advance(4, 4)
    return found


def _agreement(preferences: Preferences, measures: Mapping[str, Measure]) -> tuple[Agreement, ...]:
    found = []
    for name, measure in measures.items():
        right = outcomes(measure, preferences.pairs)
        mean = clustered_mean(right, preferences.pair_groups, preferences.pair_weights)
        found.append(Agreement(name, mean.value, *mean.interval(0, 1)))
    return tuple(found)


def _tools(fit: JudgmentFit) -> dict[str, str]:
    """Return what to put into each tool that can express the measure."""
    gains = tuple(round(max(0.0, float(gain)), 4) for gain in fit.dcg.gains)
    discounts = fit.model.discounts
    measure = DCG(
        gains, "log2" if discounts == "log2" else fit.dcg.discounts, grades=fit.scale.labels
    )
    found = {}
    for tool in STUDY_TOOLS:
        try:
            found[tool] = export(measure, tool).text
        except InputError:
            continue
    return found
