"""Results of cells as tidy tables: one row per finished cell."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dcglearn.base.errors import InputError
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
            swept = {key: _as_text(value) for key, value in point.items()}
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
    fixed = {key: _as_text(value) for key, value in setting.items() if key not in table}
    whole = table.assign(**fixed)
    whole["ranks"] = [
        len(base.split()) if pd.isna(K) else int(K)
        for base, K in zip(whole["base"], whole["ranks"], strict=True)
    ]
    return whole


def _as_text(value: Any) -> Any:
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
