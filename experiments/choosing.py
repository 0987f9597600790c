"""Figures Q1, Q1b and Q2: how many judgments are saved if the pairs are chosen."""

from math import inf

import numpy as np
import pandas as pd
from numpy.random import Generator

from dcglearn.asking.policies import as_preferences
from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.inference.usual import learn_dcg
from dcglearn.lab.claims import Claim, judge_all, judge_together
from dcglearn.lab.decorators import CellData, judge, policy, result
from dcglearn.lab.plots import BAND, Figure, over_pairs, paneled, panels
from dcglearn.lab.repetitions import means, rows_where
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.judges import flip_pairs, true_pairs
from dcglearn.lab.simulation.noisy import lapsing  # noqa: F401 - configs name it
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import preset

COLUMNS = ("precision", "gain_error")

POLICIES = {
    "random": "At random",
    "largest": "Largest difference",
    "smallest": "Smallest difference",
    "everything": "Most said about everything",
    "gains": "Most said about gains",
    "order": "Most said about the order",
}
JUDGES = {
    "calibrated": "exact answers",
    "reversing": "10% of answers reversed",
    "lapsing": "logistic noise, 10% at random",
}
LIMITS = {"calibrated": {20: 1.0, 50: 0.4, 100: 0.1}, "reversing": {20: 1.0, 50: 0.85, 100: 0.5}}
"""At most so much of the error of pairs at random, in the mean over truths."""

LATER, NEVER = 50, 1.1
"""From so many answers on, no truth has more than that share."""


@judge
def reversing(truth: Measure, lists: Pairs, setting: Setting, rng: Generator) -> Pairs:
    """Judge as the truth does, but reverse 10% of the answers; leave out ties."""
    right = true_pairs(truth, lists)
    return flip_pairs(right, rng.binomial(len(right), 0.1), rng)


@policy
def largest(lists: Pairs, judged: Pairs, n: int, setting: Setting, rng: Generator) -> Integers:
    """Choose the pairs that differ most by the measure learned so far."""
    return np.argsort(-_sizes(lists, judged, setting), kind="stable")[:n]


@policy
def smallest(lists: Pairs, judged: Pairs, n: int, setting: Setting, rng: Generator) -> Integers:
    """Choose the pairs that differ least by the measure learned so far; equal ones come last."""
    sizes = _sizes(lists, judged, setting)
    return np.argsort(np.where(sizes > 0, sizes, inf), kind="stable")[:n]


def _sizes(lists: Pairs, judged: Pairs, setting: Setting) -> Floats:
    """Return differences by the measure learned so far; linear-log2 before the first answer."""
    known = as_preferences(judged, scale := grade_scale(setting.grades))
    usual = preset("linear-log2", scale, lists.shape[2])
    measure = usual if known is None else learn_dcg(known).dcg
    return np.abs(score_differences(measure, lists))


@result
def gain_error(truth: Measure, learned: Measure, data: CellData) -> float:
    """Root mean square error of the gains between the best and the worst, from 0 to 1."""
    rows = [measure.matrix_for(data.setting.n_ranks).sum(axis=0) for measure in (truth, learned)]
    one, other = ((row - row[-1]) / (row[0] - row[-1]) for row in rows)
    return float(np.sqrt(np.mean((one - other)[1:-1] ** 2)))


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures Q1 and Q2, with a panel for each kind of judge; Q1b if all err alike."""
    table = table.assign(error=1 - table["precision"], judge=table["judge"].map(JUDGES))
    named = table.assign(policy=table["policy"].map(POLICIES))
    caption = (
        "The DCG that starts from the usual measures, learned from pairs that are chosen from "
        f"{table['pool'].iloc[0]:,} pairs of permutations, in rounds of 5 to 20. Means over "
        f"{table['truth'].nunique()} truths. {BAND}"
    )
    of_order, of_gains = (
        panels(named, "judge", over_pairs, what, "policy", "answers", words, None, (0.0, inf))
        for what, words in (("error", "1 - precision"), ("gain_error", "error of gains"))
    )
    if set(table["judge"]) == {JUDGES["reversing"]}:
        title = "Precision of chosen pairs where answers are reversed"
        return [paneled("Q1b", title, of_order, _claims(table, "reversing"), caption)]
    return [
        paneled("Q1", "Precision of chosen pairs", of_order, _claims(table, "calibrated"), caption),
        paneled("Q2", "Gains from chosen pairs", of_gains, [], caption),
    ]


def _claims(table: pd.DataFrame, judge: str) -> list[Claim]:
    """Return the claims on the error of chosen pairs, as a share of that of pairs at random.

    Chosen are those that say most about the order if judges do not err, otherwise about everything.
    """
    keys, at_random = ["judge", "truth", "pairs"], rows_where(table, policy="random")
    asked = {JUDGES["calibrated"]: "order", JUDGES["reversing"]: "everything"}
    chosen = table[table["policy"] == table["judge"].map(asked)]
    both = chosen.merge(at_random, on=[*keys, "repetition"], suffixes=("", "_random"))
    designs = both.groupby(keys)
    error, of = (designs[one].transform("mean") for one in ("error", "error_random"))
    # A ratio of means has the interval of this mean: it is expanded to first order.
    both["share"] = error / of + (both["error"] - error / of * both["error_random"]) / of
    of_judge, limits = rows_where(both, judge=JUDGES[judge]), LIMITS[judge].items()
    found = [
        judge_all(means(rows_where(of_judge, pairs=n), "share", f"{n} answers:"), below=limit)
        for n, limit in limits
    ]
    shown = ", ".join(f"{limit:g} at {n}" for n, limit in limits)
    words = (
        f"{JUDGES[judge].capitalize()}: the error with chosen pairs, as a share of that with pairs "
        f"at random, is at most {shown} answers, in the mean over truths."
    )
    each = means(both[both["pairs"] >= LATER], "share", "{judge}, {truth}, {pairs} answers:")
    later = f"From {LATER} answers on, that share is at most {NEVER:g} for each judge and truth."
    return [
        Claim(words, judge_together(*found), needs_all=True),
        Claim(later, judge_all(each, below=NEVER), needs_all=True),
    ]
