"""Systems compared: by paired tests under every measure, and their orderings by two measures.

Tests are with a baseline, or of all pairs. With a chance of .95, no difference that is significant
after the correction is a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from dcglearn.base.checks import checked_count, checked_rng
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.statistics import holm
from dcglearn.base.types import Floats
from dcglearn.correlation.tau import kendall_tau, tau_ap
from dcglearn.measures.measure import TIE_TOLERANCE
from dcglearn.systems.evaluate import Evaluation
from dcglearn.systems.paired_tests import (
    RESAMPLES,
    PairedTest,
    mean_of_counted,
    paired_intervals,
    paired_p_values,
    t_intervals,
    takes_all_signs,
    tukey_test,
)

Correct = Literal["measure", "all", "none"]

MOST_UNASKED = 50
"""So many comparisons are made unasked."""

Correction = Literal["holm", "tukey", "none"]

FEW_QUERIES = 50
"""Below it a bootstrap interval covers the mean difference too seldom."""


@dataclass(frozen=True)
class SystemComparison:
    """A system compared with another one, the baseline, under one measure.

    Attributes
    ----------
    measure, system, baseline : str
    difference : float
        Mean of the system minus mean of the baseline, over the queries that both have.
    low, high : float
        95% interval of this difference alone: Student's with the t test and below 50 queries,
        otherwise a bootstrap's.
    p, corrected : float
        p-value of the paired test, alone and corrected for several comparisons.
    queries, better, worse, equal : int
        Number of queries that both have, and on how many the system is better, worse, or equal.
    test : {"randomisation", "t"}
    drawn : int
        Number of signs drawn by the randomisation test; 0 if it took all, and for the t test.
    correction : {"holm", "tukey", "none"}
        Holm's step-down method, or Tukey's HSD test with randomisation.
    family : int
        Number of comparisons that `corrected` is corrected for.
    orders_drawn : int
        Number of orders drawn by Tukey's test; 0 if it took all, or without it.
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
    better: int
    worse: int
    equal: int
    test: PairedTest
    drawn: int
    correction: Correction = "none"
    family: int = 1
    orders_drawn: int = 0


def has_several_baselines(comparisons: Sequence[SystemComparison]) -> bool:
    """Return whether systems are compared with more than one other, as in all pairs of three."""
    return len({one.baseline for one in comparisons}) > 1


def too_much_to_compare(evaluation: Evaluation, baseline: str) -> str | None:
    """Return why nobody would want a comparison who did not ask for it."""
    n = (len(evaluation.systems) - 1) * sum(evaluation.compared)
    if evaluation.rules.unjudged == "bounds":
        return '`unjudged="bounds"` gives no single value to compare'
    known = np.isfinite(evaluation.comparable().values)
    if (known & known[evaluation.systems.index(baseline)]).sum(axis=2).min(initial=2) < 2:
        return f"a run shares fewer than two queries with {baseline}"
    if n > MOST_UNASKED:
        return (
            f"{n:,} comparisons with {baseline} are made on request only: `compare=baseline`, "
            "`baseline=OTHER` for another system, `compare=all` for all pairs"
        )
    return None


