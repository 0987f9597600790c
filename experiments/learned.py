"""Figures L1 to L3: a learner that starts from the usual measures, beside the quadratic program.

The third learner is here because it needs few judgments too.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.optimize import minimize

from dcglearn.base.types import Floats, Pairs
from dcglearn.lab.claims import Claim, judge_all, judge_between
from dcglearn.lab.decorators import judge, learner
from dcglearn.lab.plots import BAND, Figure, over_pairs, paneled, panels
from dcglearn.lab.repetitions import MeanInterval, means, rows_where
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.judges import flip_pairs, true_pairs
from dcglearn.lab.simulation.noisy import lapsing  # noqa: F401 - configs name it
from dcglearn.measures.measure import Measure

COLUMNS = ("precision", "precision:linear-log2", "precision:exponential-log2")

LEARNERS = {"usual": "From the usual measures", "hinge": "Hinge, product", "qp": "W of the program"}
JUDGES = {
    "calibrated": "exact answers",
    "reversing": "20% of answers reversed",
    "lapsing": "logistic noise, 10% at random",
}
LISTS = {"permutations": "permutations", "drawn": "independent grades"}
TRUTHS = {
    "data-1": "linear-log2",
    "data-2": "exponential-log2",
    "DCG([1, 0.9, 0.8, 0.1, 0], [1, 1, 1, 1, 1, 0.2, 0.2, 0.2, 0.2, 0.2])": "steps",
    "gains-by-rank:1": "gains by rank",
    "DCG([1, 0, 0, 0, 0], zipf)": "best grade, zipf",
}
FLAT = "square root, .95^(i-1)"
DESIGN = "{lists}, {judge}, {truth}, {pairs:,} judgments:"

FEW, ENOUGH = 500, 100
BEHIND = (0.05, 0.02)
"""By how much it may be behind the hinge: at 20 judgments, and from 100 on."""
FROM_TRUTH = {20: 0.08, 100: 0.05}
"""By how much it may be behind a usual measure that is the truth, which has a precision of 1."""


@judge
def reversing(truth: Measure, lists: Pairs, setting: Setting, rng: Generator) -> Pairs:
    """Judge as the truth does, but reverse 20% of the answers; leave out ties."""
    right = true_pairs(truth, lists)
    return flip_pairs(right, rng.binomial(len(right), 0.2), rng)


@learner
def hinge(pairs: Pairs, setting: Setting, rng: Generator, *, cost: float = 1.0) -> Floats:
    """Minimise |W|^2 + C sum_i max(0, 1 - <W, x_i>)^2 over W = c g', with c and g decreasing.

    c and g are sums of steps of 0 or more. The problem is not convex: the best of two starts.
    """
    K, L = setting.n_ranks, setting.grades
    encoded = np.eye(L)[pairs]
    x = (encoded[:, 0] - encoded[:, 1]).reshape(len(pairs), -1)
    falls_k, falls_l = np.triu(np.ones((K, K))), np.triu(np.ones((L, L - 1)))
    falls_l -= falls_l.mean(axis=0)

    def objective(steps: Floats) -> tuple[float, Floats]:
        c, g = falls_k @ steps[:K], falls_l @ steps[K:]
        W = np.outer(c, g)
        slack = np.maximum(0, 1 - x @ W.ravel())
        slope = 2 * W - 2 * cost * (slack @ x).reshape(K, L)
        value = float(np.sum(W**2) + cost * slack @ slack)
        return value, np.concatenate([falls_k.T @ slope @ g, falls_l.T @ (c @ slope)])

    rank, grade = np.arange(1, K + 1), np.arange(L)
    shapes = (1 / np.log2(rank + 1), 1 - grade / (L - 1)), (1 / rank, 0.5**grade)
    starts = [np.concatenate([-np.diff(c, append=0.0), -np.diff(g)]) for c, g in shapes]
    how: Any = {"jac": True, "method": "L-BFGS-B", "bounds": [(0, None)] * (K + L - 1)}
    fits = [minimize(objective, start, **how) for start in starts]
    best = min(fits, key=lambda fit: float(fit.fun)).x
    return np.outer(falls_k @ best[:K], falls_l @ best[K:])


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return a figure for each judge, with a panel for each truth."""
    names = table["truth"].map(TRUTHS).fillna(FLAT)
    table = table.assign(truth=names, shown=table["learner"].map(LEARNERS))
    table = table.replace({"lists": LISTS, "judge": JUDGES})
    drawn = rows_where(table, lists=table["lists"].iloc[0])
    axes = "precision", "shown", "judgments", "precision on exact pairs"
    caption = (
        "Lists permute each other; claims are about lists of independent grades, too. Hinge: gains "
        f"and decreasing discounts under the hinge of the program, C = 1 in both. {BAND}"
    )
    return [
        paneled(f"L{number}", f"Learned from the usual measures: {name}", plots, claims, caption)
        for number, (name, claims) in enumerate(_claims(table).items(), 1)
        if (plots := panels(rows_where(drawn, judge=name), "truth", over_pairs, *axes))
    ]


