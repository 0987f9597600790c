"""The style of all figures, and writing figures to files.

Colours that colour-blind readers can distinguish (Okabe & Ito), markers that differ in
greyscale, and files whose bytes depend only on the data.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from dcglearn.base.overflow import usual_size
from dcglearn.base.types import Floats
from dcglearn.files.files import atomic_write, checked_suffix
from dcglearn.report.tables import FIGURE_FORMATS

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Of the lines of a figure, in order; Okabe & Ito."""

MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")
"""Of the lines of a figure, in order."""

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
}


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure to a file, atomically; the same data give the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : path-like
        ``.png``, ``.svg`` or ``.pdf``.

    Raises
    ------
    InputError
        If the suffix is another one, or the file cannot be written.
    """
    suffix = checked_suffix(path, FIGURE_FORMATS)
    with mpl.rc_context(STYLE), warnings.catch_warnings(), atomic_write(path) as temporary:
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # drawn as boxes
        if figure.get_layout_engine() is not None:  # one layout for all its files
            figure.draw_without_rendering()
            figure.set_layout_engine(None)
        figure.savefig(temporary, dpi=150, metadata=FIGURE_FORMATS[suffix], format=suffix[1:])


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
