"""Many systems under many measures: every choice that tools leave unsaid is a rule here.

What counts as relevant in a file is not the whole of a measure. Tools also choose how equal
scores are ordered, what a document without a judgment is worth, and what becomes of queries
that hold no relevant document or are missing from a run. :class:`Rules` names the choices;
:data:`LIKE` has those of other tools, found in their documentation and checked against them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.names import unknown_name
from dcglearn.data.graded import Found, Graded, Ties, look_up
from dcglearn.data.trec import Run
from dcglearn.measures.agreement import Measure
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import Floats
from dcglearn.measures.naming import NamedMeasure
from dcglearn.measures.ranked import Ranked, values
from dcglearn.measures.unjudged import bounds, judged
from dcglearn.study.significance import RESAMPLES, Test, holm, paired_intervals, paired_p

Unjudged = Literal["worst", "nothing", "removed", "bounds"]
UNJUDGED: tuple[Unjudged, ...] = ("worst", "nothing", "removed", "bounds")
"""A document without a judgment counts as one of the worst grade, keeps its rank and gains
nothing, is taken out of the ranking, or may be anything: then the least and the largest
possible value are told."""


@dataclass(frozen=True)
class Rules:
    """The choices beside gains and discounts.

    Attributes
    ----------
    ties : {"mean", "input", "docid"}, default "mean"
        See :data:`dcglearn.data.graded.TIES`.
    unjudged : {"worst", "nothing", "removed", "bounds"}, default "worst"
        See :data:`UNJUDGED`.
    worthless : float or None, default 0
        The normalised value of a query whose ideal is 0; None leaves the query out.
    missing : float or None, default 0
        The value of a query that a run does not hold; None leaves the query out.
    least : float, optional
        Smaller gains count 0.
    single : bool, default False
        Whether scores are compared in single precision.
    """

    ties: Ties = "mean"
    unjudged: Unjudged = "worst"
    worthless: float | None = 0.0
    missing: float | None = 0.0
    least: float | None = None
    single: bool = False


LIKE: dict[str, Rules] = {
    "trec_eval": Rules("docid", "nothing", 0.0, None, 0.0, single=True),
    "ir_measures": Rules("docid", "nothing", 0.0, 0.0, 0.0, single=True),
    "ranx": Rules("input", "nothing", 0.0, 0.0, 1.0),
    "sklearn": Rules("mean", "nothing", 0.0, 0.0),
}
"""How other tools choose, for the measures that they have."""


@dataclass(frozen=True)
class Evaluation:
    """Values of systems by measure and query.

    Attributes
    ----------
    systems, queries : tuple of str
    measures : tuple of NamedMeasure
    values : ndarray of float, shape (systems, measures, queries)
        nan where the query is left out.
    high : ndarray of float, same shape, optional
        The largest possible values; `values` are the least then.
    judged : ndarray of float, shape (systems, cutoffs, queries)
        The share of judged documents; nan where a query is missing.
    cutoffs : tuple of int or None
        Those of the measures, for `judged`.
    missing : ndarray of bool, shape (systems, queries)
    extra : tuple of tuples of str
        Queries of each run that the qrels do not hold.
    """

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    measures: tuple[NamedMeasure, ...]
    values: Floats
    high: Floats | None
    judged: Floats
    cutoffs: tuple[int | None, ...]
    missing: NDArray[np.bool_]
    extra: tuple[tuple[str, ...], ...]

    def means(self) -> Floats:
        """Return the mean over queries, shape (systems, measures); nan where none is left."""
        return _mean(self.values)

    def high_means(self) -> Floats | None:
        """Return the mean of the largest possible values, where there are such."""
        return None if self.high is None else _mean(self.high)

    def judged_means(self) -> Floats:
        """Return the mean share of judged documents, shape (systems, cutoffs)."""
        return _mean(self.judged)


def evaluate(
    known: Graded, runs: Sequence[Run], measures: Sequence[NamedMeasure], rules: Rules
) -> Evaluation:
    """Evaluate systems.

    Parameters
    ----------
    known : Graded
    runs : sequence of Run
    measures : sequence of NamedMeasure
        On the scale of `known` (see :func:`dcglearn.measures.naming.measure_on`).
    rules : Rules

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If a measure does not go with the rules.

    Examples
    --------
    >>> from dcglearn.data.graded import graded
    >>> from dcglearn.data.trec import qrels_of, run_of
    >>> known = graded(qrels_of({"q": {"d1": 1, "d2": 0}}))
    >>> zipf = NamedMeasure("zipf", DCG([1, 0], "zipf"))
    >>> evaluate(known, [run_of({"q": {"d2": 2, "d1": 1}})], [zipf], Rules()).means()
    array([[0.5]])
    """
    cutoffs = tuple(dict.fromkeys(one.measure.n_ranks for one in measures))
    shape = len(runs), len(measures), len(known.queries)
    low, high = np.empty(shape), np.empty(shape)
    shares = np.empty((len(runs), len(cutoffs), len(known.queries)))
    found = []
    for s, run in enumerate(runs):
        one = look_up(run, known, rules.ties, rules.single)
        found.append(one)
        for m, named in enumerate(measures):
            low[s, m], high[s, m] = _values(named, one, rules)
        for c, cutoff in enumerate(cutoffs):
            shares[s, c] = judged(one.ranked, cutoff)
    return Evaluation(
        tuple(run.name for run in runs),
        known.queries,
        tuple(measures),
        low,
        high if rules.unjudged == "bounds" else None,
        shares,
        cutoffs,
        np.array([one.missing for one in found]),
        tuple(one.extra for one in found),
    )


def _values(named: NamedMeasure, found: Found, rules: Rules) -> tuple[Floats, Floats]:
    """Return the least and the largest value of each query, mostly the same."""
    worthless = np.nan if rules.worthless is None else rules.worthless
    ranked = found.ranked
    if rules.unjudged == "removed":
        ranked = ranked.without_unjudged()
    try:
        measure = _with_least(named.measure, rules.least)
        if rules.unjudged == "bounds":
            low, high = _bounds(measure, ranked, rules)
        else:
            gain = 0.0 if rules.unjudged == "nothing" else None
            low = high = values(measure, ranked, gain, worthless)
    except InputError as error:
        raise error.at(named.name) from error
    if found.missing.any():
        low, high = low.copy(), high.copy()
        nothing = np.nan if rules.missing is None else rules.missing
        low[found.missing] = high[found.missing] = nothing
    return low, high


def _bounds(measure: Measure, ranked: Ranked, rules: Rules) -> tuple[Floats, Floats]:
    if not isinstance(measure, DCG):
        raise InputError("no bounds for position-dependent weights")
    if rules.worthless is None and measure.normalise is not None:
        raise InputError(
            "bounds, and queries without anything to gain left out",
            "let them count: whether a query has something to gain is not known here",
        )
    return bounds(measure, ranked, rules.worthless or 0.0)


def _with_least(measure: Measure, least: float | None) -> Measure:
    if least is None:
        return measure
    if not isinstance(measure, DCG):
        raise InputError(f"gains below {least:g} count 0, and position-dependent weights are none")
    return replace(measure, gains=tuple(gain if gain >= least else 0.0 for gain in measure.gains))


@dataclass(frozen=True)
class Comparison:
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
) -> list[Comparison]:
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
    list of Comparison
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
                Comparison(
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


def _mean(numbers: Floats) -> Floats:
    counted = ~np.isnan(numbers)
    total = np.where(counted, numbers, 0.0).sum(axis=-1)
    found = np.full(total.shape, np.nan)
    np.divide(total, counted.sum(axis=-1), out=found, where=counted.any(axis=-1))
    return found
