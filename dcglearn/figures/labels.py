"""Text in figures that must stay legible: wrapped, spread so that it does not overlap, thinned.

Labels at the right end of lines keep the order of their lines and are moved as little as possible:
their places are an isotonic regression on the heights of the lines.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cache

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox, IdentityTransform
from scipy.optimize import isotonic_regression

from dcglearn.base.types import Floats

POINTS = 72.0
"""Points per inch, the unit of font sizes."""


@cache
def text_width(text: str, size: float) -> float:
    """Return the width of a line of text.

    Parameters
    ----------
    text : str
    size : float
        Of the font, in points.

    Returns
    -------
    float
        In points.

    Examples
    --------
    >>> text_width("precision", 8) < text_width("precision", 9) < text_width("a longer one", 9)
    True
    """
    font = FontProperties(size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def wrapped(text: str, size: float, width: float) -> str:
    """Break a text into lines that are not wider than a width.

    Parameters
    ----------
    text : str
    size : float
        Of the font, in points.
    width : float
        In points. Words that are wider are broken.

    Returns
    -------
    str

    Examples
    --------
    >>> wrapped("share of intervals that contain the truth", 8, 120).count(chr(10))
    1
    """
    letters = len(text)
    while True:
        lines = textwrap.wrap(text, max(letters, 1), break_on_hyphens=False) or [""]
        if letters <= 1 or all(text_width(line, size) <= width for line in lines):
            return "\n".join(lines)
        letters = min(letters, max(map(len, lines))) - 1


def spread(centres: Floats, heights: Floats, low: float, high: float) -> Floats:
    """Move intervals along a line as little as possible, so that they do not overlap.

    Parameters
    ----------
    centres, heights : ndarray of float, shape (n,)
        Of the intervals.
    low, high : float
        Limits, kept if the intervals fit between them.

    Returns
    -------
    ndarray of float, shape (n,)
        The new centres, which minimise the sum of squared moves within their order.

    Examples
    --------
    >>> spread(np.array([5.0, 5.0, 9.0]), np.array([2.0, 2.0, 2.0]), 0, 10)
    array([4., 6., 9.])
    """
    order = np.argsort(centres, kind="stable")
    below = np.cumsum(heights[order]) - heights[order] / 2  # of each centre, if all are adjacent
    place = isotonic_regression(centres[order] - below).x
    room = max(high - float(heights.sum()), low)
    moved = np.empty_like(centres)
    moved[order] = np.clip(place, low, room) + below
    return moved


class EndLabels(Artist):
    """Names at the right edge of axes, beside the heights where their lines end.

    They are placed when they are drawn, and so stay apart whatever the layout and the limits are.
    A name that was moved has a thin line to where it belongs.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    labels : sequence of (str, float, str)
        Name, height in the data, and colour.
    size : float
        Of the font, in points.
    width : float
        Of the longest line, in points; longer names are wrapped.
    """

    GAP, LEADER = 3.0, 7.0

    def __init__(
        self, axes: Axes, labels: Sequence[tuple[str, float, str]], size: float, width: float
    ) -> None:
        super().__init__()
        self.host = axes
        self.heights = [height for _, height, _ in labels]
        style = {"va": "center", "fontsize": size, "linespacing": 1.0}
        self.texts = [
            Text(0, 0, wrapped(name, size, width), color=colour, **style)  # type: ignore[arg-type]  # the stub asks for the type of each argument
            for name, _, colour in labels
        ]
        self.leaders = [
            Line2D([], [], color=colour, linewidth=0.5, solid_capstyle="butt")
            for _, _, colour in labels
        ]
        self.set_clip_on(False)
        axes.add_artist(self)
        for part in self.get_children():
            part.set_figure(axes.figure)
            part.set_transform(IdentityTransform())

    def get_children(self) -> list[Artist]:
        """Return the names and the lines to them."""
        return [*self.leaders, *self.texts]

    def _place(self, renderer: RendererBase) -> None:
        axes = self.host
        point = axes.figure.dpi / POINTS
        edge = axes.bbox.x1
        ends = axes.transData.transform([(0.0, y) for y in self.heights])[:, 1]
        sizes = [text.get_window_extent(renderer).height + 1.5 * point for text in self.texts]
        half = max(sizes) / 2
        moved = spread(ends, np.array(sizes), axes.bbox.y0 - half, axes.bbox.y1 + half)
        near, far = edge + self.GAP * point, edge + (self.GAP + self.LEADER) * point
        leads = np.abs(moved - ends).max(initial=0.0) > point
        for text, line, end, place in zip(self.texts, self.leaders, ends, moved, strict=True):
            text.set_position(((far + point) if leads else near, place))
            line.set_data([edge + point, far], [end, place])
            line.set_visible(bool(leads))

    def get_window_extent(self, renderer: RendererBase | None = None) -> Bbox:
        """Return the box around all names."""
        drawn = renderer or self.host.figure.canvas.get_renderer()  # type: ignore[attr-defined]  # of all canvases that draw
        self._place(drawn)
        return Bbox.union([text.get_window_extent(drawn) for text in self.texts])

    def draw(self, renderer: RendererBase) -> None:
        """Place the names and draw them."""
        self._place(renderer)
        for part in self.get_children():
            part.draw(renderer)


class MeasuredTicks(FixedLocator):
    """Ticks where something was measured, as many as have room for their labels.

    The ends come first. Then every second, fifth, ... value, where all are evenly spaced, and round
    numbers.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Whose x axis this is for.
    values : sequence of float
    labels : sequence of str
    size : float
        Of the font, in points.
    """

    def __init__(
        self, axes: Axes, values: Sequence[float], labels: Sequence[str], size: float
    ) -> None:
        super().__init__(values)
        self.host = axes
        self._view: tuple[float, ...] = ()
        self._kept: list[float] = []
        self.labels = dict(zip(map(float, values), labels, strict=True))
        self.size = size

    def __call__(self) -> Sequence[float]:
        """Return the places of the ticks that have room."""
        axes = self.host
        low, high = sorted(axes.get_xlim())
        view = (low, high, axes.bbox.width, axes.figure.dpi)
        if view == self._view:
            return self._kept
        seen = [value for value in sorted(self.labels) if low <= value <= high]
        places = axes.transData.transform([(value, 1.0) for value in seen] or [(0.0, 1.0)])[:, 0]
        point = axes.figure.dpi / POINTS
        halves = {
            value: (text_width(self.labels[value], self.size) / 2 + 0.25 * self.size) * point
            for value in seen
        }
        place = dict(zip(seen, places, strict=False))

        def apart(value: float, others: Sequence[float]) -> bool:
            return all(abs(place[value] - place[o]) >= halves[value] + halves[o] for o in others)

        even = _evenly(seen) if axes.get_xscale() == "linear" else []
        fits = (some for some in even if all(apart(v, some[:at]) for at, v in enumerate(some)))
        kept: list[float] = []
        for value in [seen[0], seen[-1], *next(fits, sorted(seen, key=_roundness))] if seen else []:
            if apart(value, kept):
                kept.append(value)
        self._view, self._kept = view, sorted(kept)
        return self._kept


def _evenly(values: list[float]) -> list[list[float]]:
    """Return all values and the multiples of 2, 5, 10, ... times their distance, if it is even.

    >>> _evenly([20, 40, 60, 80])
    [[20, 40, 60, 80], [40, 80]]
    >>> _evenly([0, 5, 20])
    []
    """
    steps = np.diff(values)
    if not len(steps) or not np.allclose(steps, steps[0]):
        return []
    round_factors = [k * 10**power for power in range(6) for k in (1, 2, 5)]
    thinned = (
        [value for value in values if np.isclose(value / (k * steps[0]) % 1, (0, 1)).any()]
        for k in round_factors[1:]
    )
    return [values, *(some for some in thinned if len(some) > 1)]


def _roundness(value: float) -> tuple[int, bool, int, float]:
    """Return what sorts round numbers first: 100 before 50, 50 before 40, 40 before 5 and 3."""
    digits, _, exponent = f"{value:.9e}".partition("e")
    digits = digits.replace(".", "").replace("-", "").rstrip("0")
    return len(digits) - int(exponent), not digits.endswith("5"), len(digits), -abs(value)
