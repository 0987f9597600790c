"""Judgments in pandas frames: the columns of a frame, checked, and a frame made of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import is_one_of, unknown_name
from dcglearn.data.judgment_fields import (
    JUDGMENT_FIELDS,
    REQUIRED_FIELDS,
    parse_answer,
    parse_id,
    parse_labels,
    parse_weight,
)

if TYPE_CHECKING:
    import pandas as pd


def columns_of_frame(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the fields of the judgments in a frame, column by column.

    Parameters
    ----------
    frame : pandas.DataFrame
        One judgment per row.

    Returns
    -------
    dict of str to list
        All of :data:`~dcglearn.data.judgment_fields.JUDGMENT_FIELDS`, each of length n: lists of
        grades, answers as text, weights and ids. Missing ids are None, missing weights 1.

    Raises
    ------
    InputError
        Naming the row (the first is row 1): a column is missing or unknown, or a cell cannot be
        used.
    """
    for name in frame.columns:
        if not is_one_of(name, JUDGMENT_FIELDS):
            raise unknown_name("column", name, JUDGMENT_FIELDS)
    for name in REQUIRED_FIELDS:
        if name not in frame.columns:
            raise InputError(
                f'the column "{name}" is missing',
                f"every judgment needs {', '.join(REQUIRED_FIELDS)}",
            )
    if not frame.columns.is_unique:
        repeated = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f'the column "{repeated}" appears twice', "keep one")
    return {
        name: [_cell(name, value, row) for row, value in enumerate(frame[name].tolist(), start=1)]
        if name in frame.columns
        else [1.0 if name == "weight" else None] * len(frame)
        for name in JUDGMENT_FIELDS
    }


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
        return [_plain(label) for label in _as_list(value)]
    return None if _is_missing(value) else _plain(value)


def _cell(name: str, value: Any, row: int) -> Any:
    try:
        if name in ("a", "b"):
            return parse_labels(_as_list(value), name)
        if name == "answer":
            parse_answer(value)
            return value
        if name == "weight":
            return 1.0 if value is None else parse_weight(value)
        return parse_id(None if _is_missing(value) else _plain(value), name)
    except InputError as error:
        raise error.at(f"row {row}") from error


def _as_list(value: Any) -> Any:
    """Return a list of a cell's grades, None where one is missing; other cells as they are."""
    if not isinstance(value, list | tuple | np.ndarray):
        return value
    return [None if _is_missing(label) else label for label in value]


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' missing value."""
    import pandas as pd

    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
