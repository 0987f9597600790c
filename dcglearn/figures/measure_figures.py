"""Figures of measures and of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import TINY, counted
from dcglearn.base.overflow import usual_size
from dcglearn.base.types import Floats
from dcglearn.figures.style import COLOURS, MARKERS, STYLE, unit_range
from dcglearn.learning.record import LearnedRecord, is_affine
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility
from dcglearn.naming.measure_files import MeasureFile
from dcglearn.naming.presets import usual_presets
from dcglearn.report.comparisons import queries_text
from dcglearn.report.parameter_tables import parameter_origins

if TYPE_CHECKING:  # scikit-learn, which it imports, takes seconds to load
    from dcglearn.inference.compare import MeasureComparison


COMPARISON_OUTCOMES = ("undecided", "better", "worse", "near the line")
"""Outcomes of a comparison, in the order of their colours and markers."""


def draw_measure(
    dcg: DCG | None,
    utility: LinearUtility | None,
    presets: Mapping[str, DCG],
    scale: Scale,
    title: str,
    doubtful: Mapping[str, Sequence[bool]] | None = None,
    gauge: str = "worst",
    noun: str = "grade",
    bounds: Mapping[str, Floats] | None = None,
) -> Figure:
    """Draw gains and discounts next to those of presets, and W as an image.

    Parameters
    ----------
    dcg : DCG or None
    utility : LinearUtility or None
        Drawn if given.
    presets : mapping from name to DCG
        On the same scale.
    scale : Scale
    title : str
    doubtful : mapping, optional
        ``gains`` and ``discounts``: which of them the data do not determine; drawn hollow.
    gauge : {"worst", "absolute", "worst order", "absolute order"}, default "worst"
        How the measure is normalised; the presets are normalised likewise (see
        :mod:`dcglearn.learning.factorise`).
    noun : {"grade", "document"}, default "grade"
        What has a gain. Presets have no gains of documents.
    bounds : mapping, optional
        ``gains`` and ``discounts``: (low, high) of each, drawn as bars.

    Returns
    -------
    matplotlib.figure.Figure
    """
    panels = (2 if dcg is not None else 0) + (utility is not None)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.6 * panels + 1.2, 3.9), layout="constrained")
        FigureCanvasAgg(figure)
        axes = list(np.atleast_1d(figure.subplots(1, panels)))
        if dcg is not None:
            _draw_gains(axes[0], dcg, presets, scale, doubtful, gauge, noun)
            _draw_bars(axes.pop(0), (bounds or {}).get("gains", np.zeros((0, 2))))
            n_ranks = utility.n_ranks if utility is not None else dcg.n_ranks or 10
            _draw_discounts(axes[0], dcg, presets, n_ranks, doubtful, gauge)
            _draw_bars(axes.pop(0), (bounds or {}).get("discounts", np.zeros((0, 2))))
        if utility is not None:
            _draw_weights(axes.pop(0), utility, scale, noun)
        figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure


def draw_measure_file(content: MeasureFile, title: str, scale: Scale | None = None) -> Figure:
    """Draw a measure file next to the usual presets.

    Parameters
    ----------
    content : MeasureFile
    title : str
    scale : Scale, optional
        The values of the grades, for the presets; by default their names.

    Returns
    -------
    matplotlib.figure.Figure
    """
    known = content.dcg or content.utility
    if known is None:
        raise InputError("an empty measure file", "give one with a dcg or a utility")
    scale = scale or Scale(known.grades or tuple(range(known.n_grades))[::-1])
    gauge, doubtful, noun = "worst", None, "grade"
    presets = usual_presets(scale, known.n_ranks or 10)
    record, bounds = LearnedRecord.read(content), None
    if record is not None:
        gauge = record.factors.gauge
        gains, discounts = parameter_origins(record)
        doubtful = {
            "gains": [kind in ("ridge", "none") for kind in gains],
            "discounts": [kind in ("ridge", "none") for kind in discounts],
        }
        noun = record.parameters.noun
        if record.intervals is not None:
            bounds = {"gains": record.intervals.gains, "discounts": record.intervals.discounts}
            unit = "queries" if record.intervals.by_query else "judgments"
            title += f"\nBars: {record.intervals.level:.0%} of resamples of the {unit}"
    return draw_measure(
        content.dcg, content.utility, presets, scale, title, doubtful, gauge, noun, bounds
    )


def draw_comparison(comparison: MeasureComparison, title: str) -> Figure:
    """Draw the agreement of each measure, and the lead of the first one, with intervals.

    Parameters
    ----------
    comparison : MeasureComparison
    title : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    rows = comparison.rows
    height: Floats = np.arange(len(rows), dtype=np.float64)[::-1]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 1.6 + 0.32 * len(rows)), layout="constrained")
        FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2, sharey=True)
        _draw_intervals(left, height, [(r.agreement, r.low, r.high) for r in rows], [0] * len(rows))
        left.set(
            yticks=height,
            yticklabels=[row.name for row in rows],
            xlabel="Agreement with strict judgments (ties of the measure 1/2)",
            title="Agreement",
        )
        ahead = [(r.ahead, r.ahead_low, r.ahead_high) for r in rows[1:]]
        styles = [COMPARISON_OUTCOMES.index(r.outcome) for r in rows[1:]]
        _draw_intervals(right, height[1:], ahead, styles)
        right.axvline(0, color="0.3", linewidth=1, zorder=0)
        right.locator_params(axis="x", nbins=6)
        labels = dict(zip(styles, (row.verdict for row in rows[1:]), strict=True))
        for style, label in labels.items():
            right.plot(
                [], [], color=COLOURS[style], marker=MARKERS[style], markersize=5, label=label
            )
        right.legend()
        right.set(
            xlabel=f"Agreement of {comparison.against} minus that of the measure",
            title=f"Lead of {comparison.against}",
        )
        figure.suptitle(
            f"{title}\nBars: 95% intervals, {counted(comparison.judgments, 'strict judgment')} "
            f"{queries_text(comparison.queries, comparison.without_query)}",
            x=0.01,
            ha="left",
            fontsize=9,
        )
    return figure


