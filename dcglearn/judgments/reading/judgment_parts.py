"""Blocks of coded judgments, kept in memory, or in a temporary file once they take much of it."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Grades, Integers

_SLAB_BYTES = 1 << 22
"""Parts share memory of so many bytes, which the system takes back when they are gone: small
arrays would leave holes between what else was made meanwhile."""


@dataclass(frozen=True)
class JudgmentPart:
    """The judgments of a block, by the numbers that their values have in the whole input.

    Attributes
    ----------
    a, b : ndarray of int, shape (m,)
        The labels of the lists, one list after the other; -1 where a rank is empty.
    a_lengths, b_lengths : ndarray of int, shape (n,)
        The ranks of each list.
    answers : ndarray of int, shape (n,)
    weights : ndarray of float, shape (n,), or None
        None if all are 1.
    queries, judges : ndarray of int, shape (n,), or None
        -1 where one is missing.
    numbers : ndarray of int, shape (n,), or None
        The line or row of each judgment, if it may be needed.
    """

    a: Grades
    a_lengths: Grades
    b: Grades
    b_lengths: Grades
    answers: Grades
    weights: Floats | None
    queries: Grades | None
    judges: Grades | None
    numbers: Integers | None

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays; lengths that are all equal take none."""
        arrays = (getattr(self, one.name) for one in fields(self))
        return sum(array.nbytes for array in arrays if array is not None and any(array.strides))


class JudgmentParts:
    """Parts in the order in which they were added.

    Parameters
    ----------
    memory : int, optional
        From how many bytes on parts are kept in a temporary file; by default never.

    Examples
    --------
    >>> codes = np.array([0, 1])
    >>> part = JudgmentPart(codes, codes, codes, codes, codes, None, None, None, None)
    >>> parts = JudgmentParts(memory=100)
    >>> for _ in range(3):
    ...     parts.append(part, "judgments.csv, line")
    >>> parts.on_disk, len(list(parts)), next(iter(parts)).a.tolist()
    (True, 3, [0, 1])
    """

    def __init__(self, memory: int | None = None) -> None:
        self._memory, self._bytes = memory, 0
        self._parts: list[JudgmentPart] = []
        self._file: IO[bytes] | None = None
        self._written = 0
        self._slab, self._used = np.empty(0, np.uint8), 0
        self.places: list[str] = []

    @property
    def on_disk(self) -> bool:
        """Whether parts are kept in a temporary file."""
        return self._file is not None

    def append(self, part: JudgmentPart, place: str) -> None:
        """Add a part.

        Parameters
        ----------
        part : JudgmentPart
        place : str
            For messages: the file, and what its records are numbered by.
        """
        self.places.append(self.places[-1] if place in self.places[-1:] else place)
        self._parts.append(self._moved(part))
        self._bytes += part.nbytes
        if self._file is not None or (self._memory is not None and self._bytes > self._memory):
            self._write()

    def __iter__(self) -> Iterator[JudgmentPart]:
        if self._file is not None:
            self._file.seek(0)
            for _ in range(self._written):
                yield JudgmentPart(*(_load(self._file) for _ in fields(JudgmentPart)))
        yield from self._parts

    def _moved(self, part: JudgmentPart) -> JudgmentPart:
        """Return a part whose arrays are in memory of many parts."""
        return JudgmentPart(*(self._copy(getattr(part, one.name)) for one in fields(part)))

    def _copy(self, array: Any) -> Any:
        if array is None or not array.nbytes or not all(array.strides):
            return array
        if self._used + array.nbytes > len(self._slab):
            self._slab, self._used = np.empty(max(array.nbytes, _SLAB_BYTES), np.uint8), 0
        begin, self._used = self._used, self._used + -(-array.nbytes // 8) * 8
        copy = self._slab[begin : begin + array.nbytes].view(array.dtype)
        copy[:] = array
        return copy

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="dcglearn-")  # noqa: SIM115 - closed with this object
            weakref.finalize(self, self._file.close)
        self._file.seek(0, 2)
        for part in self._parts:
            for one in fields(part):
                array = getattr(part, one.name)
                np.save(self._file, np.zeros((0, 0)) if array is None else array)
        self._written += len(self._parts)
        self._parts.clear()


def _load(file: IO[bytes]) -> Any:
    array = np.load(file, allow_pickle=False)
    return None if array.ndim == 2 else array


def narrow_lengths(lengths: Integers) -> Grades:
    """Return lengths in few bytes; equal ones take none.

    Parameters
    ----------
    lengths : ndarray of int, shape (n,)

    Returns
    -------
    ndarray of int, shape (n,)
    """
    longest = int(lengths.max())
    if longest == lengths.min():
        return np.broadcast_to(np.int32(longest), lengths.shape)
    return lengths.astype(np.uint8 if longest < 2**8 else np.int32)


def fill_lists(table: Grades, indices: NDArray[np.int8], lengths: Grades) -> None:
    """Fill the rows of a table with lists that follow one another.

    Parameters
    ----------
    table : ndarray of int8, shape (n, K)
    indices : ndarray of int8, shape (m,)
    lengths : ndarray of int, shape (n,)
        The length of each list.

    Examples
    --------
    >>> table = np.full((2, 2), -1, np.int8)
    >>> fill_lists(table, np.array([1, 0, 2], np.int8), np.array([1, 2]))
    >>> table.tolist()
    [[1, -1], [0, 2]]
    """
    longest = int(lengths.max())
    if len(indices) == longest * len(table):
        table[:, :longest] = indices.reshape(len(table), longest)
    else:
        table[np.arange(table.shape[1]) < lengths[:, None]] = indices
