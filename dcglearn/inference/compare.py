"""Measures compared on the same judgments: learned ones, cross-validated, and given ones.

Three are learned: gains and discounts that start from the usual measures
(:mod:`dcglearn.inference.usual`), which ``dcglearn fit`` recommends; W, one weight per rank and
grade; and the DCG nearest to W.

Every judgment is predicted by measures learned without the judgments of its query; that is repeated
with new folds and averaged. The difference between two measures has the variance

    V = V_q + s^2 / R

V_q is that between queries, of the outcomes averaged over the R repeats
(:mod:`dcglearn.base.statistics`), and s^2 that between repeats. For a learner that
hardly changes with one more query, V_q is right for the agreement of the measures learned in the
folds (Bayle, Bayle, Janson & Mackey, Cross-validation confidence intervals for test error, NeurIPS
2020).

The verdict of a difference does not depend on the folds that were drawn, or says that it is near
the line: p is between 0.02 and 0.10, or the interval ends within three Monte Carlo errors of 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from dcglearn.base.checks import checked_count, checked_rng
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.statistics import clustered_mean, holm
from dcglearn.base.types import Floats, Integers, ShortRepr
from dcglearn.inference.usual import learn_dcg, why_no_prior
from dcglearn.judgments.preferences import Preferences, group_numbers, query_counts, query_folds
from dcglearn.learning.agreement import agreement_of, judged_differences
from dcglearn.learning.problem import Parameters
from dcglearn.learning.resample import fit_choosing, naming_fold
from dcglearn.measures.agreement import weighted_mean
from dcglearn.measures.measure import Measure, MeasurePart
from dcglearn.measures.names import MeasureLike, as_measure

LEARNED, OF_W, UTILITY = "learned", "DCG of W", "W"
LEARNED_MEASURES = {
    LEARNED: "gains and discounts that start from the usual measures",
    OF_W: "gains and discounts nearest to W",
    UTILITY: "one learned weight per rank and grade",
}
"""What each learned measure of a comparison is."""

NEAR = (0.02, 0.10)
"""A difference with a p-value in this range is near the line."""


@dataclass(frozen=True)
class ComparedMeasure:
    """One measure of a comparison: its agreement with strict judgments, and counts of these.

    `ahead` is the agreement of the measure `against` minus the agreement of this one, with its 95%
    interval and p-value, Holm's correction for the number of measures, and the standard error that
    comes from the folds that were drawn.
    """

    name: str
    measure: str
    agreement: float
    low: float
    high: float
    with_ties: float | None
    right: float
    tied: float
    wrong: float
    against: str
    ahead: float | None = None
    ahead_low: float | None = None
    ahead_high: float | None = None
    p: float | None = None
    corrected: float | None = None
    monte_carlo: float = 0.0

    @property
    def verdict(self) -> str:
        """``learned better``, ``zipf worse``, ``undecided`` ..., empty for that measure itself."""
        if self.p is None or self.ahead_low is None or self.ahead_high is None:
            return ""
        nearest_end = min(abs(self.ahead_low), abs(self.ahead_high))
        if NEAR[0] <= self.p <= NEAR[1] or nearest_end < 3 * self.monte_carlo:
            return "near the line"
        if self.ahead_low > 0:
            return f"{self.against} better"
        return f"{self.against} worse" if self.ahead_high < 0 else "undecided"


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

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able dict, with the verdicts; its judgments include the ties."""
        rows = [asdict(row) | {"verdict": row.verdict} for row in self.rows]
        counts = {"judgments": self.judgments + self.ties, "strict": self.judgments}
        return counts | asdict(self) | counts | {"rows": rows}


