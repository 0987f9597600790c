"""Columns as codes: each value is the number of one of the distinct values.

What a value means is decided once per distinct value, whatever the number of rows. Arrow's arrays
are in the memory of the system: pyarrow's own pools keep what was freed, per thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from types import NoneType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.base.types import Booleans, Grades, Ids, Integers

RowPlace: TypeAlias = Callable[..., str]
"""Returns the place of a row, counted from 0, for errors."""

Block: TypeAlias = dict[str, Any]
"""Consecutive records as columns: Arrow arrays, or lists of values."""


def numbers_of_arrow(array: Any) -> NDArray[Any]:
    """Return the numbers of an Arrow array that lacks none, read-only and without a copy."""
    return np.from_dlpack(array)


def is_text(cells: Any) -> bool:
    """Return whether cells are an Arrow array of text."""
    return str(getattr(cells, "type", "")) in ("string", "large_string")


def take_rows(array: Any, rows: Grades) -> Any:
    """Return some rows of an Arrow array."""
    import pyarrow.compute as pc

    return pc.take(array, int_array(rows))


def int_array(numbers: NDArray[np.integer]) -> Any:
    """Return whole numbers as an Arrow array; ``pyarrow.array`` loads pandas."""
    import pyarrow as pa

    content = [None, pa.py_buffer(np.ascontiguousarray(numbers, np.int64))]
    return pa.Array.from_buffers(pa.int64(), len(numbers), content)


def text_array(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array."""
    import pyarrow as pa

    return pa.array(texts, pa.string())


