"""Drawing the figures of experiments: curves with bands, bars, levels, and several panels.

A figure is as wide as a column or a page of a paper, and its text is legible at that width. Lines
differ in colour, marker and dashes, so they can be distinguished in greyscale too; of lines that
hide each other the first is the widest, with the largest markers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine

from dcglearn.base.errors import InputError
from dcglearn.figures.labels import POINTS, EndLabels, text_width, wrapped
from dcglearn.figures.series import (
    DIAGONAL,
    categories_of,
    curves_of,
    draw_series,
    named_ends,
    scale_x,
    scale_y,
)
from dcglearn.figures.style import (
    DARK,
    LIGHT,
    STYLE,
    Drawing,
    Palette,
    drop_layout,
    missing_glyphs_as_boxes,
)
from dcglearn.lab.plots import Figure, Plot

WIDTHS = {"column": 3.3, "page": 7.0}
"""The widths of a column and of a page of a paper, in inches."""

NARROWEST, WIDEST = 2.0, 20.0

_WIDE = 5.0
"""Inches from which panels are side by side and text is larger."""

_HANDLE = 4.0
"""The width of a line in the legend and of the space around it, in font sizes."""


def figure_width(text: str) -> float:
    """Return the width of a figure in inches.

    Parameters
    ----------
    text : str
        ``column``, ``page``, or a number of inches.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If it is none of these, or too small or too large for a figure.

    Examples
    --------
    >>> figure_width("column"), figure_width("5")
    (3.3, 5.0)
    """
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
    """Draw a figure of an experiment.

    Parameters
    ----------
    figure : Figure
        The figure as data (:class:`dcglearn.lab.plots.Figure`).
    width : float, default 3.3
        In inches, as it is printed. Panels are side by side from 5 inches on.
    title : bool, default False
        Whether the title is drawn; in a paper the caption has it.
    dark : bool, default False
        Whether the colours are for a dark background.

    Returns
    -------
    matplotlib.figure.Figure
        Ready to be saved. Its height follows from what it holds.
    """
    palette, panels = DARK if dark else LIGHT, figure.panels
    with mpl.rc_context(_style(width, palette)), missing_glyphs_as_boxes():
        layout = ConstrainedLayoutEngine()
        drawing = Drawing(figsize=(width, 10.0), layout=layout)
        FigureCanvasAgg(drawing)
        n_columns = _columns(len(panels), width)
        n_rows = -(-len(panels) // n_columns)
        grid = list(drawing.subplots(n_rows, n_columns, squeeze=False).flat)
        for spare in grid[len(panels) :]:
            spare.remove()
        size = (POINTS * 0.8 * width / n_columns, POINTS * _height(len(panels), width))
        shared = _draw_panels(grid[: len(panels)], panels, size, n_columns, palette)
        _head(drawing, figure.heading if title else "", shared)
        layout.execute(drawing)  # how high is all the rest?
        rows = [grid[row * n_columns].get_position().height for row in range(n_rows)]
        drawing.set_size_inches(width, 10.0 * (1 - sum(rows)) + n_rows * size[1] / POINTS)
        layout.execute(drawing)
        drop_layout(drawing)
    return drawing


def draw_on(
    axes: Axes | Sequence[Axes],
    drawn: Figure | Plot,
    legend: bool = True,
    dark: bool = False,
    panel: int | str | None = None,
) -> None:
    """Draw a figure, or one plot, on axes of a figure that is the caller's.

    Parameters
    ----------
    axes : matplotlib.axes.Axes or sequence of them
        One for each panel, in any shape, such as that of ``subplots``; or one, for a figure with
        one panel and for `panel`. Names at the right end and the legend above need room, which
        ``layout="constrained"`` makes.
    drawn : Figure or Plot
    legend : bool, default True
        Whether the series are named in a legend above the axes.
    dark : bool, default False
        Whether the colours are for a dark background.
    panel : int or str, optional
        The panel to draw: its number, from 1, or its title.

    Raises
    ------
    InputError
        If the number of axes is another than that of panels, or there is no such panel.

    Examples
    --------
    >>> import matplotlib.figure
    >>> from dcglearn.lab.plots import Series
    >>> ax = matplotlib.figure.Figure().subplots()
    >>> draw_on(ax, Plot("time", "speed", (Series("a", (1, 2), (3, 4), (2, 3), (4, 5), (9, 9)),)))
    >>> ax.get_ylabel()
    'Speed'
    """
    figure = drawn if isinstance(drawn, Figure) else Figure("1", "", drawn, ())
    panels = figure.panels
    chosen = panels if panel is None else (figure.panel(panel),)
    given = list(np.ravel(np.array(axes, dtype=object)))  # also a grid, as of subplots
    wrong = next((one for one in given if not isinstance(one, Axes)), None)
    if wrong is not None:
        raise InputError(f"found {wrong!r}", "give axes of Matplotlib", "ax")
    if len(given) != len(chosen):
        one = "one axes" if len(given) == 1 else f"{len(given)} axes"
        panels_there = "one panel" if len(chosen) == 1 else f"{len(chosen)} panels"
        remedy = f"give as many, such as subplots(1, {len(chosen)})[1]"
        if len(panels) > 1 and panel is None:
            remedy += f", or `panel`: {figure.panel_names}"
        raise InputError(f"{one} for {panels_there}", remedy, "ax")
    palette = DARK if dark else LIGHT
    with mpl.rc_context({"text.parse_math": False}), missing_glyphs_as_boxes():
        for one, plot in zip(given, chosen, strict=True):
            box, inches = one.get_position(), _drawing_of(one).get_size_inches()
            size = (POINTS * box.width * inches[0], POINTS * box.height * inches[1])
            _draw_panel(one, plot, panels, size, palette)
            _label(one, plot, size)
            if legend:
                _legend_above(one, plot, size[0])


def _columns(n_panels: int, width: float) -> int:
    if width < _WIDE:
        return 1
    return 2 if n_panels == 4 else min(n_panels, 3)


def _height(n_panels: int, width: float) -> float:
    """Return the height of the axes of a panel, in inches."""
    if width < _WIDE:
        return 1.9 if n_panels == 1 else 1.45
    return 3.0 if n_panels == 1 else 2.1


def _style(width: float, palette: Palette) -> Any:
    """Return settings for a figure: text of 7 to 8 points in a column, a little more on a page."""
    text = 8.0 if width < _WIDE else 9.0
    settings = {
        "font.size": text,
        "axes.labelsize": text,
        "axes.titlesize": text,
        "xtick.labelsize": text - 1,
        "ytick.labelsize": text - 1,
        "legend.fontsize": text - 1,
        "axes.linewidth": 0.6,
        "hatch.linewidth": 0.4,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.minor.width": 0.5,
        "xtick.major.size": 3.0,
        "ytick.major.size": 3.0,
        "figure.facecolor": palette.paper,
        "axes.facecolor": "none",
    }
    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    return {**STYLE, **settings, **dict.fromkeys(inks, palette.ink)}


def _points(setting: Literal["legend.fontsize", "axes.labelsize", "axes.titlesize"]) -> float:
    """Return the size of a font in points."""
    return float(FontProperties(size=mpl.rcParams[setting]).get_size_in_points())


def _drawing_of(axes: Axes) -> MatplotlibFigure:
    return cast("MatplotlibFigure", axes.get_figure(root=True))


def _draw_panels(
    grid: Sequence[Axes],
    panels: Sequence[Plot],
    size: tuple[float, float],
    n_columns: int,
    palette: Palette,
) -> dict[str, Any]:
    """Draw panels in a grid; return what names the series, if it is the same for all panels.

    What neighbours share is written once.
    """
    drawing, large = _drawing_of(grid[0]), _points("axes.labelsize")
    one_legend = len({_legend_names(panel) for panel in panels}) == 1
    one_y = len(panels) > n_columns and len({panel.y_label for panel in panels}) == 1
    for index, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
        _draw_panel(axes, panel, panels, size, palette)
        left = panels[index - 1].y_label if index % n_columns else None
        below = panels[index + n_columns].x_label if index + n_columns < len(panels) else None
        _label(axes, panel, size, panel.x_label != below, panel.y_label != left, not one_y)
        if not one_legend:
            _legend_above(axes, panel, size[0])
        elif panel.title:
            axes.set_title(wrapped(_sentence(panel.title), _points("axes.titlesize"), size[0]))
    if one_y:
        room = 0.8 * size[1] * -(-len(panels) // n_columns)
        drawing.supylabel(wrapped(_sentence(panels[0].y_label), large, room), fontsize=large)
    if not (one_legend and _legend_names(panels[0])):
        return {}
    handles, names = grid[0].get_legend_handles_labels()
    room = POINTS * (drawing.get_size_inches()[0] - 0.1)
    return {"handles": handles, **_legend_options(names, room)}


def _head(drawing: MatplotlibFigure, title: str, legend: dict[str, Any]) -> None:
    """Write the title and the legend that all panels share."""
    large = _points("axes.titlesize")
    title = wrapped(title, large, POINTS * (drawing.get_size_inches()[0] - 0.1))
    if legend:  # Matplotlib would write another title over it
        heading = {"title": title, "title_fontsize": large, "alignment": "left"} if title else {}
        drawing.legend(loc="outside upper left", **legend, **heading)
    elif title:
        drawing.suptitle(title, x=0.01, ha="left", fontsize=large)


def _draw_panel(
    axes: Axes, panel: Plot, panels: Sequence[Plot], size: tuple[float, float], palette: Palette
) -> None:
    """Draw one of the panels; those with the same label of an axis share its limits."""
    same_x = [other for other in panels if other.x_label == panel.x_label]
    same_y = [other for other in panels if other.y_label == panel.y_label]
    categories = categories_of(same_x)
    draw_series(axes, panel, categories, palette)
    scale_x(axes, panel, same_x, categories, size[0], palette)
    scale_y(axes, panel, same_y)
    axes.grid(axis="y", color=palette.grid, linewidth=0.6)
    axes.set_axisbelow(True)
    ends = named_ends(panel, palette)
    if ends:
        small = _points("legend.fontsize")
        words = [text_width(word, small) for name, _, _ in ends for word in name.split()]
        room = np.clip(max(words, default=0.0), 0.3 * size[0], 0.5 * size[0])
        EndLabels(axes, ends, small, float(room))


def _label(
    axes: Axes,
    panel: Plot,
    size: tuple[float, float],
    x: bool = True,
    y: bool = True,
    own_y: bool = True,
) -> None:
    """Label the axes, unless a neighbour does."""
    large = _points("axes.labelsize")
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_parse_math(False)  # names may hold dollar signs
    axes.tick_params(labelbottom=x, labelleft=y)
    if x:
        axes.set_xlabel(wrapped(_sentence(panel.x_label), large, size[0]))
    if y and own_y:
        axes.set_ylabel(wrapped(_sentence(panel.y_label), large, 0.96 * size[1]))


def _sentence(text: str) -> str:
    """Begin a label with a capital, unless it begins with a symbol.

    >>> _sentence("training pairs"), _sentence("p < 0.05")
    ('Training pairs', 'p < 0.05')
    """
    return text[:1].upper() + text[1:] if text[1:2].isalpha() else text


def _legend_names(panel: Plot) -> tuple[str, ...]:
    """Return what a legend of a panel names: nothing if its curve is named at its end."""
    names = [series.label for series in curves_of(panel)]
    named = {name for name, _, _ in named_ends(panel, LIGHT)}
    if len(names) == 1 and names[0] in named:
        names = []
    return (*names, DIAGONAL) if panel.diagonal else tuple(names)


def _legend_above(axes: Axes, panel: Plot, width: float) -> None:
    """Name the series of one panel above it, below its title."""
    if not _legend_names(panel):
        return
    handles, names = axes.get_legend_handles_labels()
    options = _legend_options(names, width)
    if panel.title:
        options |= {"title": _sentence(panel.title), "alignment": "left"}
        options["title_fontsize"] = _points("axes.titlesize")
    place = (0.0, 1.0)
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=place, **options)


def _legend_options(names: Sequence[str], width: float) -> dict[str, Any]:
    """Return wrapped names, and as many columns as fit into a width in points."""
    size = _points("legend.fontsize")
    labels = [wrapped(name, size, width - _HANDLE * size) for name in names]
    widths = [
        max(text_width(line, size) for line in label.split("\n")) + _HANDLE * size
        for label in labels
    ]
    fitting = [
        n
        for n in range(1, len(names) + 1)
        if sum(max(part) for part in np.array_split(widths, n)) <= width
    ]
    return {
        "labels": labels,
        "ncols": max(fitting, default=1),
        "frameon": False,
        "handlelength": 2.2,
        "handletextpad": 0.5,
        "columnspacing": 1.2,
        "labelspacing": 0.3,
        "borderpad": 0.2,
        "borderaxespad": 0.2,
    }
