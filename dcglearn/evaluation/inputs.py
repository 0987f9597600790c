"""The inputs of an evaluation: paths, dicts and frames, turned into qrels and runs.

Each function takes what a person has at hand and returns the objects that
:func:`dcglearn.evaluation.evaluate.evaluate` works with. Objects are passed on as they are. Runs
are read one by one, by :mod:`dcglearn.evaluation.reading`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from dcglearn.base.errors import InputError
from dcglearn.collections.join import IndexedQrels, index_qrels
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
from dcglearn.measures.scale import Scale, ScaleLike, as_scale

if TYPE_CHECKING:
    import pandas as pd

FilePath: TypeAlias = str | os.PathLike[str]
ByQuery: TypeAlias = Mapping[str, Mapping[str, float]]
"""``{query: {document: grade or score}}``."""

QrelsLike: TypeAlias = "FilePath | ByQuery | pd.DataFrame | Qrels | IndexedQrels"
RunLike: TypeAlias = "FilePath | ByQuery | pd.DataFrame | Run"


@dataclass(frozen=True)
class RunSource:
    """A run that has not been read.

    Attributes
    ----------
    place : str
        The path of its file, or its name, for messages.
    path : pathlib.Path or None
        Its file, if it is one.
    name : str or None
        The name that was given to it, in place of its own.
    read : callable
        Takes the queries whose documents are needed.
    """

    place: str
    path: Path | None
    name: str | None
    read: Callable[[Container[str]], Run]


@dataclass(frozen=True)
class QrelsAndRuns:
    """Indexed qrels, and the runs to look up in them.

    Attributes
    ----------
    qrels : IndexedQrels
    runs : tuple of RunSource
        One or more.
    """

    qrels: IndexedQrels
    runs: tuple[RunSource, ...]

    def names(self, read: Sequence[str]) -> list[str]:
        """Return a distinct name for each run."""
        names = [one.name or own for one, own in zip(self.runs, read, strict=True)]
        paths = [one.path for one in self.runs if one.path is not None and one.name is None]
        if len(paths) == len(names):
            return distinct_names(names, paths)
        repeated = repeated_name(names)
        if repeated is not None:
            raise InputError(f"two runs are named {repeated!r}", "name them: {'bm25': run, ...}")
        return names


def open_qrels_and_runs(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    scale: ScaleLike | None = None,
) -> QrelsAndRuns:
    """Read qrels from any of their forms; runs are read when they are needed, and once.

    >>> run = {"q": {"d1": 1.5}}
    >>> qrels = {"q": {"d1": 2, "d2": 0}}
    >>> opened = open_qrels_and_runs(qrels, {"bm25": run, "dense": run}, "2,1,0")
    >>> opened.qrels.pools, [one.name for one in opened.runs]
    (array([[1, 0, 1]]), ['bm25', 'dense'])
    """
    letor = _is_path(qrels) and looks_like_letor(cast(str, qrels))
    source = read_graded_lists(cast(str, qrels)) if letor else _as_qrels(qrels)
    lists = source if letor and isinstance(source, Qrels) else None
    indexed = _indexed(source, as_scale(scale))
    return QrelsAndRuns(indexed, tuple(_run_sources(runs, lists)))


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
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    lists: Qrels | None,
) -> list[RunSource]:
    if isinstance(runs, Mapping) and not _is_one_run(runs):
        return [
            replace(_run_source(one, str(name), lists), name=str(name))
            for name, one in runs.items()
        ]
    several = list(runs) if isinstance(runs, list | tuple) else [cast("RunLike", runs)]
    if not several:
        raise InputError("no run", "give at least one")
    names = ["run"] if len(several) == 1 else [f"run {n}" for n in range(1, len(several) + 1)]
    return [_run_source(one, name, lists) for one, name in zip(several, names, strict=True)]


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


def _run_source(run: RunLike, name: str, lists: Qrels | None) -> RunSource:
    if isinstance(run, Run):
        return RunSource(run.name, None, None, lambda queries: run)
    if _is_path(run):
        path = Path(cast(str, run))
        if lists is None:
            return RunSource(str(run), path, None, lambda queries: read_run(path, queries))
        return RunSource(str(run), path, None, lambda queries: read_predictions(path, lists))
    if isinstance(run, Mapping) or hasattr(run, "columns"):
        frame = cast("pd.DataFrame", run)
        return RunSource(name, None, None, lambda queries: run_of(frame, name))
    raise InputError(
        f"a run of type {type(run).__name__}",
        "give a path, {query: {document: score}}, a frame or Run",
        name,
    )


def repeated_name(names: Sequence[str]) -> str | None:
    """Return the first name that appears again, None if all differ.

    >>> repeated_name(["a", "b", "a"])
    'a'
    """
    return next((name for i, name in enumerate(names) if name in names[:i]), None)