def _draw_intervals(axes: Axes, height: Floats, rows: Sequence[Any], kinds: Sequence[int]) -> None:
    for y, (value, low, high), kind in zip(height, rows, kinds, strict=True):
        axes.plot([low, high], [y, y], color=COLOURS[kind], linewidth=1.5)
        axes.plot([value], [y], marker=MARKERS[kind], color=COLOURS[kind], markersize=5)
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)


def _draw_gains(
    axes: Axes,
    dcg: DCG,
    presets: Mapping[str, DCG],
    scale: Scale,
    doubtful: Mapping[str, Sequence[bool]] | None,
    gauge: str,
    noun: str,
) -> None:
    documents = noun == "document"
    drawn: list[tuple[float, ...]] = []
    for name, other in ({} if documents else presets).items():
        gains, _ = usual_size(np.array(other.gains))
        gains = gains / gains.max() if gauge.startswith("absolute") else unit_range(gains)
        if tuple(gains) in drawn:
            continue
        drawn.append(tuple(gains))
        _line(axes, gains, _short(name, other, "gains"), len(drawn))
    gains, unit = _drawable(np.array(dcg.gains))
    _line(axes, gains, f"this measure{unit}", 0, (doubtful or {}).get("gains"))
    axes.set(
        title="Relevance by document" if documents else "Gain by grade",
        xlabel="Document" if documents else "Grade, best first",
        ylabel="Relevance (most = 1, least = 0)" if documents else "Gain (best = 1)",
        xticks=range(dcg.n_grades),
        xticklabels=[str(label) for label in scale.labels],
    )
    axes.legend()


