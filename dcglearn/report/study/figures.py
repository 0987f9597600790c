"""The figures of a study: what judgments say of gains and discounts, beside the usual ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from dcglearn.base.types import Floats
from dcglearn.inference.ratios import Estimated
from dcglearn.report.figures.measure_figures import (
    LABELS,
    Numbers,
    draw_numbers,
    intervals_of,
)
from dcglearn.report.figures.style import LIGHT, STYLE, adapting_svg
from dcglearn.report.study.facts import Study

_INK = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")


def study_pictures(study: Study, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw gains and discounts with their intervals, and the usual ones.

    Thick bars hold the truth of one number 95 times in 100, thin ones that of all numbers.
    """
    free, (gains, discounts) = study.conclusion.free, study.usual
    ranks, wide = range(1, study.data.n_ranks + 1), free.simultaneous_level(rng)
    shown = (
        _numbers("grade", study.data.scale.labels, gains, free.gains(), free.gains(wide)),
        _numbers("rank", ranks, discounts, free.discounts(), free.discounts(wide)),
    )
    pictures = []
    with mpl.rc_context(STYLE | dict.fromkeys(_INK, LIGHT.ink)):
        for numbers in shown:
            figure = Figure(figsize=(4.2, 3.6), layout="constrained")
            draw_numbers(figure.subplots(), numbers)
            svg = adapting_svg(figure)
            words = (
                f"{LABELS[numbers.kind]['title']}, beside the usual ones; the numbers are below."
            )
            pictures.append((words, svg[svg.index("<svg") :]))
    return pictures


def _numbers(
    kind: Literal["grade", "rank"],
    names: Sequence[object],
    usual: dict[str, Floats],
    narrow: Sequence[Estimated],
    wide: Sequence[Estimated],
) -> Numbers:
    values = np.nan_to_num([one.estimate for one in narrow])
    doubtful = [not one.determined for one in narrow]
    bars = [intervals_of(narrow), intervals_of(wide)]
    return Numbers(kind, names, values, usual, bars, doubtful, "these judgments")
