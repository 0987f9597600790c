"""The figure of a plan: half widths over the number of answers."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from dcglearn.asking.plan import UNKNOWN, Plan
from dcglearn.report.figures.style import COLOURS, STYLE

_MOST = 6


def draw_plan(found: Plan) -> Figure:
    """Draw how well numbers will be known after chosen answers, and after answers at random."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.2, 3.6), layout="constrained")
        axes = figure.subplots()
        for colour, name in zip(COLOURS, found.asked[:_MOST], strict=False):
            q = found.numbers.index(name)
            for widths, style in ((found.after, "-"), (found.after_random, ":")):
                shown = np.where(widths[:, q] < UNKNOWN, widths[:, q], np.nan)
                label = name if style == "-" else None
                axes.plot(found.counts, shown, style, color=colour, label=label, marker="o", ms=3)
        axes.set(
            xlabel="more answers",
            ylabel="half width of the 95% interval",
            title="Chosen (lines) and at random (dots)",
            xscale="log",
        )
        axes.set_ylim(bottom=0.0)
        axes.set_xticks(found.counts, [f"{count:,}" for count in found.counts])
        axes.minorticks_off()
        axes.legend()
    return figure