def _draw_discounts(
    axes: Axes,
    dcg: DCG,
    presets: Mapping[str, DCG],
    n_ranks: int,
    doubtful: Mapping[str, Sequence[bool]] | None,
    gauge: str,
) -> None:
    affine = is_affine(gauge)
    drawn: list[str] = []
    for name, other in presets.items():
        if str(other.discounts) in drawn:
            continue
        drawn.append(str(other.discounts))
        discounts, _ = usual_size(other.discounts_for(n_ranks))
        if affine and np.ptp(discounts) == 0:
            continue  # a constant cannot be mapped to 1 and 0
        scaled = unit_range(discounts) if affine else discounts / discounts[0]
        _line(axes, scaled, _short(name, other, "discounts"), len(drawn))
    own, _ = usual_size(dcg.discounts_for(n_ranks))
    own, unit = _drawable(own if affine or not own[0] else own / own[0])
    _line(axes, own, f"this measure{unit}", 0, (doubtful or {}).get("discounts"))
    axes.set(
        title="Discount by rank" + (", up to an affine map" if affine else ""),
        xlabel="Rank",
        ylabel="Discount (largest = 1, smallest = 0)" if affine else "Discount (first = 1)",
        xticks=_ticks(n_ranks),
        xticklabels=[str(k + 1) for k in _ticks(n_ranks)],
    )
    low, high = axes.get_ylim()
    axes.set_ylim(bottom=min(0.0, low), top=high + 0.35 * (high - low))  # room for the legend
    axes.legend(ncols=3, loc="upper center")


def _drawable(values: Floats) -> tuple[Floats, str]:
    """Divide numbers that are too large or too small to draw by the largest; return it in words."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0 or TINY <= largest <= 1 / TINY:
        return values, ""
    return values / largest, f", divided by {largest:g}"


def _draw_bars(axes: Axes, bounds: Floats) -> None:
    known = [(at, bound) for at, bound in enumerate(bounds) if not np.isnan(bound).any()]
    for at, (low, high) in known:
        if high > low:
            axes.plot(
                [at, at],
                [low, high],
                color=COLOURS[0],
                linewidth=5,
                alpha=0.35,
                zorder=2.5,
                solid_capstyle="butt",
            )


def _draw_weights(axes: Axes, utility: LinearUtility, scale: Scale, noun: str) -> None:
    matrix, unit = _drawable(utility.matrix)
    limit = float(np.abs(matrix).max()) or 1.0
    image = axes.imshow(matrix, cmap="PuOr_r", vmin=-limit, vmax=limit, aspect="auto")
    if matrix.size <= 60:
        for (k, grade), value in np.ndenumerate(matrix):
            dark = abs(value) > 0.6 * limit
            axes.text(
                grade,
                k,
                f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=7,
                color="white" if dark else "black",
            )
    ticks = _ticks(utility.n_ranks)
    axes.set(
        title=f"W, the learned worth of a {noun} at a rank{unit}",
        xlabel="Grade, best first" if noun == "grade" else noun.capitalize(),
        ylabel="Rank",
        xticks=range(utility.n_grades),
        xticklabels=[str(label) for label in scale.labels],
        yticks=ticks,
        yticklabels=[str(k + 1) for k in ticks],
    )
    axes.figure.colorbar(image, ax=axes, shrink=0.8)


def _line(
    axes: Axes, values: Floats, label: str, style: int, doubtful: Sequence[bool] | None = None
) -> None:
    own = style == 0
    hollow = np.array(doubtful if doubtful is not None else [False] * len(values))
    colour, marker = COLOURS[style % len(COLOURS)], MARKERS[style % len(MARKERS)]
    at = np.arange(len(values))
    axes.plot(
        at,
        values,
        color=colour,
        linewidth=2 if own else 1,
        marker=marker,
        markersize=6 if own else 4,
        alpha=1 if own else 0.85,
        zorder=3 if own else 2,
        label=label,
    )
    if hollow.any():
        axes.plot(
            at[hollow],
            values[hollow],
            linestyle="none",
            marker=marker,
            markersize=6,
            markerfacecolor="white",
            markeredgecolor=colour,
            zorder=4,
            label="not determined by the data",
        )


def _short(name: str, measure: DCG, part: str) -> str:
    if part == "discounts":
        return str(measure.discounts)
    return {"exponential-log2": "exponential", "binary": "binary"}.get(
        name.partition(":")[0], "linear"
    )


def _ticks(n: int) -> list[int]:
    step = max(1, -(-n // 10))
    return list(range(0, n, step))
