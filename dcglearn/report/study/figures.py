"""The figures of a study: what judgments say of gains and discounts, beside the usual ones."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from dcglearn.base.types import Floats
from dcglearn.inference.ratios import Estimated
from dcglearn.report.figures.measure_figures import (
    Numbers,
    draw_discounts,
    draw_gains,
    intervals_of,
)
from dcglearn.report.figures.style import LIGHT, STYLE, adapting_svg
from dcglearn.report.study.facts import Study
from dcglearn.report.study.sections import usual_numbers

_INK = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")


def study_pictures(study: Study, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw gains and discounts with their intervals, and the usual ones.

    Thick bars hold the truth of one number 95 times in 100, thin ones that of all numbers.
    """
    free = study.conclusion.free
    wide = free.simultaneous_level(rng)
    usual_gains, usual_discounts = usual_numbers(study)
    gains = _numbers(study.data.scale.labels, free.gains(), free.gains(wide), usual_gains)
    ranks = range(1, study.data.n_ranks + 1)
    discounts = _numbers(ranks, free.discounts(), free.discounts(wide), usual_discounts)
    pictures = []
    with mpl.rc_context(STYLE | dict.fromkeys(_INK, LIGHT.ink)):
        for name, numbers, draw in (
            ("Gains by grade", gains, draw_gains),
            ("Discounts by rank", discounts, draw_discounts),
        ):
            figure = Figure(figsize=(4.2, 3.6), layout="constrained")
            draw(figure.subplots(), numbers)
            svg = adapting_svg(figure)
            words = f"{name}, beside the usual ones; the numbers are below."
            pictures.append((words, svg[svg.index("<svg") :]))
    return pictures


def _numbers(
    names: Sequence[object],
    narrow: Sequence[Estimated],
    wide: Sequence[Estimated],
    usual: dict[str, Floats],
) -> Numbers:
    values = np.nan_to_num([one.estimate for one in narrow])
    doubtful = [not one.determined for one in narrow]
    bars = intervals_of(narrow), intervals_of(wide)
    return Numbers(names, values, usual, *bars, doubtful, label="these judgments")
