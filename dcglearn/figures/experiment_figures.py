"""Drawing the figures of experiments: curves with bands, and estimated against true values.

Lines differ in colour, marker and dashes, so they can be distinguished in greyscale too.
"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as MatplotlibFigure

from dcglearn.figures.style import COLOURS, MARKERS, STYLE
from dcglearn.lab.plots import Figure, Plot, Series

DASHES = ("-", "--", "-.", ":")

BAND_ALPHA = 0.18


def draw_figure(figure: Figure) -> MatplotlibFigure:
    """Draw a figure of an experiment.

    Parameters
    ----------
    figure : Figure
        The figure as data (:class:`dcglearn.lab.plots.Figure`).

    Returns
    -------
    matplotlib.figure.Figure
        Ready to be saved.
    """
    plot = figure.plot
    many = len(plot.series) > 4
    with mpl.rc_context(STYLE):
        drawing = MatplotlibFigure(figsize=(7.4 if many else 5.4, 3.9), layout="constrained")
        FigureCanvasAgg(drawing)
        axes = drawing.subplots()
        for index, series in enumerate(plot.series):
            _draw_series(axes, series, index, bars=plot.diagonal)
        for name, level in plot.levels.items():
            axes.axhline(level, color="0.35", linewidth=0.9, linestyle=(0, (1, 2)), label=name)
        if plot.diagonal:
            axes.axline((0, 0), slope=1, color="0.6", linewidth=0.8, zorder=0, label="exact")
        axes.set(xlabel=plot.x_label, ylabel=plot.y_label, title=_title(figure))
        _scale_x(axes, plot)
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        if many:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        else:
            axes.legend(loc="best")
    return drawing


def _title(figure: Figure) -> str:
    head = f"Figure {figure.number}. " if figure.number[0].isdecimal() else ""
    return head + figure.title


def _draw_series(axes: Axes, series: Series, index: int, bars: bool) -> None:
    x = np.asarray(series.x, float)
    mean, low, high = (np.asarray(v, float) for v in (series.mean, series.low, series.high))
    order = np.argsort(x, kind="stable")
    x, mean, low, high = x[order], mean[order], low[order], high[order]
    colour = COLOURS[index % len(COLOURS)]
    axes.plot(
        x,
        mean,
        color=colour,
        marker=MARKERS[index % len(MARKERS)],
        linestyle=DASHES[(index + index // len(COLOURS)) % len(DASHES)],
        markersize=4.5,
        markerfacecolor=colour if index < len(COLOURS) else "white",
        linewidth=2.2 if index == 0 and not bars else 1.4,
        label=series.label,
    )
    has_interval = ~np.isnan(low)
    if not has_interval.any():
        return
    if bars:
        axes.vlines(
            x[has_interval], low[has_interval], high[has_interval], color=colour, linewidth=1.2
        )
    else:
        axes.fill_between(
            x[has_interval],
            low[has_interval],
            high[has_interval],
            color=colour,
            alpha=BAND_ALPHA,
            linewidth=0,
        )


def _scale_x(axes: Axes, plot: Plot) -> None:
    if not plot.log_x:
        return
    ticks = sorted({float(x) for series in plot.series for x in series.x})
    if min(ticks) > 0:
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
