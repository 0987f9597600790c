"""Frames as columns: of pandas, polars, DuckDB and Arrow, and dicts of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import check_distinct
from dcglearn.base.tables.sources import Block, ChooseColumns, usual_type

FrameLike = Any
"""A frame of pandas or polars, a relation of DuckDB, a table of Arrow, or a mapping from names to
columns."""

_ARROW = ("__arrow_c_stream__", "__arrow_c_array__")


@dataclass(frozen=True)
class FrameSource:
    """The rows of a frame, as a source of records."""

    frame: FrameLike
    name: str = ""
    format: str = "frame"
    partition: Mapping[str, str] = field(default_factory=dict)

    def place(self, row: int) -> str:
        """Return the place of a row, counted from 0."""
        return f"row {row + 1}"

    def blocks(self, choose: ChooseColumns) -> Iterator[Block]:
        """Return all rows as one block."""
        columns = columns_of_frame(self.frame)
        choose(list(columns))
        rows = len(next(iter(columns.values()), ()))
        yield from [Block(columns, rows)] if rows else []


def is_frame(value: object) -> bool:
    """Return whether a value is a frame, a table or a mapping from names to columns."""
    names = (*_ARROW, "iloc", "collect")
    return isinstance(value, Mapping) or any(hasattr(value, name) for name in names)


def columns_of_frame(frame: FrameLike) -> dict[str, Any]:
    """Return the columns of a frame: Arrow arrays, or lists of values."""
    if hasattr(frame, "iloc"):
        check_distinct(frame.columns)
        held: dict[str, Any] = {str(name): frame[name].tolist() for name in frame.columns}
    elif isinstance(frame, Mapping):
        held = {str(name): list(values) for name, values in frame.items()}
    elif is_frame(frame):
        import pyarrow as pa

        table = pa.table(frame if any(hasattr(frame, one) for one in _ARROW) else frame.collect())
        check_distinct(table.column_names)
        held = {name: usual_type(table.column(name)) for name in table.column_names}
    else:
        raise InputError(f"a frame of type {type(frame).__name__}", "give a frame of pandas")
    if len(set(map(len, held.values()))) > 1:
        raise InputError("the columns differ in length", "give one value per row in each")
    return held
