"""Many systems under many measures: :func:`evaluate`, by the choices of :class:`Rules`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dcglearn.base.errors import InputError, check_name, naming
from dcglearn.base.numbers import counted, decimals
from dcglearn.base.progress import Advance, silent
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Booleans, Floats
from dcglearn.collections.runs import IndexedQrels
from dcglearn.measures.names import AskedMeasure, Named, asked_measure, repeated_name
from dcglearn.measures.other_measures import RBP, BinaryMeasure, RBPResidual, is_in_one_order
from dcglearn.measures.scale import Scale, ScaleLike
from dcglearn.systems.inputs import (
    QrelsLike,
    RunLike,
    RunSource,
    by_name,
    open_qrels_and_runs,
    rank_runs,
)
from dcglearn.systems.paired_tests import mean_of_counted
from dcglearn.systems.ranked import Ranked, Rules, rules_like
from dcglearn.systems.scoring import in_order, rankings_to_score, unjudged_in_ideal, values

if TYPE_CHECKING:
    import pandas as pd

AskedMeasures: TypeAlias = "AskedMeasure | Sequence[AskedMeasure] | Mapping[str, AskedMeasure]"


def named_measures(
    measures: AskedMeasures, scale: Scale, n_ranks: int, rules: Rules
) -> list[Named]:
    """Return measures on a scale; the residual of each RBP follows, except where bounds hold it."""
    given = by_name(measures)
    if not given:
        raise InputError("no measure", "give at least one, such as 'nDCG(linear-log2) @ 10'")
    named: list[Named] = []
    for name, one in given:
        with naming(name):
            found = asked_measure(one, scale, n_ranks)
            found = replace(found, name=name or found.name)
            if rules.unjudged == "bounds" and isinstance(found.measure, BinaryMeasure):
                raise InputError(
                    "no bounds for measures of relevant documents",
                    'leave it out, or choose another rule than `unjudged="bounds"`',
                    found.name,
                )
            if rules.ties == "mean" and is_in_one_order(found.measure):
                raise InputError(
                    "has no formula for the mean over the orders of documents with equal scores",
                    'leave it out, or choose `ties="docid"`',
                    found.name,
                )
        named.append(found)
        if isinstance(found.measure, RBP) and rules.unjudged != "bounds":
            named.append(Named(f"{found.name}, residual", RBPResidual(**vars(found.measure))))
    if repeated := repeated_name([one.name for one in named]):
        raise InputError(f"the measure {repeated} is named twice", "name it once")
    return named


_DEFAULT_RULES = Rules()

_FEW_SYSTEMS = 5
"""So many systems that lack queries are named."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The value of each measure for each system and query.

    Attributes
    ----------
    qrels : IndexedQrels
    systems : tuple of str
        The names of the runs.
    runs : tuple of Ranked
        One per system, with the groups of equal scores.
    extra : tuple of tuple of str
        The queries of each run that the qrels do not hold.
    measures : tuple of Named
    rules : Rules
    values : ndarray of float, shape (systems, measures, queries)
        nan where a query is left out.
    high : ndarray of float, same shape, or None
        The largest possible values under ``unjudged="bounds"``; `values` are then the smallest.
    """

    qrels: IndexedQrels
    systems: tuple[str, ...]
    runs: tuple[Ranked, ...]
    extra: tuple[tuple[str, ...], ...]
    measures: tuple[Named, ...]
    rules: Rules
    values: Floats
    high: Floats | None

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries of the qrels."""
        return self.qrels.queries

    @property
    def cutoffs(self) -> tuple[int | None, ...]:
        """The distinct cutoffs of the measures, for `judged`."""
        return tuple(dict.fromkeys(one.measure.n_ranks for one in self.measures))

    @cached_property
    def judged(self) -> Floats:
        """The share of judged documents, (systems, cutoffs, queries); nan for missing queries."""

        def shares(run: Ranked) -> list[Floats]:
            ordered = in_order(run, self.rules)
            return [ordered.judged_share(cutoff) for cutoff in self.cutoffs]

        return np.array(map_threads(shares, self.runs))

    @property
    def compared(self) -> tuple[bool, ...]:
        """Whether systems are compared by each measure: not by residuals of RBP."""
        return tuple(not isinstance(one.measure, RBPResidual) for one in self.measures)

    def comparable(self) -> Evaluation:
        """Return the same without the measures by which systems are not compared."""
        return replace(
            self,
            measures=tuple(compress(self.measures, self.compared)),
            values=self.values[:, self.compared],
            high=None if self.high is None else self.high[:, self.compared],
        )

    @property
    def missing(self) -> Booleans:
        """Which queries are missing from each run, shape (systems, queries)."""
        return np.array([run.missing for run in self.runs])

    def notes(self) -> list[str]:
        """Say for which measures nothing is relevant, and which queries count 0 or are left out."""
        notes = [
            f"{one.name}: no grade of the qrels is {one.measure.rel} or more: nothing is relevant"
            for one in self.measures
            if isinstance(one.measure, BinaryMeasure) and max(one.measure.levels, default=1) < 1
        ]
        missing = self.missing.sum(axis=1).tolist()
        lacking = [
            f"{name} ({n:,} of {len(self.queries):,})"
            for name, n in zip(self.systems, missing, strict=True)
            if n
        ]
        if lacking:
            value, more = self.rules.missing, len(lacking) - _FEW_SYSTEMS
            counts = "are left out" if value is None else f"count {value:g}"
            others = f" and {counted(more, 'more run')}" if more > 0 else ""
            named = ", ".join(lacking[:_FEW_SYSTEMS])
            notes.append(f"queries missing from a run {counts}: {named}{others}")
        extra = len(set[str]().union(*self.extra))
        if extra:
            count = counted(extra, "query", "queries")
            notes.append(f"left out: {count} of the runs, not in the qrels")
        return notes

    def means(self) -> Floats:
        """Return the mean over queries, shape (systems, measures); nan where no query is left."""
        return mean_of_counted(self.values)

    def judged_means(self) -> Floats:
        """Return the mean share of judged documents, shape (systems, cutoffs)."""
        return mean_of_counted(self.judged)

    def means_over_orders(self) -> Floats:
        """Return the means if documents with equal scores had the mean over their orders."""
        known = [not is_in_one_order(one.measure) for one in self.measures]
        means = np.full(self.values.shape[:2], np.nan)
        measures, rules = [*compress(self.measures, known)], replace(self.rules, ties="mean")
        means[:, known] = mean_of_counted(_bounds(self.runs, measures, rules)[0])
        return means

    def best_first(self, measure: str | None = None) -> Evaluation:
        """Return the same with the systems sorted by their means under a measure, best first.

        By default it is the first measure. With bounds, the smallest values count.
        """
        names = [one.name for one in self.measures]
        check_name(measure, "measure", (None, *names))
        means = self.means()[:, names.index(measure or names[0])]
        order = np.argsort(-means, kind="stable").tolist()
        return replace(
            self,
            systems=tuple(self.systems[s] for s in order),
            runs=tuple(self.runs[s] for s in order),
            extra=tuple(self.extra[s] for s in order),
            values=self.values[order],
            high=None if self.high is None else self.high[order],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with one row per system, measure and query.

        `judged` is the share of judged documents down to the cutoff of the measure.

        >>> evaluate({"q": {"d1": 1}}, {"new": {"q": {"d1": 2, "d2": 1}}}, "zipf").to_frame()
          system measure query  value  judged
        0    new    zipf     q    1.0     0.5
        """
        import pandas as pd

        rows = product(self.systems, [one.name for one in self.measures], self.queries)
        frame = pd.DataFrame(rows, columns=["system", "measure", "query"])
        frame["value"] = self.values.ravel()
        if self.high is not None:
            frame["high"] = self.high.ravel()
        cut = [self.cutoffs.index(one.measure.n_ranks) for one in self.measures]
        return frame.assign(judged=self.judged[:, cut].ravel())

    def __repr__(self) -> str:
        import pandas as pd

        ends = [self.values] if self.high is None else [self.values, self.high]
        means = mean_of_counted(np.stack(ends, axis=2))
        cells = [[" to ".join(map(decimals, both)) for both in row] for row in means]
        frame = pd.DataFrame(cells, self.systems, [one.name for one in self.measures])
        table = frame.rename_axis(columns="mean").to_string()
        return f"{table}\n{counted(len(self.queries), 'query', 'queries')}"


def evaluate(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: AskedMeasures,
    *,
    rules: Rules | str = _DEFAULT_RULES,
    scale: ScaleLike | None = None,
) -> Evaluation:
    """Evaluate runs under measures.

    Parameters
    ----------
    qrels : path-like, dict, pandas.DataFrame, Qrels or IndexedQrels
        A file, ``{query: {document: grade}}``, or a frame with columns query, document and grade.
    runs : path-like, dict, pandas.DataFrame or Run, a sequence of them, or a dict by name
        The same with scores; ``{"bm25": run}`` names a run.
    measures : DCG, LinearUtility, MeasureFile, NamedMeasure, ERR, RBP, str, path-like or \
    ir_measures.Measure, a sequence of them, or a dict by name
        Text names a preset, a measure in full, a measure file, or another measure (``"AP"``).
        RBP is followed by its residual.
    rules : Rules or str, default Rules()
        Or the name of a tool in :data:`~dcglearn.systems.ranked.LIKE`, such as ``"trec_eval"``.
    scale : Scale, str or sequence of labels, optional
        The grades, best first. By default those of the qrels, the highest first.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> qrels = {"q": {"d1": 1, "d2": 0}}
    >>> runs = {"one": {"q": {"d1": 2.5, "d2": 1.0}}, "two": {"q": {"d2": 2.5, "d1": 1.0}}}
    >>> evaluate(qrels, runs, ["zipf", "nDCG([1, 0], log2)"])
    mean    zipf nDCG([1, 0], log2)
    one   1.0000             1.0000
    two   0.5000             0.6309
    1 query
    """
    rules = rules_like(rules)
    return evaluate_opened(*open_qrels_and_runs(qrels, runs, scale), measures, rules)


def evaluate_opened(
    qrels: IndexedQrels,
    sources: Sequence[RunSource],
    measures: AskedMeasures,
    rules: Rules,
    advance: Advance = silent,
) -> Evaluation:
    """Evaluate runs that have not been read: each is read, graded and dropped."""
    known = named_measures(measures, qrels.scale, 1, rules)  # refused before any run is read
    of_all = rules.shared_pool and len(sources) > 1
    shared = of_all and unjudged_in_ideal(rules, [one.measure for one in known])
    systems, runs, extra = rank_runs(qrels, sources, rules, shared, advance)
    longest = max(run.longest for run in runs)
    named = named_measures(measures, qrels.scale, longest, rules)
    low, high = _bounds(runs, named, rules)
    most = high if rules.unjudged == "bounds" else None
    return Evaluation(qrels, systems, runs, extra, tuple(named), rules, low, most)


def _bounds(runs: Sequence[Ranked], measures: Sequence[Named], rules: Rules) -> Floats:
    """Return the smallest and the largest values, (2, systems, measures, queries)."""
    found = np.empty((2, len(runs), len(measures), len(runs[0].pools)))
    missing = np.nan if rules.missing is None else rules.missing
    # Of a residual of RBP, a query that is missing has all.
    whole = [isinstance(one.measure, RBPResidual) for one in measures]
    absent = np.where(whole & np.isfinite(missing), 1.0, missing)

    def score(s: int) -> None:
        ranked = rankings_to_score(runs[s], rules)
        for m, named in enumerate(measures):
            with naming(named.name):
                found[:, s, m] = values(named.measure, ranked, rules)
        found[:, s, :, runs[s].missing] = absent

    map_threads(score, range(len(runs)))
    return found
