"""A figure of systems: which of their comparisons hold whatever the parameters."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing

from dcglearn.base.types import Floats
from dcglearn.figures.style import COLOURS, STYLE
from dcglearn.systems.system_coherence import SystemPair

CERTAINTIES = (
    ("decided: DCG with any gains and discounts, mean nDCG with any gains", COLOURS[0]),
    ("decided: DCG and mean nDCG with any gains", COLOURS[5]),
    ("decided by mean nDCG, not by DCG", "#C5DDEB"),
    ("decided by DCG, not by mean nDCG", COLOURS[4]),
    ("depends on the gains by both", COLOURS[1]),
)
"""What is certain about a pair, from the most to the least, with its colour."""


def draw_pairs(
    pairs: Sequence[SystemPair], systems: Sequence[str], means: Floats, name: str
) -> Drawing:
    """Draw what is certain about every pair of systems.

    Parameters
    ----------
    pairs : sequence of SystemPair
    systems : sequence of str
    means : ndarray of float, shape (systems,)
        The order of rows and columns, best first.
    name : str
        The measure that gave the means.

    Returns
    -------
    matplotlib.figure.Figure
    """
    order = np.argsort(-means, kind="stable")
    place = {systems[s]: row for row, s in enumerate(order)}
    n = len(systems)
    cells = np.full((n, n), np.nan)
    for pair in pairs:
        high, low = sorted((place[pair.a], place[pair.b]))
        cells[low, high] = _certainty(pair)
    with mpl.rc_context(STYLE):
        side = max(3.4, 0.26 * n + 1.6)
        drawing = Drawing(figsize=(side + 2.6, side), layout="constrained")
        FigureCanvasAgg(drawing)
        axes = drawing.subplots()
        colours = mpl.colors.ListedColormap([colour for _, colour in CERTAINTIES])
        last = len(CERTAINTIES) - 0.5
        axes.pcolormesh(cells, cmap=colours, vmin=-0.5, vmax=last, edgecolor="white")
        axes.invert_yaxis()
        axes.set_aspect("equal")
        names = [systems[s] for s in order]
        axes.set_xticks(np.arange(n) + 0.5, names, rotation=90)
        axes.set_yticks(np.arange(n) + 0.5, names)
        axes.tick_params(length=0)
        for edge in ("left", "bottom"):
            axes.spines[edge].set_visible(False)
        axes.set_title(f"Who is ahead of whom, in the order of {name}")
        counts = np.bincount(cells[~np.isnan(cells)].astype(int), minlength=len(CERTAINTIES))
        handles = [
            mpl.patches.Patch(color=colour, label=f"{label}: {count}")
            for (label, colour), count in zip(CERTAINTIES, counts, strict=True)
            if count
        ]
        axes.legend(handles=handles, loc="upper right")
    return drawing


def _certainty(pair: SystemPair) -> int:
    decided = ("a", "b", "equal")
    if pair.mean_ndcg.winner not in decided:
        return 3 if pair.any_gains.winner in decided else 4
    if pair.any_parameters.winner in decided:
        return 0
    return 1 if pair.any_gains.winner in decided else 2
