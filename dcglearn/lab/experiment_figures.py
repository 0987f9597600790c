"""Drawing the figures of experiments: curves with bands, bars, levels, and several panels.

A figure is as wide as a column or a page of a paper, and its text is legible at that width. Lines
differ in colour, marker and dashes, so they can be distinguished in greyscale too; of lines that
hide each other the first is the widest, with the largest markers.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.legend import Legend
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from dcglearn.base.errors import InputError
from dcglearn.lab.plots import Figure, Plot
from dcglearn.report.figures.style import (
    DARK,
    LIGHT,
    MARKERS,
    STYLE,
    Drawing,
    Palette,
    missing_glyphs_as_boxes,
)

WIDTHS = {"column": 3.3, "page": 7.0}
"""The widths of a column and of a page of a paper, in inches."""

NARROWEST, WIDEST = 2.0, 20.0

_WIDE = 5.0
"""Inches from which panels are side by side and text is larger."""

DASHES: tuple[Any, ...] = ((0, ()), (0, (4, 1.5)), (0, (5, 1.2, 1.2, 1.2)), (0, (1.2, 1.2)))
"""Of the lines of a figure, in order."""

HATCHES = ("", "////", "....", "xxxx", "----", "||||")
"""Of the bars of a figure, in order."""

_LEVEL_DASHES: tuple[Any, ...] = ("-", (0, (1, 1.6)), (0, (6, 2)), (0, (3, 1, 1, 1)))


def figure_width(text: str | None) -> float | None:
    """Return the width of a figure in inches."""
    if text is None:
        return None
    try:
        width = WIDTHS.get(text) or float(text)
    except ValueError:
        width = float("nan")
    if not NARROWEST <= width <= WIDEST:
        raise InputError(
            f"{text!r} is not the width of a figure",
            f"give `width` as column, page, or inches from {NARROWEST:g} to {WIDEST:g}",
        )
    return width


def draw_figure(
    figure: Figure, width: float = WIDTHS["column"], title: bool = False, dark: bool = False
) -> MatplotlibFigure:
    """Draw a figure of an experiment."""
    panels, palette, wide = figure.panels, DARK if dark else LIGHT, width >= _WIDE
    n_columns = (2 if len(panels) == 4 else min(len(panels), 3)) if wide else 1
    n_rows = -(-len(panels) // n_columns)
    with mpl.rc_context(_style(wide, palette)), missing_glyphs_as_boxes():
        drawing = Drawing(figsize=(width, n_rows * (2.9 if wide else 2.2)), layout="constrained")
        FigureCanvasAgg(drawing)
        grid = list(drawing.subplots(n_rows, n_columns, squeeze=False).flat)
        for spare in grid[len(panels) :]:
            spare.remove()
        _draw_panels(grid, panels, palette, 0.8 * width / n_columns)
        heading = _wrapped(figure.heading, width) if title else ""
        one_legend = len({tuple(_names(axes)) for axes in drawing.axes}) == 1
        for axes, panel in zip(grid, panels, strict=False):
            head = _wrapped(_sentence(panel.title), 0.75 * width / n_columns)
            if one_legend or not _names(axes):
                axes.set_title(head)
            else:
                _legend(axes, axes, width / n_columns, head)
        if one_legend and _names(grid[0]):  # Matplotlib would write a title over it
            _legend(grid[0], drawing, width, heading)
        elif heading:
            drawing.suptitle(heading, x=0.01, ha="left")
        legends = [one.get_window_extent().height for one in drawing.findobj(Legend)]
        height = sum(legends) if n_columns == 1 else n_rows * max(legends, default=0)
        drawing.set_figheight(drawing.get_figheight() + height / drawing.dpi)
    return drawing


def draw_on(
    axes: Axes | Sequence[Axes],
    drawn: Figure | Plot,
    legend: bool = True,
    dark: bool = False,
    panel: int | None = None,
) -> None:
    """Draw a figure, or one plot, on axes of a figure that is the caller's."""
    figure = drawn if isinstance(drawn, Figure) else Figure("1", "", drawn, ())
    panels = figure.panels if panel is None else (figure.panel(panel),)
    given: list[Axes] = list(np.ravel(np.array(axes, dtype=object)))  # also a grid, as of subplots
    if len(given) != len(panels):
        remedy = f"give as many, such as subplots(1, {len(panels)})[1]"
        if len(panels) > 1:
            remedy += f", or `panel`: 1 to {len(panels)}"
        raise InputError(f"{len(given)} axes for {len(panels)} panels", remedy, "ax")
    root = cast("MatplotlibFigure", given[0].get_figure(root=True))
    width = min(one.get_position().width for one in given) * root.get_size_inches()[0]
    with mpl.rc_context({"text.parse_math": False}), missing_glyphs_as_boxes():
        _draw_panels(given, panels, DARK if dark else LIGHT, width)
        for one in given if legend else ():
            if width >= NARROWEST:
                _legend(one, one, width)
            elif _names(one):  # above them it would be higher than the axes
                one.legend(loc="best", fontsize="xx-small", handlelength=1.5, framealpha=0.6)


