"""Judgments in groups: those that a field names, or the files that they are from."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Ids
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.packed import PackedPairs
from dcglearn.judgments.preferences import Preferences, concatenated
from dcglearn.judgments.read import JudgmentTable, open_judgments, packed_paths

MODEL_BYTES = 2200
"""Memory per judgment that a model of the judgment takes."""


def read_groups(
    path: Any,
    by: str | None = None,
    advance: Advance = silent,
    **reading: Any,
) -> tuple[Preferences, Ids]:
    """Read judgments, and the group of each, for :func:`~dcglearn.compare_segments`.

    Parameters
    ----------
    path : path-like, open file, list of these, or a frame
        As for :func:`read_preferences`.
    by : str, optional
        The field or column that names groups; by default there are two groups, the judgments of
        the first file and those of the others.
    advance : callable, optional
        Called with (judgments read, 0).
    **reading
        Further arguments of :func:`read_preferences`.

    Returns
    -------
    Preferences
    ndarray of object, shape (n,)
        The group of each judgment.

    Examples
    --------
    >>> frame = {"a": [[2], [0]], "b": [[1], [1]], "answer": ["a", "b"], "week": [1, 2]}
    >>> judged, weeks = read_groups(frame, by="week")
    >>> weeks.tolist()
    ['1', '2']
    """
    if by is None:
        if not isinstance(path, list | tuple) or len(path) < 2:
            raise InputError("one file without a field", "name a field in `by`, or several files")
        parts = [_in_memory(open_judgments(one, ReadOptions(**reading), advance)) for one in path]
        names = [str(path[0]), "the other files" if len(parts) > 2 else str(path[1])]
        sizes = len(parts[0]), sum(map(len, parts[1:]))
        return concatenated(parts), np.repeat(np.array(names, object), sizes)
    ids = ("query", "judge")
    keep = () if by in ids or packed_paths(path) else (by,)
    opened = open_judgments(path, ReadOptions(**reading, keep=keep), advance)
    data = _in_memory(opened)
    if isinstance(opened, JudgmentTable):
        groups = opened.kept(by)
    elif by in ids:
        groups = data.columns()[by]
    else:
        raise unknown_name("field", by, ids)
    if not groups.any():
        raise InputError(f"no judgment has a {by}", "name another field: `by`")
    return data, groups


def _in_memory(opened: JudgmentTable | PackedPairs) -> Preferences:
    """Return judgments that a model of them takes; packed ones are refused if they do not fit."""
    if isinstance(opened, PackedPairs):
        return opened.preferences(bytes_each=MODEL_BYTES)
    return opened.preferences()
