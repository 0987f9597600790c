"""A figure of systems: which of their comparisons hold whatever the parameters.

Systems are in the order of the tested measure, best first. The cell of a pair has the colour of the
parameters for which that order is proved, and a dot if the difference is significant.
"""

from __future__ import annotations

import textwrap

import matplotlib as mpl
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from dcglearn.base.types import Floats
from dcglearn.report.figures.style import COLOURS, STYLE
from dcglearn.report.words import extent_in_words
from dcglearn.systems.conclusions import EXTENTS, SystemConclusions

_COLOURS = (COLOURS[0], COLOURS[5], COLOURS[1], COLOURS[7], "white")
"""Of the extents, in order."""

_CELL, _LETTER, _LINE, _WIDEST_LABEL = 0.3, 0.085, 0.18, 3.2
"""In inches: a cell, the width of a letter, the height of a line, the width of the legend."""


def draw_pairs(conclusions: SystemConclusions, means: Floats) -> Figure:
    """Draw what may be concluded about pairs of systems; their means are by the tested measure."""
    compared = {name for one in conclusions.pairs for name in (one.a, one.b)}
    order = [conclusions.systems[s] for s in np.argsort(-means, kind="stable")]
    names = [name for name in order if name in compared]
    cells = np.full((len(names) - 1, len(names) - 1), np.nan)
    dots = []
    for one in conclusions.pairs:
        high, low = sorted((names.index(one.a), names.index(one.b)))
        cells[low - 1, high] = EXTENTS.index(one.holds_for)
        if one.significant:
            dots.append((high, low - 1))
    grid = _CELL * len(cells) + _LETTER * max(map(len, names))  # and the names at two sides
    width = max(_WIDEST_LABEL, grid + 0.4)
    title = f"For which parameters the order by {conclusions.measure.name} holds"
    lines = textwrap.wrap(title, int(width / _LETTER), break_on_hyphens=False)
    height = grid + _LINE * (len(lines) + len(EXTENTS) + 1) + 0.5
    with mpl.rc_context(STYLE):
        drawing = Figure(figsize=(width, height), layout="constrained")
        axes, at = drawing.subplots(), range(len(cells))
        colours = ListedColormap(_COLOURS)
        image = axes.pcolormesh(at, at, cells, cmap=colours, edgecolor="white")
        image.set_clim(-0.5, len(EXTENTS) - 0.5)
        for k, (colour, extent) in enumerate(zip(_COLOURS, EXTENTS, strict=True)):
            if count := np.count_nonzero(cells == k):
                label = f"{extent_in_words(extent)}: {count}"
                axes.scatter([], [], marker="s", facecolor=colour, edgecolor="0.8", label=label)
        if dots:
            axes.plot(*zip(*dots, strict=True), "ko", markersize=4, label="significant")
        axes.invert_yaxis()
        axes.set_aspect("equal")
        axes.set_xticks(at, names[:-1], rotation=90)
        axes.set_yticks(at, names[1:])
        axes.tick_params(length=0)
        axes.spines[["left", "bottom"]].set_visible(False)
        drawing.suptitle("\n".join(lines), x=0.02, ha="left", fontsize=STYLE["axes.titlesize"])
        drawing.legend(loc="outside lower left", frameon=False)
    return drawing
