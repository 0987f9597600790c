"""The learned measure compared with given ones, on the same judgments.

The learned measure is cross-validated by query: every judgment is predicted by a
measure learned without the judgments of its query. Given measures need no training.
Agreement, and the difference between the learned and each other measure, have bootstrap
intervals clustered by query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from dcglearn.base.checks import checked_rng
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats, Integers
from dcglearn.data.preferences import Preferences
from dcglearn.data.query_groups import query_folds
from dcglearn.evaluation.significance import clustered_intervals
from dcglearn.learning.choose_c import choose_C
from dcglearn.learning.fit import fit
from dcglearn.learning.learner import DCGLearner
from dcglearn.measures.agreement import outcomes, weighted_mean
from dcglearn.measures.files import MeasurePart
from dcglearn.measures.measure import Measure
from dcglearn.measures.names import MeasureLike, as_measure

LEARNED_DCG = "learned DCG"
LEARNED_UTILITY = "learned W"
"""Names of the two learned measures in a comparison."""


@dataclass(frozen=True)
class ComparedMeasure:
    """One measure of a comparison.

    Attributes
    ----------
    name, measure : str
        The short name, and the measure in full (for learned ones, how they were learned).
    agreement, low, high : float
        The share of strict judgments that it agrees with, and its interval.
    ahead, ahead_low, ahead_high : float or None
        Agreement of the learned measure minus that of this one, and its interval; None
        for the learned measure itself.
    """

    name: str
    measure: str
    agreement: float
    low: float
    high: float
    ahead: float | None
    ahead_low: float | None
    ahead_high: float | None

    @property
    def verdict(self) -> str:
        """``learned better``, ``learned worse`` or ``undecided``; empty for the learned one."""
        if self.ahead_low is None or self.ahead_high is None:
            return ""
        if self.ahead_low > 0:
            return "learned better"
        return "learned worse" if self.ahead_high < 0 else "undecided"


@dataclass(frozen=True)
class MeasureComparison:
    """All measures on the same judgments, the learned one first.

    Attributes
    ----------
    rows : tuple of ComparedMeasure
    judgments, queries : int
        The number of strict judgments, and of their queries.
    n_folds : int
    C : tuple of float
        The C of each fold.
    learned : str
        The name of the learned measure that the others are subtracted from.
    """

    rows: tuple[ComparedMeasure, ...]
    judgments: int
    queries: int
    n_folds: int
    C: tuple[float, ...]
    learned: str

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able dict, with the verdicts."""
        rows = [asdict(row) | {"verdict": row.verdict} for row in self.rows]
        return asdict(self) | {"rows": rows}


def compare(
    preferences: Preferences,
    others: Mapping[str, MeasureLike] | Sequence[MeasureLike],
    learner: DCGLearner,
    rng: np.random.Generator,
    use: MeasurePart = "dcg",
    n_folds: int = 10,
    tune: bool = False,
    advance: Advance = silent,
) -> MeasureComparison:
    """Compare the learned measure, cross-validated by query, with given ones.

    Parameters
    ----------
    preferences : Preferences
        Ties, and judgments of weight 0, are not used.
    others : mapping from name to measure, or sequence of measures
        Measures, measure files, presets or text.
    learner : DCGLearner
    rng : numpy.random.Generator
        Draws the folds and the resamples.
    use : {"dcg", "utility"}, default "dcg"
        Which of the two learned measures the others are subtracted from; both are listed.
    n_folds : int, default 10
        Fewer if there are fewer queries.
    tune : bool, default False
        Choose C in the training part of each fold, by cross-validation within it.
    advance : callable
        Called with (steps done, steps in all): the folds, then the intervals.

    Returns
    -------
    MeasureComparison

    Raises
    ------
    InputError
        If nothing can be learned from the judgments, or there is only one query.
    """
    checked_rng(rng)
    measures = _by_name(others, preferences)
    preferences.check_strict()
    preferences = preferences.take(preferences.weights > 0)
    pairs, weights = preferences.pairs, preferences.pair_weights
    groups = preferences.pair_groups
    n_queries = len(np.unique(groups))
    folds = list(query_folds(groups, min(n_folds, max(2, n_queries)), rng))
    learner = clone(learner).set_params(n_grades=preferences.n_grades)

    dcg, utility, chosen = np.zeros(len(pairs)), np.zeros(len(pairs)), []
    for done, (train, test) in enumerate(folds, start=1):
        one = clone(learner)
        if tune:
            problem = one.problem(pairs[train], weights[train])
            best = choose_C(problem, groups[train], rng, solver=one.solver, use=use)
            learned = fit(problem.with_C(best.C), one.solver)
            parts, C = (learned.dcg, learned.utility), best.C
        else:
            one.fit(pairs[train], sample_weight=weights[train])
            parts, C = (one.dcg_, one.utility_), one.C_
        dcg[test], utility[test] = (outcomes(part, pairs[test]) for part in parts)
        chosen.append(float(C))
        advance(done, len(folds) + 1)  # the intervals are the last step

    both = {LEARNED_DCG: dcg, LEARNED_UTILITY: utility}
    if use == "utility":
        both = dict(reversed(both.items()))
    how = f"{len(folds)}-fold cross-validation by query"
    full = dict.fromkeys(both, how) | {name: str(measure) for name, measure in measures.items()}
    table = both | {name: outcomes(measure, pairs) for name, measure in measures.items()}
    rows = _rows(table, full, groups, weights, rng)
    return MeasureComparison(
        rows, len(pairs), n_queries, len(folds), tuple(chosen), next(iter(both))
    )


def _by_name(
    others: Mapping[str, MeasureLike] | Sequence[MeasureLike], preferences: Preferences
) -> dict[str, Measure]:
    if not isinstance(others, Mapping):
        others = {str(one): one for one in others}
    scale, n_ranks = preferences.scale, preferences.n_ranks
    return {name: as_measure(one, scale, n_ranks) for name, one in others.items()}


def _rows(
    table: Mapping[str, Floats],
    full: Mapping[str, str],
    groups: Integers,
    weights: Floats,
    rng: np.random.Generator,
) -> tuple[ComparedMeasure, ...]:
    """Return one row per measure; the others are subtracted from the first."""
    values = np.stack(list(table.values()), axis=1)
    m = values.shape[1]
    columns = np.hstack([values, values[:, :1] - values[:, 1:]])
    bounds = clustered_intervals(columns, groups, weights, rng)
    means = [weighted_mean(column, weights) for column in columns.T]
    rows = []
    for i, name in enumerate(table):
        ahead = (None, None, None) if i == 0 else (means[m + i - 1], *map(float, bounds[m + i - 1]))
        rows.append(ComparedMeasure(name, full[name], means[i], *map(float, bounds[i]), *ahead))
    return tuple(rows)
