"""Many systems under many measures: every choice that tools leave unsaid is a rule here.

What counts as relevant in a file is not the whole of a measure. Tools also choose how equal
scores are ordered, what a document without a judgment is worth, and what becomes of queries
that hold no relevant document or are missing from a run. :class:`Rules` names the choices;
:data:`LIKE` has those of other tools, found in their documentation and checked against them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.data.qrels_index import IndexedQrels
from dcglearn.data.qrels_runs import Run
from dcglearn.evaluation.lookup import LookedUpRun, look_up
from dcglearn.evaluation.ranked import Ranked, score_runs
from dcglearn.evaluation.rules import Rules
from dcglearn.evaluation.unjudged import judged_share, unjudged_bounds
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.names import NamedMeasure


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
    known: IndexedQrels, runs: Sequence[Run], measures: Sequence[NamedMeasure], rules: Rules
) -> Evaluation:
    """Evaluate systems.

    Parameters
    ----------
    known : IndexedQrels
    runs : sequence of Run
    measures : sequence of NamedMeasure
        On the scale of `known` (see :func:`dcglearn.measures.names.measure_for_documents`).
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
    >>> from dcglearn.data.qrels_index import index_qrels
    >>> from dcglearn.data.qrels_runs import qrels_of, run_of
    >>> known = index_qrels(qrels_of({"q": {"d1": 1, "d2": 0}}))
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
            shares[s, c] = judged_share(one.ranked, cutoff)
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


def _values(named: NamedMeasure, found: LookedUpRun, rules: Rules) -> tuple[Floats, Floats]:
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
            low = high = score_runs(measure, ranked, gain, worthless)
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
    bounds = unjudged_bounds(measure, ranked, rules.worthless or 0.0)
    return bounds.low, bounds.high


def _with_least(measure: Measure, least: float | None) -> Measure:
    if least is None:
        return measure
    if not isinstance(measure, DCG):
        raise InputError(f"gains below {least:g} count 0, and position-dependent weights are none")
    return replace(measure, gains=tuple(gain if gain >= least else 0.0 for gain in measure.gains))


def _mean(numbers: Floats) -> Floats:
    counted = ~np.isnan(numbers)
    total = np.where(counted, numbers, 0.0).sum(axis=-1)
    found = np.full(total.shape, np.nan)
    np.divide(total, counted.sum(axis=-1), out=found, where=counted.any(axis=-1))
    return found
