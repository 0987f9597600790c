"""Paired comparisons of systems under every measure: with a baseline, or all pairs.

Each pair has a difference, an interval, and the p-value of its own paired test. As many of them are
read together, each also has a corrected p-value. A difference that is significant after the
correction is one of a set among which, with a chance of .95, none is a mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.checks import checked_count, checked_rng
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.overflow import refuse_overflow
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.statistics.significance import (
    PAIRED_TESTS,
    RESAMPLES,
    PairedTest,
    holm,
    mean_of_counted,
    paired_intervals,
    paired_p_values,
    t_intervals,
    takes_all_signs,
)
from dcglearn.statistics.tukey import TukeyTest, tukey_test

Correct = Literal["measure", "all", "none"]
CORRECT: tuple[Correct, ...] = ("measure", "all", "none")
"""Which comparisons p-values are corrected for: those of a measure, or of all measures."""

FEW_QUERIES = 50
"""Below it a bootstrap interval covers the mean difference too seldom."""

_EQUAL = 1e-12
"""Values that differ by less than this share of the larger one are equal but for rounding."""


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
        otherwise that of a bootstrap over queries.
    p : float
        p-value of the paired test.
    corrected : float
        p-value corrected for several comparisons; `p` with ``correct="none"``.
    queries : int
        Number of queries that both have.
    better, worse, equal : int
        Number of these queries on which the system is better than the baseline, worse, or equal.
    test : {"randomisation", "t"}
        The paired test of `p`.
    drawn : int
        Number of signs drawn by the randomisation test, so that p is at least 1 / (drawn + 1); 0
        if it took all signs, and for the t test.
    correction : {"holm", "tukey", "none"}
        Holm's step-down method, or Tukey's HSD test with randomisation.
    family : int
        Number of comparisons that `corrected` is corrected for, this one included.
    orders_drawn : int
        Number of orders of the systems drawn by Tukey's test; 0 if it took all, or without it.
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
    correction: Literal["holm", "tukey", "none"]
    family: int
    orders_drawn: int = 0

    def exchanged(self) -> SystemComparison:
        """Return the same comparison with the baseline as the system."""
        return replace(
            self,
            system=self.baseline,
            baseline=self.system,
            difference=0.0 - self.difference,
            low=0.0 - self.high,
            high=0.0 - self.low,
            better=self.worse,
            worse=self.better,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON-able dict."""
        return dict(vars(self))


def has_several_baselines(comparisons: Sequence[SystemComparison]) -> bool:
    """Return whether systems are compared with more than one other, as in all pairs of three."""
    return len({one.baseline for one in comparisons}) > 1


