"""Judgments in frames: columns of Python values become arrays, and arrays become frames.

Lists, answers and grades are numbered by their distinct values, whose meanings are found once
(:mod:`dcglearn.judgments.meaning.column_names`, :mod:`dcglearn.judgments.meaning.answer_values`,
:mod:`dcglearn.judgments.meaning.grade_names`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.types import Floats, Ids
from dcglearn.judgments.coded_cells import (
    coded_lists,
    in_row,
    is_missing,
    without_missing,
)
from dcglearn.judgments.judgment_arrays import (
    JudgmentArrays,
    answer_codes,
    grade_unjudged_and_say,
    left_out_words,
    say,
)
from dcglearn.judgments.meaning.answer_values import LEFT_OUT
from dcglearn.judgments.meaning.column_names import Column, ColumnMap, resolve_columns
from dcglearn.judgments.meaning.given_maps import GivenMap
from dcglearn.judgments.meaning.judgment_fields import JUDGMENT_FIELDS, parse_id, parse_weight
from dcglearn.judgments.meaning.unjudged_documents import UnjudgedRule
from dcglearn.measures.scale import Scale

if TYPE_CHECKING:
    import pandas as pd

_IDS = ("query", "judge")

FrameLike: TypeAlias = Any
"""A frame of pandas or polars, a relation of DuckDB, a table of Arrow, or a mapping from names to
columns."""

_ARROW = ("__arrow_c_stream__", "__arrow_c_array__")
"""What frames have that give their columns to Arrow, whatever library they are of."""


def judgments_of_frame(
    frame: FrameLike,
    scale: Scale | None = None,
    n_ranks: int | None = None,
    columns: GivenMap | None = None,
    answers: GivenMap | None = None,
    unjudged: UnjudgedRule = "worst",
    strict: bool = False,
) -> JudgmentArrays:
    """Return the judgments in a frame.

    Parameters
    ----------
    frame : frame or mapping
        One judgment per row.
    scale, n_ranks, columns, answers, unjudged, strict
        As those of :meth:`dcglearn.judgments.preferences.Preferences.from_frame`.

    Returns
    -------
    JudgmentArrays

    Raises
    ------
    InputError
        Naming the row (the first is row 1): a column is missing or unknown, or a cell cannot be
        used.

    Warns
    -----
    InputWarning
        For what is taken without being told.
    """
    held = columns_of_frame(frame)
    found = resolve_columns(held, columns)
    found.check_complete()
    say(found.notes)
    check_unknown(found, strict)
    lists, scale = coded_lists(
        (_cells(held, found.columns["a"]), _cells(held, found.columns["b"])), scale, n_ranks
    )
    lists = grade_unjudged_and_say(lists, scale, unjudged)
    codes, sizes = answer_codes(
        held[str(found.columns["answer"])], found.weighted, answers, found.sides
    )
    weights = _weights(held[str(found.columns["weight"])]) if found.weighted else sizes
    kept = codes != LEFT_OUT
    say(left_out_words(int(np.count_nonzero(~kept))))
    queries, judges = (_ids(held, found.columns.get(name), name, len(kept)) for name in _IDS)
    return JudgmentArrays(
        lists[kept], codes[kept], scale, weights[kept], queries[kept], judges[kept]
    )


def is_frame(value: object) -> bool:
    """Return whether a value is a frame, a table or a mapping from names to columns.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    return isinstance(value, Mapping) or any(
        hasattr(value, name) for name in (*_ARROW, "iloc", "collect")
    )


