"""Columns as codes: each value is the number of one of the distinct values.

What a value means is decided once per distinct value, whatever the number of rows. Arrow's arrays
are in the memory of the system: pyarrow's own pools keep what was freed, per thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.base.types import Grades


def numbers_of_arrow(array: Any) -> NDArray[Any]:
    """Return the numbers of an Arrow array that lacks none, read-only and without a copy."""
    return np.from_dlpack(array)


def take_rows(array: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an Arrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.take(array, pa.array(rows), memory_pool=pa.system_memory_pool())


def sorted_rows(array: Any) -> NDArray[np.int64]:
    """Return the row numbers that sort an Arrow array: text by its bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pool = pa.system_memory_pool()
    return numbers_of_arrow(pc.sort_indices(array, memory_pool=pool)).astype(np.int64)


def text_array(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array."""
    import pyarrow as pa

    return pa.array(texts, pa.string())


@dataclass(frozen=True)
class Column:
    """Codes of values, int32 of shape (n,), -1 where one is missing, and the distinct values."""

    codes: Grades
    values: list[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def parsed(self, parse: Callable[[Any], Any], place: Callable[[int], str]) -> Column:
        """Return what values mean as a column, None for missing; an error names the first row."""
        meanings = []
        for code, value in enumerate(self.values):
            try:
                meanings.append(parse(value))
            except InputError as error:
                raise error.at(place(int(np.argmax(self.codes == code)))) from error
        return self.with_values(meanings)

    def with_values(self, values: Sequence[Any]) -> Column:
        """Return the column with other values for its own, of which some are equal or missing."""
        merged = column_of(values)
        if len(merged.values) == len(values):
            return Column(self.codes, merged.values)
        return Column(np.append(merged.codes, np.int32(-1))[self.codes], merged.values)

    def decoded(self) -> np.ndarray[Any, np.dtype[np.object_]]:
        """Return the values as an array of objects, None where one is missing."""
        values = np.empty(len(self.values) + 1, object)
        values[:-1] = self.values
        return values[self.codes]


def check_distinct(names: Iterable[Any], place: str = "") -> None:
    """Refuse a name of columns that appears twice."""
    twice = [name for name, times in Counter(names).items() if name and times > 1]
    if twice:
        raise InputError(f"the column {twice[0]!r} appears twice", "keep one", place)


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
    if hasattr(cells, "dictionary_encode"):
        return _of_arrow(cells)
    return _of_values(cells.tolist() if isinstance(cells, np.ndarray) else cells)


def _of_values(cells: Sequence[Any]) -> Column:
    if {*map(type, cells)} - {NoneType} in ({str}, {int}, set()):
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


def _of_arrow(array: Any) -> Column:
    import pyarrow as pa
    import pyarrow.types as kinds

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if kinds.is_null(array.type):
        return Column(np.full(len(array), -1, np.int32), [])
    try:
        encoded = array.dictionary_encode()
    except pa.ArrowException:  # of a type such as a struct
        return _of_values(array.to_pylist())
    codes = numbers_of_arrow(encoded.indices.fill_null(-1)).astype(np.int32)
    return Column(codes, []).with_values(encoded.dictionary.to_pylist())  # NaN is missing