@dataclass(frozen=True)
class Column:
    """Codes of values, -1 where one is missing, shape (n,) or (n, ...), and the distinct values."""

    codes: Grades
    values: list[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def parsed(self, parse: Callable[[Any], Any], place: RowPlace) -> Column:
        """Return what values mean as a column, None for missing.

        An error names the first place of its value: `place` of the row, and in lists the rank.
        """
        meanings = []
        for code, value in enumerate(self.values):
            try:
                meanings.append(parse(value))
            except InputError as error:
                first = np.unravel_index(np.argmax(self.codes == code), self.codes.shape)
                raise error.at(place(*map(int, first))) from error
        return self.with_values(meanings)

    def with_values(self, values: Sequence[Any]) -> Column:
        """Return the column with other values for its own, of which some are equal or missing."""
        merged = column_of(values)
        if len(merged.values) == len(values):
            return Column(self.codes, merged.values)
        codes = np.append(merged.codes, -1).astype(self.codes.dtype)
        return Column(codes[self.codes], merged.values)

    def take(self, rows: Any) -> Column:
        """Return the cells of some rows: a slice, a mask or row numbers."""
        return Column(self.codes[rows], self.values)

    def decoded(self) -> Ids:
        """Return the values as an array of objects, None where one is missing."""
        values = np.empty(len(self.values) + 1, object)
        values[:-1] = self.values
        return values[self.codes]


class GatheredColumn:
    """A column that is gathered block by block; codes take few bytes, (n,) or (n, K) of lists."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[int, Any]] = {}  # the number of each value, and the value
        self._parts: list[tuple[int, Grades]] = []

    def add(self, column: Column, first: int) -> None:
        """Add the values of some rows, from row `first` on."""
        found = []
        for value in column.values:
            key = value if type(value) is str else (type(value), repr(value))
            found.append(self._known.setdefault(key, (len(self._known), value))[0])
        codes = np.array([*found, -1], np.min_scalar_type(-max(1, len(self._known))))
        self._parts.append((first, codes[column.codes]))

    def column(self, rows: int) -> Column:
        """Return the column, which lacks the values of rows that were not added."""
        shape = max(part.shape[1:] for _, part in self._parts)
        codes = np.full((rows, *shape), -1, np.result_type(*(part for _, part in self._parts)))
        for first, part in self._parts:
            codes[(slice(first, first + len(part)), *map(slice, part.shape[1:]))] = part
        return Column(codes, [value for _, value in self._known.values()])


def gather(columns: Iterable[Column]) -> Column:
    """Return columns whose rows follow one another as one."""
    gathered, rows = GatheredColumn(), 0
    for column in columns:
        gathered.add(column, rows)
        rows += len(column)
    return gathered.column(rows)


def stacked(columns: Sequence[Column]) -> Column:
    """Return columns of n rows as one, with codes of shape (n, columns, ...)."""
    every = gather(columns)
    codes = every.codes.reshape(len(columns), len(columns[0]), *every.codes.shape[1:])
    return Column(codes.swapaxes(0, 1), every.values)


def table_of(entries: Column, lengths: Grades) -> Column:
    """Return lists whose entries follow one another as a column of shape (n, K)."""
    K, n = int(lengths.max(initial=0)), len(lengths)
    codes = np.full((n, K), -1, entries.codes.dtype)
    codes[np.arange(K) < lengths[:, None]] = entries.codes
    return Column(codes, entries.values)


def distinct_rows(columns: Iterable[Grades]) -> tuple[Integers, Integers]:
    """Return the first of each of the distinct rows, in lexical order, and the number of each."""
    keys, size = list[Grades](), 0
    for column in columns:  # several of few values as one number, which is sorted faster
        least = column.min(initial=0)
        values = int(column.max(initial=0) - least) + 1
        column = column.astype(np.int64) - least
        size *= values
        if keys and size < MAX_EXACT:
            keys[-1] = keys[-1] * values + column
        else:
            keys, size = [*keys, column], values
    table = np.stack(keys)
    bits = table.shape[1].bit_length()
    if len(keys) == 1 and size << bits < 1 << 63:  # with its place, a number is sorted faster
        order = np.sort(table[0] << bits | np.arange(table.shape[1])) & (1 << bits) - 1
    else:
        order = np.lexsort(table[::-1])
    new = np.diff(table[:, order], prepend=-1).any(axis=0)
    numbers = np.empty_like(order)
    numbers[order] = np.cumsum(new) - 1
    return np.minimum.reduceat(order, np.flatnonzero(new)), numbers


def check_distinct(names: Iterable[Any], place: str = "") -> None:
    """Refuse a name of columns that appears twice."""
    given = [*filter(None, names)]
    if len({*given}) < len(given):
        twice = max(given, key=given.count)
        raise InputError(f"the column {twice!r} appears twice", "keep one", place)


def refuse_any(wrong: Booleans, problem: str, remedy: str, place: RowPlace) -> None:
    """Refuse what is true of any row, shape (n,), or list, shape (n, lists), naming the first."""
    if wrong.any():
        raise InputError(problem, remedy, place(*np.argwhere(wrong)[0].tolist()))


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or pandas' missing value or time."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def parse_id(value: object, name: str = "id") -> str | None:
    """Return an id as text, None where it is missing; whole floats are whole numbers."""
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT:
        return str(int(value))  # whole numbers of which some are missing
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f'"{name}" is {value!r:.60}', "use text or a whole number")
    return str(value)


def column_of(cells: Any) -> Column:
    """Return a column of an Arrow array, a NumPy array or a sequence of Python values.

    Values of different types differ: 1 is not True, nor 1.0.
    """
    if not hasattr(cells, "dictionary_encode"):
        return _of_values(cells.tolist() if isinstance(cells, np.ndarray) else cells)

    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        encoded = pc.dictionary_encode(cells, null_encoding="encode")
    except pa.ArrowException:  # of a type such as a struct
        return _of_values(cells.to_pylist())
    codes = numbers_of_arrow(encoded.indices).astype(np.int32)
    return Column(codes, []).with_values(encoded.dictionary.to_pylist())


def _of_values(cells: Sequence[Any]) -> Column:
    kinds = {*map(type, cells)} - {NoneType}
    if not kinds:  # such as ids that no judgment has
        return Column(np.full(len(cells), -1, np.int32), [])
    if kinds in ({str}, {int}):
        values = [one for one in dict.fromkeys(cells) if one is not None]
        known = {value: code for code, value in enumerate(values)}
        known_codes = map(known.get, cells, repeat(-1))
        return Column(np.fromiter(known_codes, np.int32, len(cells)), values)
    numbers: dict[Any, int] = {}
    values = []
    codes = np.full(len(cells), -1, np.int32)
    for row, cell in enumerate(cells):
        if is_missing(cell):
            continue
        value = cell.item() if isinstance(cell, np.generic) else cell
        key = type(value), value if getattr(value, "__hash__", None) else repr(value)
        codes[row] = numbers.setdefault(key, len(numbers))
        if len(numbers) > len(values):
            values.append(value)
    return Column(codes, values)