def columns_of_frame(frame: FrameLike) -> dict[str, list[Any]]:
    """Return the columns of a frame as lists of values of Python, None where one is missing.

    Parameters
    ----------
    frame : frame or mapping

    Returns
    -------
    dict of str to list

    Raises
    ------
    InputError
        If it is not a frame, a column appears twice, or columns differ in length.
    """
    if isinstance(frame, Mapping):
        held = {str(name): list(values) for name, values in frame.items()}
    elif hasattr(frame, "iloc"):
        _check_distinct(list(frame.columns))
        held = {str(name): frame[name].tolist() for name in frame.columns}
    elif is_frame(frame):
        held = _columns_of_table(frame)
    else:
        raise InputError(f"a frame of type {type(frame).__name__}", "give a frame of pandas")
    if len(set(map(len, held.values()))) > 1:
        raise InputError("the columns differ in length", "give one value per judgment in each")
    return held


def _columns_of_table(frame: Any) -> dict[str, list[Any]]:
    """Return the columns of what gives them to Arrow; a lazy frame is collected first."""
    import pyarrow as pa

    if not any(hasattr(frame, name) for name in _ARROW):
        frame = frame.collect()
    table = pa.table(frame)
    _check_distinct(table.column_names)
    return {
        name: _python_values(column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def _python_values(column: Any) -> list[Any]:
    """Return the values of a column; decimals are numbers."""
    import pyarrow as pa
    import pyarrow.types as kinds

    value, wanted = column.type, pa.float64()
    while kinds.is_nested(value) and hasattr(value, "value_type"):
        value, wanted = value.value_type, pa.list_(wanted)
    if kinds.is_decimal(value):
        column = column.cast(wanted)
    return column.to_pylist()  # type: ignore[no-any-return]  # pyarrow has no type hints


def _check_distinct(names: list[Any]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'the column "{name}" appears twice', "keep one")


def check_unknown(found: ColumnMap, strict: bool) -> None:
    """Say which columns are not used, or refuse them.

    Parameters
    ----------
    found : ColumnMap
    strict : bool
        Whether unknown columns are refused.

    Raises
    ------
    InputError
        Naming the first of them.
    """
    if found.unknown and strict:
        raise unknown_name("column", found.unknown[0], JUDGMENT_FIELDS)
    if found.unknown:
        say([found.unknown_words()])


def frame_of_columns(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Build a frame that keeps text, lists and None as they are.

    Parameters
    ----------
    columns : dict of str to list
        The columns by name, of equal length.

    Returns
    -------
    pandas.DataFrame
    """
    import pandas as pd

    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=float if name == "weight" else object)
            for name, values in columns.items()
        }
    )


def plain_cell(value: Any) -> Any:
    """Return a cell of a frame as a file would hold it.

    Parameters
    ----------
    value : object

    Returns
    -------
    object
        A list for a list or array, None for a missing value, a number of Python for one of NumPy.

    Examples
    --------
    >>> plain_cell(np.float64(0.5)), plain_cell(float("nan")), plain_cell(np.array([2.0, np.nan]))
    (0.5, None, [2.0, None])
    """
    if isinstance(value, list | tuple | np.ndarray):
        return [plain_cell(entry) for entry in value]
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _cells(held: Mapping[str, list[Any]], column: Column) -> list[Any]:
    """Return the lists of a side, from one column or from one per rank."""
    if isinstance(column, str):
        return held[column]
    return [list(row) for row in zip(*(held[name] for name in column), strict=True)]


def _weights(values: list[Any]) -> Floats:
    weights = np.ones(len(values))
    for row, value in enumerate(values, start=1):
        if value is not None:
            with in_row(row):
                weights[row - 1] = parse_weight(value)
    return weights


def _ids(held: Mapping[str, list[Any]], column: Column | None, name: str, n_judgments: int) -> Ids:
    if column is None:
        return np.full(n_judgments, None, object)
    ids = np.empty(n_judgments, object)
    known: dict[Any, str | None] = {}
    for row, value in enumerate(without_missing(held[str(column)]), start=1):
        with in_row(row):
            try:
                ids[row - 1] = known[value]
            except (KeyError, TypeError):
                whole = isinstance(value, float) and value.is_integer()
                found = parse_id(int(value) if whole else plain_cell(value), name)
                ids[row - 1] = found
                known[value] = found
    return ids
