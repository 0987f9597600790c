"""Rankings as arrays: rows of K grade indices, int8.

Index 0 is the best grade, L - 1 the worst; -1 where a rank holds no document, as below the end of a
list shorter than K. Labels become indices here, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Grades, Pairs, Rankings
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale, canonical_label

LabelList = Sequence[Label | None]
"""The grades of a list from the first rank down, None where a rank holds no document."""


def encode_list(labels: LabelList, scale: Scale) -> list[int]:
    """Convert a list of labels into grade indices.

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
    """Convert a row of grade indices into labels; empty ranks at the end are left out.

    Parameters
    ----------
    grades : ndarray of int, shape (K,)
    scale : Scale

    Returns
    -------
    list of labels or None

    Examples
    --------
    >>> decode_list(np.array([0, -1, 2, -1]), Scale((2, 1, 0)))
    [2, None, 0]
    """
    filled = np.flatnonzero(grades != NO_DOCUMENT)
    length = int(filled[-1]) + 1 if filled.size else 0
    return [None if g == NO_DOCUMENT else scale.labels[g] for g in grades[:length].tolist()]


def encode_pairs(
    a: Sequence[LabelList],
    b: Sequence[LabelList],
    scale: Scale,
    n_ranks: int,
    places: Sequence[str],
    complete: bool = False,
) -> Pairs:
    """Convert the lists of judgments into one array of grade indices.

    Parameters
    ----------
    a, b : sequence of lists of labels, length n
        The two lists of each judgment.
    scale : Scale
    n_ranks : int
        K: longer lists are refused, shorter ones filled up.
    places : sequence of str, length n
        The place of each judgment, for messages.
    complete : bool, default False
        Whether each list must rank every label of the scale once.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)

    Raises
    ------
    InputError
        Naming place and side: a list is too long, empty or not complete, or a label is off the
        scale.

    Examples
    --------
    >>> encode_pairs([[2, 0]], [[1]], Scale((2, 1, 0)), 2, ["row 1"]).tolist()
    [[[0, 2], [1, -1]]]
    """
    rows: tuple[list[list[int]], list[list[int]]] = ([], [])
    indices: dict[Label | None, int] = {label: i for i, label in enumerate(scale.labels)}
    indices[None] = NO_DOCUMENT
    for place, *lists in zip(places, a, b, strict=True):
        for name, labels, side in zip("ab", lists, rows, strict=True):
            try:
                if len(labels) > n_ranks:
                    raise InputError(
                        f"a list of {len(labels)} grades, and K = {n_ranks}",
                        "raise `n_ranks` or cut the list",
                    )
                found = [indices.get(label, len(scale)) for label in labels]
                if max(found, default=NO_DOCUMENT) in (NO_DOCUMENT, len(scale)):
                    found = encode_list(labels, scale)  # a label in another form, or an error
                if complete and sorted(found) != list(range(len(scale))):
                    raise InputError(
                        f"is not a ranking of all {len(scale)} documents", "rank each of them once"
                    )
                side.append(found)
            except InputError as error:
                raise error.at(f'{place}, "{name}"') from error
    return np.stack([pad_lists(side, n_ranks) for side in rows], axis=1)


def encode_arrays(
    a: ArrayLike, b: ArrayLike, scale: Scale | None = None
) -> tuple[Grades, Grades, Scale]:
    """Convert two arrays of labels into grade indices.

    Parameters
    ----------
    a, b : array-like of labels, shape (n, K)
        Numbers or names; None or NaN where a rank holds no document.
    scale : Scale, optional
        The grades, best first. By default the numbers that occur, the highest first.

    Returns
    -------
    a, b : ndarray of int, shape (n, K)
    scale : Scale

    Raises
    ------
    InputError
        If a label is off the scale (naming array and row), there is no scale for names, or -1
        occurs without a scale.

    Examples
    --------
    >>> a, b, scale = encode_arrays([[2, 0]], [[1.0, np.nan]])
    >>> a.tolist(), b.tolist(), str(scale)
    ([[0, 2]], [[1, -1]], '2 > 1 > 0')
    """
    arrays = [_label_array(values, name) for values, name in ((a, "a"), (b, "b"))]
    if scale is None:
        labels: set[Label] = set()
        for array, name in zip(arrays, "ab", strict=True):
            try:
                labels.update(canonical_label(label) for label in _distinct(array))
            except (TypeError, ValueError) as error:
                problem = error.problem if isinstance(error, InputError) else str(error)
                raise InputError(f"{name}: {problem}", "use numbers or names") from error
        if NO_DOCUMENT in labels:
            raise InputError(
                "-1 can be a grade or a rank without a document",
                "give `scale` if it is a grade, write None or NaN for no document, or set "
                "`indices=True` for grade indices",
            )
        scale = Scale.from_numbers(labels)
    first, second = (
        _encode_array(array, scale, name) for array, name in zip(arrays, "ab", strict=True)
    )
    return first, second, scale


def _label_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return labels as an array of Python objects, None where a rank holds no document."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"the lists of {name} differ in length", "fill short ones up with None"
        ) from error
    array = array.astype(object)
    array[array != array] = None  # NaN
    return array


def _distinct(array: NDArray[Any]) -> list[Any]:
    return [label for label in dict.fromkeys(array.ravel().tolist()) if label is not None]


def _encode_array(array: NDArray[Any], scale: Scale, name: str) -> Grades:
    indices: dict[Any, int] = {None: NO_DOCUMENT}
    for label in _distinct(array):
        try:
            indices[label] = scale.index(label)
        except InputError as error:
            row = int(np.argwhere(array == label)[0][0])
            raise error.at(f"{name}, row {row}") from error
    found = np.array([indices[label] for label in array.ravel().tolist()], np.int64)
    return found.reshape(array.shape)


def pad_lists(rows: Sequence[Sequence[int]], n_ranks: int) -> Rankings:
    """Stack lists of different length; ranks below the end of a list hold -1.

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
