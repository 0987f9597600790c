"""Drawing the figures of experiments: curves with bands, points, levels, and several panels.

A figure is as wide as a column or a page of a paper. Lines differ in colour, marker and dashes, so
in greyscale, too.
"""

import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from dcglearn.base.errors import InputError
from dcglearn.lab.plots import WIDTHS, Figure, Plot
from dcglearn.report.figures.style import (
    DARK,
    INKS,
    LIGHT,
    MARKERS,
    STYLE,
    Drawing,
    Palette,
    missing_glyphs_as_boxes,
)

_WIDE = 5.0
"""Inches from which panels are side by side and text is larger."""

DASHES: tuple[Any, ...] = ((0, ()), (0, (4, 1.5)), (0, (5, 1.2, 1.2, 1.2)), (0, (1.2, 1.2)))


def draw_figure(figure: Figure, width: float | None = None, dark: bool = False) -> MatplotlibFigure:
    """Draw a figure of an experiment; what it shows is said by the text around it."""
    panels, width = figure.panels, width or WIDTHS["column"]
    wide = width >= _WIDE
    n_columns = min(len(panels), 3) if wide else 1
    n_rows = -(-len(panels) // n_columns)
    with mpl.rc_context(_style(wide, DARK if dark else LIGHT)), missing_glyphs_as_boxes():
        drawing = Drawing(figsize=(width, n_rows * (2.9 if wide else 2.2)), layout="constrained")
        grid = [drawing.add_subplot(n_rows, n_columns, n) for n in range(1, len(panels) + 1)]
        alike = len({tuple(one.label for one in panel.series) for panel in panels}) == 1
        draw_on(grid, figure, legend=not alike, dark=dark)
        handles: dict[str, Any] = {}
        for axes, panel in zip(grid, panels, strict=True):
            axes.set_title(_wrapped(_sentence(panel.title), 0.75 * width / n_columns))
            for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(name, handle)
        if alike and handles:
            _add_legend_above(drawing, handles)
    return drawing


def draw_on(
    axes: Axes | Sequence[Axes], figure: Figure, legend: bool = True, dark: bool = False
) -> None:
    """Draw the panels of a figure on axes of the caller's."""
    panels = figure.panels
    grid: list[Axes] = list(np.ravel(np.array(axes, dtype=object)))  # also as of subplots
    if len(grid) != len(panels):
        raise InputError(
            f"{len(grid)} axes for {len(panels)} panels",
            f"give as many, such as subplots(1, {len(panels)})[1], or `panel`: 1 to {len(panels)}",
            "ax",
        )
    root: Any = grid[0].get_figure(root=True)
    palette = DARK if dark else LIGHT
    width = min(one.get_position().width for one in grid) * root.get_size_inches()[0]
    with mpl.rc_context({"text.parse_math": False}), missing_glyphs_as_boxes():
        for axes, panel in zip(grid, panels, strict=True):
            same = [other for other in panels if other.x_label == panel.x_label]
            first = grid[panels.index(same[0])]
            if not axes.get_shared_x_axes().joined(axes, first):
                axes.sharex(first)
            first = grid[[other.y_label for other in panels].index(panel.y_label)]
            if not axes.get_shared_y_axes().joined(axes, first):
                axes.sharey(first)
            lines = [one for other in same for one in other.series if not one.is_level]
            values = [x for one in lines for x in one.x]
            named = any(isinstance(x, str) for x in values) or any(other.points for other in same)
            categories = list(dict.fromkeys(values)) if named else None
            _draw_series(axes, panel, categories, palette)
            _write_label(axes.xaxis, panel.x_label, width)
            _write_label(axes.yaxis, panel.y_label, 1.5)
            _set_ticks(axes, categories, values if panel.log_x else [0], width)
            axes.grid(axis="y", color=palette.grid, linewidth=0.6)
            axes.set_axisbelow(True)
        for axes, panel in zip(grid, panels, strict=True):
            low, high = np.clip(axes.get_ylim(), *panel.within)
            axes.set_ylim(low, high)
            for line in axes.lines:  # markers are whole at the edge of the possible
                line.set_clip_on(not {low, high} & {*panel.within})
            if legend and axes.get_legend_handles_labels()[1]:  # above, it may be higher than them
                axes.legend(fontsize=6.5, handlelength=1.5, labelspacing=0.3, framealpha=0.6)


def _style(wide: bool, palette: Palette) -> Any:
    """Return settings for a figure: text of 7 to 8 points in a column, a little more on a page."""
    text = 9.0 if wide else 8.0
    return {
        **STYLE,
        **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), text),
        **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), text - 1),
        **dict.fromkeys(INKS, palette.ink),
        "figure.facecolor": palette.paper,
        "axes.facecolor": "none",
    }