def _style(wide: bool, palette: Palette) -> Any:
    """Return settings for a figure: text of 7 to 8 points in a column, a little more on a page."""
    text = 9.0 if wide else 8.0
    small = ("xtick.labelsize", "ytick.labelsize", "legend.fontsize")
    sizes = ("font.size", "axes.labelsize", "axes.titlesize", "figure.titlesize")
    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    return {
        **STYLE,
        **dict.fromkeys((*sizes, "legend.title_fontsize"), text),
        **dict.fromkeys(small, text - 1),
        **dict.fromkeys(inks, palette.ink),
        **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
        "hatch.linewidth": 0.4,
        "figure.facecolor": palette.paper,
        "axes.facecolor": "none",
    }


def _wrapped(text: str, width: float) -> str:
    """Break a text into lines of a width in inches, of letters half as wide as they are high."""
    size = float(cast("float", mpl.rcParams["font.size"]))
    return textwrap.fill(text, max(int(width * 72 / (0.52 * size)), 8))


def _sentence(text: str) -> str:
    """Begin a label with a capital, unless it begins with a symbol."""
    return text[:1].upper() + text[1:] if text[1:2].isalpha() else text


def _names(axes: Axes) -> list[str]:
    """Return what a legend of a panel names."""
    return axes.get_legend_handles_labels()[1]


def _legend(axes: Axes, owner: Axes | MatplotlibFigure, width: float, title: str = "") -> None:
    """Name the series of a panel above it, or above a figure, in as many columns as fit."""
    handles, names = axes.get_legend_handles_labels()
    if not names:
        return
    labels = [_wrapped(name, width - 0.6) for name in names]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    above: Any = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
    owner.legend(
        handles=handles,
        labels=labels,
        ncols=max(1, min(len(labels), int(width / (0.06 * longest + 0.55)))),
        title=title or None,
        alignment="left",
        frameon=False,
        handlelength=2.2,
        handletextpad=0.5,
        columnspacing=1.2,
        labelspacing=0.3,
        borderaxespad=0.2,
        **(above if owner is axes else {"loc": "outside upper left"}),
    )


