"""Rankings from arrays of grades and scores, with the same number of documents for each query.

The best k documents of a row are those that reach its k-th largest score. So only numbers are
sorted, and then the positions of a few documents, which is faster than sorting the positions of
all. Documents with equal scores stay together: a row whose ties extend over rank k keeps them all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Integers
from dcglearn.evaluation.ranked import Ranked
from dcglearn.evaluation.rules import Ties
from dcglearn.measures.scale import MAX_GRADES

SORTED_AT_ONCE = 2**18
"""Documents sorted at a time: few enough to stay in the processor's cache."""


def ranked_arrays(
    grades: NDArray[np.integer],
    scores: NDArray[np.floating],
    n_grades: int,
    top: int | None = None,
    ties: Ties = "mean",
) -> Ranked:
    """Rank documents given as arrays: the same number for each query, all of them judged.

    Parameters
    ----------
    grades : array-like of int, shape (Q, N)
        Grade indices, 0 the best.
    scores : array-like of float, shape (Q, N)
    n_grades : int
        L.
    top : int, optional
        The number of documents to keep per query, or more if scores are equal. Enough for
        measures with that cutoff, and faster. All by default.
    ties : {"mean", "input"}, default "mean"
        Documents with equal scores count the mean over their orders, or keep the order of the
        array.

    Returns
    -------
    Ranked

    Raises
    ------
    InputError
        If shapes differ, a grade is not on the scale, a score is not a finite number, `top` is
        below 1, or `ties` is something else.

    Examples
    --------
    >>> from dcglearn.measures.dcg import DCG
    >>> from dcglearn.evaluation.ranked import score_runs
    >>> ranked = ranked_arrays(np.array([[1, 0, 0]]), np.array([[0.3, 0.2, 0.1]]), 2, top=2)
    >>> score_runs(DCG([1, 0], "zipf", 2), ranked)
    array([0.5])
    """
    checked_count(n_grades, "`n_grades`", high=MAX_GRADES)
    if top is not None:
        checked_count(top, "`top`")
    try:
        grades, scores = np.asarray(grades), np.asarray(scores)
    except ValueError as error:
        raise InputError("rows of different lengths", "give both of shape (Q, N)") from error
    if grades.ndim != 2 or grades.shape != scores.shape or not grades.size:
        raise InputError(
            f"grades of shape {grades.shape} and scores of shape {scores.shape}",
            "give both of shape (Q, N)",
        )
    if grades.dtype.kind not in "iu" or scores.dtype.kind not in "iuf":
        raise InputError(
            f"grades of {grades.dtype} and scores of {scores.dtype}", "give indices and numbers"
        )
    if not is_one_of(ties, ("mean", "input")):
        raise unknown_name("`ties`", ties, ["mean", "input"])
    n = grades.shape[1]
    top, rows = n if top is None else min(top, n), max(1, SORTED_AT_ONCE // n)
    blocks = map_threads(
        lambda begin: _block(
            grades, scores, slice(begin, begin + rows), n_grades, top, ties == "input"
        ),
        range(0, len(grades), rows),
    )
    ranked, kept, lengths, pools = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    if ties == "input":
        return Ranked(starts, ranked, pools)
    new = np.ones(len(kept), bool)
    new[1:] = kept[1:] != kept[:-1]
    new[starts[:-1]] = True
    return Ranked(starts, ranked, pools, None if new.all() else np.cumsum(new) - 1)


def _block(
    grades: NDArray[np.integer],
    scores: NDArray[np.floating],
    block: slice,
    n_grades: int,
    top: int,
    stable: bool,
) -> tuple[NDArray[np.integer], NDArray[np.floating], Integers, Integers]:
    """Return ranked grades of some rows, their scores, the length of each row, and its pool."""
    grades, scores = grades[block].astype(np.int64, copy=False), scores[block]
    if scores.dtype.kind != "f":  # they are negated
        scores = scores.astype(float)
    n = len(grades)
    if grades.min() < 0 or grades.max() >= n_grades:
        row = block.start + int(np.argmax(((grades < 0) | (grades >= n_grades)).any(axis=1)))
        raise InputError(
            "a grade index is off the scale", f"use 0 ... {n_grades - 1}", f"row {row}"
        )
    row_and_grade = np.arange(n)[:, None] * n_grades + grades
    pools = np.bincount(row_and_grade.ravel(), minlength=n * n_grades).reshape(n, n_grades)
    ordered = np.sort(scores, axis=1)
    finite = np.isfinite(ordered[:, [0, -1]]).all(axis=1)  # others are sorted to the ends
    if not finite.all():
        row = block.start + int(np.argmin(finite))
        raise InputError("a score is not a finite number", "correct it", f"row {row}")
    at, lengths = _first(scores, ordered[:, [-top]], top, stable)
    return grades.ravel()[at], scores.ravel()[at], lengths, pools


def _first(
    scores: NDArray[np.floating], smallest: NDArray[np.floating], top: int, stable: bool
) -> tuple[Integers, Integers]:
    """Find the scores of each row that reach `smallest`, its score at `top`, largest first.

    Returns positions in the flat array, and the number of them in each row: more than `top` if
    scores are equal.
    """
    n_rows, n = scores.shape
    at = np.flatnonzero(scores >= smallest)
    costs = -scores.ravel()[at]
    if len(at) > n_rows * top:
        return at[np.lexsort((costs, at // n))], np.bincount(at // n)
    order = np.argsort(costs.reshape(n_rows, top), axis=1, stable=stable)
    order += np.arange(n_rows)[:, None] * top
    return at[order.ravel()], np.full(n_rows, top)
