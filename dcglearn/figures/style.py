"""The style of all figures, and writing figures to files.

Colours that colour-blind readers can distinguish (Okabe & Ito), markers that differ in
greyscale, and files whose bytes depend only on the data. A PDF embeds its fonts as Type 42, which
journals ask for.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from dcglearn.base.files import atomic_write, checked_suffix
from dcglearn.base.overflow import usual_size
from dcglearn.base.types import Floats
from dcglearn.report.tables import FIGURE_FORMATS

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Of the lines of a figure, in order; Okabe & Ito."""

MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")
"""Of the lines of a figure, in order."""


@dataclass(frozen=True)
class Palette:
    """The colours of a figure on a light or a dark background.

    Attributes
    ----------
    ink : str
        Of text and axes.
    soft, grid : str
        Of horizontal levels, and of the lines behind the data.
    paper : str
        The background, where a format has no transparency or is not used with it.
    colours : tuple of str
        Of series, in order.
    """

    ink: str
    soft: str
    grid: str
    paper: str
    colours: tuple[str, ...]


LIGHT = Palette("#1d1f21", "#6b7178", "#e3e5e1", "#ffffff", (*COLOURS[:6], "#1d1f21", COLOURS[7]))
DARK = Palette(
    "#e6e6e3",
    "#9aa1a8",
    "#3a3f44",
    "#16181a",
    ("#58aee8", "#f58a4b", "#35c49a", "#dd93bd", "#f0b840", "#a5dcff", "#e6e6e3", "#b5b5b5"),
)

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.framealpha": 0.8,
    "legend.edgecolor": "none",
    "legend.fontsize": 8,
    "text.parse_math": False,  # names may hold dollar signs
    "svg.hashsalt": "dcglearn",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


class Drawing(Figure):
    """A figure that notebooks show by themselves."""

    def _repr_png_(self) -> bytes:
        content = BytesIO()
        with mpl.rc_context(STYLE):
            self.savefig(content, format="png", dpi=150)
        return content.getvalue()


def save(figure: Figure, path: str | Path, dpi: int = 150, adapts: bool = False) -> None:
    """Write a figure to a file, atomically; the same data give the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : path-like
        ``.png``, ``.svg`` or ``.pdf``.
    dpi : int, default 150
        The resolution of ``.png``.
    adapts : bool, default False
        Whether an ``.svg`` in the colours of :data:`LIGHT` has no background, and takes those of
        :data:`DARK` where the reader prefers dark pages. Programs that do not know such
        preferences show it as it is.

    Raises
    ------
    InputError
        If the suffix is another one, or the file cannot be written.
    """
    suffix = checked_suffix(path, FIGURE_FORMATS)
    with mpl.rc_context(STYLE), missing_glyphs_as_boxes(), atomic_write(path) as temporary:
        if figure.get_layout_engine() is not None:
            figure.draw_without_rendering()
            drop_layout(figure)  # one layout for all its files
        adapts &= suffix == ".svg"
        figure.savefig(
            temporary,
            dpi=dpi,
            metadata=FIGURE_FORMATS[suffix],
            format=suffix[1:],
            transparent=adapts,
        )
        if adapts:
            text = temporary.read_text("utf-8")
            temporary.write_text(adapting_svg(text), "utf-8", newline="\n")


def drop_layout(figure: Figure) -> None:
    """Keep the layout of a figure as it is: Matplotlib need not compute it again for each file.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    """
    with mpl.rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # what the settings say: none


@contextmanager
def missing_glyphs_as_boxes() -> Iterator[None]:
    """Draw characters that the font lacks as boxes, without a warning for each.

    Examples
    --------
    >>> with missing_glyphs_as_boxes():
    ...     warnings.warn("Glyph 28450 missing from font(s)", UserWarning)
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # it is seen
        yield


def adapting_svg(text: str) -> str:
    """Return an SVG that is shown in other colours where the reader prefers dark pages.

    Parameters
    ----------
    text : str
        An SVG by Matplotlib in the colours of :data:`LIGHT`.

    Returns
    -------
    str

    Examples
    --------
    >>> "prefers-color-scheme: dark" in adapting_svg("<svg><defs></defs></svg>")
    True
    """
    light = (LIGHT.ink, LIGHT.soft, LIGHT.grid, *LIGHT.colours)
    dark = (DARK.ink, DARK.soft, DARK.grid, *DARK.colours)
    rules = "".join(
        f'[style*="{what}: {old.lower()}"]{{{what}:{new}!important}}'
        for old, new in dict(zip(light, dark, strict=True)).items()
        for what in ("fill", "stroke")
    )
    style = (
        f'<style type="text/css">@media screen and (prefers-color-scheme: dark){{{rules}}}</style>'
    )
    return text.replace("<defs>", f"{style}\n <defs>", 1)


def unit_range(values: Floats) -> Floats:
    """Map the largest value to 1 and the smallest to 0; equal values to 1.

    Parameters
    ----------
    values : ndarray of float, shape (n,)

    Returns
    -------
    ndarray of float, shape (n,)

    Examples
    --------
    >>> unit_range(np.array([3.0, 1.0, 2.0]))
    array([1. , 0. , 0.5])
    """
    values, _ = usual_size(values)
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.ones_like(values)
