"""Runs read, graded and dropped, one after the other: what is left is small.

A run of 53,000 documents takes megabytes while it is read and 53 kB afterwards. Files are read in
two threads: what takes the time (decompressing, parsing, hashing, sorting) happens outside of
Python. Whatever the threads do, runs, warnings and errors come in the order of the runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.progress import Advance, silent
from dcglearn.base.threads import map_in_order
from dcglearn.collections.join import DocumentPool
from dcglearn.collections.runs import Run
from dcglearn.evaluation.inputs import QrelsAndRuns, RunSource
from dcglearn.evaluation.lookup import LookedUpRun, look_up, unjudged_documents
from dcglearn.evaluation.rules import Rules

READING_THREADS = 2
"""As many runs are in memory at a time."""

LEAST_STEPS = 20
"""With fewer steps from a score to a larger one, that all of them go up may be chance."""


@dataclass(frozen=True)
class _Graded:
    """A graded run, its documents without a judgment, and the warnings about it."""

    run: LookedUpRun
    unjudged: Any
    warnings: list[str] = field(default_factory=list)


def look_up_runs(
    opened: QrelsAndRuns,
    rules: Rules,
    shared_pool: bool,
    advance: Advance = silent,
) -> tuple[LookedUpRun, ...]:
    """Read every run and find the grades of its documents."""
    runs: list[LookedUpRun] = []
    pool = DocumentPool(len(opened.qrels.queries))
    for graded in _in_order(opened, rules, shared_pool):
        for message in graded.warnings:
            warn_of_input(message)
        runs.append(graded.run)
        if shared_pool:
            pool.add(*graded.unjudged)
        advance(len(runs), len(opened.runs))
    pooled = pool.count_by_query() if shared_pool else None
    names = opened.names([run.name for run in runs])
    return tuple(
        replace(run, name=name, documents=replace(run.documents, pooled=pooled))
        for run, name in zip(runs, names, strict=True)
    )


def scores_rise(run: Run) -> bool:
    """Return whether the scores rise from line to line, as distances do in a ranked list.

    >>> from dcglearn.collections.runs import run_of
    >>> rising = {f"d{i}": i / 10 for i in range(30)}
    >>> scores_rise(run_of({"q": rising})), scores_rise(run_of({"q": {**rising, "last": 0}}))
    (True, False)
    """
    within = np.diff(run.query) == 0
    before, after = run.number[:-1][within], run.number[1:][within]
    return bool((after >= before).all() and np.count_nonzero(after > before) >= LEAST_STEPS)


def _in_order(opened: QrelsAndRuns, rules: Rules, shared_pool: bool) -> Iterator[_Graded]:
    """Yield the graded runs in their order; files are read in threads, ahead of it."""
    known = opened.qrels
    queries = frozenset(known.queries)

    def grade(source: RunSource) -> _Graded:
        warnings: list[str] = []
        run = source.read(queries)
        if queries.isdisjoint(run.queries):
            theirs, ours = run.queries[0], known.queries[0]
            raise InputError(
                f"none of its queries is in the qrels: its first is {theirs!r}, that of the qrels "
                f"{ours!r}",
                "give the qrels that belong to the run",
                source.place,
            )
        if source.path is not None and scores_rise(run):
            warnings.append(
                f"{source.place}: the scores rise from line to line in every query, and the "
                "largest counts as the best; if they are distances, negate them"
            )
        unjudged = unjudged_documents(run, known) if shared_pool else None
        found = look_up(run, known, rules.ties, bool(rules.single))
        return _Graded(found, unjudged, warnings)

    files = all(source.path is not None for source in opened.runs)
    yield from map_in_order(grade, opened.runs, READING_THREADS if files else 1)