def _claims(table: pd.DataFrame) -> dict[str, list[Claim]]:
    """Return the claims of the figure of each judge; most are about all judges."""
    few, last = table[table["pairs"] < FEW], table[table["pairs"] >= FEW]
    also = _ahead(few, "usual", "qp", f"mean of all designs below {FEW} judgments:")
    each = judge_all(_ahead(few, "usual", "qp"), above=0, also=also)
    better = Claim(f"Below {FEW} judgments the learned DCG is ahead of W in each design.", each)
    exact = rows_where(last, truth="gains by rank", judge=JUDGES["calibrated"])
    most = rows_where(exact, pairs=exact["pairs"].max())
    overtaken = Claim(
        "Where gains change with the rank, W is ahead with enough exact answers.",
        judge_all(_ahead(most, "qp", "usual"), above=0, also=_ahead(exact, "usual", "qp")),
        needs_all=True,
    )
    part = table[(table["pairs"] == 20) | (table["pairs"] >= ENOUGH)]
    behind = np.where(part["pairs"] == 20, *BEHIND) * (part["learner"] == "usual")
    margins = _ahead(part.assign(precision=part["precision"] + behind), "usual", "hinge")
    never_far = Claim(
        "The learned DCG is never behind the product under the hinge by more than .05 at 20 "
        "judgments, and .02 from 100 on (shown: the difference plus these).",
        judge_between(margins, 0.0, 1.0),
        thresholds=("behind: .05 at 20 judgments, .02 from 100 on",),
    )
    ahead = _ahead(table, "usual", "hinge", "mean of all designs, {pairs:,} judgments:")
    over_all = judge_all(ahead, above=0)
    mostly = Claim("The learned DCG is ahead of that product in the mean of all designs.", over_all)
    near = table[table["truth"].isin([TRUTHS["data-1"], TRUTHS["data-2"]])]
    gaps = near.assign(gap=1 - near["precision"] - near["pairs"].map(FROM_TRUTH))
    distances = means(rows_where(gaps, learner="usual").dropna(subset="gap"), "gap", DESIGN)
    close = Claim(
        "Where a usual measure is the truth, the learned DCG is within .08 of it at 20 judgments, "
        "and .05 at 100 (shown: the distance less these).",
        judge_between(distances, -1.0, 0.0),
        thresholds=("near: .08 at 20 judgments, .05 at 100",),
    )
    claims = [better, overtaken], [never_far, mostly], [close]
    return dict(zip(JUDGES.values(), claims, strict=True))


def _ahead(table: pd.DataFrame, one: str, other: str, label: str = DESIGN) -> list[MeanInterval]:
    """Return the precision of a learner minus that of another, in each design or as labelled."""
    first, second = (rows_where(table, learner=name) for name in (one, other))
    return means(first, "precision", label, minus=second)
