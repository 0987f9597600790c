"""Rankings as arrays: (n, K) rows of int8 grade indices.

Index 0 is the best grade, L - 1 the worst, -1 stands where a list is shorter than
K. Labels become indices here, once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Grades, Rankings
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale


def encode_list(labels: Sequence[Label | None], scale: Scale) -> list[int]:
    """Turn one list of labels into grade indices.

    Parameters
    ----------
    labels : sequence of labels
        From the first rank down; None where a rank holds no document.
    scale : Scale

    Returns
    -------
    list of int

    Raises
    ------
    InputError
        If a label is off the scale (naming its rank) or no rank holds a document.

    Examples
    --------
    >>> encode_list([2, 0, None], Scale((2, 1, 0)))
    [0, 2, -1]
    """
    found = []
    for rank, label in enumerate(labels, start=1):
        try:
            found.append(NO_DOCUMENT if label is None else scale.index(label))
        except InputError as error:
            raise error.at(f"rank {rank}") from error
    if all(index == NO_DOCUMENT for index in found):
        raise InputError("an empty list", "give at least one grade")
    return found


def decode_list(grades: Grades, scale: Scale) -> list[Label | None]:
    """Turn a row of grade indices back into labels; empty ranks at the end are left out.

    >>> decode_list(np.array([0, -1, 2, -1]), Scale((2, 1, 0)))
    [2, None, 0]
    """
    filled = np.flatnonzero(grades != NO_DOCUMENT)
    length = int(filled[-1]) + 1 if filled.size else 0
    return [None if g == NO_DOCUMENT else scale.labels[g] for g in grades[:length].tolist()]


def pad_lists(rows: Sequence[Sequence[int]], n_ranks: int) -> Rankings:
    """Stack lists of different length, short ones filled up with "no document".

    Parameters
    ----------
    rows : sequence of sequences of int
        Grade indices, none longer than `n_ranks`.
    n_ranks : int
        K.

    Returns
    -------
    ndarray of int8, shape (n, K)

    Examples
    --------
    >>> pad_lists([[0, 1], [2]], 3)
    array([[ 0,  1, -1],
           [ 2, -1, -1]], dtype=int8)
    """
    if not len(rows):
        return np.zeros((0, n_ranks), np.int8)
    lengths = np.fromiter(map(len, rows), int, len(rows))
    table = np.full((len(rows), n_ranks), NO_DOCUMENT, np.int8)
    inside = np.arange(n_ranks) < lengths[:, None]
    table[inside] = np.fromiter((g for row in rows for g in row), np.int8, int(lengths.sum()))
    return table
