"""Means over repetitions with confidence intervals.

Intervals are 95% Student intervals of the mean over repetitions. Differences are paired: they are
computed within each repetition, because the cells of one repetition use the same lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import stdtrit

CONFIDENCE = 0.95

_DISPLAY_NAMES: dict[Any, str] = {"data-1": "Data 1", "data-2": "Data 2"}


@dataclass(frozen=True)
class MeanInterval:
    """A mean over repetitions with its 95% interval.

    Attributes
    ----------
    label : str
        What was averaged, for a line of a table.
    mean, low, high : float
        The interval is nan with fewer than two repetitions.
    n : int
        The number of repetitions.
    """

    label: str
    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        if np.isnan(self.low):
            return f"{self.label} {self.mean:z.3f} (n = {self.n})"
        return f"{self.label} {self.mean:z.3f} ({self.low:z.3f} to {self.high:z.3f})"


def mean_interval(values: ArrayLike, label: str = "") -> MeanInterval:
    """Return the mean of independent values with its 95% interval.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        One value per repetition; nan is ignored.
    label : str, optional

    Returns
    -------
    MeanInterval

    Examples
    --------
    >>> print(mean_interval([1.0, 2.0, 3.0], "mean"))
    mean 2.000 (-0.484 to 4.484)
    """
    finite = np.asarray(values, float)
    finite = finite[~np.isnan(finite)]
    n = len(finite)
    if not n:
        return MeanInterval(label, float("nan"), float("nan"), float("nan"), 0)
    mean = float(finite.mean())
    if n == 1:
        return MeanInterval(label, mean, float("nan"), float("nan"), 1)
    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2) * finite.std(ddof=1) / np.sqrt(n))
    return MeanInterval(label, mean, mean - half, mean + half, n)


def mean_over_repetitions(table: pd.DataFrame, y: str, label: str = "") -> MeanInterval:
    """Return the mean of a column over repetitions, whatever else varies in the table.

    The cells of one repetition share their lists, so they are averaged first: the interval is
    computed from one independent value per repetition.

    Parameters
    ----------
    table : DataFrame
        One row per cell.
    y : str
        The column.
    label : str, optional

    Returns
    -------
    MeanInterval

    Examples
    --------
    >>> table = pd.DataFrame({"repetition": [0, 0, 1, 1], "precision": [0.5, 0.7, 0.6, 0.6]})
    >>> mean_over_repetitions(table, "precision").n
    2
    """
    return mean_interval(table.groupby("repetition")[y].mean().to_numpy(float), label)


def paired_difference(
    one: pd.DataFrame, other: pd.DataFrame, y: str, label: str = ""
) -> MeanInterval:
    """Return the mean difference of a column between two tables, paired by repetition.

    Parameters
    ----------
    one, other : DataFrame
        One row per cell. Rows of one repetition are averaged first, as in
        :func:`mean_over_repetitions`; repetitions that occur in one table only are left out.
    y : str
        The column.
    label : str, optional

    Returns
    -------
    MeanInterval

    Examples
    --------
    >>> one = pd.DataFrame({"repetition": [0, 1], "precision": [0.9, 0.8]})
    >>> print(paired_difference(one, one.assign(precision=[0.8, 0.7]), "precision"))
     0.100 (0.100 to 0.100)
    """
    both = one.groupby("repetition")[y].mean() - other.groupby("repetition")[y].mean()
    return mean_interval(both.to_numpy(float), label)


def change_over_range(table: pd.DataFrame, x: str, y: str, by: str) -> dict[Any, MeanInterval]:
    """Return how much a column changes from the smallest to the largest value of another.

    Parameters
    ----------
    table : DataFrame
        One row per cell.
    x, y, by : str
        The columns: the change of `y` over `x`, for each value of `by`.

    Returns
    -------
    dict from value of `by` to MeanInterval
        Empty if `x` has only one value.

    Examples
    --------
    >>> table = pd.DataFrame({"repetition": [0, 0], "flips": [0, 40], "precision": [0.9, 0.8]})
    >>> changes = change_over_range(table.assign(truth="a"), "flips", "precision", "truth")
    >>> changes["a"].label
    'a, precision at 40 minus at 0:'
    """
    low, high = table[x].min(), table[x].max()
    if low == high:
        return {}
    return {
        value: paired_difference(
            rows_where(group, **{x: high}),
            rows_where(group, **{x: low}),
            y,
            f"{display_name(value)}, {y} at {high} minus at {low}:",
        )
        for value, group in table.groupby(by, sort=False)
    }


def trend_over_range(table: pd.DataFrame, x: str, y: str, by: str) -> dict[Any, MeanInterval]:
    """Return how much a column changes over the range of another along a straight line.

    Parameters
    ----------
    table : DataFrame
        One row per cell.
    x, y, by : str
        The columns: the change of `y` over `x`, for each value of `by`.

    Returns
    -------
    dict from value of `by` to MeanInterval
        The slope of the least-squares line through the points of one repetition, times the
        range of `x`; empty if `x` has only one value.

    Examples
    --------
    >>> table = pd.DataFrame({"repetition": [0, 0, 0, 1, 1, 1], "flips": [0, 1, 2] * 2})
    >>> table["precision"], table["truth"] = [0.9, 0.8, 0.7, 0.9, 0.9, 0.7], "data-1"
    >>> round(trend_over_range(table, "flips", "precision", "truth")["data-1"].mean, 3)
    -0.2
    """
    width = table[x].max() - table[x].min()
    if not width:
        return {}
    changes = {}
    for value, group in table.groupby(by, sort=False):
        curves = [one for _, one in group.groupby("repetition") if one[x].nunique() > 1]
        slopes = [np.polyfit(one[x], one[y], 1)[0] for one in curves]
        label = f"{display_name(value)}, {y}, change along the least-squares line:"
        changes[value] = mean_interval(width * np.array(slopes), label)
    return changes


def rows_where(table: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows of a table that have the given values.

    Parameters
    ----------
    table : DataFrame
    **values
        The value of each column.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> len(rows_where(pd.DataFrame({"a": [1, 1, 2]}), a=1))
    2
    """
    wanted = np.ones(len(table), bool)
    for column, value in values.items():
        wanted &= (table[column] == value).to_numpy(bool)
    return table[wanted]


def display_name(value: Any) -> str:
    """Return the name of a value in figures.

    Parameters
    ----------
    value : object

    Returns
    -------
    str

    Examples
    --------
    >>> display_name("data-1"), display_name("free")
    ('Data 1', 'free')
    """
    return _DISPLAY_NAMES.get(value, str(value))


def common_value(table: pd.DataFrame, column: str) -> str:
    """Return the value of a column that does not vary, as text for a caption.

    Parameters
    ----------
    table : DataFrame
    column : str

    Returns
    -------
    str
        ``several`` if the column varies.

    Examples
    --------
    >>> common_value(pd.DataFrame({"pairs": [2000, 2000]}), "pairs")
    '2,000'
    """
    values = table[column].unique()
    if len(values) > 1:
        return "several"
    value = values[0]
    return str(value) if isinstance(value, str) else f"{value:,.6g}"
