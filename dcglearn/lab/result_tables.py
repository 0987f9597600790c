"""Results of cells as tidy tables: one row per finished cell."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dcglearn.base.errors import InputError, did_you_mean
from dcglearn.design.config import Config
from dcglearn.design.setting import Setting
from dcglearn.lab.store import Store

SIGNIFICANT_DIGITS = 9
"""Significant digits of the numbers in a table."""


def result_table(
    config: Config, quick: bool, store: Store, columns: tuple[str, ...]
) -> pd.DataFrame:
    """Return the finished cells of an experiment, in the order of the grid.

    Parameters
    ----------
    config : Config
    quick : bool
        Whether to take the quick part of the grid only.
    store : Store
    columns : tuple of str
        Names of results. A result that is a list becomes the columns ``name_1``, ``name_2``, ...

    Returns
    -------
    pandas.DataFrame
        One row per finished cell: the swept keys, the repetition, and the results. A swept
        value that is a list becomes text, its elements separated by spaces.

    Raises
    ------
    InputError
        If no cell is finished, or a name in `columns` is not a result of any cell.
    """
    rows = []
    for point, cell in config.cells(quick):
        result = store.get(cell)
        if result is not None:
            swept = {key: as_text(value) for key, value in point.items()}
            rows.append(swept | _chosen(result, columns))
    if not rows:
        raise InputError(
            "no cell is finished", f"compute them: dcglearn run {config.path}", config.name
        )
    table = pd.DataFrame(rows)
    for column in columns:
        if column not in table and f"{column}_1" not in table:
            raise InputError(
                f"cells have no result {column!r}", "correct COLUMNS", config.experiment
            )
    return table


def add_settings(config: Config, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with one more column for every setting that was not swept.

    Parameters
    ----------
    config : Config
    table : pandas.DataFrame
        As returned by :func:`result_table`.

    Returns
    -------
    pandas.DataFrame
        What the ``figures`` function of an experiment receives. Existing columns keep their
        values; ``ranks`` is filled in where it follows from the base list.
    """
    setting = Setting(**config.fixed).model_dump()
    setting |= {f"options.{key}": value for key, value in setting.pop("options").items()}
    fixed = {key: as_text(value) for key, value in setting.items() if key not in table}
    whole = table.assign(**fixed)
    whole["ranks"] = [
        len(base.split()) if pd.isna(K) else int(K)
        for base, K in zip(whole["base"], whole["ranks"], strict=True)
    ]
    return whole


@dataclass(frozen=True)
class MissingColumn:
    """A column that an experiment file uses and the table lacks, with the error that says so."""

    column: str
    error: InputError


def column_not_there(error: BaseException, table: pd.DataFrame, path: Path) -> MissingColumn | None:
    """Return the column that ``figures(table)`` looked up in vain, if that is why it failed.

    Parameters
    ----------
    error : BaseException
    table : pandas.DataFrame
        What the function was given.
    path : Path
        The experiment file.

    Returns
    -------
    MissingColumn or None
        None for any other error.
    """
    name = _looked_up(error)
    if name is None or name in table:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    known = list(map(str, table.columns))
    problem = f"figures(table) uses the column {name!r}, which the table does not have"
    remedy = f"{did_you_mean(name, known)}Add a result to COLUMNS, or use {', '.join(known)}"
    place = f"{path}, line {lines[-1]}" if lines else str(path)
    return MissingColumn(name, InputError(problem, remedy, place))


def _looked_up(error: BaseException) -> str | None:
    """Return the column that pandas did not find."""
    if isinstance(error, AttributeError) and isinstance(error.obj, pd.DataFrame):
        return error.name
    frames = [Path(one.filename) for one in traceback.extract_tb(error.__traceback__)]
    in_series = any(one.name == "series.py" for one in frames)  # a label of a row
    if not isinstance(error, KeyError) or "pandas" not in frames[-1].parts or in_series:
        return None
    words = error.args[0] if error.args else None
    if not isinstance(words, str):
        return None
    several = re.search(r"\['([^']*)'", words)
    return several[1] if several else words.removeprefix("Column not found: ")


def as_text(value: Any) -> Any:
    """Return a value of a setting as the table holds it."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _chosen(result: dict[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in columns:
        value = result.get(column)
        if isinstance(value, list):
            found |= {f"{column}_{i}": _rounded(one) for i, one in enumerate(value, 1)}
        elif value is not None:
            found[column] = _rounded(value)
    return found


def _rounded(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
