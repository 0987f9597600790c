"""Many systems under many measures: :func:`evaluate`.

The judgments in a file do not fix a measure. Tools also choose how equal scores are ordered,
how a document without a judgment counts, and what happens to queries that hold no relevant
document or are missing from a run. :class:`~dcglearn.evaluation.rules.Rules` names these choices;
:data:`~dcglearn.evaluation.rules.LIKE` holds those of other tools, taken from their documentation
and checked against them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted, decimals
from dcglearn.base.suggestions import is_one_of, unknown_name
from dcglearn.base.types import Floats
from dcglearn.collection.qrels_index import IndexedQrels
from dcglearn.evaluation.inputs import QrelsLike, RunLike, named_measures, read_qrels_and_runs
from dcglearn.evaluation.lookup import LookedUpRun, count_unjudged, look_up
from dcglearn.evaluation.ranked import Ranked, score_runs
from dcglearn.evaluation.rules import Rules, rules_like
from dcglearn.evaluation.unjudged_bounds import judged_share, unjudged_bounds
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import ScaleLike
from dcglearn.naming.names import MeasureLike, NamedMeasure
from dcglearn.statistics.significance import mean_of_counted

if TYPE_CHECKING:
    import pandas as pd

_DEFAULT_RULES = Rules()


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The value of each measure for each system and query.

    Attributes
    ----------
    qrels : IndexedQrels
    runs : tuple of LookedUpRun
        One per system, with the grades of its documents.
    measures : tuple of NamedMeasure
    rules : Rules
    values : ndarray of float, shape (systems, measures, queries)
        nan where a query is left out.
    high : ndarray of float, same shape, or None
        The largest possible values under ``unjudged="bounds"``; `values` are then the smallest.
    judged : ndarray of float, shape (systems, cutoffs, queries)
        The share of judged documents; nan where a query is missing from the run.
    cutoffs : tuple of int or None
        The distinct cutoffs of the measures, for `judged`.
    """

    qrels: IndexedQrels
    runs: tuple[LookedUpRun, ...]
    measures: tuple[NamedMeasure, ...]
    rules: Rules
    values: Floats
    high: Floats | None
    judged: Floats
    cutoffs: tuple[int | None, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(run.name for run in self.runs)

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries of the qrels."""
        return self.qrels.queries

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which queries are missing from each run, shape (systems, queries)."""
        return np.array([run.missing for run in self.runs])

    @property
    def extra(self) -> tuple[tuple[str, ...], ...]:
        """The queries of each run that the qrels do not hold; they are left out."""
        return tuple(run.extra for run in self.runs)

    def means(self) -> Floats:
        """Return the mean over queries, shape (systems, measures); nan where no query is left."""
        return mean_of_counted(self.values)

    def high_means(self) -> Floats | None:
        """Return the mean of the largest possible values, or None without bounds."""
        return None if self.high is None else mean_of_counted(self.high)

    def judged_means(self) -> Floats:
        """Return the mean share of judged documents, shape (systems, cutoffs)."""
        return mean_of_counted(self.judged)

    def judged_by_measure(self) -> Floats:
        """Return the share of judged documents down to the cutoff of each measure.

        Returns
        -------
        ndarray of float, shape (systems, measures, queries)
        """
        return self.judged[:, [self.cutoffs.index(one.measure.n_ranks) for one in self.measures]]

    def best_first(self, measure: str | None = None) -> Evaluation:
        """Return the same evaluation with the systems sorted by their means, best first.

        Parameters
        ----------
        measure : str, optional
            The name of the measure to sort by; the first one by default.

        Returns
        -------
        Evaluation
            Systems with equal means keep their order. With bounds, the smallest values count.

        Raises
        ------
        InputError
            If there is no such measure.

        Examples
        --------
        >>> qrels = {"q": {"d1": 1, "d2": 0}}
        >>> runs = {"old": {"q": {"d2": 2, "d1": 1}}, "new": {"q": {"d1": 2, "d2": 1}}}
        >>> evaluate(qrels, runs, "zipf").best_first().systems
        ('new', 'old')
        """
        names = [one.name for one in self.measures]
        if measure is not None and not is_one_of(measure, names):
            raise unknown_name("measure", measure, names)
        m = 0 if measure is None else names.index(measure)
        order = np.argsort(-self.means()[:, m], kind="stable")
        return replace(
            self,
            runs=tuple(self.runs[s] for s in order),
            values=self.values[order],
            high=None if self.high is None else self.high[order],
            judged=self.judged[order],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with one row per system, measure and query.

        Returns
        -------
        pandas.DataFrame
            Columns system, measure, query, value, with bounds high, and judged, the share of
            judged documents down to the cutoff of the measure. A value is nan where the query is
            left out, judged where it is missing from the run.

        Examples
        --------
        >>> evaluate({"q": {"d1": 1}}, {"new": {"q": {"d1": 2, "d2": 1}}}, "zipf").to_frame()
          system measure query  value  judged
        0    new    zipf     q    1.0     0.5
        """
        import pandas as pd

        names = tuple(one.name for one in self.measures)
        index = pd.MultiIndex.from_product(
            [self.systems, names, self.queries], names=["system", "measure", "query"]
        )
        frame = index.to_frame(index=False).assign(value=self.values.ravel())
        if self.high is not None:
            frame["high"] = self.high.ravel()
        return frame.assign(judged=self.judged_by_measure().ravel())

    def __repr__(self) -> str:
        cells = [[decimals(mean) for mean in row] for row in self.means()]
        if (high := self.high_means()) is not None:
            cells = [
                [f"{low} to {decimals(mean)}" for low, mean in zip(lows, row, strict=True)]
                for lows, row in zip(cells, high, strict=True)
            ]
        header = ["mean", *(one.name for one in self.measures)]
        rows = [header, *([name, *row] for name, row in zip(self.systems, cells, strict=True))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in rows
        ]
        return "\n".join([*lines, counted(len(self.queries), "query", "queries")])


def evaluate(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: MeasureLike | Sequence[MeasureLike] | Mapping[str, MeasureLike],
    *,
    rules: Rules | str = _DEFAULT_RULES,
    scale: ScaleLike | None = None,
) -> Evaluation:
    """Evaluate runs under measures.

    Parameters
    ----------
    qrels : path-like, dict, pandas.DataFrame, Qrels or IndexedQrels
        The grades: a file, ``{query: {document: grade}}``, or a frame with the columns query,
        document and grade.
    runs : path-like, dict, pandas.DataFrame or Run, a sequence of them, or a dict by name
        A file, ``{query: {document: score}}``, or a frame with the columns query, document and
        score; ``{"bm25": run}`` names a run.
    measures : DCG, LinearUtility, MeasureFile, NamedMeasure, str or path-like, \
a sequence of them, or a dict by name
        Text names a preset (``"zipf"``), a measure in full (``"nDCG(linear-log2) @ 10"``) or a
        measure file (``"learned.json"``).
    rules : Rules or str, default Rules()
        How ties, documents without a judgment and missing queries count; or the name of a tool
        in :data:`~dcglearn.evaluation.rules.LIKE`, such as ``"trec_eval"``.
    scale : Scale, str or sequence of labels, optional
        The grades, best first, such as ``"2,1,0"``. By default the grades of the qrels, the
        highest first.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If something cannot be read, a measure does not fit the grades or the rules, or a run
        holds no query of the qrels.

    Examples
    --------
    >>> qrels = {"q": {"d1": 1, "d2": 0}}
    >>> runs = {"one": {"q": {"d1": 2.5, "d2": 1.0}}, "two": {"q": {"d2": 2.5, "d1": 1.0}}}
    >>> evaluate(qrels, runs, ["zipf", DCG([1, 0], "log2", normalise="ideal")])
    mean    zipf  nDCG([1, 0], log2)
    one   1.0000              1.0000
    two   0.5000              0.6309
    1 query
    """
    rules = rules_like(rules) if isinstance(rules, str) else rules
    if not isinstance(rules, Rules):
        raise InputError(
            f"rules of type {type(rules).__name__}", "give Rules(...), or a tool's name"
        )
    read = read_qrels_and_runs(qrels, runs, scale)
    longest = max(run.longest for run in read.runs)
    named = named_measures(measures, read.qrels.scale, longest)
    looked_up = []
    in_ideal = unjudged_in_ideal(rules, [one.measure for one in named])
    several = rules.shared_pool and len(read.runs) > 1
    pooled = count_unjudged(read.runs, read.qrels) if several and in_ideal else None
    for run in read.runs:
        found = look_up(run, read.qrels, rules.ties, rules.single)
        looked_up.append(replace(found, ranked=replace(found.ranked, pooled=pooled)))
        if looked_up[-1].missing.all():
            raise InputError(
                "holds no query of the qrels", "give the qrels that go with it", run.name
            )
    return _scored(read.qrels, looked_up, named, rules)


def unjudged_in_ideal(rules: Rules, measures: Sequence[Measure]) -> bool:
    """Return whether the ideal of some measure depends on documents without a judgment.

    Parameters
    ----------
    rules : Rules
    measures : sequence of DCG or LinearUtility

    Returns
    -------
    bool

    Examples
    --------
    >>> measure = DCG([1, 0.5], normalise="ideal")
    >>> [unjudged_in_ideal(Rules(unjudged=rule), [measure]) for rule in ("worst", "nothing")]
    [True, False]
    """
    normalised = [one for one in measures if isinstance(one, DCG) and one.normalise]
    if rules.unjudged == "worst":
        return any(_ideal_has_worst(with_least(one, rules.least)) for one in normalised)
    return rules.unjudged == "bounds" and bool(normalised)


def _ideal_has_worst(measure: DCG) -> bool:
    """Return whether documents of the worst grade change the ideal, or the worst value."""
    worst = measure.gains[-1]
    if worst >= 0:
        return worst > 0
    costly = not isinstance(measure.discounts, str) and min(measure.discounts) < 0
    return costly or measure.normalise == "minmax"


def _scored(
    indexed: IndexedQrels,
    runs: Sequence[LookedUpRun],
    measures: Sequence[NamedMeasure],
    rules: Rules,
) -> Evaluation:
    cutoffs = tuple(dict.fromkeys(one.measure.n_ranks for one in measures))
    shape = len(runs), len(measures), len(indexed.queries)
    low, high = np.empty(shape), np.empty(shape)
    judged = np.empty((len(runs), len(cutoffs), len(indexed.queries)))
    for s, run in enumerate(runs):
        scored = run.ranked.without_unjudged() if rules.unjudged == "removed" else run.ranked
        for m, named in enumerate(measures):
            try:
                low[s, m], high[s, m] = _values(named.measure, scored, rules)
            except InputError as error:
                raise error.at(named.name) from error
        for c, cutoff in enumerate(cutoffs):
            judged[s, c] = judged_share(run.ranked, cutoff)
        absent = np.nan if rules.missing is None else rules.missing
        low[s, :, run.missing] = high[s, :, run.missing] = absent
    return Evaluation(
        indexed,
        tuple(runs),
        tuple(measures),
        rules,
        low,
        high if rules.unjudged == "bounds" else None,
        judged,
        cutoffs,
    )


def _values(measure: Measure, ranked: Ranked, rules: Rules) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of each query; without bounds they are equal."""
    if isinstance(measure, DCG):
        measure = with_least(measure, rules.least)
    elif rules.least is not None:
        raise InputError(
            f"the rules count gains below {rules.least:g} as 0, and position-dependent weights "
            "have no gains",
            "evaluate a DCG, or choose other rules",
        )
    if rules.unjudged == "bounds":
        return _bounds(measure, ranked, rules)
    gain = 0.0 if rules.unjudged == "nothing" else None
    worthless = np.nan if rules.worthless is None else rules.worthless
    value = score_runs(measure, ranked, gain, worthless)
    return value, value


def _bounds(measure: Measure, ranked: Ranked, rules: Rules) -> tuple[Floats, Floats]:
    if not isinstance(measure, DCG):
        raise InputError("no bounds for position-dependent weights")
    if rules.worthless is None and measure.normalise is not None:
        raise InputError(
            '`unjudged="bounds"`, and queries without relevant documents left out',
            "use `worthless=0`: without all judgments it is unknown which queries these are",
        )
    bounds = unjudged_bounds(measure, ranked, rules.worthless or 0.0)
    return bounds.low, bounds.high


def with_least(measure: DCG, least: float | None) -> DCG:
    """Return the measure with 0 for the gains below `least`.

    Parameters
    ----------
    measure : DCG
    least : float or None

    Returns
    -------
    DCG

    Examples
    --------
    >>> with_least(DCG([2, 0.5, 0]), 1.0)
    DCG([2, 0, 0], log2)
    """
    if least is None:
        return measure
    return replace(measure, gains=tuple(gain if gain >= least else 0.0 for gain in measure.gains))
