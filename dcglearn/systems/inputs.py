"""The inputs of an evaluation: paths, dicts and frames, turned into qrels and rankings.

A run of 53,000 documents takes megabytes while it is read and 53 kB once its documents are looked
up in the qrels. Files are read in two threads; runs, warnings and errors come in the order of runs.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import take_rows
from dcglearn.base.threads import map_in_order
from dcglearn.base.types import Integers
from dcglearn.collections.join import DocumentPool, IndexedQrels, grade_run, index_qrels
from dcglearn.collections.letor import looks_like_letor, read_graded_lists, read_predictions
from dcglearn.collections.runs import (
    Qrels,
    Run,
    distinct_names,
    qrels_of,
    read_qrels,
    read_run,
    run_of,
)
from dcglearn.measures.names import repeated_name
from dcglearn.measures.scale import Scale, ScaleLike, as_scale
from dcglearn.systems.ranked import Ranked
from dcglearn.systems.rules import Rules

if TYPE_CHECKING:
    import pandas as pd

FilePath: TypeAlias = str | os.PathLike[str]
ByQuery: TypeAlias = Mapping[str, Mapping[str, float]]
"""``{query: {document: grade or score}}``."""

QrelsLike: TypeAlias = "FilePath | ByQuery | pd.DataFrame | Qrels | IndexedQrels"
RunLike: TypeAlias = "FilePath | ByQuery | pd.DataFrame | Run"


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
    name: str | None
    lists: Qrels | None

    @property
    def path(self) -> Path | None:
        """The path of a file."""
        return Path(cast(str, self.run)) if _is_path(self.run) else None

    def read(self, queries: Container[str]) -> Run:
        """Return the run, of which these queries are needed."""
        if isinstance(self.run, Run):
            return self.run
        if self.path is not None:
            if self.lists is not None:
                return read_predictions(self.path, self.lists)
            return read_run(self.path, queries)
        if isinstance(self.run, Mapping) or hasattr(self.run, "columns"):
            return run_of(cast("pd.DataFrame", self.run), self.place)
        raise InputError(
            f"a run of type {type(self.run).__name__}",
            "give a path, {query: {document: score}}, a frame or Run",
            self.place,
        )


class QrelsAndRuns(NamedTuple):
    """Indexed qrels, and the runs to look up in them, at least one."""

    qrels: IndexedQrels
    runs: tuple[RunSource, ...]


def rank_runs(
    opened: QrelsAndRuns, rules: Rules, shared_pool: bool, advance: Advance = silent
) -> tuple[tuple[str, ...], tuple[Ranked, ...], tuple[tuple[str, ...], ...]]:
    """Read every run and find the grades of its documents.

    Return names, rankings with the groups of equal scores whatever the rule for them, and the
    queries of each run that the qrels lack.
    """
    known = opened.qrels
    queries = frozenset(known.queries)

    def rank(source: RunSource) -> tuple[str, Ranked, tuple[str, ...], Any, bool]:
        run = source.read(queries)
        if queries.isdisjoint(run.queries):
            raise InputError(
                f"none of its queries is in the qrels: its first is {run.queries[0]!r}, that of "
                f"the qrels {known.queries[0]!r}",
                "give the qrels that belong to the run",
                source.place,
            )
        ranked = look_up(run, known, rules.ties == "docid", bool(rules.single))
        extra = tuple(query for query in run.queries if query not in queries)
        unjudged = _unjudged_documents(run, known) if shared_pool else None
        rises = source.path is not None and scores_rise(run)
        return source.name or run.name, ranked, extra, unjudged, rises

    found = []
    pool = DocumentPool(len(known.queries))
    files = all(source.path is not None for source in opened.runs)
    read = map_in_order(rank, opened.runs, READING_THREADS if files else 1)
    for source, (name, ranked, left_out, unjudged, rises) in zip(opened.runs, read, strict=True):
        if rises:
            warn_of_input(
                f"{source.place}: the scores rise from line to line in every query, and the "
                "largest counts as the best; if they are distances, negate them"
            )
        if shared_pool:
            pool.add(*unjudged)
        found.append((name, ranked, left_out))
        advance(len(found), len(opened.runs))
    pooled = pool.count_by_query() if shared_pool else None
    names, rankings, extra = zip(*found, strict=True)
    rankings = tuple(replace(ranked, pooled=pooled) for ranked in rankings)
    return _distinct(names, opened.runs), rankings, extra


def _distinct(names: tuple[str, ...], runs: Sequence[RunSource]) -> tuple[str, ...]:
    """Return a distinct name for each run."""
    paths = [one.path for one in runs if one.path is not None and one.name is None]
    if len(paths) == len(names):
        return tuple(distinct_names(names, paths))
    repeated = repeated_name(names)
    if repeated is not None:
        raise InputError(f"two runs are named {repeated!r}", "name them: {'bm25': run, ...}")
    return names


def look_up(run: Run, known: IndexedQrels, by_id: bool = False, single: bool = False) -> Ranked:
    """Find the grade of each document of a run, best score first; see :func:`grade_run`."""
    graded = grade_run(run, known, by_id, single)
    return Ranked(graded.starts, graded.grades, known.pools, graded.tied)


def _unjudged_documents(run: Run, known: IndexedQrels) -> tuple[Integers, Any]:
    """Return the query (n,) and the id (Arrow text) of each document without a judgment."""
    query = known.number_queries(run.queries)[run.query]
    unjudged = known.find_grades_of_ids(query, run.documents) == len(known.scale)
    rows = np.flatnonzero(unjudged & (query >= 0))
    return query[rows], take_rows(run.documents, rows)


def scores_rise(run: Run) -> bool:
    """Return whether the scores rise from line to line, as distances do in a ranked list."""
    within = np.diff(run.query) == 0
    before, after = run.number[:-1][within], run.number[1:][within]
    return bool((after >= before).all() and np.count_nonzero(after > before) >= LEAST_STEPS)


def open_qrels_and_runs(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    scale: ScaleLike | None = None,
) -> QrelsAndRuns:
    """Read qrels from any of their forms; runs are read when they are needed, and once."""
    letor = _is_path(qrels) and looks_like_letor(cast(str, qrels))
    source = read_graded_lists(cast(str, qrels)) if letor else _as_qrels(qrels)
    lists = source if letor and isinstance(source, Qrels) else None
    return QrelsAndRuns(_indexed(source, as_scale(scale)), _run_sources(runs, lists))


def open_qrels(qrels: QrelsLike, scale: ScaleLike | None = None) -> IndexedQrels:
    """Read qrels from any of their forms."""
    return _indexed(_as_qrels(qrels), as_scale(scale))


def _indexed(qrels: Qrels | IndexedQrels, scale: Scale | None) -> IndexedQrels:
    if isinstance(qrels, Qrels):
        return index_qrels(qrels, scale)
    if scale is not None and scale.labels != qrels.scale.labels:
        raise InputError(
            f"the qrels are indexed on the scale {qrels.scale}, and `scale` is {scale}",
            "leave `scale` out, or give the qrels themselves",
        )
    return qrels


def _run_sources(
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike], lists: Qrels | None
) -> tuple[RunSource, ...]:
    if isinstance(runs, Mapping) and not _is_one_run(runs):
        several, names = list(runs.values()), [str(name) for name in runs]
        given: list[str | None] = [*names]
    else:
        several = list(runs) if isinstance(runs, list | tuple) else [cast("RunLike", runs)]
        names = ["run"] if len(several) == 1 else [f"run {n + 1}" for n in range(len(several))]
        given = [None] * len(several)
    if not several:
        raise InputError("no run", "give at least one")
    places = (
        str(one) if _is_path(one) else getattr(one, "name", name)
        for one, name in zip(several, names, strict=True)
    )
    return tuple(map(RunSource, several, places, given, repeat(lists)))


def _is_path(content: object) -> bool:
    return isinstance(content, str | os.PathLike)


def _is_one_run(content: Mapping[str, object]) -> bool:
    """Whether a dict holds documents by query, and not runs by name."""
    first = next(iter(content.values()), {})
    return isinstance(first, Mapping) and not any(isinstance(v, Mapping) for v in first.values())


def _as_qrels(qrels: QrelsLike) -> Qrels | IndexedQrels:
    if isinstance(qrels, Qrels | IndexedQrels):
        return qrels
    if _is_path(qrels):
        return read_qrels(cast(str, qrels))
    if isinstance(qrels, Mapping) or hasattr(qrels, "columns"):
        return qrels_of(cast("pd.DataFrame", qrels))
    raise InputError(
        f"qrels of type {type(qrels).__name__}",
        "give a path, {query: {document: grade}}, a frame or Qrels",
    )
