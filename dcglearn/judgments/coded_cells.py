"""Cells of Python values as codes: each is the number of one of a few distinct values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Integers, Pairs
from dcglearn.judgments.meaning.given_maps import UnmappedValueError
from dcglearn.judgments.meaning.grade_names import resolve_labels
from dcglearn.judgments.meaning.judgment_fields import LONGEST_LIST, parse_labels
from dcglearn.judgments.meaning.list_cells import parse_list_text
from dcglearn.measures.scale import NO_DOCUMENT, Scale


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or pandas' missing value or time.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def without_missing(values: list[Any]) -> list[Any]:
    """Return values with None where one is missing.

    Parameters
    ----------
    values : list

    Returns
    -------
    list
        The list itself where no kind of its values can be missing.

    Examples
    --------
    >>> without_missing([2, float("nan"), "x"])
    [2, None, 'x']
    """
    if set(map(type, values)) <= {int, str, type(None)}:
        return values
    return [None if is_missing(value) else value for value in values]


def coded_values(values: Sequence[Any]) -> tuple[Integers, list[Any]]:
    """Return values as numbers of the distinct ones.

    Parameters
    ----------
    values : sequence
        Hashable.

    Returns
    -------
    codes : ndarray of int, shape (n,)
    distinct : list
        In order of their first appearance. True and 1 are two.

    Examples
    --------
    >>> codes, distinct = coded_values(["x", None, "x", 1, True])
    >>> codes.tolist(), distinct
    ([0, 1, 0, 2, 3], ['x', None, 1, True])
    """
    keys: Sequence[Any] = values
    if bool in set(map(type, values)):
        keys = [(type(value), value) for value in values]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    codes = np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))
    distinct = list(numbers) if keys is values else [value for _, value in numbers]
    return codes, distinct


@contextmanager
def in_row(row: int) -> Iterator[None]:
    """Name the row in the errors of a block.

    Parameters
    ----------
    row : int
        The first is row 1.
    """
    try:
        yield
    except InputError as error:
        raise error.at(f"row {row}") from error


def coded_lists(
    sides: tuple[Sequence[Any], Sequence[Any]], scale: Scale | None, n_ranks: int | None
) -> tuple[Pairs, Scale]:
    """Return the lists of both sides as grade indices.

    Parameters
    ----------
    sides : two sequences of lists of labels
        None, NaN or pandas' missing value where a rank has no grade.
    scale : Scale, optional
        By default that of the numbers that occur.
    n_ranks : int, optional
        K; by default the length of the longest list.

    Returns
    -------
    lists : ndarray of int8, shape (n, 2, K)
    scale : Scale

    Raises
    ------
    InputError
        Naming row, side and rank: a cell is not a list, a list is too long or empty, or a label
        is not a grade.
    """
    cells = [_checked_cells(side, name) for side, name in zip(sides, "ab", strict=True)]
    lengths = np.array([[len(cell) for cell in side] for side in cells], np.int64)
    longest = int(lengths.max(initial=0))
    width = longest if n_ranks is None else n_ranks
    if longest > width:
        row, side = np.argwhere(width < lengths.T)[0].tolist()
        problem = f"a list of {lengths[side, row]} grades, and K = {width}"
        raise InputError(problem, "raise `n_ranks` or cut the list", _place(row, side))
    flat = without_missing([label for side in cells for label in chain.from_iterable(side)])
    try:
        codes, distinct = coded_values(flat)
    except TypeError:  # a value that cannot be hashed is no label
        _refuse_entry(cells)
        raise
    inside = np.arange(width) < lengths[..., None]
    entries = np.full(inside.shape, -1, np.int64)
    entries[inside] = codes
    try:
        labels = resolve_labels(distinct, scale)
    except UnmappedValueError as error:
        row, side, rank = np.argwhere(entries.swapaxes(0, 1) == error.position)[0].tolist()
        raise error.at(f"{_place(row, side)}, rank {rank + 1}") from error
    if scale is None:
        scale = Scale.from_numbers(label for label in labels if label is not None)
    indices = [NO_DOCUMENT if label is None else scale.index(label) for label in labels]
    table = np.array([*indices, NO_DOCUMENT], np.int8)
    lists = np.ascontiguousarray(table[entries].swapaxes(0, 1))
    empty = (lists == NO_DOCUMENT).all(axis=2)
    if empty.any():
        row, side = np.argwhere(empty)[0].tolist()
        problem = f'"{"ab"[side]}": an empty list'
        raise InputError(problem, "give at least one grade", f"row {row + 1}")
    return lists, scale


def _checked_cells(cells: Sequence[Any], side: str) -> list[list[Any]]:
    found: list[list[Any]] = []
    for row, cell in enumerate(cells, start=1):
        if isinstance(cell, str):
            with in_row(row):
                found.append(parse_list_text(cell))
        elif isinstance(cell, list | tuple | np.ndarray) and len(cell) <= LONGEST_LIST:
            found.append(cell.tolist() if isinstance(cell, np.ndarray) else list(cell))
        else:
            with in_row(row):
                found.append(parse_labels(cell, side))
    return found


def _refuse_entry(sides: Sequence[Sequence[Any]]) -> None:
    """Raise the error about the first entry that is not a label."""
    for row, pair in enumerate(zip(*sides, strict=True), start=1):
        for cell, side in zip(pair, "ab", strict=True):
            with in_row(row):
                parse_labels([None if is_missing(entry) else entry for entry in cell], side)


def _place(row: int, side: int) -> str:
    return f'row {row + 1}, "{"ab"[side]}"'


def first_place(codes: NDArray[np.integer], code: int) -> str:
    """Return the place of the first cell with a code.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
    code : int

    Returns
    -------
    str
    """
    return f"row {int(np.argmax(codes == code)) + 1}"