def _wrapped(text: str, width: float) -> str:
    """Break a text into lines of a width in inches, of letters half as wide as they are high."""
    size: Any = mpl.rcParams["font.size"]
    return textwrap.fill(text, max(int(width * 72 / (0.52 * size)), 8))


def _sentence(text: str) -> str:
    """Begin a label with a capital, unless it begins with a symbol."""
    return text[:1].upper() + text[1:] if text[1:2].isalpha() else text


def _add_legend_above(drawing: MatplotlibFigure, handles: dict[str, Any]) -> None:
    width, height = drawing.get_size_inches()
    labels = [_wrapped(name, width - 0.6) for name in handles]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    legend = drawing.legend(
        handles.values(),
        labels,
        ncols=max(1, min(len(labels), int(width / (0.06 * longest + 0.55)))),
        loc="outside upper left",
        alignment="left",
        frameon=False,
        handlelength=2.2,
        columnspacing=1.2,
        labelspacing=0.3,
    )
    drawing.set_figheight(height + legend.get_window_extent().height / drawing.dpi)


def _set_ticks(axes: Axes, categories: list[Any] | None, values: list[Any], width: float) -> None:
    """Name categories below an axis, or make it logarithmic if all values are positive."""
    if categories is not None:
        long = any(len(str(name)) > 20 * width // len(categories) for name in categories)
        ticks = [textwrap.fill(str(name), 24 if long else 12) for name in categories]
        axes.set_xticks(range(len(ticks)), ticks, rotation=90 if long else 0)
        return
    if min(values, default=0) > 0:
        axes.set_xscale("log")
        room = width / max(np.log10(max(values) / min(values)), 0.5)  # inches for 10 times
        subs = (1, 2, 5) if room > 1.6 else (1, 3) if room > 0.8 else (1,)
        axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.locator_params("x", nbins=4, steps=[1, 2, 5, 10])
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))


def _write_label(axis: Axis, label: str, size: float) -> None:
    axis.label.set_parse_math(False)  # names may hold dollar signs
    axis.set_label_text(_wrapped(_sentence(label), size))


def _draw_series(axes: Axes, panel: Plot, categories: list[Any] | None, palette: Palette) -> None:
    curves = [series for series in panel.series if not series.is_level]
    for index, series in enumerate(curves):
        places = series.x if categories is None else [categories.index(x) for x in series.x]
        points = np.array([places, series.mean, series.low, series.high], float)
        x, mean, low, high = points[:, np.argsort(points[0], kind="stable")]
        look, known = _look(index, len(curves), palette), np.isfinite(high - low)
        if panel.points:
            x, look["linestyle"] = x - 0.4 + 0.8 * (index + 0.5) / len(curves), "none"
        (line,) = axes.plot(x, mean, label=series.label, **look)
        colour = line.get_color()
        if panel.points or panel.diagonal or known.sum() == 1:  # a band needs two points
            axes.vlines(x[known], low[known], high[known], color=colour, linewidth=1.0)
        elif known.any():
            axes.fill_between(x, low, high, where=known, color=colour, alpha=0.18, linewidth=0)
    constant = [(series.label, series.mean[0]) for series in panel.series if series.is_level]
    for index, (name, height) in enumerate([*constant, *panel.levels.items()]):
        axes.axhline(
            height,
            color=palette.soft,
            linewidth=0.9,
            linestyle=DASHES[index % len(DASHES)],
            zorder=1.5,
            label=name or "_",
        )
    if panel.diagonal:
        axes.axline((0, 0), slope=1, color=palette.soft, linewidth=0.7, zorder=0.9, label="Exact")


def _look(index: int, n: int, palette: Palette) -> dict[str, Any]:
    """Return the look of a line: of four or fewer, each is narrower than the one before it."""
    n_colours = len(palette.colours)
    colour, rank = palette.colours[index % n_colours], index if n <= 4 else 4 * index / n
    return {
        "color": colour,
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[(index + index // n_colours) % len(DASHES)],
        "markersize": 4.6 - 0.7 * rank,
        "linewidth": 1.6 - 0.22 * rank,
    }