def compare_systems(
    evaluation: Evaluation,
    baseline: str,
    rng: np.random.Generator,
    test: PairedTest = "randomisation",
    resamples: int = RESAMPLES,
    correct: Correct = "measure",
    advance: Advance = silent,
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
        Of the randomisation test, and of the bootstrap from 50 queries on.
    correct : {"measure", "all", "none"}, default "measure"
        Correct the p-values by Holm's method for all systems compared under a measure, for all
        systems and measures, or not.
    advance : callable, optional
        Called with (done, total) as measures are done.

    Returns
    -------
    list of SystemComparison
        By measure, then by system; the residuals of RBP are not compared.

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
    if not is_one_of(baseline, evaluation.systems):
        raise unknown_name("system", baseline, evaluation.systems)
    evaluation = evaluation.comparable()
    base = evaluation.systems.index(baseline)
    others = np.array([s for s in range(len(evaluation.systems)) if s != base], int)
    tested = _tested(
        evaluation, (others, np.full_like(others, base)), rng, test, resamples, correct, advance
    )
    return _comparisons(evaluation, tested, _holm(tested.p, correct), correct)


def compare_all_pairs(
    evaluation: Evaluation,
    rng: np.random.Generator,
    test: PairedTest = "randomisation",
    resamples: int = RESAMPLES,
    correct: Correct = "measure",
    advance: Advance = silent,
) -> list[SystemComparison]:
    """Compare all pairs of systems under every measure.

    Parameters
    ----------
    evaluation : Evaluation
    rng : numpy.random.Generator
    test : {"randomisation", "t"}, default "randomisation"
    resamples : int, default 9999
        Of the randomisation test, of Tukey's test, and of the bootstrap from 50 queries on.
    correct : {"measure", "all", "none"}, default "measure"
        Correct the p-values for all pairs under a measure, for all pairs and measures, or not: by
        Tukey's HSD test with randomisation; those of the t test by Holm's method.
    advance : callable, optional
        Called with (done, total) as measures are done.

    Returns
    -------
    list of SystemComparison
        By measure, then by pair; the residuals of RBP are not compared. The `system` of a pair
        comes before its `baseline` in ``evaluation.systems``.

    Raises
    ------
    InputError
        If the values are bounds, or two systems share fewer than two queries.

    See Also
    --------
    compare_systems : Compare with a baseline.
    dcglearn.statistics.tukey.tukey_test : The test of all pairs.

    Examples
    --------
    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> qrels = {f"q{i}": {"d1": 1, "d2": 0} for i in range(8)}
    >>> runs = {name: {q: {first: 2.0, other: 1.0} for q in qrels}
    ...         for name, first, other in (("a", "d1", "d2"), ("b", "d1", "d2"), ("c", "d2", "d1"))}
    >>> found = compare_all_pairs(evaluate(qrels, runs, "zipf"), np.random.default_rng(0))
    >>> [(one.system, one.baseline, one.difference, one.better, one.corrected) for one in found]
    [('a', 'b', 0.0, 0, 1.0), ('a', 'c', 0.5, 8, 0.0006), ('b', 'c', 0.5, 8, 0.0006)]
    """
    evaluation = evaluation.comparable()
    first, second = np.triu_indices(len(evaluation.systems), 1)
    tested = _tested(evaluation, (first, second), rng, test, resamples, correct, advance)
    if test == "t" or correct == "none" or not tested.p.size:
        return _comparisons(evaluation, tested, _holm(tested.p, correct), correct)
    values = evaluation.values.swapaxes(0, 1)
    tukey = tukey_test(values, rng, int(resamples), across_measures=correct == "all")
    return _comparisons(evaluation, tested, tukey.p, correct, tukey)


@dataclass(frozen=True)
class _Tested:
    """Differences of pairs of systems, shape (measures, pairs), and what their tests say."""

    pairs: tuple[NDArray[np.integer], NDArray[np.integer]]
    difference: Floats
    interval: Floats
    p: Floats
    signs: NDArray[np.integer]
    test: PairedTest
    drawn: int


def _tested(
    evaluation: Evaluation,
    pairs: tuple[NDArray[np.integer], NDArray[np.integer]],
    rng: np.random.Generator,
    test: PairedTest,
    resamples: int,
    correct: Correct,
    advance: Advance,
) -> _Tested:
    """Test the difference of each pair, system minus baseline, under every measure."""
    checked_rng(rng)
    resamples = checked_count(resamples, "`resamples`", high=10**7)
    if not is_one_of(correct, CORRECT):
        raise unknown_name("correction", correct, CORRECT)
    if not is_one_of(test, PAIRED_TESTS):
        raise unknown_name("test", test, PAIRED_TESTS)
    if evaluation.high is not None:
        raise InputError(
            "differences of bounds", 'evaluate with another rule than `unjudged="bounds"`'
        )
    shape = len(evaluation.measures), len(pairs[0])
    means, p, intervals = np.empty(shape), np.empty(shape), np.empty((*shape, 2))
    signs = np.empty((*shape, 3), int)
    for m, named in enumerate(evaluation.measures if len(pairs[0]) else ()):
        with refuse_overflow(named.name):
            differences = evaluation.values[pairs[0], m] - evaluation.values[pairs[1], m]
        few = np.flatnonzero(np.isfinite(differences).sum(axis=1) < 2)
        if len(few):
            one, other = (evaluation.systems[systems[few[0]]] for systems in pairs)
            raise InputError(
                f"fewer than two queries to compare {one!r} and {other!r}",
                "give runs that share more queries",
                named.name,
            )
        p[m] = paired_p_values(differences, rng, test, resamples)
        intervals[m] = _intervals(differences, rng, test, resamples)
        means[m] = mean_of_counted(differences)
        size = np.maximum(*(np.abs(evaluation.values[systems, m]) for systems in pairs))
        same = np.abs(differences) <= _EQUAL * size
        over, under = (differences > 0) & ~same, (differences < 0) & ~same
        signs[m] = np.stack([part.sum(axis=1) for part in (over, under, same)], axis=1)
        advance(m + 1, len(evaluation.measures))
    exact = test == "t" or takes_all_signs(len(evaluation.queries), resamples)
    return _Tested(pairs, means, intervals, p, signs, test, 0 if exact else resamples)


def _intervals(
    differences: Floats, rng: np.random.Generator, test: PairedTest, resamples: int
) -> Floats:
    n = np.isfinite(differences).sum(axis=1)
    student = np.array([has_t_interval(test, int(queries)) for queries in n])
    intervals = np.empty((len(n), 2))
    intervals[student] = t_intervals(differences[student])
    if not student.all():
        intervals[~student] = paired_intervals(differences[~student], rng, resamples)
    return intervals


def has_t_interval(test: PairedTest, queries: int) -> bool:
    """Return whether the interval of a difference is Student's: the bootstrap's is too short."""
    return test == "t" or queries < FEW_QUERIES


def _holm(p: Floats, correct: Correct) -> Floats:
    if correct == "none":
        return p
    families = p.reshape(1, -1) if correct == "all" else p
    return np.array([holm(family) for family in families]).reshape(p.shape)


def _comparisons(
    evaluation: Evaluation,
    tested: _Tested,
    corrected: Floats,
    correct: Correct,
    tukey: TukeyTest | None = None,
) -> list[SystemComparison]:
    systems, baselines = tested.pairs
    family = {"measure": len(systems), "all": tested.p.size, "none": 1}[correct]
    method: Literal["holm", "tukey", "none"] = "tukey" if tukey else "holm"
    comparisons = []
    for m, named in enumerate(evaluation.measures):
        for row, (system, baseline) in enumerate(zip(systems, baselines, strict=True)):
            better, worse, equal = tested.signs[m, row].tolist()
            low, high = tested.interval[m, row].tolist()
            comparisons.append(
                SystemComparison(
                    measure=named.name,
                    system=evaluation.systems[system],
                    baseline=evaluation.systems[baseline],
                    difference=float(tested.difference[m, row]),
                    low=low,
                    high=high,
                    p=float(tested.p[m, row]),
                    corrected=float(corrected[m, row]),
                    queries=better + worse + equal,
                    better=better,
                    worse=worse,
                    equal=equal,
                    test=tested.test,
                    drawn=tested.drawn,
                    correction="none" if correct == "none" else method,
                    family=family,
                    orders_drawn=tukey.drawn if tukey else 0,
                )
            )
    return comparisons
