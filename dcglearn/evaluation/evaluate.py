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
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.numbers import counted, decimals
from dcglearn.base.progress import Advance, silent
from dcglearn.base.text import plain_text
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Floats
from dcglearn.collections.join import IndexedQrels
from dcglearn.evaluation.asked_measures import (
    AskedMeasures,
    check_asked,
    named_measures,
    with_residuals,
)
from dcglearn.evaluation.inputs import QrelsAndRuns, QrelsLike, RunLike, open_qrels_and_runs
from dcglearn.evaluation.lookup import LookedUpRun
from dcglearn.evaluation.reading import look_up_runs
from dcglearn.evaluation.rules import Rules, rules_like
from dcglearn.evaluation.scoring import absent_values, rankings_to_score, unjudged_in_ideal, values
from dcglearn.evaluation.unjudged_bounds import judged_share
from dcglearn.measures.binary import is_in_one_order
from dcglearn.measures.rank_biased_precision import RBPResidual
from dcglearn.measures.scale import ScaleLike
from dcglearn.naming.names import Named
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
    measures : tuple of Named
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
    measures: tuple[Named, ...]
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
    def compared(self) -> tuple[bool, ...]:
        """Whether systems are compared by each measure: not by residuals of RBP."""
        return tuple(not isinstance(one.measure, RBPResidual) for one in self.measures)

    def comparable(self) -> Evaluation:
        """Return the same without the measures by which systems are not compared."""
        if all(self.compared):
            return self
        kept = [m for m, is_compared in enumerate(self.compared) if is_compared]
        return replace(
            self,
            measures=tuple(self.measures[m] for m in kept),
            values=self.values[:, kept],
            high=None if self.high is None else self.high[:, kept],
        )

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

    def means_over_orders(self) -> Floats:
        """Return the means if documents with equal scores had the mean over their orders."""
        rules = replace(self.rules, ties="mean")
        known = [m for m, one in enumerate(self.measures) if not is_in_one_order(one.measure)]
        tied = [s for s, run in enumerate(self.runs) if run.has_ties]
        means = self.means()
        means[:, [m not in known for m in range(len(self.measures))]] = np.nan
        if known and tied:
            runs = tuple(replace(self.runs[s], ties="mean") for s in tied)
            other = _scored(self.qrels, runs, [self.measures[m] for m in known], rules)
            means[np.ix_(tied, known)] = other.means()
        return means

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

    def _shown(self) -> list[list[str]]:
        """Return the table of means as text, the names of measures first."""
        cells = [[decimals(mean) for mean in row] for row in self.means()]
        if (high := self.high_means()) is not None:
            cells = [
                [f"{low} to {decimals(mean)}" for low, mean in zip(lows, row, strict=True)]
                for lows, row in zip(cells, high, strict=True)
            ]
        header = ["mean", *(one.name for one in self.measures)]
        return [header, *([name, *row] for name, row in zip(self.systems, cells, strict=True))]

    def _repr_html_(self) -> str:
        """Return the table of means for a notebook."""
        head, *rows = ([escape(plain_text(cell)) for cell in row] for row in self._shown())
        body = "".join(f"<tr><th>{row[0]}</th>{_cells(row[1:], 'td')}</tr>" for row in rows)
        table = f"<table><thead><tr>{_cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"
        return f"{table}<p>{counted(len(self.queries), 'query', 'queries')}</p>"

    def __repr__(self) -> str:
        rows = self._shown()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in rows
        ]
        return "\n".join([*lines, counted(len(self.queries), "query", "queries")])


def _cells(texts: Sequence[str], tag: str) -> str:
    return "".join(f"<{tag}>{text}</{tag}>" for text in texts)


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
        The grades: a file, ``{query: {document: grade}}``, or a frame with the columns query,
        document and grade.
    runs : path-like, dict, pandas.DataFrame or Run, a sequence of them, or a dict by name
        A file, ``{query: {document: score}}``, or a frame with the columns query, document and
        score; ``{"bm25": run}`` names a run.
    measures : DCG, LinearUtility, MeasureFile, NamedMeasure, ERR, RBP, str, path-like or \
ir_measures.Measure, a sequence of them, or a dict by name
        Text names a preset (``"zipf"``), a measure in full (``"nDCG(linear-log2) @ 10"``), a
        measure file (``"learned.json"``), or another measure (``"AP"``, ``"ERR@20"``): P, AP, RR,
        R, Bpref and their like. The residual of an RBP is a measure after it.
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

    See Also
    --------
    dcglearn.compare_systems, dcglearn.compare_all_pairs : Test the differences of systems.
    dcglearn.write_evaluation : Write the means as a table for a paper, or every value.
    dcglearn.system_conclusions : Which differences hold whatever the gains.

    Examples
    --------
    >>> qrels = {"q": {"d1": 1, "d2": 0}}
    >>> runs = {"one": {"q": {"d1": 2.5, "d2": 1.0}}, "two": {"q": {"d2": 2.5, "d1": 1.0}}}
    >>> evaluate(qrels, runs, ["zipf", "nDCG([1, 0], log2)"])
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
    return evaluate_opened(open_qrels_and_runs(qrels, runs, scale), measures, rules)


def evaluate_opened(
    opened: QrelsAndRuns,
    measures: AskedMeasures,
    rules: Rules,
    advance: Advance = silent,
) -> Evaluation:
    """Evaluate runs that have not been read: each is read, graded and dropped."""
    scale = opened.qrels.scale
    known = named_measures(measures, scale, 1)
    check_asked(known, rules)
    asked = [one.measure for one in known]
    in_ideal = unjudged_in_ideal(rules, asked)
    several = rules.shared_pool and len(opened.runs) > 1
    runs = look_up_runs(opened, rules, several and in_ideal, advance)
    longest = max(run.longest for run in runs)
    named = with_residuals(named_measures(measures, scale, longest, known), rules)
    return _scored(opened.qrels, runs, named, rules)


def _scored(
    indexed: IndexedQrels,
    runs: tuple[LookedUpRun, ...],
    measures: Sequence[Named],
    rules: Rules,
) -> Evaluation:
    cutoffs = tuple(dict.fromkeys(one.measure.n_ranks for one in measures))
    shape = len(runs), len(measures), len(indexed.queries)
    low, high = np.empty(shape), np.empty(shape)
    judged = np.empty((len(runs), len(cutoffs), len(indexed.queries)))

    absent = absent_values([one.measure for one in measures], rules)

    def score(s: int) -> None:
        ranked = rankings_to_score(runs[s].ranked, rules)
        for m, named in enumerate(measures):
            try:
                bounds = values(named.measure, ranked, rules)
            except InputError as error:
                raise error.at(named.name) from error
            low[s, m], high[s, m] = bounds.low, bounds.high
        for c, cutoff in enumerate(cutoffs):
            judged[s, c] = judged_share(runs[s].ranked, cutoff)
        low[s, :, runs[s].missing] = high[s, :, runs[s].missing] = absent

    map_threads(score, range(len(runs)))
    return Evaluation(
        indexed,
        runs,
        tuple(measures),
        rules,
        low,
        high if rules.unjudged == "bounds" else None,
        judged,
        cutoffs,
    )
