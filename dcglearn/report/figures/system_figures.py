"""Figures of systems: which of their comparisons hold, and where they rank.

For :func:`draw_pairs`, systems are in the order of the tested measure, best first. The colour of a
pair is that of the parameters for which that order is proved; a dot means a significant difference.
"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dcglearn.report.figures.style import COLOURS, STYLE
from dcglearn.report.words import extent_in_words
from dcglearn.systems.conclusions import EXTENTS, SystemConclusions
from dcglearn.systems.supported import Supported

_COLOURS = (COLOURS[0], COLOURS[5], COLOURS[1], COLOURS[7], "#dddddd")
"""Of the extents, in order."""

_CELL, _LETTER, _LINE, _WIDEST_LABEL = 0.3, 0.085, 0.18, 3.2
"""In inches: a cell, the width of a letter, the height of a line, the width of the legend."""


_MARKER = 15
"""Of a cell, in points."""


@mpl.rc_context(STYLE)
def draw_pairs(conclusions: SystemConclusions) -> Figure:
    """Draw what may be concluded about pairs of systems."""
    pairs = conclusions.pairs
    order = conclusions.evaluation.best_first().systems
    names = [name for name in order if any(name in (one.a, one.b) for one in pairs)]
    last = len(names) - 1
    grid = _CELL * last + _LETTER * max(map(len, names))
    size = max(_WIDEST_LABEL, grid + 0.4), grid + _LINE * (len(EXTENTS) + 4) + 0.5
    drawing = Figure(figsize=size, layout="constrained")
    axes = drawing.subplots()
    places = np.array([sorted((names.index(one.a), names.index(one.b))) for one in pairs])
    holds = np.array([one.holds_for for one in pairs])
    significant = np.array([one.significant for one in pairs], bool)
    for extent, colour in zip(EXTENTS, _COLOURS, strict=True):
        if number := np.sum(holds == extent):
            label = f"{extent_in_words(extent)}: {number}"
            axes.plot(*places[holds == extent].T, "s", color=colour, ms=_MARKER, label=label)
    if significant.any():
        axes.plot(*places[significant].T, ".", color="black", ms=_MARKER, label="significant")
    axes.set(xlim=(-0.5, last - 0.5), ylim=(last + 0.5, 0.5), aspect="equal")
    axes.set_xticks(range(last), names[:-1], rotation=90)
    axes.set_yticks(range(1, last + 1), names[1:])
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    title = f"For which parameters the order by {conclusions.measure} holds"
    drawing.suptitle(title, x=0.02, ha="left", fontsize=STYLE["axes.titlesize"], wrap=True)
    drawing.legend(loc="outside lower left", frameon=False, markerscale=0.5)
    return drawing


@mpl.rc_context(STYLE)
def draw_supported(found: Supported) -> Figure:
    """Draw 95% of the ranks of each system under measures that judgments support.

    Thick bars are of the measures alone, thin ones with topics drawn as well.
    """
    order = found.order
    places = np.arange(1, len(order) + 1)
    figure = Figure(figsize=(5.2, 1.2 + 0.22 * len(order)), layout="constrained")
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
    axes.set(xlim=(0.5, len(order) + 0.5), ylim=(len(order) + 0.6, 0.4))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="rank", title=f"95% of the ranks, {found.n_measures:,} measures")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure
