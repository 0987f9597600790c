"""The numbers of a study, computed once for every format; and the decision that they make."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dcglearn.base.checks import checked_rng
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.statistics import clustered_mean
from dcglearn.inference.calibration import HeldOut, held_out
from dcglearn.inference.questions import Conclusion, JudgeShare, Question, conclude, judge_shares
from dcglearn.inference.tests import LinkTest, link_test
from dcglearn.interop.export import export
from dcglearn.judgments.inspection import Inspection, inspect_judgments
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.agreement import outcomes, weighted_mean
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import usual_presets
from dcglearn.report.measures import Numbers, unit_range, usual_numbers
from dcglearn.systems.compare_systems import compare_orderings
from dcglearn.systems.evaluate import evaluate
from dcglearn.systems.inputs import QrelsLike, RunLike

STUDY_TOOLS = ("lightgbm", "xgboost", "trec_eval", "ir_measures", "ranx", "scikit-learn")

USUAL = "exponential-log2"
"""What most teams use: the measure that may be changed where none is named."""

LEARNED = "learned from these judgments"

GRAVEST = ("rejected", "near the line", "not determined", "not rejected")
"""Verdicts, the gravest first."""


@dataclass(frozen=True)
class Agreement:
    """How often a measure prefers what people prefer.

    `differs` is the share of judged pairs that it orders otherwise than the proposed one, with 1/2
    for ties of one of them; None where no measure is proposed.
    """

    measure: str
    share: float
    low: float
    high: float
    differs: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """What a set of judgments says.

    Attributes
    ----------
    conclusion : Conclusion
        Its questions, whether it supports a measure, and the models of the judgment.
    judges : tuple of JudgeShare
        Each of few judges, and what would be concluded without them.
    link : LinkTest
        Of the recommended model.
    held_out : HeldOut or None
        None if there is one query.
    agreement : tuple of Agreement
        Of the proposed measure, if there is one, each query by what was learned from others; then
        of the measure in use and of presets.
    in_use : (str, DCG)
        The measure that the team uses, or most teams, with its name.
    proposed : DCG or None
        The measure that the judgments support, with gains of four digits.
    changed : (int, int) or None
        How many of so many comparisons of runs end otherwise with the proposed measure.
    """

    name: str
    data: Preferences
    inspection: Inspection
    conclusion: Conclusion
    judges: tuple[JudgeShare, ...]
    link: LinkTest
    held_out: HeldOut | None
    agreement: tuple[Agreement, ...]
    in_use: tuple[str, DCG]
    proposed: DCG | None
    changed: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {counted(len(self.data), 'judgment')})"

    @property
    def few_raters(self) -> int:
        """How many raters there are, if so few said most that they stand for no others; or 0."""
        n = self.inspection.summary.judges
        return n if self.judges or n == 1 else 0

    @property
    def unit(self) -> str:
        """What is predicted from others: queries, or judgments where no query is known."""
        return "queries" if self.conclusion.free.evidence.has_query_ids else "judgments"

    @property
    def parts(self) -> tuple[Numbers, Numbers]:
        """The gains, and the discounts; of usual ones the best and the first are 1."""
        gains, discounts = usual_numbers(self.data.scale, self.data.n_ranks)
        gains = {name: unit_range(one) for name, one in gains.items()}  # the worst is 0
        free, ranks = self.conclusion.free, range(1, self.data.n_ranks + 1)
        return (
            Numbers("grade", self.data.scale.labels, gains, free.gains()),
            Numbers("rank", ranks, discounts, free.discounts()),
        )

    @property
    def against(self) -> Question:
        """The gravest of the questions about the measure in use: itself, its gains, discounts."""
        gains, _, discounts = self.in_use[0].partition("-")
        named = {"measure": self.in_use[0], "gains": gains, "discounts": discounts}
        asked = [q for q in self.conclusion.questions if named.get(q.about) == q.hypothesis]
        return min(asked, key=lambda one: GRAVEST.index(one.verdict))

    @property
    def used(self) -> Agreement:
        """The agreement of the measure in use."""
        return next(one for one in self.agreement if one.measure == self.in_use[0])

    @property
    def change(self) -> Literal["yes", "no", "not yet"]:
        """Whether to put the proposed measure in the place of the one in use.

        Not if judgments that tell usual measures apart do not contradict that, or where both order
        all judged pairs alike; and not yet where the proposed one does not agree better.
        """
        if self.proposed is None:
            return "not yet"
        if self.against.verdict == "not rejected":
            asked = (q for q in self.conclusion.questions if q.about in ("gains", "discounts"))
            told_apart = any(q.verdict in GRAVEST[:2] for q in asked)
            return "no" if told_apart else "not yet"
        if not self.used.differs:
            return "not yet" if self.against.verdict == "not determined" else "no"
        return "yes" if self.against.verdict == "rejected" and self.agrees_better else "not yet"

    @property
    def agrees_better(self) -> bool:
        """Whether what is proposed agrees with more judgments than what is in use."""
        return self.agreement[0].share > self.used.share

    @property
    def measure(self) -> DCG:
        """The nDCG to use from now on, cut where lists were judged: the scale of all tools."""
        measure = self.in_use[1]
        if self.change == "yes" and self.proposed is not None:
            measure = self.proposed
        return (measure if measure.n_ranks else measure @ self.data.n_ranks).normalised()

    @property
    def tools(self) -> dict[str, str | InputError]:
        """What to put into each tool, all as nDCG, with its notes; or why it cannot take it."""
        found = dict[str, str | InputError]()
        for tool in STUDY_TOOLS:
            try:
                made = export(self.measure, tool)
            except InputError as error:
                found[tool] = error
            else:
                found[tool] = "\n".join(
                    [made.text.rstrip("\n"), *(f"# {note}" for note in made.notes)]
                )
        return found


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
        The measure that the team uses; by default 2^g - 1 with 1/log2(rank + 1).
    advance : callable
        Called with (steps done, steps in all).

    Returns
    -------
    Study

    Raises
    ------
    InputError
        If no judgment can be used, or the measure in use is not a DCG.
    """
    checked_rng(rng)
    measures = dict(in_use or {}) | dict(usual_presets(preferences.scale, preferences.n_ranks))
    used = next(iter(in_use or {}), USUAL)
    measure = measures[used]
    if not isinstance(measure, DCG):
        raise InputError("the measure in use has gains that differ by rank", "name a DCG")
    inspection, concluded = inspect_judgments(preferences), conclude(preferences, measures)
    fit = concluded.recommended
    advance(1, 4)
    judges = judge_shares(preferences, concluded)
    advance(2, 4)
    try:
        predicted = held_out(fit.model, preferences, rng)
    except InputError:
        predicted = None
    advance(3, 4)
    pairs, weights = preferences.pairs, preferences.pair_weights
    right = {name: outcomes(one, pairs) for name, one in measures.items()}
    proposed, differs = None, dict[str, float]()
    if concluded.support == "supported":
        proposed = fit.for_tools
        own = outcomes(proposed, pairs)
        differs = {name: weighted_mean(np.abs(one - own), weights) for name, one in right.items()}
        if predicted is not None:
            right = {LEARNED: predicted.outcomes, **right}
    agreement = []
    for label, one in right.items():
        mean = clustered_mean(one, preferences.pair_groups, weights)
        agreement.append(Agreement(label, mean.value, *mean.interval(0, 1), differs.get(label)))
    advance(4, 4)
    return Study(
        name,
        preferences,
        inspection,
        concluded,
        judges,
        link_test(fit),
        predicted,
        tuple(agreement),
        (used, measure),
        proposed,
    )


def changed_comparisons(
    study: Study, qrels: QrelsLike, runs: Sequence[RunLike]
) -> tuple[int, int] | None:
    """Return how many pairs of runs the proposed nDCG orders otherwise, and all pairs."""
    if study.proposed is None:
        return None
    measures = {"new": study.proposed.normalised(), "old": study.in_use[1].normalised()}
    found = evaluate(qrels, runs, measures, rules="trec_eval", scale=study.data.scale)
    (orders,) = compare_orderings(found)
    return len(orders.reversed_pairs), math.comb(len(found.systems), 2)
