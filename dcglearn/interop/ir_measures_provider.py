"""Measures of this package within ir_measures, as fast as its own nDCG.

A measure that is defined by ``ir_measures.define`` gets data frames, into which every other form of
qrels and runs is turned first. That takes longer than the measure. A provider gets them as they
are: documents of nested dicts and of lists of tuples are looked up in dicts, those of frames in
:class:`~dcglearn.collections.join.IndexedQrels`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, repeat
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import text_array
from dcglearn.base.types import Floats, Integers
from dcglearn.collections.join import IndexedQrels, index_qrels, rank_documents
from dcglearn.collections.runs import Run, qrels_of, run_of
from dcglearn.evaluation.lookup import look_up
from dcglearn.evaluation.ranked import Ranked, score_runs
from dcglearn.evaluation.rules import Ties
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale, canonical_label

if TYPE_CHECKING:
    import pandas as pd

_Nested = Mapping[str, Mapping[str, Any]]
_QREL = ("query_id", "doc_id", "relevance")
_SCORED = ("query_id", "doc_id", "score")


class OwnMeasure(NamedTuple):
    """What a measure object of ir_measures computes.

    Attributes
    ----------
    measure : DCG
        With labels for its grades.
    scale : Scale
        The labels.
    ties : {"mean", "input", "docid"}
    """

    measure: DCG
    scale: Scale
    ties: Ties


class _JudgedDicts:
    """Nested dicts of qrels, and the grade index of each number in them."""

    def __init__(self, qrels: _Nested, numbers: Floats, scale: Scale) -> None:
        labels, which = np.unique(numbers, return_inverse=True)
        try:
            index = [scale.index(canonical_label(label)) for label in labels.tolist()]
        except InputError as error:
            raise error.at("qrels") from error
        self.queries, self.judged = tuple(qrels), list(qrels.values())
        self._labels, self._index = labels, np.array([*index, len(scale)], np.int8)
        lengths = np.fromiter(map(len, self.judged), np.int64, len(self.judged))
        cells = np.repeat(np.arange(len(lengths)), lengths) * len(scale) + self._index[which]
        pools = np.bincount(cells, minlength=len(lengths) * len(scale))
        self.pools: Integers = pools.reshape(-1, len(scale))

    def grades_of(self, retrieved: list[Mapping[str, Any]], size: int) -> NDArray[np.int8]:
        """Return the grade index of all documents, one dict per query, L without a judgment."""
        labels = chain.from_iterable(
            map(judged.get, documents, repeat(np.nan))
            for judged, documents in zip(self.judged, retrieved, strict=True)
        )
        found = np.fromiter(labels, float, size)
        return self._index[np.searchsorted(self._labels, found)]  # nan comes after all others


def _values_by_index(own: OwnMeasure, qrels: IndexedQrels, run: Run) -> Iterator[tuple[str, float]]:
    found = look_up(run, qrels, own.ties, single=own.ties == "docid")
    values = score_runs(own.measure, found.ranked, unjudged_gain=0.0).tolist()
    for query, value, missing in zip(qrels.queries, values, found.missing.tolist(), strict=True):
        if not missing:
            yield query, value


def _values_by_dicts(
    own: OwnMeasure,
    qrels: _JudgedDicts,
    retrieved: list[Mapping[str, Any]],
    score: NDArray[np.floating],
) -> Iterator[tuple[str, float]]:
    lengths = np.fromiter(map(len, retrieved), np.int64, len(retrieved))
    grades = qrels.grades_of(retrieved, len(score))
    query = np.repeat(np.arange(len(lengths)), lengths)

    def ids(rows: Integers) -> Any:
        every = list(chain.from_iterable(retrieved))
        return text_array([every[row] for row in rows.tolist()])

    if own.ties == "docid":
        with np.errstate(over="ignore"):  # such scores are tied in single precision
            score = score.astype(np.float32)
    rows, tied = rank_documents(query, score, ids if own.ties == "docid" else None)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tied = tied if own.ties == "mean" else None
    lists = Ranked(starts, grades[rows], qrels.pools, tied)
    values = score_runs(own.measure, lists, unjudged_gain=0.0).tolist()
    for name, value, length in zip(qrels.queries, values, lengths.tolist(), strict=True):
        if length:
            yield name, value


class _Judgments:
    """Qrels of ir_measures, in the forms in which they are looked up."""

    def __init__(self, qrels: Any) -> None:
        self._content = _frame_or_nested(qrels, _QREL)
        nested = isinstance(self._content, Mapping)
        self.queries = set(self._content if nested else self._content["query_id"].unique())
        self._dicts: dict[Scale, _JudgedDicts | None] = {}
        self._indexed: dict[Scale, IndexedQrels] = {}

    def values(self, own: OwnMeasure, run: Any) -> Iterator[tuple[str, float]]:
        """Yield the value of each query that a run holds."""
        if not self.queries or not len(run):
            return iter(())
        dicts = self._as_dicts(own.scale) if isinstance(run, Mapping) else None
        if dicts is not None and _are_texts(run):
            retrieved = [run.get(query, {}) for query in dicts.queries]
            score = _finite(retrieved)
            if score is not None:
                return _values_by_dicts(own, dicts, retrieved, score)
        _check_ids(run)
        return _values_by_index(own, self._as_indexed(own.scale), run_of(run))

    def _as_dicts(self, scale: Scale) -> _JudgedDicts | None:
        """Return dicts, or None for what a reader of this package has to refuse."""
        if scale not in self._dicts:
            nested = _nested_of_frame(self._content)
            numbers = _finite(list(nested.values())) if _are_texts(nested) else None
            self._dicts[scale] = None if numbers is None else _JudgedDicts(nested, numbers, scale)
        return self._dicts[scale]

    def _as_indexed(self, scale: Scale) -> IndexedQrels:
        if scale not in self._indexed:
            _check_ids(self._content)
            self._indexed[scale] = index_qrels(qrels_of(self._content), scale)
        return self._indexed[scale]


def _frame_or_nested(content: Any, fields: tuple[str, str, str]) -> Any:
    """Return a frame or nested dicts as they are, and tuples as nested dicts."""
    name = "qrels" if fields is _QREL else "run"
    if hasattr(content, "itertuples"):
        missing = [field for field in fields if field not in content.columns]
        if missing:
            there = ", ".join(map(str, content.columns))
            raise InputError(f"no column {missing[0]!r} among {there}", "name it so", name)
        return content
    if isinstance(content, Mapping):
        return content
    nested: dict[str, dict[str, Any]] = {}
    documents: dict[str, Any] = {}
    last = None
    try:
        rows = list(content)
        first = all(getattr(kind, "_fields", ())[:3] == fields for kind in set(map(type, rows)))
        fields_of = itemgetter(0, 1, 2) if first else attrgetter(*fields)  # the faster one
        for query, document, number in map(fields_of, rows):
            if query != last:
                last, documents = query, nested.setdefault(query, {})
            documents[document] = number
    except (AttributeError, TypeError) as error:
        remedy = f"give a frame, nested dicts, or tuples with the fields {', '.join(fields)}"
        raise InputError(f"{name} of type {type(content).__name__}", remedy) from error
    if len(rows) > sum(map(len, nested.values())):
        raise InputError("a document appears twice for one query", "keep one", name)
    return nested


def _nested_of_frame(content: Any) -> _Nested:
    if isinstance(content, Mapping):
        return content
    nested: dict[str, dict[str, Any]] = {}
    columns = (content[field].tolist() for field in _QREL)
    for query, document, number in zip(*columns, strict=True):
        nested.setdefault(query, {})[document] = number
    if len(content) > sum(map(len, nested.values())):
        qrels_of(content)  # which names the document that appears twice
    return nested


def _are_texts(ids: Iterable[Any]) -> bool:
    try:
        "".join(ids)  # the fastest way to look at the type of each
    except TypeError:
        return False
    return True


def _finite(documents: Collection[Mapping[str, Any]]) -> Floats | None:
    """Return the numbers of all documents, or None unless ids are text and numbers finite."""
    if not _are_texts(chain.from_iterable(documents)):
        return None
    numbers = chain.from_iterable(one.values() for one in documents)
    try:
        found = np.fromiter(numbers, float, sum(map(len, documents)))
    except (TypeError, ValueError, OverflowError):
        return None
    return found if np.isfinite(found).all() else None


def _check_ids(content: Any) -> None:
    """Refuse ids that are not text: 1 and "1" would not match."""
    if isinstance(content, Mapping):
        columns: dict[str, Iterable[Any]] = {
            "query_id": content,
            "doc_id": chain.from_iterable(content.values()),
        }
    else:
        columns = {field: content[field].unique() for field in _QREL[:2]}
    for field, ids in columns.items():
        wrong = next((one for one in ids if not isinstance(one, str)), None)
        if wrong is not None:
            raise InputError(f"{field} {wrong} is not text", "give all of them as text")


def measure_object(own: OwnMeasure, name: str) -> Any:
    """Return an object that ir_measures takes for a measure.

    Parameters
    ----------
    own : OwnMeasure
    name : str
        What it prints.

    Returns
    -------
    ir_measures.Measure
        It is computed by a provider, which is put in front of those of
        ``ir_measures.DefaultPipeline`` and leaves all other measures to them. In a pipeline
        without it, the object is an ordinary measure made by ``ir_measures.define``.

    Raises
    ------
    InputError
        If ir_measures is not installed.
    """
    try:
        import ir_measures
    except ImportError as error:
        remedy = "install it: pip install 'dcglearn[evaluators]'"
        raise InputError("ir_measures is not installed", remedy) from error
    provider = _provider()
    if provider not in ir_measures.DefaultPipeline.providers:
        ir_measures.DefaultPipeline.providers.insert(0, provider)

    def of_frames(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
        return _Judgments(qrels).values(own, run)

    measure = ir_measures.define(of_frames, name=name, support_cutoff=False)
    measure.dcglearn = own
    kind: Any = type(measure)
    kind.__repr__ = lambda _: name  # called for every value
    return measure


@cache
def _provider() -> Any:
    """Return the provider that computes measures of this package; there is one."""
    from ir_measures import Metric, providers

    class OwnEvaluator(providers.Evaluator):  # type: ignore[misc]  # ir_measures has no types
        def __init__(self, measures: Any, qrels: Any) -> None:
            self._judgments = _Judgments(qrels)
            super().__init__(measures, self._judgments.queries)

        def _iter_calc(self, run: Any) -> Iterator[Any]:
            documents = _frame_or_nested(run, _SCORED)
            for measure in self.measures:
                for query, value in self._judgments.values(measure.dcglearn, documents):
                    yield Metric(query, measure, value)

    class OwnProvider(providers.Provider):  # type: ignore[misc]  # ir_measures has no types
        NAME = "dcglearn"

        def supports(self, measure: Any) -> bool:
            return hasattr(measure, "dcglearn")

        def _evaluator(self, measures: Any, qrels: Any) -> Any:
            return OwnEvaluator(measures, qrels)

    return providers.register(OwnProvider())
