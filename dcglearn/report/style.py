"""The style of all figures, and writing them.

Drawn for print and screen: colours that colour-blind readers tell apart (Okabe & Ito),
markers that differ in grey, and files that are the same bytes for the same data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from dcglearn.base.files import atomic_write, checked_suffix
from dcglearn.base.types import Floats
from dcglearn.report.tables import FORMATS

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")


MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")


STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.framealpha": 0.8,
    "legend.edgecolor": "none",
    "legend.fontsize": 8,
    "svg.hashsalt": "dcglearn",
    "svg.fonttype": "path",
}


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure, whole or not at all; the same data give the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : path-like
        ``.png``, ``.svg`` or ``.pdf``.

    Raises
    ------
    InputError
        If the ending is another, or the place cannot be written.
    """
    suffix = checked_suffix(path, FORMATS)
    with mpl.rc_context(STYLE), atomic_write(path) as temporary:
        if figure.get_layout_engine() is not None:  # laid out once, not once a file
            figure.draw_without_rendering()
            figure.set_layout_engine(None)
        figure.savefig(temporary, dpi=150, metadata=FORMATS[suffix], format=suffix[1:])


def unit_range(values: Floats) -> Floats:
    """Map values to 1 for the largest and 0 for the smallest (all alike: all 1).

    >>> unit_range(np.array([3.0, 1.0, 2.0]))
    array([1. , 0. , 0.5])
    """
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.ones_like(values)
