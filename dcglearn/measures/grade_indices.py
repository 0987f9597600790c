"""Arrays of grade indices, checked: 0 the best grade, -1 no document."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Grades
from dcglearn.measures.scale import NO_DOCUMENT


def checked_grades(rankings: ArrayLike, n_grades: int, name: str = "rankings") -> Grades:
    """Return grade indices of any shape as integers; an error names the row of what is wrong."""
    if isinstance(rankings, np.ma.MaskedArray):
        raise InputError(f"{name} are a masked array", "use -1 for no document")
    try:
        array = np.asarray(rankings)
    except ValueError as error:
        raise InputError(f"{name} differ in length", "fill short ones up with -1") from error
    if not array.ndim or not array.shape[-1]:
        raise InputError(f"{name} of shape {array.shape}", "give at least one rank")
    if array.dtype.kind not in "iu":
        array = _whole(array, name)
    if array.size and (array.min() < NO_DOCUMENT or array.max() >= n_grades):
        outside = (array < NO_DOCUMENT) | (array >= n_grades)
        where = tuple(int(i) for i in np.argwhere(outside)[0])
        raise InputError(
            f"{name} hold the grade index {array[where]}, but the number of grades is {n_grades}",
            f"use 0 (best) ... {n_grades - 1}, or -1 for no document",
            f"row {where[0]}" if where else "",
        )
    return array


def _whole(array: NDArray[np.generic], name: str) -> Grades:
    try:
        if array.dtype.kind == "c":
            raise TypeError
        numbers = array.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name} hold entries of type {array.dtype}", "give grade indices"
        ) from error
    with np.errstate(invalid="ignore"):  # numbers that are not finite are refused below
        whole = np.isfinite(numbers) & (numbers == np.floor(numbers)) & (np.abs(numbers) < 2**31)
    if not whole.all():
        row = int(np.argwhere(~whole)[0][0]) if numbers.ndim else 0
        value = numbers[~whole][0] if numbers.ndim else numbers
        raise InputError(f"{name} hold {value}, not a grade index", "use integers", f"row {row}")
    return numbers.astype(np.int64)
