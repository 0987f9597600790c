"""Figures Q3 and Q4: intervals after pairs were chosen by the answers before them."""

from math import inf

import numpy as np
import pandas as pd
from numpy.random import Generator

from dcglearn.asking.candidates import Candidates
from dcglearn.asking.plan import UNKNOWN, plan
from dcglearn.asking.policies import as_preferences, choose_pairs
from dcglearn.base.types import Integers, Pairs
from dcglearn.inference.estimate import JudgmentModel
from dcglearn.lab.claims import Claim, judge_all, judge_between
from dcglearn.lab.decorators import CellData, policy, result
from dcglearn.lab.plots import BAND, SHARE, Figure, describe_errors, over_pairs, paneled, panels
from dcglearn.lab.repetitions import means
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.noisy import lapsing  # noqa: F401 - configs name it
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.measures.measure import Measure

COLUMNS = ("intervals",)

POLICIES = {
    "random": "At random",
    "everything": "Most said about everything",
    "gains": "Most said about gains",
    "misled": "Most said, from exponential-log2",
    "sure": "Most said if exponential-log2 were true",
}
SHARES = {"0.93": 0.93, "0.97": 0.97}
COVERED = "share of 95% intervals that contain the truth"
AS_FORETOLD = {"0.85": 0.85, "1.15": 1.15}
FROM = 200


@policy
def misled(lists: Pairs, judged: Pairs, n: int, setting: Setting, rng: Generator) -> Integers:
    """Choose what says most to who starts from exponential-log2 alone."""
    scale = grade_scale(setting.grades)
    return choose_pairs("everything", lists, judged, n, scale, rng, "exponential-log2")


@policy
def sure(lists: Pairs, judged: Pairs, n: int, setting: Setting, rng: Generator) -> Integers:
    """Choose what says most around exponential-log2, whatever the answers were."""
    return misled(lists, judged[:0], n, setting, rng)


@result
def intervals(truth: Measure, learned: Measure, data: CellData) -> list[float]:
    """Return the share of 95% intervals that contain the truth, and half widths.

    These are means over the gains and discounts that a plan said to become known: as it foretold
    them after half of the answers, and as they came.
    """
    scale = grade_scale(data.setting.grades)
    judged = as_preferences(data.training_pairs, scale)
    half = len(judged) // 2
    left = Candidates(data.training_pairs[half:], scale, np.full(len(judged) - half, ""))
    planned = plan(left, 1, judged=judged[:half], most_per_query=0, counts=[len(left)])
    fit, foretold = JudgmentModel().fit(judged), planned.after[-1]
    numbers = (*fit.gains()[1:-1], *fit.discounts()[1:])
    low, high = np.array([(one.low, one.high) for one in numbers]).T
    W = truth.matrix_for(data.setting.n_ranks)
    gains, discounts = (W - W[:, -1:]).sum(axis=0), W[:, 0] - W[:, -1]
    true = np.concatenate([(gains / gains[0])[1:-1], (discounts / discounts[0])[1:]])
    covered, came = (low <= true) & (true <= high), np.fmin((high - low) / 2, UNKNOWN)
    known = foretold < UNKNOWN
    widths = (np.mean(one[known]) if known.any() else UNKNOWN for one in (foretold, came))
    return [float(covered.mean()), *map(float, widths)]


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures Q3 and Q4, with a panel for each truth."""
    designs = table.groupby(["truth", "policy", "pairs"])
    of_foretold, of_came = (designs[f"intervals_{n}"].transform("mean") for n in (2, 3))
    # A ratio of means has the interval of this mean: it is expanded to first order.
    expanded = of_came + table["intervals_3"] - of_came / of_foretold * table["intervals_2"]
    table = table.assign(
        truth=table["truth"].map({"data-1": "linear gains"}).fillna("gains like no preset"),
        policy=table["policy"].map(POLICIES),
        ratio=expanded / of_foretold,
    )
    coverage, widths = _claims(table)
    pool, errors = table["pool"].iloc[0], describe_errors(coverage.finding.intervals)
    model = f"A pool of {pool} pairs; 3 grades, 5 ranks; logistic noise, 10% random answers. {BAND}"
    covered = f"Gains and discounts together. {model} {errors}"
    known = f"A plan after half of the answers; means over what it said to become known. {model}"
    axes, of_width = ("policy", "answers"), ("half width of 95% intervals", None, (0.0, UNKNOWN))
    shares = panels(table, "truth", over_pairs, "intervals_1", *axes, COVERED, SHARES, SHARE)
    came = panels(table, "truth", over_pairs, "intervals_3", *axes, *of_width)
    relative = table.assign(truth=table["truth"] + ", as a share of what was foretold")
    of_ratio = "half width over foretold", AS_FORETOLD, (0.0, inf)
    ratios = panels(relative, "truth", over_pairs, "ratio", *axes, *of_ratio)
    return [
        paneled("Q3", "Coverage after chosen pairs", shares, [coverage], covered),
        paneled("Q4", "Widths that a plan foretells", [*came, *ratios], [widths], known),
    ]


def _claims(table: pd.DataFrame) -> tuple[Claim, Claim]:
    """Return the claims on coverage and on widths."""
    coverage = Claim(
        "Coverage is 93 to 97% after chosen pairs, in the mean over truths and numbers of answers, "
        "also if the choice starts from a wrong measure, or never leaves it.",
        judge_between(means(table, "intervals_1", "{policy}:"), 0.93, 0.97),
        thresholds=("right coverage: 93 to 97%",),
    )
    tested = f"From {FROM // 2} answers, plans foretell widths within 15%, in the mean over truths."
    found = judge_all(means(table[table["pairs"] >= FROM], "ratio", "{policy}:"), 0.85, 1.15)
    limits = ("as foretold: within 15%",)
    return coverage, Claim(tested, found, thresholds=limits, needs_all=True)
