"""Figures of measures and of comparisons: gains by grade, discounts by rank, W, and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.learning.record import LearnedRecord, NumberRecord, is_affine
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure_files import MeasureFile
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility
from dcglearn.report.comparisons import queries_text
from dcglearn.report.figures.style import COLOURS, MARKERS, STYLE
from dcglearn.report.measures import (
    estimates_of,
    parameter_origins,
    unit_range,
    usual_numbers,
)

if TYPE_CHECKING:  # scikit-learn, which it imports, takes seconds to load
    from dcglearn.inference.compare import MeasureComparison
    from dcglearn.inference.ratios import Estimated


COMPARISON_OUTCOMES = ("undecided", "better", "worse", "near the line")
"""Outcomes of a comparison, in the order of their colours and markers."""

LABELS = {
    "grade": {"title": "Gain by grade", "xlabel": "Grade", "ylabel": "Gain (best = 1)"},
    "document": {
        "title": "Relevance by document",
        "xlabel": "Document",
        "ylabel": "Relevance (most = 1, least = 0)",
    },
    "rank": {"title": "Discount by rank", "xlabel": "Rank", "ylabel": "Discount (first = 1)"},
    "affine": {
        "title": "Discount by rank, up to an affine map",
        "xlabel": "Rank",
        "ylabel": "Discount (largest = 1, smallest = 0)",
    },
}
"""Of the axes of gains, relevance, and discounts."""

_FARTHEST = 3.0
"""Where bars are cut, if no number is as far from 0."""


@dataclass(frozen=True)
class Numbers:
    """Gains of grades, or discounts of ranks, beside those of usual measures by name.

    `bars` are intervals, (n, 2), nan for none, the thick ones first; what is `doubtful` is hollow.
    """

    kind: Literal["grade", "document", "rank", "affine"]
    names: Sequence[object]
    values: Floats
    usual: Mapping[str, Floats]
    bars: Sequence[Floats] = ()
    doubtful: Sequence[bool] = ()
    label: str = "this measure"


def intervals_of(numbers: Iterable[Estimated | NumberRecord]) -> Floats:
    """Return the intervals of numbers, (n, 2); nan where one is given or not determined."""
    none = (np.nan, np.nan)
    known = [(one.low, one.high) if one.determined and not one.given else none for one in numbers]
    return np.array(known, float)


def draw_numbers(axes: Axes, shown: Numbers) -> None:
    """Draw gains by grade, the best at the right, relevance by document, or discounts by rank."""
    at = np.arange(len(shown.names))
    doubtful = np.array(shown.doubtful or [False] * len(at))
    drawn = [np.array([0.0, 1.05]), shown.values[~doubtful], *shown.usual.values()]
    for bars, width in zip(shown.bars, (4, 1), strict=False):
        axes.vlines(at, *bars.T, color=COLOURS[0], linewidth=width, alpha=0.6, zorder=2.5)
        drawn.append(np.clip(bars.ravel(), -_FARTHEST, _FARTHEST))
    low, high = np.nanmin(np.concatenate(drawn)), np.nanmax(np.concatenate(drawn))
    values = np.clip(shown.values, low, high)
    own = np.where(doubtful, np.nan, values)
    _line(axes, at, own, shown.label, 0, linewidth=2, markersize=6, zorder=3)
    for place, (name, numbers) in enumerate(shown.usual.items(), start=1):
        _line(axes, at, numbers, name, place, linewidth=1, markersize=4, zorder=2)
    if doubtful.any():
        hollow = {"linestyle": "none", "markerfacecolor": "none", "markersize": 6}
        _line(axes, at[doubtful], values[doubtful], "not determined by the data", 0, **hollow)
    axes.set(ylim=(low - 0.04, high + 0.04), **LABELS[shown.kind])
    if shown.kind == "grade":
        axes.invert_xaxis()
    ticks = _ticks(len(at))
    axes.set_xticks(ticks, [str(shown.names[i]) for i in ticks])
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)


def _line(axes: Axes, x: ArrayLike, y: ArrayLike, name: str, place: int, **look: Any) -> None:
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    axes.plot(x, y, color=colour, marker=marker, label=name, **look)


@mpl.rc_context(STYLE)
def draw_measure_file(content: MeasureFile, title: str, scale: Scale | None = None) -> Figure:
    """Draw gains and discounts of a measure file next to usual ones, and W as an image."""
    scale = scale or Scale(content.measure.labels)
    record, dcg, utility = LearnedRecord.read(content), content.dcg, content.utility
    noun = "grade" if record is None else record.parameters.noun
    panels = (2 if dcg is not None else 0) + (utility is not None)
    figure = Figure(figsize=(3.6 * panels + 1.2, 4.4), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(1, panels)))
    if dcg is not None:
        drawn = _numbers_of(dcg, record, scale)
        for panel, numbers in zip(axes, drawn, strict=False):
            draw_numbers(panel, numbers)
        if record is not None and drawn[0].bars:
            bounds, what = record.intervals, "95% intervals"
            if bounds is not None and not estimates_of(record)[0]:
                unit = "queries" if bounds.by_query else "judgments"
                what = f"{bounds.level:.0%} of resamples of the {unit}"
            title += f"\nBars: {what}"
    if utility is not None:
        _draw_weights(axes[-1], utility, scale, noun)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure


def _numbers_of(dcg: DCG, record: LearnedRecord | None, scale: Scale) -> tuple[Numbers, Numbers]:
    """Return the gains and discounts of a measure, beside usual ones in the same gauge."""
    documents = record is not None and record.parameters.noun == "document"
    of_zero = record is None or record.factors.gauge.startswith("absolute")
    affine = record is not None and record.prior is None and is_affine(record.factors.gauge)

    def gains_of(gains: Floats) -> Floats:
        return gains / (np.abs(gains).max() or 1.0) if of_zero else unit_range(gains)

    def discounts_of(discounts: Floats) -> Floats:
        first = discounts[0] or np.abs(discounts).max() or 1.0
        return unit_range(discounts) if affine else discounts / first

    estimates = ((), ()) if record is None else estimates_of(record)
    bars = [[intervals_of(one)] if one else [] for one in estimates]
    doubtful = [[not one.determined for one in part] for part in estimates]
    if record is not None and record.prior is None:  # the measure is that of W
        doubtful = [[kind in ("ridge", "none") for kind in x] for x in parameter_origins(record)]
        if record.intervals is not None and not estimates[0]:
            bars = [[record.intervals.gains], [record.intervals.discounts]]
    if affine and estimates[0]:
        bars[1] = []  # of discounts in another gauge
    n_ranks = dcg.n_ranks or 10
    usual_gains, usual_discounts = usual_numbers(scale, n_ranks)
    return (
        Numbers(
            "document" if documents else "grade",
            scale.labels,
            gains_of(np.array(dcg.gains)),
            {} if documents else {name: gains_of(one) for name, one in usual_gains.items()},
            bars[0],
            doubtful[0],
        ),
        Numbers(
            "affine" if affine else "rank",
            range(1, n_ranks + 1),
            discounts_of(dcg.discounts_for(n_ranks)),
            {name: discounts_of(one) for name, one in usual_discounts.items()},
            bars[1],
            doubtful[1],
        ),
    )


def _draw_weights(axes: Axes, utility: LinearUtility, scale: Scale, noun: str) -> None:
    limit = float(np.abs(utility.matrix).max()) or 1.0
    image = axes.imshow(utility.matrix, cmap="PuOr_r", vmin=-limit, vmax=limit, aspect="auto")
    ticks = _ticks(utility.n_ranks)
    axes.set_xticks(range(utility.n_grades), [str(label) for label in scale.labels])
    axes.set_yticks(ticks, [str(k + 1) for k in ticks])
    title = f"W, the learned worth of a {noun} at a rank"
    axes.set(title=title, xlabel=noun.capitalize(), ylabel="Rank")
    if noun == "grade":
        axes.invert_xaxis()  # the best at the right, as of gains
    axes.figure.colorbar(image, ax=axes, shrink=0.8)


def _ticks(n: int) -> list[int]:
    return list(range(0, n, max(1, -(-n // 10))))


@mpl.rc_context(STYLE)
def draw_comparison(comparison: MeasureComparison, title: str) -> Figure:
    """Draw the agreement of each measure, and the lead of the first one, with intervals."""
    rows, places = comparison.rows, range(len(comparison.rows))
    figure = Figure(figsize=(9.2, 1.6 + 0.32 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_intervals(left, places, [(row.agreement, row.low, row.high) for row in rows], 0)
    for k, outcome in enumerate(COMPARISON_OUTCOMES):
        if at := [y for y in places if rows[y].outcome == outcome]:
            leads = [(rows[y].ahead, rows[y].ahead_low, rows[y].ahead_high) for y in at]
            _draw_intervals(right, at, leads, k, rows[at[0]].verdict)
    left.set_yticks(places, [row.name for row in rows])
    left.invert_yaxis()
    left.set(xlabel="Agreement with strict judgments (ties of the measure 1/2)", title="Agreement")
    right.axvline(0, color="0.3", linewidth=1, zorder=0)
    right.locator_params(axis="x", nbins=6)
    right.legend()
    right.set(
        xlabel=f"Agreement of {comparison.against} minus that of the measure",
        title=f"Lead of {comparison.against}",
    )
    for axes in (left, right):
        axes.grid(axis="x", color="0.9")
    figure.suptitle(
        f"{title}\nBars: 95% intervals, {counted(comparison.judgments, 'strict judgment')} "
        f"{queries_text(comparison.queries, comparison.without_query)}",
        x=0.01,
        ha="left",
        fontsize=9,
    )
    return figure


def _draw_intervals(
    axes: Axes, places: Sequence[int], numbers: Sequence[Any], k: int, label: str = ""
) -> None:
    """Draw numbers with their bounds: (number, low, high)."""
    values, low, high = zip(*numbers, strict=True)
    axes.hlines(places, low, high, color=COLOURS[k], linewidth=1.5)
    axes.plot(values, places, MARKERS[k], color=COLOURS[k], label=label)
