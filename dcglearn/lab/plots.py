"""Figures of experiments as data: series with confidence bands, labels, claims and captions.

Nothing is drawn here; :mod:`dcglearn.lab.experiment_figures` draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import pandas as pd

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import parse_number
from dcglearn.base.text import latex_cell
from dcglearn.lab.claims import QUICK, Claim, Finding
from dcglearn.lab.repetitions import MeanInterval, common_value, display_name, mean_over_repetitions

FIGURE_NAME = "[A-Za-z0-9][A-Za-z0-9-]{0,39}"
"""What a figure may be called."""


def figure_file_name(number: str) -> str:
    """Return the name of the files of a figure, without their endings, in whose order they are."""
    padded = re.sub(r"\d+", lambda found: f"{int(found[0]):02d}", number, count=1)
    return f"figure-{padded}"


def same_figure(number: str) -> str:
    """Return what two figures have in common if their files would be the same."""
    return figure_file_name(number).lower()


WIDTHS = {"column": 3.3, "page": 7.0}
"""The widths of a column and of a page of a paper, in inches."""

BAND = "Bands: 95% intervals of the mean over repetitions."

SHARE = (0.0, 1.0)
CORRELATION = (-1.0, 1.0)
"""The values that shares, and correlations or cosines, can have: `within` of a plot."""


@dataclass(frozen=True)
class Series:
    """One line of a plot: means over `n` repetitions with their 95% intervals.

    If x are names, they are categories. A single None means every x: the series is a :func:`level`.
    """

    label: str
    x: tuple[Any, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n: tuple[int, ...]

    @property
    def is_level(self) -> bool:
        """Whether the series has one value, whatever x is."""
        return self.x == (None,)


@dataclass(frozen=True)
class Plot:
    """The axes of a figure and the series it shows.

    `levels` are horizontal lines, by name (an empty one is not written), and `diagonal` is the line
    y = x. With `points`, no line joins the means, and every x is a category; an axis with 0 is
    never logarithmic. Neither a band nor the axis goes beyond what y can be, `within`. A panel has
    a `title` where a figure has several.
    """

    x_label: str
    y_label: str
    series: tuple[Series, ...]
    levels: dict[str, float] = field(default_factory=dict)
    diagonal: bool = False
    log_x: bool = False
    points: bool = False
    within: tuple[float, float] = (-inf, inf)
    title: str = ""


@dataclass(frozen=True)
class Figure:
    """One figure of an experiment, as data.

    Attributes
    ----------
    number : str
        As in the paper, or a name: ``2``, ``2b``, ``ad-hoc``.
    plot : Plot
        The first panel, mostly the only one.
    more : tuple of Plot
        Further panels; those with the same label of an axis have the same limits there.
    """

    number: str
    title: str
    plot: Plot
    claims: tuple[Claim, ...]
    caption: str = ""
    more: tuple[Plot, ...] = ()

    @property
    def name(self) -> str:
        """The file name of the figure, without its ending."""
        return figure_file_name(self.number)

    @property
    def panels(self) -> tuple[Plot, ...]:
        """All plots of the figure."""
        return (self.plot, *self.more)

    def panel(self, number: int) -> Figure:
        """Return the figure of one panel alone, by its number, from 1."""
        checked_count(number, "`panel`", 1, len(self.panels))
        return replace(self, plot=self.panels[number - 1], more=())

    def in_quick_run(self) -> Figure:
        """Return the figure as a quick run reports it: claims about enough data are not judged."""
        claims = (
            replace(one, finding=Finding("not judged (quick)", one.finding.intervals, QUICK))
            if one.needs_all
            else one
            for one in self.claims
        )
        return replace(self, claims=tuple(claims))

    def table(self) -> pd.DataFrame:
        """Return a row for each point; with several panels, the first column names the panel."""
        rows = [
            (panel.title or panel.y_label, series.label, *point)
            for panel in self.panels
            for series in panel.series
            for point in zip(series.x, series.mean, series.low, series.high, series.n, strict=True)
        ]
        found = pd.DataFrame(
            rows,
            columns=["panel", "series", self.plot.x_label, "mean", "low", "high", "repetitions"],
        )
        return found if self.more else found.drop(columns="panel")


def figure_width(text: str | None) -> float | None:
    """Return the width of a figure in inches."""
    if text is None:
        return None
    width = WIDTHS.get(text) or parse_number(text)
    if not 2 <= width <= 20:
        raise InputError(
            f"{text!r} is not the width of a figure",
            "give `width` as column, page, or inches from 2 to 20",
        )
    return width


def curve(table: pd.DataFrame, x: str, y: str, label: str) -> Series:
    """Return the mean of a column at every value of another, with its band."""
    return series_of(
        label,
        {value: mean_over_repetitions(group, y) for value, group in table.groupby(x, sort=False)},
    )


def series_of(label: str, points: Mapping[Any, MeanInterval]) -> Series:
    """Return a series of means with their intervals."""
    numbers = [(one.mean, one.low, one.high, one.n) for one in points.values()]
    return Series(label, tuple(points), *zip(*numbers, strict=True))


def level(table: pd.DataFrame, y: str, label: str) -> Series:
    """Return the mean of a column that does not change with x, such as that of a preset."""
    return series_of(label, {None: mean_over_repetitions(table, y)})


def curves(table: pd.DataFrame, x: str, y: str, by: str) -> tuple[Series, ...]:
    """Return one curve for each value of a column."""
    return tuple(
        curve(group, x, y, display_name(value)) for value, group in table.groupby(by, sort=False)
    )


def over_pairs(
    table: pd.DataFrame,
    y: str,
    by: str,
    x_label: str,
    y_label: str,
    levels: dict[str, float] | None = None,
    within: tuple[float, float] = SHARE,
    title: str = "",
) -> Plot:
    """Return curves over the number of pairs, on a logarithmic axis: one for each value of `by`."""
    series = curves(table, "pairs", y, by)
    return Plot(x_label, y_label, series, levels or {}, log_x=True, within=within, title=title)


def panels(
    table: pd.DataFrame, each: str, plot: Callable[..., Plot], *arguments: Any
) -> list[Plot]:
    """Return a plot of the rows with each value of a column, which is its title.

    After the rows, `plot` is given `arguments`: ``panels(table, "truth", over_pairs, ...)``.
    """
    return [
        replace(plot(rows, *arguments), title=display_name(value))
        for value, rows in table.groupby(each, sort=False)
    ]


def paneled(
    number: str, title: str, panels: Sequence[Plot], claims: Sequence[Claim], caption: str
) -> Figure:
    """Return a figure of several panels."""
    return Figure(number, title, panels[0], tuple(claims), caption, tuple(panels[1:]))


def differences(
    one: pd.DataFrame, other: pd.DataFrame, x: str, y: str, by: str
) -> tuple[Series, ...]:
    """Return curves of the difference between two tables, paired within each repetition."""
    first, second = (
        table.groupby([by, x, "repetition"], sort=False)[y].mean() for table in (one, other)
    )
    return curves((first - second).dropna().reset_index(), x, y, by)


def describe_C(table: pd.DataFrame) -> str:
    """Say in words how C was chosen, for a caption."""
    C = common_value(table, "C")
    if C == "validation":
        return f"C chosen on {common_value(table, 'validation_pairs')} independent exact pairs"
    if C == "cv":
        return "C chosen by cross-validation, with five folds of the same judgments"
    return f"C = {C}"


def describe_errors(numbers: Iterable[MeanInterval], of: str = "means") -> str:
    """Say how precise shares are, for a caption."""
    largest = max(one.standard_error for one in numbers)
    return f"Standard errors of the {of}: up to {100 * largest:.1f} percentage points."


_PACKAGES = r"% needs \usepackage{array,booktabs,longtable}"

_WIDTHS = {"figure": 0.075, "section": 0.1, "tested": 0.275, "verdict": 0.13, "means": 0.28}
"""The columns, and their widths as shares of a line. The rest is between them."""

OWN = "this project"


def findings_table(figures: Iterable[Figure]) -> pd.DataFrame:
    """Return one row per claim."""
    rows = [
        (
            figure.number,
            "the paper" if claim.of_paper else OWN,
            claim.quote,
            claim.section,
            claim.tested,
            claim.finding.verdict,
            claim.finding.reason,
            "; ".join(map(str, claim.finding.intervals)),
        )
        for figure in figures
        for claim in figure.claims
    ]
    return pd.DataFrame(
        rows,
        columns=["figure", "of", "paper says", "section", "tested", "verdict", "reason", "means"],
    )


def findings_latex(figures: Iterable[Figure]) -> str:
    r"""Return the claims about figures, their verdicts and means, one per row, as a LaTeX table."""
    table = findings_table(figures)[[*_WIDTHS]]
    table["section"] = table["section"].replace("", OWN)
    rows = table.assign(means=table["means"].str.split("; ")).explode("means")
    rows.loc[rows.index.duplicated(), [*_WIDTHS][:-1]] = ""
    widths = (rf">{{\raggedright\arraybackslash}}p{{{w}\linewidth}}" for w in _WIDTHS.values())
    text = rows.map(latex_cell).to_latex(
        index=False, longtable=True, column_format=f"@{{}}{''.join(widths)}@{{}}"
    )
    return f"{_PACKAGES}\n{text}"
