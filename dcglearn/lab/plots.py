"""Figures of experiments as data: series with confidence bands, labels, claims and captions.

Nothing is drawn here; :mod:`dcglearn.figures.experiment_figures` draws.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dcglearn.design.figure_names import figure_file_name
from dcglearn.lab.claims import Claim
from dcglearn.lab.repetitions import common_value, display_name, mean_over_repetitions

BAND = "Bands: 95% intervals of the mean over repetitions."


@dataclass(frozen=True)
class Series:
    """One line of a plot with its band; all tuples have the same length.

    Attributes
    ----------
    label : str
    x : tuple of float or str
    mean, low, high : tuple of float
        Means over repetitions and their 95% intervals.
    n : tuple of int
        The number of repetitions at each point.
    """

    label: str
    x: tuple[Any, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n: tuple[int, ...]


@dataclass(frozen=True)
class Plot:
    """The axes of a figure and the series it shows.

    Attributes
    ----------
    x_label, y_label : str
    series : tuple of Series
    levels : dict from str to float
        Horizontal lines, by name.
    diagonal : bool
        Whether the line y = x is drawn, for plots of estimated against true values.
    log_x : bool
        Whether the x axis is logarithmic.
    """

    x_label: str
    y_label: str
    series: tuple[Series, ...]
    levels: dict[str, float] = field(default_factory=dict)
    diagonal: bool = False
    log_x: bool = False

    def table(self) -> pd.DataFrame:
        """Return the points as a table, one row per point."""
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
class Figure:
    """One figure of an experiment, as data.

    Attributes
    ----------
    number : str
        As in the paper, or a name: ``2``, ``2b``, ``ad-hoc``.
    title : str
    plot : Plot
    claims : tuple of Claim
        What is claimed about the figure, by the paper or by this project, with the verdicts.
    caption : str
    """

    number: str
    title: str
    plot: Plot
    claims: tuple[Claim, ...]
    caption: str = ""

    @property
    def name(self) -> str:
        """The file name of the figure, without its ending."""
        return figure_file_name(self.number)


def curve(table: pd.DataFrame, x: str, y: str, label: str) -> Series:
    """Return the mean of a column at every value of another, with its band.

    Parameters
    ----------
    table : DataFrame
        One row per cell.
    x, y : str
        The columns.
    label : str
        The name of the series.

    Returns
    -------
    Series
        Its points are in the order in which the values of `x` first occur.

    Examples
    --------
    >>> table = pd.DataFrame({"pairs": [20, 20, 40], "repetition": [0, 1, 0]})
    >>> table["precision"] = [0.7, 0.8, 0.9]
    >>> curve(table, "pairs", "precision", "all").mean
    (0.75, 0.9)
    """
    points = [
        (value, mean_over_repetitions(group, y)) for value, group in table.groupby(x, sort=False)
    ]
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
        The columns: `y` over `x`, one series per value of `by`.
    names : dict, optional
        Labels for the values of `by`; by default their display names.

    Returns
    -------
    tuple of Series
    """
    return tuple(
        curve(group, x, y, (names or {}).get(value, display_name(value)))
        for value, group in table.groupby(by, sort=False)
    )


def describe_C(table: pd.DataFrame) -> str:
    """Say in words how C was chosen, for a caption.

    Parameters
    ----------
    table : DataFrame
        With the columns ``C`` and ``validation_pairs``.

    Returns
    -------
    str

    Examples
    --------
    >>> describe_C(pd.DataFrame({"C": [1.0], "validation_pairs": [1000]}))
    'C = 1'
    """
    C = common_value(table, "C")
    if C == "validation":
        return f"C chosen on {common_value(table, 'validation_pairs')} independent exact pairs"
    if C == "cv":
        return "C chosen by cross-validation, with five folds of the same judgments"
    return f"C = {C}"