def compare(
    preferences: Preferences,
    others: Mapping[str, MeasureLike] | Sequence[MeasureLike],
    learner: Parameters,
    rng: np.random.Generator,
    use: MeasurePart = "dcg",
    n_folds: int = 10,
    against: str | None = None,
    n_repeats: int = 10,
    advance: Advance = silent,
) -> MeasureComparison:
    """Compare measures: learned ones, cross-validated by query, and given ones.

    Parameters
    ----------
    preferences : Preferences
        Judgments of weight 0 are not used.
    others : mapping from name to measure, or sequence of measures
        Measures, measure files, presets or text.
    learner : DCGLearner
        How W is learned; with C "cv", C is chosen in the training part of each fold, by one
        cross-validation within it.
    rng : numpy.random.Generator
        Draws the folds.
    use : {"dcg", "utility"}, default "dcg"
        Whether the others are subtracted from the learned gains and discounts, or from W. C is
        chosen by the agreement of the DCG of W, or of W.
    n_folds : int, default 10
        Fewer if there are fewer queries.
    against : str, optional
        The name of the measure that all others are compared with, of `others` or a learned one;
        by default the learned one that `use` names.
    n_repeats : int, default 10
        How often the queries are divided into folds anew.
    advance : callable
        Called with (folds done, folds in all).

    Returns
    -------
    MeasureComparison
        Its rows ``learned``, ``DCG of W`` and ``W`` are learned; the first is left out where
        lists or grades do not allow to start from the usual measures.

    Raises
    ------
    InputError
        If nothing can be learned from the judgments, there is only one query, or `against` is
        not the name of a measure.
    """
    checked_rng(rng)
    if not isinstance(others, Mapping):
        others = {str(one): one for one in others}
    scale, n_ranks = preferences.scale, preferences.n_ranks
    measures = {name: as_measure(one, scale, n_ranks) for name, one in others.items()}
    if taken := LEARNED_MEASURES.keys() & measures.keys():
        raise InputError(f"{min(taken)!r} is the name of a learned measure", "choose another name")
    from_usual = learner.encoding == "grades" and not why_no_prior(scale, n_ranks)
    names = [LEARNED, OF_W, UTILITY] if from_usual else [OF_W, UTILITY]
    if use == "utility":
        names = [UTILITY, *names[:-1]]
    first = names[0] if against is None else against
    check_name(first, "against", [*names, *measures])
    checked_count(n_repeats, "n_repeats")
    data = preferences[preferences.weights > 0]
    learner = replace(learner, n_grades=data.n_grades)
    k = min(n_folds, max(2, len(np.unique(data.pair_groups))))
    table, C = _predict_held_out(data, names, learner, use, rng, k, n_repeats, advance)
    for name, measure in measures.items():
        table[name] = judged_differences(measure, data)[None]
    table = {first: table.pop(first)} | table
    full = LEARNED_MEASURES | {name: str(measure) for name, measure in measures.items()}
    n_queries, alone = query_counts(data.queries[data.strict])
    groups, weights = data.pair_groups, data.pair_weights
    return MeasureComparison(
        rows=_rows(table, full, data),
        judgments=len(data.pairs),
        ties=len(data) - len(data.pairs),
        queries=n_queries,
        without_query=alone,
        effective=clustered_mean(np.ones(len(groups)), groups, weights).effective,
        n_folds=k,
        n_repeats=n_repeats,
        C=C,
        against=first,
    )


def _predict_held_out(
    data: Preferences,
    names: Sequence[str],
    parameters: Parameters,
    use: MeasurePart,
    rng: np.random.Generator,
    k: int,
    n_repeats: int,
    advance: Advance,
) -> tuple[dict[str, Floats], tuple[float, ...]]:
    """Predict every judgment by measures learned without its query, in k folds, several times.

    Returns the differences (repeats, judgments) of each learned measure, and the C of each fit.
    """
    groups, strict = data.pair_groups, data[data.strict]
    problem = parameters.problem(data.pairs, data.pair_weights)
    choose = use if parameters.C == "cv" else None
    differences = {name: np.zeros((n_repeats, len(data))) for name in names}
    chosen = []
    for repeat in range(n_repeats):
        folds = list(query_folds(groups, k, rng))
        fold = _folds_of_judgments(data, [test for _, test in folds])
        for f, (train, _) in enumerate(folds):
            with naming_fold(f + 1, k):
                part = problem.take(train)
                of_W = fit_choosing(part, groups[train], rng, parameters.solver, choose)
                learned: dict[str, Measure] = {OF_W: of_W.dcg, UTILITY: of_W.utility}
                if LEARNED in names:
                    learned[LEARNED] = learn_dcg(strict[train]).dcg
            chosen.append(float(of_W.problem.C))
            for name, one in learned.items():
                lead = judged_differences(one, data)
                unit = weighted_mean(lead**2, data.weights) ** 0.5 or 1.0  # folds differ in |W|
                differences[name][repeat, fold == f] = (lead / unit)[fold == f]
            advance(repeat * k + f + 1, n_repeats * k)
    return differences, tuple(chosen)


def _folds_of_judgments(data: Preferences, tests: Sequence[Integers]) -> Integers:
    """Return the fold of every judgment: ties follow the strict judgments of their query.

    A query without strict judgments trains nothing, so that any fold can predict its ties.
    """
    every = group_numbers(data.queries)
    of_query = np.arange(every.max() + 1) % len(tests)
    strict = every[data.strict]
    for f, test in enumerate(tests):
        of_query[strict[test]] = f
    return of_query[every]


def _rows(
    table: Mapping[str, Floats], full: Mapping[str, str], data: Preferences
) -> tuple[ComparedMeasure, ...]:
    """Return one row per measure, from its differences; others are subtracted from the first."""
    against, *others = table
    right = {name: np.heaviside(one[:, data.strict], 0.5) for name, one in table.items()}
    leads = [
        clustered_mean(right[against] - right[name], data.pair_groups, data.pair_weights)
        for name in others
    ]
    p = [lead.p_value() for lead in leads]
    numbers = zip(leads, p, holm(np.array(p, float)).tolist(), strict=True)
    ahead = [(), *((d.value, *d.interval(-1, 1), *ps, d.between_repeats) for d, *ps in numbers)]
    return tuple(
        ComparedMeasure(name, full[name], *agreement_of(one, data), against, *lead)
        for (name, one), lead in zip(table.items(), ahead, strict=True)
    )
