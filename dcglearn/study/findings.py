"""What an experiment found: curves with bands, and verdicts on claims.

A claim holds, or does not, if the 95% intervals of the numbers that it rests on say so
(:mod:`dcglearn.study.means`); where they do not say, it is undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from dcglearn.study.means import Number, along, mean_over, name_of, stated, trend

Verdict = Literal["holds", "holds, with a reason", "does not hold", "undecided"]
VERDICTS: tuple[Verdict, ...] = ("holds", "holds, with a reason", "does not hold", "undecided")

BAND = "Bands: 95% intervals of the mean over repetitions."


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
                {
                    "series": s.label,
                    self.x_label: x,
                    "mean": m,
                    "low": lo,
                    "high": hi,
                    "repetitions": n,
                }
                for s in self.series
                for x, m, lo, hi, n in zip(s.x, s.mean, s.low, s.high, s.n, strict=True)
            ]
        )


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
        curve(group, x, y, (names or {}).get(value, name_of(value)))
        for value, group in table.groupby(by, sort=False)
    )


def chosen_C(table: pd.DataFrame) -> str:
    """Say how C was chosen, for a caption.

    Parameters
    ----------
    table : DataFrame
        With the settings of the cells.

    Returns
    -------
    str

    Examples
    --------
    >>> chosen_C(pd.DataFrame({"C": [1.0], "validation_pairs": [1000]}))
    'C = 1'
    """
    C = stated(table, "C")
    if C == "validation":
        return f"C chosen on {stated(table, 'validation_pairs')} independent exact pairs"
    return f"C = {C}"


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
    >>> from dcglearn.study.means import mean_of
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
        It holds if all intervals are above 0, does not if one is at or below 0, and is
        undecided between.
    reason : str
    also : sequence of Number
        Shown after them, and not judged.

    Returns
    -------
    Finding

    Examples
    --------
    >>> from dcglearn.study.means import mean_of
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
        On the change from the least to the largest x, and on the straight line through all
        of them (see :func:`rising`).
    """
    return rising(_changes(table, x, y, by))


def falls(table: pd.DataFrame, x: str, y: str, by: str = "truth") -> Finding:
    """Judge the claim that a column falls as another rises, for every value of `by`.

    Parameters
    ----------
    table : DataFrame
    x, y, by : str

    Returns
    -------
    Finding
        On the change from the least to the largest x, and on the straight line through all
        of them: it holds if all intervals are below 0, does not if one is at or above 0, and
        is undecided between.
    """
    numbers = _changes(table, x, y, by)
    holds = all(number.high < 0 for number in numbers)
    return judged(numbers, holds, any(number.low >= 0 for number in numbers))


def _changes(table: pd.DataFrame, x: str, y: str, by: str) -> list[Number]:
    return [*along(table, x, y, by).values(), *trend(table, x, y, by).values()]
