"""What an experiment found: curves with bands, numbers with intervals, verdicts on claims.

Bands and intervals are 95% Student intervals of the mean over repetitions. Differences
are taken repetition by repetition, for cells of one repetition see the same lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import t as student

LEVEL = 0.95

Verdict = Literal["holds", "holds, with a reason", "does not hold", "undecided"]
VERDICTS: tuple[Verdict, ...] = ("holds", "holds, with a reason", "does not hold", "undecided")

BAND = "Bands: 95% intervals of the mean over repetitions."


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
            return f"{self.label} {self.mean:.3f} (n = {self.n})"
        return f"{self.label} {self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class Series:
    """One line of a figure with its band; arrays of one length.

    Attributes
    ----------
    label : str
    x : tuple of float or str
    mean, low, high : tuple of float
    n : tuple of int
        Repetitions at each point.
    """

    label: str
    x: tuple[Any, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n: tuple[int, ...]


@dataclass(frozen=True)
class Plot:
    """What a figure shows.

    Attributes
    ----------
    x_label, y_label : str
    series : tuple of Series
    levels : dict from str to float
        Horizontal lines by name.
    diagonal : bool
        Whether the line y = x is drawn: estimated against true.
    log_x : bool
    """

    x_label: str
    y_label: str
    series: tuple[Series, ...]
    levels: dict[str, float] = field(default_factory=dict)
    diagonal: bool = False
    log_x: bool = False

    def table(self) -> pd.DataFrame:
        """Return the points as a table, a row a point."""
        return pd.DataFrame(
            [
                {"series": s.label, self.x_label: x, "mean": m, "low": lo, "high": hi,
                 "repetitions": n}
                for s in self.series
                for x, m, lo, hi, n in zip(s.x, s.mean, s.low, s.high, s.n, strict=True)
            ]
        )  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """A claim, judged.

    Attributes
    ----------
    verdict : str
        One of :data:`VERDICTS`.
    numbers : tuple of Number
        What it rests on.
    reason : str
        Why an honest replication differs, where it does.
    """

    verdict: Verdict
    numbers: tuple[Number, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Figure:
    """One figure of an experiment.

    Attributes
    ----------
    number : str
        As in the paper, or a name: ``2``, ``2b``, ``ad-hoc``.
    title, caption : str
    plot : Plot
    claim : str
        What the paper says, in words.
    finding : Finding
    """

    number: str
    title: str
    plot: Plot
    claim: str
    finding: Finding
    caption: str = ""

    @property
    def name(self) -> str:
        """The file name of the figure, without its ending."""
        digits = "".join(c for c in self.number if c.isdigit())
        padded = self.number.replace(digits, f"{int(digits):02d}", 1) if digits else self.number
        return f"figure-{padded}"


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


def curve(table: pd.DataFrame, x: str, y: str, label: str) -> Series:
    """Return the mean of a column at every value of another.

    Parameters
    ----------
    table : DataFrame
    x, y : str
        Columns.
    label : str

    Returns
    -------
    Series
        In the order in which the values of `x` first occur.

    Examples
    --------
    >>> table = pd.DataFrame({"pairs": [20, 20, 40], "repetition": [0, 1, 0]})
    >>> table["precision"] = [0.7, 0.8, 0.9]
    >>> curve(table, "pairs", "precision", "all").mean
    (0.75, 0.9)
    """
    points = [(value, mean_over(group, y)) for value, group in table.groupby(x, sort=False)]
    return Series(
        label,
        tuple(value for value, _ in points),
        tuple(p.mean for _, p in points),
        tuple(p.low for _, p in points),
        tuple(p.high for _, p in points),
        tuple(p.n for _, p in points),
    )


def curves(
    table: pd.DataFrame, x: str, y: str, by: str, names: dict[Any, str] | None = None
) -> tuple[Series, ...]:
    """Return one curve for each value of a column.

    Parameters
    ----------
    table : DataFrame
    x, y, by : str
    names : dict, optional
        What the values of `by` are called.

    Returns
    -------
    tuple of Series
    """
    return tuple(
        curve(group, x, y, (names or NAMES).get(value, str(value)))
        for value, group in table.groupby(by, sort=False)
    )


NAMES: dict[Any, str] = {"data-1": "Data 1", "data-2": "Data 2"}
"""What values are called in figures."""


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


def difference(one: pd.DataFrame, other: pd.DataFrame, y: str, label: str = "") -> Number:
    """Return the mean difference of a column, repetition by repetition.

    Parameters
    ----------
    one, other : DataFrame
        One row a repetition each; repetitions that only one of them has are left out.
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
    both = one.set_index("repetition")[y] - other.set_index("repetition")[y]
    return mean_of(both.to_numpy(float), label)


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
        value: difference(at(group, **{x: high}), at(group, **{x: low}), y,
                          f"{NAMES.get(value, value)}, {y} at {high} minus at {low}:")
        for value, group in table.groupby(by, sort=False)
    }  # fmt: skip


def judged(numbers: Sequence[Number], holds: bool, contradicted: bool, reason: str = "") -> Finding:
    """Return the finding on a claim.

    Parameters
    ----------
    numbers : sequence of Number
        What it rests on; without intervals for all of them it is undecided.
    holds : bool
        Whether they show the claim.
    contradicted : bool
        Whether they show the contrary; if neither, it is undecided.
    reason : str
        Where the claim holds only with one.

    Returns
    -------
    Finding

    Examples
    --------
    >>> judged([mean_of([0.1, 0.2, 0.3])], holds=False, contradicted=False).verdict
    'undecided'
    """
    verdict: Verdict = "undecided"
    if numbers and not any(np.isnan(number.low) for number in numbers):
        if holds:
            verdict = "holds, with a reason" if reason else "holds"
        elif contradicted:
            verdict = "does not hold"
    return Finding(verdict, tuple(numbers), reason if holds else "")


def rising(numbers: Sequence[Number], reason: str = "", also: Sequence[Number] = ()) -> Finding:
    """Judge the claim that all differences are above 0.

    Parameters
    ----------
    numbers : sequence of Number
        It holds if all intervals are above 0, and does not if one is not.
    reason : str
    also : sequence of Number
        Shown after them, and not judged.

    Returns
    -------
    Finding

    Examples
    --------
    >>> rising([mean_of([0.1, 0.2, 0.3]), mean_of([-0.31, -0.3])]).verdict
    'does not hold'
    """
    holds = all(number.low > 0 for number in numbers)
    contradicted = any(number.high <= 0 for number in numbers)
    return judged([*numbers, *also], holds, contradicted, reason)


def rises(table: pd.DataFrame, x: str, y: str, by: str = "truth") -> Finding:
    """Judge the claim that a column rises with another, for every value of `by`.

    Parameters
    ----------
    table : DataFrame
    x, y, by : str

    Returns
    -------
    Finding
        On the change from the least to the largest x (see :func:`rising`).
    """
    return rising(list(along(table, x, y, by).values()))


def falls(table: pd.DataFrame, x: str, y: str, by: str = "truth") -> Finding:
    """Judge the claim that a column falls as another rises, for every value of `by`.

    Parameters
    ----------
    table : DataFrame
    x, y, by : str

    Returns
    -------
    Finding
        On the change from the least to the largest x: it holds if all intervals are below
        0, and does not if one is above.
    """
    numbers = list(along(table, x, y, by).values())
    holds = all(number.high < 0 for number in numbers)
    return judged(numbers, holds, any(number.low >= 0 for number in numbers))