def compare_systems(
    evaluation: Evaluation,
    baseline: str | None,
    rng: np.random.Generator,
    test: PairedTest = "randomisation",
    resamples: int = RESAMPLES,
    correct: Correct = "measure",
    advance: Advance = silent,
) -> list[SystemComparison]:
    """Compare every system with a baseline under every measure; None compares all pairs.

    Parameters
    ----------
    evaluation : Evaluation
        Not of bounds.
    baseline : str or None
        The name of a system, or None for all pairs, which are corrected by Tukey's HSD test with
        randomisation; for the t test by Holm's method.
    rng : numpy.random.Generator
    test : {"randomisation", "t"}, default "randomisation"
    resamples : int, default 9999
        Of the randomisation test, and of the bootstrap from 50 queries on.
    correct : {"measure", "all", "none"}, default "measure"
        Correct p by Holm's method for the comparisons under a measure, for all of them, or not.
    advance : callable, optional
        Called with (done, total) as measures are done.

    Returns
    -------
    list of SystemComparison
        By measure, then by system, or by pair, whose `system` comes first in
        ``evaluation.systems``; the residuals of RBP are not compared.

    Examples
    --------
    >>> from dcglearn import evaluate
    >>> qrels = {f"q{i}": {"d1": 1, "d2": 0} for i in range(8)}
    >>> runs = {name: {q: {first: 2.0, other: 1.0} for q in qrels}
    ...         for name, first, other in (("good", "d1", "d2"), ("bad", "d2", "d1"))}
    >>> evaluation = evaluate(qrels, runs, "zipf")
    >>> (found,) = compare_systems(evaluation, "bad", np.random.default_rng(0))
    >>> found.system, found.difference, found.p
    ('good', 0.5, 0.0078125)
    """
    evaluation = evaluation.comparable()
    systems, values = evaluation.systems, evaluation.values.swapaxes(0, 1)
    pairs = list(combinations(systems, 2))
    if baseline is not None:
        check_name(baseline, "`baseline`", systems)
        pairs = [(name, baseline) for name in systems if name != baseline]
    checked_rng(rng)
    resamples = checked_count(resamples, "`resamples`", high=10**7)
    check_name(correct, "correction", get_args(Correct))
    check_name(test, "test", get_args(PairedTest))
    if evaluation.high is not None:
        raise InputError(
            'with `unjudged="bounds"` there is no single difference to test',
            "evaluate with another rule for unjudged documents",
        )
    if not pairs:
        return []
    exact = test == "t" or takes_all_signs(len(evaluation.queries), resamples)
    rest: dict[str, Any] = {"test": test, "drawn": 0 if exact else resamples}
    sides = [[systems.index(name) for name in side] for side in zip(*pairs, strict=True)]
    found: list[SystemComparison] = []
    for named, of_systems in zip(evaluation.measures, values, strict=True):
        first, second = (of_systems[side] for side in sides)
        differences = first - second
        n = np.isfinite(differences).sum(axis=1)
        if n.min() < 2:
            one, other = pairs[int(n.argmin())]
            raise InputError(
                f"fewer than two queries to compare {one!r} and {other!r}",
                "give runs that share more queries",
                named.name,
            )
        p = paired_p_values(differences, rng, test, resamples)
        intervals = t_intervals(differences)
        many = (n >= FEW_QUERIES) & (test != "t")
        if many.any():
            intervals[many] = paired_intervals(differences[many], rng, resamples)
        same = np.abs(differences) <= TIE_TOLERANCE * np.maximum(np.abs(first), np.abs(second))
        signs = [(side & ~same).sum(axis=1) for side in (differences > 0, differences < 0)]
        columns = [mean_of_counted(differences), *intervals.T, p, p, n, *signs, same.sum(axis=1)]
        found += [
            SystemComparison(named.name, *pair, *numbers, **rest)
            for pair, *numbers in zip(pairs, *map(np.ndarray.tolist, columns), strict=True)
        ]
        advance(len(found) // len(pairs), len(values))
    if correct == "none":
        return found
    family, drawn = (len(found) if correct == "all" else len(pairs)), 0
    correction: Correction = "tukey" if baseline is None and test != "t" else "holm"
    if correction == "tukey":
        p, drawn = tukey_test(values, rng, resamples, across_measures=correct == "all")
    else:
        families = np.array([one.p for one in found]).reshape(-1, family)
        p = np.array([holm(one) for one in families])
    return [
        replace(one, corrected=value, correction=correction, family=family, orders_drawn=drawn)
        for one, value in zip(found, p.ravel().tolist(), strict=True)
    ]


MOST_CAUSES = 3
"""Number of queries named as causes of a reversed pair."""


@dataclass(frozen=True)
class ReversedPair:
    """Two systems that two measures order differently."""

    ahead: str
    behind: str
    first: float
    second: float
    causes: tuple[str, ...]


@dataclass(frozen=True)
class OrderingComparison:
    """The orderings of systems by two measures.

    Attributes
    ----------
    first, second : str
        The names of the measures.
    tau, tau_ap : float
        Kendall's tau-b and the AP correlation (variant b if means are tied); nan if a measure
        ties all systems.
    reversed_pairs : tuple of ReversedPair
    """

    first: str
    second: str
    tau: float
    tau_ap: float
    reversed_pairs: tuple[ReversedPair, ...]

    def among(self, pairs: Sequence[tuple[str, str]]) -> OrderingComparison:
        """Return the comparison with only those reversed pairs that are among the given ones."""
        wanted = {frozenset(pair) for pair in pairs}
        kept = [one for one in self.reversed_pairs if {one.ahead, one.behind} in wanted]
        return replace(self, reversed_pairs=tuple(kept))


def compare_orderings(evaluation: Evaluation) -> list[OrderingComparison]:
    """Compare the orderings of systems by every two measures.

    Parameters
    ----------
    evaluation : Evaluation
        Of two systems or more.

    Returns
    -------
    list of OrderingComparison
        One per pair of measures.

    Examples
    --------
    >>> from dcglearn import evaluate
    >>> qrels = {"q": {"d1": 2, "d2": 1, "d3": 1, "d4": 0}}
    >>> runs = {"one": {"q": {"d1": 2.0, "d4": 1.0}}, "two": {"q": {"d2": 2.0, "d3": 1.0}}}
    >>> measures = ["zipf", "DCG([2, 1.9, 0], zipf)"]
    >>> (found,) = compare_orderings(evaluate(qrels, runs, measures))
    >>> found.tau, [(pair.ahead, pair.behind) for pair in found.reversed_pairs]
    (-1.0, [('one', 'two')])
    """
    evaluation = evaluation.comparable()
    systems, values = evaluation.systems, evaluation.values
    names = [one.name for one in evaluation.measures]
    means = [_tied_alike(column) for column in evaluation.means().T]
    comparisons = []
    for m, n in combinations(range(len(names)), 2):
        one, other = means[m], means[n]
        taus = math.nan, math.nan
        distinct = min(len(set(one)), len(set(other)))
        if distinct > 1:
            tied = tau_ap(one, other, variant="b" if distinct < len(one) else None)
            taus = kendall_tau(one, other), tied
        first, second = one[:, None] - one, other[:, None] - other
        pairs = []
        for a, b in sorted(np.argwhere((first > 0) & (second < 0)).tolist(), key=sorted):
            change = np.nan_to_num((values[a, n] - values[b, n]) - (values[a, m] - values[b, m]))
            largest = np.argsort(change, kind="stable")[:MOST_CAUSES]
            causes = tuple(evaluation.queries[q] for q in largest if change[q] < 0)
            leads = float(first[a, b]), float(second[a, b])
            pairs.append(ReversedPair(systems[a], systems[b], *leads, causes))
        comparisons.append(OrderingComparison(names[m], names[n], *taus, tuple(pairs)))
    return comparisons


def _tied_alike(means: Floats) -> Floats:
    """Give means that are equal but for rounding the same value."""
    order = np.argsort(means)
    ordered = means[order]
    new = np.diff(ordered, prepend=-np.inf) > TIE_TOLERANCE * np.abs(means).max(initial=0.0)
    merged = np.empty_like(means)
    merged[order] = ordered[new][np.cumsum(new) - 1]
    return merged
