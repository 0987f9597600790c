"""Counts of equal judgments: where many repeat, the likelihood is a sum over the distinct ones.

Two judgments are equal if their lists, after encoding, and their answers are. All that matters for
the likelihood is the sum of their weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from dcglearn.inference.covariance import sum_by
from dcglearn.inference.evidence import Evidence

MAX_DISTINCT = 1 << 22
"""More distinct judgments are not collected."""

_PROBE = 1 << 15
_FEWEST_EQUAL = 0.02
"""Equal judgments are counted if at least this share of the first ones repeat earlier ones."""

_ANSWERS = 5


def distinct_judgments(parts: Iterable[Evidence]) -> Evidence | None:
    """Return the distinct judgments of several parts, with the sums of their weights.

    Parameters
    ----------
    parts : iterable of Evidence
        With the same layout.

    Returns
    -------
    Evidence or None
        Without queries and judges; None if too few judgments are equal.
    """
    keys, weights = np.zeros(0, np.int64), np.zeros(0)
    part: Evidence | None = None
    for part in parts:
        found = _keys(part)
        if found is None:
            return None
        probe = found[:_PROBE]
        if not len(keys) and len(np.unique(probe)) > (1 - _FEWEST_EQUAL) * len(probe):
            return None
        together, of_row = np.unique(np.concatenate([keys, found]), return_inverse=True)
        weights = sum_by(of_row, np.concatenate([weights, part.weights])[:, None])[:, 0]
        keys = together
        if len(keys) > MAX_DISTINCT:
            return None
    if part is None:
        return None
    rows = np.arange(len(keys))
    codes = np.empty((len(part.codes), len(keys)), part.codes.dtype)
    for code, (values, _) in zip(codes[::-1], part.layout.tables[::-1], strict=True):
        keys, code[:] = np.divmod(keys, len(values))
    answers = keys.astype(np.int8)
    return Evidence(part.layout, codes, answers, weights, rows, None, rows, part.sum_layout)


def _keys(part: Evidence) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
    """Return a number per judgment, the same for equal ones; None if there are too many."""
    sizes = [len(values) for values, _ in part.layout.tables]
    if _ANSWERS * math.prod(sizes) >= 2**63:
        return None
    keys = part.answers.astype(np.int64)
    for code, size in zip(part.codes, sizes, strict=True):
        keys *= size
        keys += code
    return keys
