"""Drawing the series of a plot on axes, with scales that go no further than values can."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import Transform, offset_copy

from dcglearn.base.types import Floats
from dcglearn.figures.labels import MeasuredTicks, text_width, wrapped
from dcglearn.figures.style import MARKERS, Palette
from dcglearn.lab.plots import Plot, Series

DASHES: tuple[Any, ...] = ((0, ()), (0, (4, 1.5)), (0, (5, 1.2, 1.2, 1.2)), (0, (1.2, 1.2)))
"""Of the lines of a figure, in order."""

HATCHES = ("", "////", "....", "xxxx", "----", "||||")
"""Of the bars of a figure, in order."""

BAND_ALPHA = 0.18

DIAGONAL = "Exact"
"""The name of the line y = x."""

MARGIN = 0.05
"""The space around the data, as a share of their range."""

MARKER = 0.02
"""About half of a marker, as a share of the height of the axes."""

LINEAR_PART = 0.6
"""The width of the linear part of a logarithmic axis with values at or below 0, in decades."""


def curves_of(plot: Plot) -> list[Series]:
    """Return the series of a plot that are not levels."""
    return [series for series in plot.series if not series.is_level]


def categories_of(plots: Sequence[Plot]) -> list[Any] | None:
    """Return the values of x, in order, if they are categories, and None if they are numbers.

    Parameters
    ----------
    plots : sequence of Plot
        Panels that share their x axis.

    Returns
    -------
    list or None
    """
    values = [x for plot in plots for series in curves_of(plot) for x in series.x]
    if any(isinstance(x, str) for x in values) or any(plot.bars for plot in plots):
        return list(dict.fromkeys(values))
    return None


def draw_series(axes: Axes, plot: Plot, categories: list[Any] | None, palette: Palette) -> None:
    """Draw the series and the levels of a plot.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    plot : Plot
    categories : list or None
        From :func:`categories_of`.
    palette : Palette
    """
    curves = curves_of(plot)
    for index, series in enumerate(curves):
        look = _look(index, len(curves), palette)
        x = _places(series, categories)
        if plot.bars:
            _draw_bars(axes, x, series, (index, len(curves)), (look["color"], palette.ink), plot)
        else:
            _draw_curve(axes, x, series, look, plot)
    for series in plot.series:
        if series.is_level:
            axes.axhline(series.mean[0], color=palette.soft, linewidth=0.8, zorder=1.5)
    for height in plot.levels.values():
        style = (0, (1, 1.6))
        axes.axhline(height, color=palette.soft, linewidth=0.9, linestyle=style, zorder=1.5)
    if plot.diagonal:
        axes.axline((0, 0), slope=1, color=palette.soft, linewidth=0.7, zorder=0.9, label=DIAGONAL)


def named_ends(plot: Plot, palette: Palette) -> list[tuple[str, float, str]]:
    """Return what is named at the right end of the axes: name, height and colour.

    These are the levels and, where there is only one curve beside them, that curve.

    Parameters
    ----------
    plot : Plot
    palette : Palette

    Returns
    -------
    list of (str, float, str)
    """
    levels = [(s.label, s.mean[0]) for s in plot.series if s.is_level]
    levels += [(name, height) for name, height in plot.levels.items() if name]
    found = [(name, height, palette.soft) for name, height in levels if np.isfinite(height)]
    curves = curves_of(plot)
    if found and len(curves) == 1 and not plot.bars:
        ends = [y for y in curves[0].mean if np.isfinite(y)]
        found += [(curves[0].label, ends[-1], palette.colours[0])] if ends else []
    return found


def scale_x(
    axes: Axes,
    plot: Plot,
    plots: Sequence[Plot],
    categories: list[Any] | None,
    width: float,
    palette: Palette,
) -> None:
    """Scale the x axis, with ticks where something was measured.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    plot : Plot
    plots : sequence of Plot
        The panels that share this axis, with this one.
    categories : list or None
        From :func:`categories_of`.
    width : float
        Of the axes, in points.
    palette : Palette
    """
    size = FontProperties(size=mpl.rcParams["xtick.labelsize"]).get_size_in_points()
    if categories is not None:
        _name_categories(axes, categories, width, size)
        return
    values = sorted({float(x) for plot in plots for s in curves_of(plot) for x in s.x})
    if not values:
        axes.set_xticks([])
        return
    if plot.diagonal:
        values += [y for plot in plots for s in plot.series for y in s.mean if np.isfinite(y)]
        axes.set_xlim(*_limits(axes.xaxis, values))
        return  # the ticks are those of an axis of values
    if plot.log_x:
        _logarithmic(axes, "x", values)
    axes.set_xlim(*_limits(axes.xaxis, values))
    labels = {value: f"{value:,.10g}" for value in values}
    axes.xaxis.set_major_locator(MeasuredTicks(axes, values, list(labels.values()), size))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: labels.get(value, "")))
    axes.xaxis.set_minor_locator(FixedLocator(values))
    axes.tick_params(axis="x", which="minor", length=2, color=palette.soft, labelbottom=False)


def scale_y(axes: Axes, plot: Plot, plots: Sequence[Plot]) -> None:
    """Scale the y axis: around the data, and not beyond the values that are possible.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    plot : Plot
    plots : sequence of Plot
        The panels that share this axis, with this one.
    """
    within = (max(p.within[0] for p in plots), min(p.within[1] for p in plots))
    values = [0.0 for one in plots if one.bars]
    for one in plots:
        values += [height for height in one.levels.values() if np.isfinite(height)]
        for series in one.series:
            seen = series.mean if series.is_level else (*series.mean, *series.low, *series.high)
            values += [float(y) for y in np.clip(seen, *one.within) if np.isfinite(y)]
            values += [float(x) for x in series.x if one.diagonal]
    if not values:
        axes.set_ylim(*(within if np.isfinite(within).all() else (0.0, 1.0)))
        return
    if plot.log_y:
        _logarithmic(axes, "y", values)
    low, high = _limits(axes.yaxis, values, within)
    axes.set_ylim(low, high)
    scale = axes.yaxis.get_transform()
    edges = [scale.transform([edge])[0] for edge in within if edge in (low, high)]
    near = MARKER * abs(np.diff(scale.transform([low, high]))[0])
    for line in axes.lines:  # markers are whole where values are near the edge of the possible
        heights = scale.transform(np.asarray(line.get_ydata(), float))
        if any((np.abs(heights - edge) < near).any() for edge in edges):
            line.set_clip_on(False)


def _places(series: Series, categories: list[Any] | None) -> Floats:
    if categories is None:
        return np.array(series.x, float)
    return np.array([categories.index(x) for x in series.x], float)


def _look(index: int, n: int, palette: Palette) -> dict[str, Any]:
    """Return the look of a line: of four or fewer, each is narrower than the one before it."""
    colour = palette.colours[index % len(palette.colours)]
    rank = index if n <= 4 else 4 * index / n
    return {
        "color": colour,
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[(index + index // len(palette.colours)) % len(DASHES)],
        "markersize": 4.6 - 0.7 * rank,
        "linewidth": 1.6 - 0.22 * rank,
        "markerfacecolor": colour if index < len(palette.colours) else "none",
        "markeredgewidth": 0.7,
    }


def _draw_curve(axes: Axes, x: Floats, series: Series, look: dict[str, Any], plot: Plot) -> None:
    order = np.argsort(x, kind="stable")
    mean = np.array(series.mean, float)[order]
    low, high = (
        np.clip(np.array(v, float)[order], *plot.within) for v in (series.low, series.high)
    )
    x = x[order]
    known = np.isfinite(low) & np.isfinite(high)
    beside = np.r_[False, known[:-1]] | np.r_[known[1:], False]
    bars = known if plot.diagonal else known & ~beside  # a band needs two points
    scale = 0.55 if plot.diagonal else 1.0
    place = _beside(axes, series, plot)
    look = {**look, "linewidth": scale * look["linewidth"], "transform": place}
    axes.plot(x, mean, label=series.label, **look)
    if bars.any():
        colour = look["color"]
        axes.vlines(x[bars], low[bars], high[bars], color=colour, linewidth=1.0, transform=place)
    if (known & ~bars).any():
        axes.fill_between(
            x, low, high, where=known, color=look["color"], alpha=BAND_ALPHA, linewidth=0
        )


def _beside(axes: Axes, series: Series, plot: Plot) -> Transform:
    """Return where a series is drawn: series with the same single x are side by side."""
    curves = curves_of(plot)
    if len(curves) == 1 or len({x for one in curves for x in one.x}) != 1:
        return axes.transData
    points = 6.0 * (curves.index(series) - (len(curves) - 1) / 2)
    return offset_copy(axes.transData, axes.get_figure(root=True), points, units="points")


def _draw_bars(
    axes: Axes,
    x: Floats,
    series: Series,
    place_of: tuple[int, int],
    colours: tuple[str, str],
    plot: Plot,
) -> None:
    (index, n), (colour, ink) = place_of, colours
    width = 0.8 / n
    place = x + (index - (n - 1) / 2) * width
    mean = np.array(series.mean, float)
    low, high = (np.clip(np.array(v, float), *plot.within) for v in (series.low, series.high))
    look: Any = {"color": colour, "edgecolor": ink, "hatch": HATCHES[index % len(HATCHES)]}
    axes.bar(place, mean, 0.92 * width, alpha=0.75, linewidth=0.4, label=series.label, **look)
    known = np.isfinite(low) & np.isfinite(high)
    axes.vlines(place[known], low[known], high[known], color=ink, linewidth=1)


def _name_categories(axes: Axes, names: Sequence[Any], width: float, size: float) -> None:
    """Name categories below their places, upright where their words are too wide for that."""
    slot = width / max(len(names), 1) - 0.5 * size
    texts = [str(name) for name in names]
    upright = any(text_width(word, size) > slot for text in texts for word in text.split())
    shown = [wrapped(text, size, slot) for text in texts]
    for length in (80.0, 120.0, 180.0, 270.0) if upright else ():
        shown = [wrapped(text, size, length) for text in texts]
        if max(text.count("\n") for text in shown) < slot // (1.25 * size):
            break
    axes.set_xticks(range(len(names)), shown, rotation=90 if upright else 0)
    axes.set_xlim(-0.6, len(names) - 0.4)


def _logarithmic(axes: Axes, which: str, values: Sequence[float]) -> None:
    """Make an axis logarithmic; linear up to the smallest positive value where some are not."""
    smallest = _smallest(values)
    if smallest == inf:
        return
    options: dict[str, Any] = {"linthresh": smallest, "linscale": LINEAR_PART}
    scale = ("log", {}) if min(values) > 0 else ("symlog", options)
    getattr(axes, f"set_{which}scale")(scale[0], **scale[1])
    axis = getattr(axes, f"{which}axis")
    axis.set_minor_locator(NullLocator())
    if which == "y":
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        if scale[0] == "log":
            axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))


def _smallest(values: Sequence[float]) -> float:
    return min((value for value in values if value > 0), default=inf)


def _limits(
    axis: Axis, values: Sequence[float], within: tuple[float, float] = (-inf, inf)
) -> tuple[float, float]:
    """Return the limits of an axis: some space around the values, within what is possible."""
    scale = axis.get_transform()
    ends = scale.transform(np.array([min(values), max(values)]))
    space = MARGIN * (ends[1] - ends[0]) or MARGIN * (abs(ends[1]) or 1.0)
    low, high = map(float, scale.inverted().transform(ends + np.array([-space, space])))
    bounded = max(low, within[0]), min(high, within[1])
    return bounded if bounded[0] < bounded[1] else (low, high)
