"""Means over repetitions with confidence intervals.

Intervals are 95% Student intervals of the mean over repetitions. Differences are paired: they are
computed within each repetition, because the cells of one repetition use the same lists.
"""

from dataclasses import dataclass
from itertools import product
from string import Formatter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import stdtrit

_DISPLAY_NAMES: dict[Any, str] = {"data-1": "Data 1", "data-2": "Data 2"}


@dataclass(frozen=True)
class MeanInterval:
    """A mean over repetitions with its 95% interval."""

    label: str
    mean: float
    low: float
    high: float
    n: int

    @property
    def standard_error(self) -> float:
        """The standard error of the mean that the interval was made from."""
        return (self.high - self.low) / 2 / _student_quantile(self.n)

    def __str__(self) -> str:
        if np.isnan(self.low):
            return f"{self.label} {self.mean:z.3f} (n = {self.n})"
        return f"{self.label} {self.mean:z.3f} ({self.low:z.3f} to {self.high:z.3f})"


def mean_interval(values: ArrayLike, label: str = "") -> MeanInterval:
    """Return the mean of independent values with its 95% interval."""
    known = pd.Series(np.asarray(values, float)).dropna()
    mean, half = float(known.mean()), _student_quantile(len(known)) * float(known.sem())
    return MeanInterval(label, mean, mean - half, mean + half, len(known))


def _student_quantile(n: int) -> float:
    return float(stdtrit(n - 1, 0.975))


def mean_over_repetitions(
    table: pd.DataFrame, y: str, label: str = "", minus: pd.DataFrame | None = None
) -> MeanInterval:
    """Return the mean of a column over repetitions, whatever else varies in the table.

    The cells of one repetition share their lists, so they are averaged first. With `minus`, it is
    the mean difference from another table, paired by repetition.
    """
    found, *others = (
        one.groupby("repetition")[y].mean() for one in (table, minus) if one is not None
    )
    return mean_interval(found - others[0] if others else found, label)


def means(
    table: pd.DataFrame, y: str, label: str, minus: pd.DataFrame | None = None
) -> list[MeanInterval]:
    """Return the mean of a column for all values of the columns that the label names.

    The label ``"{truth}, {pairs:,} pairs:"`` gives a mean for each truth and number of pairs. With
    `minus`, they are means of paired differences from the rows of another table with the same
    values, in those of the columns that it has.
    """
    columns = [name for _, name, _, _ in Formatter().parse(label) if name]
    found = []
    for values in product(*(table[column].unique() for column in columns)):
        at = dict(zip(columns, values, strict=True))
        rows = rows_where(table, **at)
        named = label.format(**{key: _DISPLAY_NAMES.get(value, value) for key, value in at.items()})
        other = minus
        if minus is not None:
            other = rows_where(minus, **{key: at[key] for key in at if key in minus})
        if len(rows) or minus is not None:
            found.append(mean_over_repetitions(rows, y, named, other))
    return found


def change_over_range(
    table: pd.DataFrame, x: str, y: str, label: str = "{truth}"
) -> list[MeanInterval]:
    """Return how much a column changes from the smallest to the largest value of another."""
    low, high = table[x].min(), table[x].max()
    if low == high:
        return []
    first, last = (rows_where(table, **{x: value}) for value in (low, high))
    return means(last, y, f"{label}, {y} at {high} minus at {low}:", minus=first)


def trend_over_range(table: pd.DataFrame, x: str, y: str) -> list[MeanInterval]:
    """Return how much a column changes over the range of another along a line, for each truth."""
    width = table[x].max() - table[x].min()
    if not width:
        return []
    changes = []
    for value, group in table.groupby("truth", sort=False):
        curves = group.pivot_table(y, "repetition", x).dropna()
        slopes = np.polyfit(curves.columns, curves.T, 1)[0] if len(curves) else []
        label = f"{display_name(value)}, {y}, change along the least-squares line:"
        changes.append(mean_interval(width * np.array(slopes), label))
    return changes


def rows_where(table: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows of a table that have the given values."""
    for column, value in values.items():
        table = table[table[column] == value]
    return table


def display_name(value: Any) -> str:
    """Return the name of a value in figures."""
    return _DISPLAY_NAMES.get(value, str(value))


def common_value(table: pd.DataFrame, column: str) -> str:
    """Return the value of a column that does not vary, as text for a caption."""
    values = table[column].unique()
    if len(values) > 1:
        return "several"
    value = values[0]
    return value if isinstance(value, str) else f"{value:,.6g}"
