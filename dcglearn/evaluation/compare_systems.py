"""Paired comparisons of systems under every measure, with tests and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.evaluation.significance import RESAMPLES, Test, holm, paired_intervals, paired_p
from dcglearn.evaluation.systems import Evaluation


@dataclass(frozen=True)
class SystemComparison:
    """One system beside another, under one measure.

    Attributes
    ----------
    measure, system, baseline : str
    difference : float
        Of the means, over the queries that both have.
    low, high : float
        Its 95% bootstrap interval.
    p : float
        Of the paired test.
    corrected : float
        The same with Holm's correction, over all systems compared under that measure.
    queries : int
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

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as a JSON-able dict."""
        return dict(vars(self))


def compare_systems(
    found: Evaluation,
    baseline: str,
    rng: np.random.Generator,
    test: Test = "randomisation",
    resamples: int = RESAMPLES,
) -> list[SystemComparison]:
    """Compare every system with one of them, under every measure.

    Parameters
    ----------
    found : Evaluation
    baseline : str
        The name of a system.
    rng : numpy.random.Generator
    test : {"randomisation", "t"}, default "randomisation"
    resamples : int, default 9999
        Of the randomisation and of the bootstrap.

    Returns
    -------
    list of SystemComparison
        By measure, then by system.

    Raises
    ------
    InputError
        If there is no such system, or fewer than two queries.
    """
    if baseline not in found.systems:
        raise unknown_name("system", baseline, found.systems)
    base = found.systems.index(baseline)
    others = [s for s in range(len(found.systems)) if s != base]
    result = []
    for m, named in enumerate(found.measures):
        differences = found.values[others, m] - found.values[base, m]
        if (np.isfinite(differences).sum(axis=1) < 2).any():
            raise InputError(
                "fewer than two queries to compare", "give more, or --test none", named.name
            )
        p = paired_p(differences, rng, test, resamples)
        intervals = paired_intervals(differences, rng, resamples)
        for row, s in enumerate(others):
            result.append(
                SystemComparison(
                    named.name,
                    found.systems[s],
                    baseline,
                    float(np.nanmean(differences[row])),
                    float(intervals[row, 0]),
                    float(intervals[row, 1]),
                    float(p[row]),
                    float(holm(p)[row]),
                    int(np.isfinite(differences[row]).sum()),
                )
            )
    return result
