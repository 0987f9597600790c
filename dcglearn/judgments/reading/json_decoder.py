r"""JSON decoded by Arrow, where it decides as Python does.

Arrow's reader takes what JSON does not allow (``NaN``, numbers beyond those of a float), ends the
process at lists nested 10^5 deep, reads texts such as ``"2012-01-01"`` as times, and leaves out
nulls at the beginning of the first list, so that the arrays do not fit together (version 26).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_NOT_FINITE = re.compile(rb"[\[:,\s]-?(?:NaN|Inf)")
_MAX_OPEN = 64
"""More lists and objects than this, and than three per line, may be nested too deeply."""


class JsonDecoder:
    r"""Decodes objects; remembers which columns hold texts that look like times.

    Examples
    --------
    >>> columns = JsonDecoder().decode(b'{"x": 1}\n{"x": null, "day": "2012-01-01"}', 2)
    >>> columns["x"].to_pylist(), columns["day"].to_pylist()
    ([1, None], [None, '2012-01-01'])
    """

    def __init__(self) -> None:
        self._texts: dict[str, Any] = {}

    def decode(self, text: bytes, objects: int) -> dict[str, Any] | None:
        """Return the columns of objects.

        Parameters
        ----------
        text : bytes
            UTF-8; the first and the last character are those of objects, with blanks between
            objects.
        objects : int
            How many there must be.

        Returns
        -------
        dict of str to pyarrow.Array, or None
            None if Arrow might decide otherwise than Python.
        """
        if _may_be_deep(text, objects) or _may_hold_nan(text):
            return None
        table = self._read(text)
        if table is None or len(table) != objects or any(c.num_chunks != 1 for c in table.columns):
            return None
        columns = {
            name: table.column(name).chunk(0)
            for name in table.column_names
            if name not in self._texts or table.column(name).null_count < objects
        }
        for column in columns.values():
            if not _is_whole(column) or _holds_infinity(column):
                return None
        return columns

    def _read(self, text: bytes) -> Any:
        import pyarrow as pa
        import pyarrow.json as pj

        options = pj.ReadOptions(use_threads=False, block_size=max(len(text), 1 << 16) + 1)
        for _ in range(2):
            schema = pa.schema(self._texts) if self._texts else None
            try:
                table = pj.read_json(
                    pa.BufferReader(text), options, pj.ParseOptions(explicit_schema=schema)
                )
            except (pa.ArrowException, UnicodeDecodeError, OverflowError):
                return None
            times = {
                field.name: as_text
                for field in table.schema
                if (as_text := _text_instead_of_time(field.type)) is not None
            }
            if not times:
                return table
            self._texts |= times
        return None


def _may_be_deep(text: bytes, lines: int) -> bool:
    """Return whether some line may hold deeply nested lists or objects."""
    return text.count(b"[") + text.count(b"{") - 3 * lines > _MAX_OPEN and _depth(text) > _MAX_OPEN


def _depth(text: bytes) -> int:
    """Return a bound on how deeply lists and objects are nested in a line."""
    array = np.frombuffer(text, np.uint8)
    change = np.zeros(len(array), np.int32)
    change[(array == ord("[")) | (array == ord("{"))] = 1
    change[(array == ord("]")) | (array == ord("}"))] = -1
    depth = np.cumsum(change)
    return int(depth.max() - depth.min())


def _may_hold_nan(text: bytes) -> bool:
    return (b"NaN" in text or b"Inf" in text) and _NOT_FINITE.search(text) is not None


def _is_whole(column: Any) -> bool:
    """Return whether the arrays of a column fit together."""
    import pyarrow as pa

    try:
        column.validate()
    except pa.ArrowException:
        return False
    return True


def _holds_infinity(column: Any) -> bool:
    """Return whether a number is too large for a float; Python decides about it."""
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if kinds.is_list(column.type):
        return _holds_infinity(column.flatten())
    if kinds.is_struct(column.type):
        return any(_holds_infinity(part) for part in column.flatten())
    return kinds.is_floating(column.type) and bool(pc.any(pc.is_inf(column)).as_py())


def _text_instead_of_time(found: Any) -> Any:
    """Return the type of text for one of times, or of lists of them; None for other types."""
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_timestamp(found):
        return pa.string()
    if kinds.is_list(found) and kinds.is_timestamp(found.value_type):
        return pa.list_(pa.string())
    return None
