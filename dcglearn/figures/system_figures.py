"""A figure of systems: which of their comparisons hold whatever the parameters, and who is ahead.

Systems are in the order of a measure, best first. The cell of a pair has the colour of what is
certain about it, and an arrow to the name of the system that is ahead.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from dcglearn.base.types import Floats
from dcglearn.figures.style import COLOURS, STYLE
from dcglearn.systems.system_coherence import SystemPair

CERTAINTIES = (
    ("decided by DCG with any of both, by mean nDCG with any gains", COLOURS[0]),
    ("decided by DCG and mean nDCG with any gains", COLOURS[5]),
    ("decided by mean nDCG, not by DCG", "#C5DDEB"),
    ("decided by DCG, not by mean nDCG", COLOURS[4]),
    ("decided for one system by DCG, for the other by mean nDCG", COLOURS[3]),
    ("equal by DCG and mean nDCG", COLOURS[7]),
    ("decided by neither", COLOURS[1]),
)
"""What is certain about a pair, with its colour."""

_CROSSED, _EQUAL, _NEITHER = 4, 5, 6
_CELL, _LETTER, _LINE, _WIDEST_LABEL = 0.3, 0.085, 0.18, 5.2
"""In inches: a cell, the width of a letter, the height of a line, the width of the legend."""

_ARROWS = {
    "below": ("v", "the system named below is ahead"),
    "left": ("<", "the system named at the left is ahead"),
}
_FILLED: dict[bool | None, tuple[str, str]] = {
    None: ("white", ""),
    True: ("black", ", significantly"),
    False: ("white", ", which may be chance"),
}
"""The colour of an arrow and what it says, by whether a pair is significant; None if not tested."""

_ARROW_STYLE: Any = {"color": "black", "markersize": 5, "linestyle": ""}

_Arrows = dict[tuple[str, bool | None], list[tuple[int, int]]]


def draw_pairs(
    pairs: Sequence[SystemPair],
    systems: Sequence[str],
    means: Floats,
    name: str,
    significant_for: Sequence[str | None] | None = None,
) -> Drawing:
    """Draw what is certain about pairs of systems.

    Parameters
    ----------
    pairs : sequence of SystemPair
    systems : sequence of str
        Those of no pair are left out.
    means : ndarray of float, shape (systems,)
        The order of rows and columns, best first.
    name : str
        The measure that gave the means.
    significant_for : sequence of str or None, optional
        The name of the system that is significantly ahead in each pair, None if neither is. By
        default nothing was tested.

    Returns
    -------
    matplotlib.figure.Figure
    """
    compared = {system for pair in pairs for system in (pair.a, pair.b)}
    names = [systems[s] for s in np.argsort(-means, kind="stable") if systems[s] in compared]
    cells, arrows = _cells_and_arrows(pairs, names, significant_for)
    handles = _handles(cells, arrows)
    grid = _CELL * (len(names) - 1) + _LETTER * max(map(len, names))  # and the names at two sides
    width = max(_WIDEST_LABEL, grid + 0.4)
    title = f"Who is ahead whatever the gains; systems in the order of {name}"
    lines = textwrap.wrap(title, int(width / _LETTER), break_on_hyphens=False)
    with mpl.rc_context(STYLE):
        height = grid + _LINE * (len(lines) + len(handles)) + 0.5
        drawing = Drawing(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(drawing)
        axes = drawing.subplots()
        _draw_cells(axes, cells, names)
        for (direction, significant), places in arrows.items():
            x, y = np.array(places).T + 0.5
            face = _FILLED[significant][0]
            axes.plot(x, y, marker=_ARROWS[direction][0], markerfacecolor=face, **_ARROW_STYLE)
        drawing.suptitle("\n".join(lines), x=0.02, ha="left", fontsize=STYLE["axes.titlesize"])
        drawing.legend(handles=handles, loc="outside lower left", frameon=False)
    return drawing


def _cells_and_arrows(
    pairs: Sequence[SystemPair],
    names: Sequence[str],
    significant_for: Sequence[str | None] | None,
) -> tuple[Floats, _Arrows]:
    """Return the certainty of each cell, nan for none, and the cells of each kind of arrow."""
    place = {name: row for row, name in enumerate(names)}
    cells = np.full((len(names) - 1, len(names) - 1), np.nan)
    arrows: _Arrows = {}
    for number, pair in enumerate(pairs):
        high, low = sorted((place[pair.a], place[pair.b]))
        certainty, ahead = pair_certainty(pair)
        cells[low - 1, high] = certainty
        if ahead is not None:
            significant = None if significant_for is None else significant_for[number] == ahead
            kind = "below" if place[ahead] == high else "left", significant
            arrows.setdefault(kind, []).append((high, low - 1))
    return cells, {kind: arrows[kind] for kind in sorted(arrows, key=str)}


def pair_certainty(pair: SystemPair) -> tuple[int, str | None]:
    """Return what is certain about a pair, and the name of the system that is ahead.

    Parameters
    ----------
    pair : SystemPair

    Returns
    -------
    certainty : int
        An index of :data:`CERTAINTIES`.
    ahead : str or None
        None where no system is, or each by another measure.
    """
    by_dcg, by_mean = pair.any_gains.winner, pair.mean_ndcg.winner
    names = {"a": pair.a, "b": pair.b}
    if by_dcg in names and by_mean in names and by_dcg != by_mean:
        return _CROSSED, None
    if by_mean in names:
        if by_dcg not in names:
            return 2, names[by_mean]
        return 0 if pair.any_parameters.winner == by_dcg else 1, names[by_mean]
    if by_dcg in names:
        return 3, names[by_dcg]
    return _EQUAL if by_dcg == by_mean == "equal" else _NEITHER, None


def _draw_cells(axes: Axes, cells: Floats, names: Sequence[str]) -> None:
    colours = mpl.colors.ListedColormap([colour for _, colour in CERTAINTIES])
    axes.pcolormesh(cells, cmap=colours, vmin=-0.5, vmax=len(CERTAINTIES) - 0.5, edgecolor="white")
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.set_xticks(np.arange(len(cells)) + 0.5, names[:-1], rotation=90)
    axes.set_yticks(np.arange(len(cells)) + 0.5, names[1:])
    axes.tick_params(length=0)
    for edge in ("left", "bottom"):
        axes.spines[edge].set_visible(False)


def _handles(cells: Floats, arrows: _Arrows) -> list[mpl.artist.Artist]:
    counts = np.bincount(cells[~np.isnan(cells)].astype(int), minlength=len(CERTAINTIES))
    patches = [
        mpl.patches.Patch(color=colour, label=f"{label}: {count}")
        for (label, colour), count in zip(CERTAINTIES, counts, strict=True)
        if count
    ]
    markers = []
    for direction, significant in arrows:
        (marker, words), (face, more) = _ARROWS[direction], _FILLED[significant]
        label = words + more
        markers.append(
            Line2D([], [], marker=marker, label=label, markerfacecolor=face, **_ARROW_STYLE)
        )
    return [*patches, *markers]
