"""Figures that commands draw: of measures and comparisons, of plans, and of systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.learning.record import LearnedRecord, is_affine
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import MeasureFile
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility
from dcglearn.report.figures.style import COLOURS, INKS, LIGHT, MARKERS, STYLE, adapting_svg
from dcglearn.report.measures import (
    Numbers,
    estimates_of,
    parameter_origins,
    queries_text,
    unit_range,
    usual_numbers,
)
from dcglearn.report.words import extent_in_words

if TYPE_CHECKING:
    from dcglearn.asking.plan import Plan
    from dcglearn.inference.compare import MeasureComparison
    from dcglearn.systems.conclusions import SystemConclusions
    from dcglearn.systems.supported import Supported

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

_FARTHEST = 3.0
"""Where bars are cut, if no number is as far from 0."""

_EXTENT_COLOURS = (COLOURS[0], COLOURS[5], COLOURS[1], COLOURS[7], "#dddddd")
"""Of the extents, in order."""

_CELL, _LETTER, _LINE, _WIDEST_LABEL = 0.3, 0.085, 0.18, 3.2
"""In inches: a cell, the width of a letter, the height of a line, the width of the legend."""

_MARKER = 15
"""Of a cell, in points."""


def draw_numbers(
    axes: Axes, label: str, shown: Numbers, values: Floats, doubtful: Sequence[bool]
) -> None:
    """Draw gains by grade, the best at the right, relevance by document, or discounts by rank.

    `values` stand beside usual ones and intervals of estimates; what is `doubtful` is hollow.
    """
    at, hollow = np.arange(len(values)), np.array(doubtful, bool)
    axes.set_prop_cycle(color=COLOURS, marker=MARKERS)
    axes.plot(at, values, label=label, linewidth=2, markersize=6, zorder=3)
    for name, numbers in shown.usual.items():
        axes.plot(at, numbers, label=name, linewidth=1, markersize=4, zorder=2)
    if hollow.any():
        axes.plot(
            at[hollow],
            values[hollow],
            MARKERS[0],
            mec=COLOURS[0],
            mfc="white",
            zorder=4,
            label="not determined by the data",
        )
    drawn = [np.array([0.0, 1.05]), values[~hollow], *shown.usual.values()]
    if shown.estimates:
        bars = np.array([(one.low, one.high) for one in shown.estimates])
        bars[[one.given or not one.determined for one in shown.estimates]] = np.nan
        axes.vlines(
            at, *bars.T, color=COLOURS[0], label="95% interval", lw=4, alpha=0.6, zorder=2.5
        )
        drawn.append(np.clip(bars.ravel(), -_FARTHEST, _FARTHEST))
    ends = np.concatenate(drawn)
    axes.set(ylim=(np.nanmin(ends) - 0.04, np.nanmax(ends) + 0.04), **LABELS[shown.kind])
    if shown.kind == "grade":
        axes.invert_xaxis()
    ticks = _ticks(len(at))
    axes.set_xticks(ticks, [str(shown.names[i]) for i in ticks])
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)


@mpl.rc_context(STYLE | dict.fromkeys(INKS, LIGHT.ink))
def study_pictures(parts: Iterable[Numbers]) -> list[tuple[str, str]]:
    """Draw gains and discounts of a study, each beside usual ones, as SVG; return words of each."""
    pictures = []
    for one in parts:
        values = np.nan_to_num([number.estimate for number in one.estimates])
        doubtful = [not number.determined for number in one.estimates]
        figure = Figure(figsize=(4.2, 3.6), layout="constrained")
        draw_numbers(figure.subplots(), "these judgments", one, values, doubtful)
        svg = adapting_svg(figure)
        words = f"{LABELS[one.kind]['title']}, beside the usual ones; the numbers are below."
        pictures.append((words, svg[svg.index("<svg") :]))
    return pictures


@mpl.rc_context(STYLE)
def draw_measure_file(content: MeasureFile, title: str) -> Figure:
    """Draw gains and discounts of a measure file next to usual ones, and W as an image."""
    record, utility = LearnedRecord.read(content), content.utility
    drawn = [] if content.dcg is None else _numbers_of(content.dcg, record)
    panels = len(drawn) + (utility is not None)
    figure = Figure(figsize=(3.6 * panels + 1.2, 4.4), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for panel, numbers in zip(axes, drawn, strict=False):
        draw_numbers(panel, "this measure", *numbers)
    if utility is not None:
        _draw_weights(axes[-1], utility, "grade" if record is None else record.parameters.noun)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    return figure


def _numbers_of(dcg: DCG, record: LearnedRecord | None) -> list[tuple[Numbers, Floats, list[bool]]]:
    """Return the gains and discounts of a measure, and usual ones in the same gauge."""
    n_ranks, noun, absolute, affine = dcg.n_ranks or 10, "grade", True, False
    if record is not None:
        noun, gauge = record.parameters.noun, record.factors.gauge
        absolute, affine = gauge.startswith("absolute"), record.prior is None and is_affine(gauge)
    parts = [
        (noun, dcg.labels, np.array(dcg.gains), not absolute),
        (
            "affine" if affine else "rank",
            range(1, n_ranks + 1),
            dcg.discounts_for(n_ranks),
            affine,
        ),
    ]
    usual, numbers = usual_numbers(Scale(dcg.labels), n_ranks), []
    for k, (kind, names, own, to_unit_range) in enumerate(parts):
        estimates = () if record is None else estimates_of(record)[k]
        doubtful = [not one.determined for one in estimates] or [False] * len(own)
        if record is not None and record.prior is None:  # the measure is that of W
            doubtful = [by in ("ridge", "none") for by in parameter_origins(record)[k]]
        values, *others = (
            unit_range(one) if to_unit_range else one / (k * one[0] or np.abs(one).max() or 1.0)
            for one in (own, *usual[k].values())
        )  # of gains the largest is 1, and of discounts the first
        drawn = {} if kind == "document" else dict(zip(usual[k], others, strict=True))
        shown = Numbers(kind, names, drawn, () if kind == "affine" else estimates)
        numbers.append((shown, values, doubtful))
    return numbers


def _draw_weights(axes: Axes, utility: LinearUtility, noun: str) -> None:
    limit = float(np.abs(utility.matrix).max()) or 1.0
    image = axes.imshow(utility.matrix, cmap="PuOr_r", vmin=-limit, vmax=limit, aspect="auto")
    ticks = _ticks(utility.n_ranks)
    axes.set_xticks(range(utility.n_grades), [*map(str, utility.labels)])
    axes.set_yticks(ticks, [str(k + 1) for k in ticks])
    axes.set(
        title=f"W, the learned worth of a {noun} at a rank",
        xlabel=noun.capitalize(),
        ylabel="Rank",
    )
    if noun == "grade":
        axes.invert_xaxis()
    axes.figure.colorbar(image, ax=axes, shrink=0.8)


def _ticks(n: int) -> list[int]:
    return list(range(0, n, max(1, -(-n // 10))))


@mpl.rc_context(STYLE)
def draw_comparison(comparison: MeasureComparison, title: str) -> Figure:
    """Draw the agreement of each measure, and the lead of the first one, with intervals."""
    rows = comparison.rows
    figure = Figure(figsize=(9.2, 1.6 + 0.32 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    draw_intervals(left, [(row.agreement, row.low, row.high) for row in rows])
    draw_intervals(right, [(row.ahead, row.ahead_low, row.ahead_high) for row in rows])
    left.set_yticks(range(len(rows)), [row.name for row in rows])
    left.invert_yaxis()
    left.set(xlabel="Agreement with strict judgments (ties of the measure 1/2)", title="Agreement")
    right.axvline(0, color="0.3", linewidth=1, zorder=0)
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


@mpl.rc_context(STYLE)
def draw_plan(found: Plan) -> Figure:
    """Draw how well numbers will be known after chosen answers, and after answers at random."""
    from dcglearn.asking.plan import UNKNOWN

    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    axes = figure.subplots()
    for colour, name in zip(COLOURS[:6], found.asked, strict=False):
        q = found.numbers.index(name)
        for widths, style, label in ((found.after, "-", name), (found.after_random, ":", None)):
            shown = np.where(widths[:, q] < UNKNOWN, widths[:, q], np.nan)
            axes.plot(found.counts, shown, style, color=colour, label=label, marker="o", ms=3)
    axes.set(xlabel="more answers", ylabel="half width of the 95% interval", xscale="log")
    axes.set_title("Chosen (lines) and at random (dots)")
    axes.set_ylim(bottom=0.0)
    axes.set_xticks(found.counts, [f"{count:,}" for count in found.counts])
    axes.minorticks_off()
    axes.legend()
    return figure


def draw_intervals(axes: Axes, numbers: Sequence[Sequence[float | None]]) -> None:
    """Draw a row for each number, with its bounds: (number, low, high), nan or None for none."""
    values, low, high = np.array(numbers, float).T
    axes.hlines(range(len(values)), low, high, color=COLOURS[0], linewidth=1.5)
    axes.plot(values, range(len(values)), "o", color=COLOURS[0])
    axes.grid(axis="x", color="0.9")
    axes.locator_params(axis="x", nbins=6)


@mpl.rc_context(STYLE)
def draw_pairs(conclusions: SystemConclusions) -> Figure:
    """Draw what may be concluded about pairs of systems, sorted by the tested measure, best first.

    The colour of a pair is that of the parameters for which that order is proved; a dot means a
    significant difference.
    """
    from dcglearn.systems.conclusions import EXTENTS

    pairs = conclusions.pairs
    order = conclusions.evaluation.best_first().systems
    names = [name for name in order if any(name in (one.a, one.b) for one in pairs)]
    last = len(names) - 1
    grid = _CELL * last + _LETTER * max(map(len, names))
    size = max(_WIDEST_LABEL, grid + 0.4), grid + _LINE * (len(EXTENTS) + 4) + 0.5
    drawing = Figure(figsize=size, layout="constrained")
    axes = drawing.subplots()
    places = np.array([sorted((names.index(one.a), names.index(one.b))) for one in pairs])
    holds = np.array([one.holds_for for one in pairs])
    significant = np.array([one.significant for one in pairs], bool)
    for extent, colour in zip(EXTENTS, _EXTENT_COLOURS, strict=True):
        if number := np.sum(holds == extent):
            label = f"{extent_in_words(extent)}: {number}"
            axes.plot(*places[holds == extent].T, "s", color=colour, ms=_MARKER, label=label)
    if significant.any():
        axes.plot(*places[significant].T, ".", color="black", ms=_MARKER, label="significant")
    axes.set(xlim=(-0.5, last - 0.5), ylim=(last + 0.5, 0.5), aspect="equal")
    axes.set_xticks(range(last), names[:-1], rotation=90)
    axes.set_yticks(range(1, last + 1), names[1:])
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    title = f"For which parameters the order by {conclusions.measure} holds"
    drawing.suptitle(title, x=0.02, ha="left", fontsize=STYLE["axes.titlesize"], wrap=True)
    drawing.legend(loc="outside lower left", frameon=False, markerscale=0.5)
    return drawing


@mpl.rc_context(STYLE)
def draw_supported(found: Supported) -> Figure:
    """Draw 95% of the ranks of each system under measures that judgments support.

    Thick bars are of the measures alone, thin ones with topics drawn as well.
    """
    order = found.order
    places = np.arange(1, len(order) + 1)
    figure = Figure(figsize=(5.2, 1.2 + 0.22 * len(order)), layout="constrained")
    axes = figure.subplots()
    bands = (
        (found.ranks_resampled, 1.2, COLOURS[0], "measures and topics drawn"),
        (found.ranks, 4.5, COLOURS[1], "measures drawn"),
    )
    for band, width, colour, label in bands:
        low, high = band[order].T
        axes.hlines(places, low - 0.12, high + 0.12, color=colour, lw=width, label=label)
    axes.plot(places, places, "o", color="black", ms=3, label="learned measure")
    axes.set_yticks(places, [found.systems[s] for s in order])
    axes.set(xlim=(0.5, len(order) + 0.5), ylim=(len(order) + 0.6, 0.4))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="rank", title=f"95% of the ranks, {found.n_measures:,} measures")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure
