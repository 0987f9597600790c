"""Measures compared on the same judgments: the learned one, cross-validated, and given ones.

The learned measure is cross-validated by query: every judgment is predicted by measures learned
without the judgments of its query. Agreement changes with the folds, so that is repeated with new
folds and averaged. Given measures need no training. The difference between two measures has the
variance

    V = V_q + s^2 / R

V_q is that between queries, of the outcomes averaged over the R repeats
(:mod:`dcglearn.statistics.clustered_means`), and s^2 that between repeats. For a learner that
hardly changes with one more query, V_q is right for the agreement of the measures learned in the
folds (Bayle, Bayle, Janson & Mackey, Cross-validation confidence intervals for test error, NeurIPS
2020). The correction of Nadeau & Bengio (Machine Learning 52, 2003), (1/J + n_test/n_train) times
the variance of J test folds, is safe as well: in simulations of judgments like those of the ECIR
2015 study its intervals are a third wider and hold 98 to 100% instead of 95 to 98%.

The verdict of a difference does not depend on the folds that were drawn, or says that it is near
the line: p is between 0.02 and 0.10, or the interval ends within three Monte Carlo errors of 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from dcglearn.base.checks import checked_rng
from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Floats, Integers
from dcglearn.judgments.folds import query_counts
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.core_learner import CoreLearner
from dcglearn.learning.folds import variance_between_repeats
from dcglearn.learning.held_out import Predictions, predict_held_out
from dcglearn.learning.judged_agreement import judged_differences
from dcglearn.measures.measure import Measure
from dcglearn.naming.measure_files import MeasurePart
from dcglearn.naming.names import MeasureLike, as_measure
from dcglearn.statistics.clustered_means import clustered_mean
from dcglearn.statistics.significance import holm

LEARNED_DCG = "learned DCG"
LEARNED_UTILITY = "learned W"
"""Names of the two learned measures in a comparison."""

NEAR = (0.02, 0.10)
"""A difference with a p-value in this range is near the line."""

Outcome = Literal["", "better", "worse", "undecided", "near the line"]


@dataclass(frozen=True)
class ComparedMeasure:
    """One measure of a comparison.

    Attributes
    ----------
    name, measure : str
        The short name, and the measure in full (for learned ones, how they were learned).
    agreement, low, high : float
        The share of strict judgments that it agrees with, and its 95% interval.
    with_ties : float or None
        Agreement with all judgments where it calls as many ties as people did
        (:func:`~dcglearn.correlation.agreement.agreement_with_ties`); None if none is a tie.
    against : str
        The name of the measure that it is compared with.
    ahead, ahead_low, ahead_high : float or None
        Agreement of that measure minus the agreement of this one, and its 95% interval; None
        for that measure itself, like what follows.
    p, corrected : float or None
        The p-value of no difference, and Holm's correction for the number of measures.
    monte_carlo : float or None
        The standard error of `ahead` that comes from the folds that were drawn.
    right, tied, wrong : float
        The number of strict judgments that it orders as judged, ties, and orders otherwise; of a
        learned measure, the mean over the repeats.
    """

    name: str
    measure: str
    agreement: float
    low: float
    high: float
    with_ties: float | None
    against: str
    ahead: float | None = None
    ahead_low: float | None = None
    ahead_high: float | None = None
    p: float | None = None
    corrected: float | None = None
    monte_carlo: float | None = None
    right: float = 0.0
    tied: float = 0.0
    wrong: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """Whether the measure that it is compared with is better or worse; empty for that one."""
        if (
            self.ahead is None
            or self.ahead_low is None
            or self.ahead_high is None
            or self.p is None
            or self.monte_carlo is None
        ):
            return ""
        nearest_end = min(abs(self.ahead_low), abs(self.ahead_high))
        if NEAR[0] <= self.p <= NEAR[1] or nearest_end < 3 * self.monte_carlo:
            return "near the line"
        if self.ahead_low > 0:
            return "better"
        return "worse" if self.ahead_high < 0 else "undecided"

    @property
    def verdict(self) -> str:
        """The outcome with the name of the measure: ``learned better``, ``zipf worse``."""
        if self.outcome not in ("better", "worse"):
            return self.outcome
        return f"{short_name(self.against)} {self.outcome}"


@dataclass(frozen=True, repr=False)
class MeasureComparison(ShortRepr):
    """All measures on the same judgments, the one that others are compared with first.

    Attributes
    ----------
    rows : tuple of ComparedMeasure
    judgments, ties : int
        The number of strict judgments, and of ties.
    queries, without_query : int
        The number of queries with a strict judgment, and of strict judgments without a query.
    effective : float
        The number of equally judged queries that the strict judgments are worth.
    n_folds, n_repeats : int
    C : tuple of float
        The C of each fit.
    against : str
        The name of the measure that the others are subtracted from.
    near : (float, float)
        The p-values of differences near the line.
    """

    rows: tuple[ComparedMeasure, ...]
    judgments: int
    ties: int
    queries: int
    without_query: int
    effective: float
    n_folds: int
    n_repeats: int
    C: tuple[float, ...]
    against: str

    near: tuple[float, float] = NEAR

    @property
    def reference(self) -> str:
        """The short name of the measure that the others are subtracted from."""
        return short_name(self.against)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able dict, with the verdicts; its judgments include the ties."""
        rows = [asdict(row) | {"verdict": row.verdict} for row in self.rows]
        counts = {"judgments": self.judgments + self.ties, "strict": self.judgments}
        return counts | asdict(self) | counts | {"rows": rows}


def short_name(name: str) -> str:
    """Return ``learned`` for either learned measure, and other names as they are."""
    return "learned" if name in (LEARNED_DCG, LEARNED_UTILITY) else name


def compare(
    preferences: Preferences,
    others: Mapping[str, MeasureLike] | Sequence[MeasureLike],
    learner: CoreLearner,
    rng: np.random.Generator,
    use: MeasurePart = "dcg",
    n_folds: int = 10,
    tune: bool = False,
    against: str | None = None,
    n_repeats: int = 10,
    advance: Advance = silent,
) -> MeasureComparison:
    """Compare measures: the learned one, cross-validated by query, and given ones.

    Parameters
    ----------
    preferences : Preferences
        Judgments of weight 0 are not used.
    others : mapping from name to measure, or sequence of measures
        Measures, measure files, presets or text.
    learner : DCGLearner or CoreLearner
    rng : numpy.random.Generator
        Draws the folds.
    use : {"dcg", "utility"}, default "dcg"
        Which of the two learned measures the others are subtracted from; both are listed.
    n_folds : int, default 10
        Fewer if there are fewer queries.
    tune : bool, default False
        Choose C in the training part of each fold, by one cross-validation within it.
    against : str, optional
        The name of the measure that all others are compared with, of `others` or a learned one;
        by default the learned one that `use` names.
    n_repeats : int, default 10
        How often the queries are divided into folds anew.
    advance : callable
        Called with (fits done, fits in all).

    Returns
    -------
    MeasureComparison

    Raises
    ------
    InputError
        If nothing can be learned from the judgments, there is only one query, or `against` is
        not the name of a measure.
    """
    checked_rng(rng)
    measures = _by_name(others, preferences)
    names = [LEARNED_DCG, LEARNED_UTILITY] if use == "dcg" else [LEARNED_UTILITY, LEARNED_DCG]
    first = names[0] if against is None else against
    if first not in (*names, *measures):
        raise unknown_name("against", first, [*names, *measures])
    if n_repeats < 1:
        raise InputError(f"n_repeats is {n_repeats}", "use 1 or more")
    preferences.check_strict()
    data = preferences[preferences.weights > 0]
    learner = learner.with_parameters(n_grades=data.n_grades)
    tuned = use if tune or learner.C == "cv" else None
    found = predict_held_out(data, learner, rng, n_folds, n_repeats, tuned, advance)
    learned = {LEARNED_DCG: found.dcg, LEARNED_UTILITY: found.utility}
    table = {name: learned[name] for name in names}
    for name, measure in measures.items():
        table[name] = Predictions.of(judged_differences(measure, data)[None], data)
    table = {first: table.pop(first)} | table
    n_queries, alone = query_counts(data.queries[data.strict])
    how = f"{found.n_folds}-fold cross-validation" + (" by query" if n_queries else "")
    full = dict.fromkeys(names, f"{how}, {n_repeats} times" if n_repeats > 1 else how)
    full |= {name: str(measure) for name, measure in measures.items()}
    rows = _rows(table, full, data.pair_groups, data.pair_weights)
    return MeasureComparison(
        rows=rows,
        judgments=len(data.pairs),
        ties=len(data) - len(data.pairs),
        queries=n_queries,
        without_query=alone,
        effective=clustered_mean(
            np.ones(len(data.pairs)), data.pair_groups, data.pair_weights
        ).effective,
        n_folds=found.n_folds,
        n_repeats=n_repeats,
        C=found.C,
        against=first,
    )


def _by_name(
    others: Mapping[str, MeasureLike] | Sequence[MeasureLike], preferences: Preferences
) -> dict[str, Measure]:
    if not isinstance(others, Mapping):
        others = {str(one): one for one in others}
    scale, n_ranks = preferences.scale, preferences.n_ranks
    return {name: as_measure(one, scale, n_ranks) for name, one in others.items()}


def _rows(
    table: Mapping[str, Predictions], full: Mapping[str, str], groups: Integers, weights: Floats
) -> tuple[ComparedMeasure, ...]:
    """Return one row per measure; the others are subtracted from the first."""
    (against, base), *_ = table.items()
    rows = []
    for name, one in table.items():
        spread = variance_between_repeats(one.shares)
        mean = clustered_mean(one.right, groups, weights, spread)
        low, high = mean.interval(0, 1)
        row = ComparedMeasure(name, full[name], mean.value, low, high, one.with_ties, against)
        right, tied, wrong = one.counts
        row = replace(row, right=right, tied=tied, wrong=wrong)
        if one is not base:
            between = variance_between_repeats(base.shares - one.shares)
            lead = clustered_mean(base.right - one.right, groups, weights, between)
            low, high = lead.interval(-1, 1)
            row = replace(
                row,
                ahead=lead.value,
                ahead_low=low,
                ahead_high=high,
                p=lead.p_value(),
                monte_carlo=float(np.sqrt(between)),
            )
        rows.append(row)
    corrected = holm(np.array([row.p for row in rows[1:]], float))
    return (
        rows[0],
        *(replace(row, corrected=float(p)) for row, p in zip(rows[1:], corrected, strict=True)),
    )
