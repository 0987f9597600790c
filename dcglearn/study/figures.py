"""The figures of a study: what judgments say of gains and discounts, beside the usual ones."""

from __future__ import annotations

import io
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dcglearn.base.types import Floats
from dcglearn.figures.style import COLOURS, STYLE
from dcglearn.inference.ratios import Estimated
from dcglearn.naming.presets import preset
from dcglearn.study.facts import Study

_INK = "#123456"
"""A colour that occurs nowhere else: in SVG it becomes that of the text around the picture."""

_STYLE = STYLE | dict.fromkeys(
    ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK
)

_GAINS = (("linear-log2", "linear"), ("exponential-log2", "2^g - 1"))
_DISCOUNTS = (
    ("linear-log2", "1/log2(rank + 1)"),
    ("zipf", "1/rank"),
    ("constant", "the same for every rank"),
)


def study_pictures(study: Study, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw gains and discounts with their intervals, and the usual ones.

    Thick bars hold the truth of one number 95 times in 100, thin ones that of all numbers.

    Parameters
    ----------
    study : Study
    rng : numpy.random.Generator
        As in :meth:`~dcglearn.inference.estimate.JudgmentFit.simultaneous_level`.

    Returns
    -------
    list of (words, svg)
        What a picture shows, and an ``svg`` element whose text and axes have the colour of the
        page around it.
    """
    wide = study.free.simultaneous_level(rng)
    return [
        (
            "Gains by grade, beside the usual ones; the numbers are below.",
            _svg(draw_gains(study, wide)),
        ),
        (
            "Discounts by rank, beside the usual ones; the numbers are below.",
            _svg(draw_discounts(study, wide)),
        ),
    ]


def draw_gains(study: Study, wide: float) -> Figure:
    """Draw gains with intervals of 95%, and of the level `wide`.

    Parameters
    ----------
    study : Study
    wide : float

    Returns
    -------
    matplotlib.figure.Figure
    """
    scale, n_ranks = study.data.scale, study.data.n_ranks
    with mpl.rc_context(_STYLE):
        figure, axes = _empty_figure()
        for place, (name, label) in enumerate(_GAINS, start=1):
            gains = np.array(preset(name, scale, n_ranks).gains)
            _line(axes, np.arange(float(len(gains))), _unit(gains), label, place)
        _estimates(axes, study.with_free_gains.gains(), study.with_free_gains.gains(wide))
        axes.set_xticks(range(len(scale)), [str(label) for label in scale.labels])
        axes.invert_xaxis()
        axes.set(xlabel="Grade", ylabel="Gain: worth of a document", title="Gains")
        _legend(axes)
    return figure


def draw_discounts(study: Study, wide: float) -> Figure:
    """Draw discounts with intervals of 95%, and of the level `wide`.

    Parameters
    ----------
    study : Study
    wide : float

    Returns
    -------
    matplotlib.figure.Figure
    """
    scale, n_ranks = study.data.scale, study.data.n_ranks
    ranks = np.arange(1, n_ranks + 1)
    with mpl.rc_context(_STYLE):
        figure, axes = _empty_figure()
        for place, (name, label) in enumerate(_DISCOUNTS, start=1):
            discounts = preset(name, scale, n_ranks).discounts_for(n_ranks)
            _line(axes, np.arange(float(n_ranks)), discounts / discounts[0], label, place)
        _estimates(axes, study.free.discounts(), study.free.discounts(wide))
        shown = ranks[:: max(1, n_ranks // 10)]
        axes.set_xticks(shown - 1, [str(rank) for rank in shown])
        axes.set(xlabel="Rank", ylabel="Discount: weight of a rank", title="Discounts")
        _legend(axes)
    return figure


def _empty_figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(4.2, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    figure.patch.set_alpha(0)
    axes = figure.subplots()
    axes.set_facecolor("none")
    return figure, axes


def _legend(axes: Axes) -> None:
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :].replace(_INK, "currentColor")


def _unit(gains: Floats) -> Floats:
    return np.asarray((gains - gains[-1]) / (gains[0] - gains[-1]))


def _line(axes: Axes, x: Floats, y: Floats, label: str, place: int) -> None:
    style = ("--", ":", "-.")[place - 1]
    axes.plot(x, y, style, color=COLOURS[place], label=label, linewidth=1.4)


def _estimates(axes: Axes, narrow: Sequence[Estimated], wide: Sequence[Estimated]) -> None:
    """Draw points with bars; of what is not determined, a cross without bars."""
    values = np.array([one.estimate for one in narrow])
    top = max(1.1, float(np.max([one.high for one in wide if one.determined], initial=1.0)))
    bottom = min(0.0, float(np.min([one.low for one in wide if one.determined], initial=0.0)))
    known = np.array([one.determined for one in narrow])
    x = np.arange(len(narrow))
    for i in x[known].tolist():
        axes.vlines(i, wide[i].low, wide[i].high, color=COLOURS[0], linewidth=1)
        axes.vlines(i, narrow[i].low, narrow[i].high, color=COLOURS[0], linewidth=4, alpha=0.6)
    axes.plot(x[known], values[known], "o", color=COLOURS[0], label="these judgments")
    if not known.all():
        shown = np.clip(values[~known], bottom, top)
        axes.plot(x[~known], shown, "x", color=_INK, label="not determined")
    axes.set_ylim(bottom - 0.04, min(top, 3.0) + 0.04)
    axes.axhline(0, color=_INK, linewidth=0.5)
