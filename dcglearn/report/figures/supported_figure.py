"""The figure of systems under measures that judgments support: bands of ranks."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dcglearn.report.figures.style import COLOURS, STYLE
from dcglearn.systems.supported import Supported


def draw_supported(found: Supported) -> Figure:
    """Draw 95% of the ranks of each system: under the measures, and with topics drawn as well."""
    order = found.order
    places = np.arange(1, len(order) + 1)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.2, 1.2 + 0.22 * len(order)), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        bands = (
            (found.ranks_resampled, 1.2, COLOURS[0], "measures and topics drawn"),
            (found.ranks, 4.5, COLOURS[1], "measures drawn"),
        )
        for band, width, colour, label in bands:
            low, high = band[order].T
            axes.hlines(places, low - 0.12, high + 0.12, color=colour, lw=width, label=label)
        axes.plot(places, places, "o", color="black", ms=3, label="learned measure")
        axes.set_yticks(places, [found.systems[s] for s in order])
        axes.set_ylim(len(order) + 0.6, 0.4)
        axes.set_xlim(0.5, len(order) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set(xlabel="rank", title=f"95% of the ranks, {found.n_measures:,} measures")
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure
