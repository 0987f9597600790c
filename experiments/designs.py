"""Figure C3: coverage where lists, answers and queries are of other kinds."""

from __future__ import annotations

import pandas as pd

from dcglearn.lab.claims import Claim, judge_between
from dcglearn.lab.plots import BAND, SHARE, Figure, Plot, curve
from dcglearn.lab.repetitions import mean_over_repetitions

COLUMNS = (
    "coverage",
    "determined",
    "bounded",
    "width",
    "middle_gain",
    "p:link",
)

LISTS = {"drawn": "uniform grades", "permutations": "permutations"}

BAND_OF_COVERAGE = (0.93, 0.97)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure C3."""
    panels, means = [], []
    for lists, rows in table.groupby("lists", sort=False):
        series = []
        for (ties, clusters), group in rows.groupby(["ties", "clusters"], sort=False):
            kinds = ["ties"] * (ties != "strict") + [f"{clusters} queries"] * bool(clusters)
            name = ", ".join(kinds).capitalize() or "Independent, no ties"
            series.append(curve(group, "pairs", "coverage", name))
            label = ", ".join([LISTS[str(lists)], *kinds])
            means.append(mean_over_repetitions(group, "coverage", f"{label}:"))
        panels.append(
            Plot(
                "judgments",
                "share of 95% intervals that contain the truth",
                tuple(series),
                {"0.93": 0.93, "0.97": 0.97},
                log_x=True,
                within=SHARE,
                title=LISTS[str(lists)],
            )
        )
    widest = max((one.high - one.low) / 3.92 for one in means)
    return [
        Figure(
            "C3",
            "Coverage in other designs",
            panels[0],
            (
                Claim(
                    "In each design 93 to 97% of the intervals contain the truth, in the mean over "
                    "the numbers of judgments.",
                    judge_between(means, *BAND_OF_COVERAGE),
                    thresholds=("right coverage: 93 to 97%",),
                ),
            ),
            "Only numbers that the judgments determine count: of lists that permute each other, "
            "the gain of the middle grade. Of 100 queries the largest has a tenth of the "
            "judgments; each shows four pairs of lists, which differ in more than grades. "
            f"Linear gains, discount log2, 5% of answers at random. {BAND} "
            f"Standard errors of the means: up to {100 * widest:.1f} "
            "percentage points.",
            tuple(panels[1:]),
        )
    ]
