"""The inputs of an evaluation: paths, dicts and frames, turned into qrels and rankings.

A run of 53,000 documents takes megabytes while it is read, and 53 kB once it is looked up in the
qrels. Files are read in two threads; runs, warnings and errors come in the order of runs.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.files import PathLike
from dcglearn.base.progress import Advance
from dcglearn.base.tables.columns import int_array, numbers_of_arrow, take_rows
from dcglearn.base.threads import map_in_order
from dcglearn.collections.letor import looks_like_letor, read_graded_lists, read_predictions
from dcglearn.collections.runs import (
    GradedRun,
    IndexedQrels,
    Qrels,
    Run,
    distinct_names,
    grade_run,
    index_qrels,
    qrels_of,
    read_qrels,
    read_run,
    run_of,
)
from dcglearn.measures.names import repeated_name
from dcglearn.measures.scale import ScaleLike, as_scale
from dcglearn.systems.ranked import Ranked, Rules

if TYPE_CHECKING:
    import pandas as pd

ByQuery: TypeAlias = Mapping[str, Mapping[str, float]]
"""``{query: {document: grade or score}}``."""

QrelsLike: TypeAlias = "PathLike | ByQuery | pd.DataFrame | Qrels | IndexedQrels"
RunLike: TypeAlias = "PathLike | ByQuery | pd.DataFrame | Run"


READING_THREADS = 2
"""As many runs are in memory at a time."""

LEAST_STEPS = 20
"""With fewer steps from a score to a larger one, that all of them go up may be chance."""


class RunSource(NamedTuple):
    """A run that has not been read, its place in errors, and the name that it was given.

    Predictions belong to the rows of graded `lists`.
    """

    run: RunLike
    place: str
    name: str
    lists: Qrels | None

    def read(self, queries: Container[str]) -> Run:
        """Return the run, of which these queries are needed."""
        if isinstance(self.run, Run):
            return self.run
        if _is_path(self.run):
            if self.lists is not None:
                return read_predictions(self.run, self.lists)
            return read_run(self.run, queries)
        if isinstance(self.run, Mapping) or hasattr(self.run, "columns"):
            return run_of(self.run, self.place)
        remedy = "give a path, {query: {document: score}}, a frame or Run"
        raise InputError(f"a run of type {type(self.run).__name__}", remedy, self.place)


def rank_runs(
    known: IndexedQrels,
    runs: Sequence[RunSource],
    rules: Rules,
    shared_pool: bool,
    advance: Advance,
) -> tuple[tuple[str, ...], tuple[Ranked, ...], tuple[tuple[str, ...], ...]]:
    """Read every run and find the grades of its documents.

    Rankings have the groups of equal scores whatever the rule for them. Returned last are the
    queries of each run that the qrels lack.
    """
    queries = frozenset(known.queries)

    def rank(source: RunSource) -> tuple[tuple[str, Ranked, tuple[str, ...]], Any, bool]:
        run = source.read(queries)
        if queries.isdisjoint(run.queries):
            raise InputError(
                f"none of its queries is in the qrels: its first is {run.queries[0]!r}, that of "
                f"the qrels {known.queries[0]!r}",
                "give the qrels that belong to the run",
                source.place,
            )
        graded = grade_run(run, known, rules.ties == "docid", bool(rules.single))
        ranked = Ranked(graded.starts, graded.grades, known.pools, graded.tied)
        extra = tuple(query for query in run.queries if query not in queries)
        unjudged = _unjudged_documents(run, graded, ranked) if shared_pool else None
        rises = _is_path(source.run) and scores_rise(run)
        return (source.name or run.name, ranked, extra), unjudged, rises

    found = []
    pool: list[Any] = []
    read = map_in_order(rank, runs, READING_THREADS)
    for source, (one, unjudged, rises) in zip(runs, read, strict=True):
        if rises:
            warn_of_input(
                f"{source.place}: the scores rise from line to line in every query, and the "
                "largest counts as the best; if they are distances, negate them"
            )
        if shared_pool:
            pool.append(unjudged)
            if sum(map(len, pool[1:])) > len(pool[0]):
                pool = [_each_once(pool)]
        found.append(one)
        advance(len(found), len(runs))
    names, rankings, extra = zip(*found, strict=True)
    if all(_is_path(source.run) and not source.name for source in runs):
        names = tuple(distinct_names(names, [source.place for source in runs]))
    elif repeated := repeated_name(names):
        raise InputError(f"two runs are named {repeated!r}", "name them: {'bm25': run, ...}")
    if shared_pool:
        numbers = numbers_of_arrow(_each_once(pool)["query"].combine_chunks())
        pooled = np.bincount(numbers, minlength=len(known.queries))
        rankings = tuple(replace(ranked, pooled=pooled) for ranked in rankings)
    return names, rankings, extra


def _unjudged_documents(run: Run, graded: GradedRun, ranked: Ranked) -> Any:
    """Return an Arrow table of the documents without a judgment: numbers of queries, and ids."""
    import pyarrow as pa

    unjudged = ranked.grades == ranked.n_grades
    documents = take_rows(run.documents, graded.rows[unjudged])
    columns = [int_array(ranked.keep(unjudged).query), documents]
    return pa.Table.from_arrays(columns, ["query", "document"])


def _each_once(tables: Sequence[Any]) -> Any:
    """Return Arrow tables as one, in which each row is there once."""
    import pyarrow as pa

    every = pa.concat_tables(tables)
    return every.group_by(every.column_names, use_threads=False).aggregate([])


def scores_rise(run: Run) -> bool:
    """Return whether the scores rise from line to line, as distances do in a ranked list."""
    within = np.diff(run.query) == 0
    before, after = run.number[:-1][within], run.number[1:][within]
    return bool((after >= before).all() and np.count_nonzero(after > before) >= LEAST_STEPS)


def open_qrels_and_runs(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    scale: ScaleLike | None,
) -> tuple[IndexedQrels, tuple[RunSource, ...]]:
    """Read qrels from any of their forms; runs, at least one, are read when they are needed."""
    lists = None
    if _is_path(qrels) and looks_like_letor(qrels):
        qrels = lists = read_graded_lists(qrels)
    indexed = open_qrels(qrels, scale)
    named = by_name([runs] if isinstance(runs, Mapping) and _is_one_run(runs) else runs)
    if not named:
        raise InputError("no run", "give at least one")
    sources = []
    for n, (name, run) in enumerate(named, start=1):
        place = name or ("run" if len(named) == 1 else f"run {n}")
        if _is_path(run):
            place = str(run)
        elif isinstance(run, Run):
            place = run.name
        sources.append(RunSource(run, place, name, lists))
    return indexed, tuple(sources)


def by_name(given: Any) -> list[tuple[str, Any]]:
    """Return what a dict by name, a sequence without names or one value holds, with its names."""
    if isinstance(given, Mapping):
        return [(str(name), one) for name, one in given.items()]
    return [("", one) for one in (given if isinstance(given, list | tuple) else [given])]


def open_qrels(qrels: QrelsLike, scale: ScaleLike | None) -> IndexedQrels:
    """Read qrels from any of their forms."""
    scale = as_scale(scale)
    if isinstance(qrels, IndexedQrels):
        if scale is not None and scale.labels != qrels.scale.labels:
            raise InputError(
                f"the qrels are indexed on the scale {qrels.scale}, and `scale` is {scale}",
                "leave `scale` out, or give the qrels themselves",
            )
        return qrels
    if _is_path(qrels):
        qrels = read_qrels(qrels)
    elif isinstance(qrels, Mapping) or hasattr(qrels, "columns"):
        qrels = qrels_of(qrels)
    elif not isinstance(qrels, Qrels):
        remedy = "give a path, {query: {document: grade}}, a frame or Qrels"
        raise InputError(f"qrels of type {type(qrels).__name__}", remedy)
    return index_qrels(qrels, scale)


def _is_path(content: object) -> TypeGuard[PathLike]:
    return isinstance(content, str | os.PathLike)


def _is_one_run(content: Mapping[str, object]) -> bool:
    """Whether a dict holds documents by query, and not runs by name."""
    first = next(iter(content.values()), {})
    return isinstance(first, Mapping) and not any(isinstance(v, Mapping) for v in first.values())
