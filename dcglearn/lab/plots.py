"""What the figures of an experiment show: series with bands, and plots as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dcglearn.lab.claims import Finding
from dcglearn.lab.repetitions import mean_over, name_of, stated

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