def _draw_panels(
    grid: Sequence[Axes], panels: Sequence[Plot], palette: Palette, width: float
) -> None:
    """Draw panels; those with the same label of an axis share it."""
    for axes, panel in zip(grid, panels, strict=False):
        same = [other for other in panels if other.x_label == panel.x_label]
        first = grid[panels.index(same[0])]
        if not axes.get_shared_x_axes().joined(axes, first):
            axes.sharex(first)
        first = grid[[other.y_label for other in panels].index(panel.y_label)]
        if not axes.get_shared_y_axes().joined(axes, first):
            axes.sharey(first)
        categories = _categories(same)
        _draw_series(axes, panel, categories, palette)
        for which, label, size in (("x", panel.x_label, width), ("y", panel.y_label, 1.5)):
            axis = getattr(axes, f"{which}axis")
            axis.label.set_parse_math(False)  # names may hold dollar signs
            axis.set_label_text(_wrapped(_sentence(label), size))
            if getattr(panel, f"log_{which}"):
                _make_logarithmic(axes, which, same, size)
        if categories is not None:
            long = any(len(str(name)) > 60 // max(len(categories), 1) for name in categories)
            shown = [textwrap.fill(str(name), 24 if long else 12) for name in categories]
            axes.set_xticks(range(len(shown)), shown, rotation=90 if long else 0)
        elif axes.get_xscale() == "linear":
            axes.locator_params("x", nbins=4, steps=[1, 2, 5, 10])
            axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
        axes.grid(axis="y", color=palette.grid, linewidth=0.6)
        axes.set_axisbelow(True)
    for axes, panel in zip(grid, panels, strict=False):
        low, high = np.clip(axes.get_ylim(), *panel.within)
        axes.set_ylim(low, high)
        for line in axes.lines:  # markers are whole at the edge of the possible
            line.set_clip_on(not {low, high} & {*panel.within})


def _draw_series(axes: Axes, panel: Plot, categories: list[Any] | None, palette: Palette) -> None:
    curves = [series for series in panel.series if not series.is_level]
    for index, series in enumerate(curves):
        places = series.x if categories is None else [categories.index(x) for x in series.x]
        x, mean = np.array(places, float), np.array(series.mean, float)
        low, high = (np.clip(np.array(v, float), *panel.within) for v in (series.low, series.high))
        look = _look(index, len(curves), palette)
        ends: Any = {"color": look["color"], "linewidth": 1.0}
        if panel.bars:
            width = 0.8 / len(curves)
            x += (index - (len(curves) - 1) / 2) * width
            filled: Any = {"hatch": HATCHES[index % len(HATCHES)], "edgecolor": palette.ink}
            filled |= {"color": look["color"], "alpha": 0.75, "linewidth": 0.4}
            axes.bar(x, mean, 0.92 * width, label=series.label, **filled)
            axes.vlines(x, low, high, **ends | {"color": palette.ink})
            continue
        x, mean, low, high = np.array([x, mean, low, high])[:, np.argsort(x, kind="stable")]
        known = np.isfinite(low) & np.isfinite(high)
        look["linewidth"] *= 0.55 if panel.diagonal else 1.0
        axes.plot(x, mean, label=series.label, **look)
        if panel.diagonal or known.sum() == 1:  # a band needs two points
            axes.vlines(x[known], low[known], high[known], **ends)
        elif known.any():
            band: Any = {"color": look["color"], "alpha": 0.18, "linewidth": 0}
            axes.fill_between(x, low, high, where=known, **band)
    constant = [(series.label, series.mean[0]) for series in panel.series if series.is_level]
    for index, (name, height) in enumerate([*constant, *panel.levels.items()]):
        style = _LEVEL_DASHES[index % len(_LEVEL_DASHES)]
        line: Any = {"color": palette.soft, "linewidth": 0.9, "linestyle": style, "zorder": 1.5}
        axes.axhline(height, label=name or "_", **line)
    if panel.diagonal:
        axes.axline((0, 0), slope=1, color=palette.soft, linewidth=0.7, zorder=0.9, label="Exact")


def _categories(plots: Sequence[Plot]) -> list[Any] | None:
    """Return the values of x, in order, if they are categories, and None if they are numbers."""
    values = [x for plot in plots for s in plot.series if not s.is_level for x in s.x]
    named = any(isinstance(x, str) for x in values) or any(plot.bars for plot in plots)
    return list(dict.fromkeys(values)) if named else None


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
        "markerfacecolor": colour if index < n_colours else "none",
        "markeredgewidth": 0.7,
    }


def _make_logarithmic(axes: Axes, which: str, plots: Sequence[Plot], size: float) -> None:
    """Make an axis logarithmic; linear up to the smallest positive value where some are not."""
    shown = [series for plot in plots for series in plot.series]
    lists = [s.mean if which == "y" else () if s.is_level else s.x for s in shown]
    values = np.array([value for one in lists for value in one], float)
    positive = values[values > 0]
    if not len(positive):
        return
    scale, axis = getattr(axes, f"set_{which}scale"), getattr(axes, f"{which}axis")
    if len(positive) < len(values):
        scale("symlog", linthresh=positive.min(), linscale=0.6)
    else:
        scale("log")
        room = size / max(np.log10(positive.max() / positive.min()), 0.5)  # inches for 10 times
        subs = (1, 2, 5) if room > 1.6 else (1, 3) if room > 0.8 else (1,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(StrMethodFormatter("{x:,.6g}"))
