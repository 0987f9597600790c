"""Paired comparisons of systems with a baseline under every measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dcglearn.base.checks import checked_count, checked_rng
from dcglearn.base.errors import InputError
from dcglearn.base.overflow import refuse_overflow
from dcglearn.base.suggestions import is_one_of, unknown_name
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.statistics.significance import (
    RESAMPLES,
    PairedTest,
    holm,
    mean_of_counted,
    paired_intervals,
    paired_p_values,
    takes_all_signs,
)


@dataclass(frozen=True)
class SystemComparison:
    """A system compared with the baseline under one measure.

    Attributes
    ----------
    measure, system, baseline : str
    difference : float
        Mean of the system minus mean of the baseline, over the queries that both have.
    low, high : float
        95% bootstrap interval of the difference.
    p : float
        p-value of the paired test.
    corrected : float
        p-value with Holm's correction for all systems compared under that measure.
    queries : int
        Number of queries that both have.
    drawn : int
        Number of signs drawn by the randomisation test, so that p is at least 1 / (drawn + 1); 0
        if it took all signs, and for the t test.
    """

    measure: str
    system: str
    baseline: str
    difference: float
    low: float
    high: float
    p: float
    corrected: float
    queries: int
    drawn: int

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON-able dict."""
        return dict(vars(self))


def compare_systems(
    evaluation: Evaluation,
    baseline: str,
    rng: np.random.Generator,
    test: PairedTest = "randomisation",
    resamples: int = RESAMPLES,
) -> list[SystemComparison]:
    """Compare every system with a baseline under every measure.

    Parameters
    ----------
    evaluation : Evaluation
    baseline : str
        The name of a system.
    rng : numpy.random.Generator
    test : {"randomisation", "t"}, default "randomisation"
    resamples : int, default 9999
        Of the randomisation test and of the bootstrap.

    Returns
    -------
    list of SystemComparison
        By measure, then by system.

    Raises
    ------
    InputError
        If there is no such system, the values are bounds, or two systems share fewer than two
        queries.

    Examples
    --------
    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> qrels = {f"q{i}": {"d1": 1, "d2": 0} for i in range(8)}
    >>> runs = {name: {q: {first: 2.0, other: 1.0} for q in qrels}
    ...         for name, first, other in (("good", "d1", "d2"), ("bad", "d2", "d1"))}
    >>> evaluation = evaluate(qrels, runs, "zipf")
    >>> (found,) = compare_systems(evaluation, "bad", np.random.default_rng(0))
    >>> found.system, found.difference, found.p
    ('good', 0.5, 0.0078125)
    """
    checked_rng(rng)
    checked_count(resamples, "`resamples`", high=10**7)
    if not is_one_of(baseline, evaluation.systems):
        raise unknown_name("system", baseline, evaluation.systems)
    if evaluation.high is not None:
        raise InputError(
            "differences of bounds", 'evaluate with another rule than `unjudged="bounds"`'
        )
    base = evaluation.systems.index(baseline)
    others = [s for s in range(len(evaluation.systems)) if s != base]
    comparisons: list[SystemComparison] = []
    for m, named in enumerate(evaluation.measures if others else ()):
        with refuse_overflow(named.name):
            differences = evaluation.values[others, m] - evaluation.values[base, m]
        if (np.isfinite(differences).sum(axis=1) < 2).any():
            raise InputError(
                "fewer than two queries to compare", "give runs that share more queries", named.name
            )
        p = paired_p_values(differences, rng, test, resamples)
        intervals = paired_intervals(differences, rng, resamples)
        corrected = holm(p)
        comparisons += [
            SystemComparison(
                named.name,
                evaluation.systems[s],
                baseline,
                float(mean_of_counted(differences[row])),
                float(intervals[row, 0]),
                float(intervals[row, 1]),
                float(p[row]),
                float(corrected[row]),
                int(np.isfinite(differences[row]).sum()),
                0 if test == "t" or takes_all_signs(differences.shape[1], resamples) else resamples,
            )
            for row, s in enumerate(others)
        ]
    return comparisons
