"""Means over repetitions and how sure they are.

Intervals are 95% Student intervals of the mean over repetitions. Differences are taken
repetition by repetition, for cells of one repetition see the same lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import t as student

LEVEL = 0.95

_NAMES: dict[Any, str] = {"data-1": "Data 1", "data-2": "Data 2"}


@dataclass(frozen=True)
class Number:
    """A mean and its interval.

    Attributes
    ----------
    label : str
    mean, low, high : float
        nan for the interval of fewer than two repetitions.
    n : int
        Repetitions.
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


def mean_of(values: ArrayLike, label: str = "") -> Number:
    """Return a mean with its 95% interval.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        One a repetition; nan counts for nothing.
    label : str

    Returns
    -------
    Number

    Examples
    --------
    >>> print(mean_of([1.0, 2.0, 3.0], "mean"))
    mean 2.000 (-0.484 to 4.484)
    """
    found = np.asarray(values, float)
    found = found[~np.isnan(found)]
    n = len(found)
    if not n:
        return Number(label, float("nan"), float("nan"), float("nan"), 0)
    mean = float(found.mean())
    if n == 1:
        return Number(label, mean, float("nan"), float("nan"), 1)
    half = float(student.ppf((1 + LEVEL) / 2, n - 1) * found.std(ddof=1) / np.sqrt(n))
    return Number(label, mean, mean - half, mean + half, n)


def mean_over(table: pd.DataFrame, y: str, label: str = "") -> Number:
    """Return the mean of a column over repetitions, whatever else varies in the table.

    Cells of one repetition share their lists, so they are averaged first: the interval is
    that of as many independent values as there are repetitions.

    Parameters
    ----------
    table : DataFrame
    y : str
        A column.
    label : str

    Returns
    -------
    Number

    Examples
    --------
    >>> table = pd.DataFrame({"repetition": [0, 0, 1, 1], "precision": [0.5, 0.7, 0.6, 0.6]})
    >>> mean_over(table, "precision").n
    2
    """
    return mean_of(table.groupby("repetition")[y].mean().to_numpy(float), label)


def at(table: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows that have the given values.

    Parameters
    ----------
    table : DataFrame
    **values
        Column and value.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> len(at(pd.DataFrame({"a": [1, 1, 2]}), a=1))
    2
    """
    for column, value in values.items():
        table = table[table[column] == value]
    return table


def name_of(value: Any) -> str:
    """Return what a value is called in figures.

    Parameters
    ----------
    value : object

    Returns
    -------
    str

    Examples
    --------
    >>> name_of("data-1"), name_of("free")
    ('Data 1', 'free')
    """
    return _NAMES.get(value, str(value))


def stated(table: pd.DataFrame, column: str) -> str:
    """Return the value of a column that does not vary, for a caption.

    Parameters
    ----------
    table : DataFrame
    column : str

    Returns
    -------
    str
        ``several`` where it does vary.

    Examples
    --------
    >>> stated(pd.DataFrame({"pairs": [2000, 2000]}), "pairs")
    '2,000'
    """
    values = table[column].unique()
    if len(values) > 1:
        return "several"
    value = values[0]
    return str(value) if isinstance(value, str) else f"{value:,.6g}"


def difference(one: pd.DataFrame, other: pd.DataFrame, y: str, label: str = "") -> Number:
    """Return the mean difference of a column, repetition by repetition.

    Parameters
    ----------
    one, other : DataFrame
        Rows of one repetition are averaged first, as in :func:`mean_over`; repetitions that
        only one of them has are left out.
    y : str
    label : str

    Returns
    -------
    Number

    Examples
    --------
    >>> one = pd.DataFrame({"repetition": [0, 1], "precision": [0.9, 0.8]})
    >>> print(difference(one, one.assign(precision=[0.8, 0.7]), "precision"))
     0.100 (0.100 to 0.100)
    """
    both = one.groupby("repetition")[y].mean() - other.groupby("repetition")[y].mean()
    return mean_of(both.to_numpy(float), label)


def trend(table: pd.DataFrame, x: str, y: str, by: str) -> dict[Any, Number]:
    """Return how much a column changes over the range of another, by all values of it.

    Parameters
    ----------
    table : DataFrame
    x, y, by : str

    Returns
    -------
    dict from value of `by` to Number
        The slope of the line of least squares through one repetition, times the range of `x`;
        empty where `x` has one value only.

    Examples
    --------
    >>> table = pd.DataFrame({"repetition": [0, 0, 0, 1, 1, 1], "flips": [0, 1, 2] * 2})
    >>> table["precision"], table["truth"] = [0.9, 0.8, 0.7, 0.9, 0.9, 0.7], "data-1"
    >>> round(trend(table, "flips", "precision", "truth")["data-1"].mean, 3)
    -0.2
    """
    width = table[x].max() - table[x].min()
    if not width:
        return {}
    found = {}
    for value, group in table.groupby(by, sort=False):
        runs = [one for _, one in group.groupby("repetition") if one[x].nunique() > 1]
        slopes = [np.polyfit(one[x], one[y], 1)[0] for one in runs]
        label = f"{name_of(value)}, {y} by the straight line through all:"
        found[value] = mean_of(width * np.array(slopes), label)
    return found


def along(table: pd.DataFrame, x: str, y: str, by: str) -> dict[Any, Number]:
    """Return how much a column changes from the first value of another to the last.

    Parameters
    ----------
    table : DataFrame
    x, y, by : str

    Returns
    -------
    dict from value of `by` to Number
        Empty where `x` has one value only.
    """
    low, high = table[x].min(), table[x].max()
    if low == high:
        return {}
    return {
        value: difference(
            at(group, **{x: high}),
            at(group, **{x: low}),
            y,
            f"{name_of(value)}, {y} at {high} minus at {low}:",
        )
        for value, group in table.groupby(by, sort=False)
    }
