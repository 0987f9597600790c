"""Figure Q5: pairs made for asking, against lists as they come, where judges see many ties."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dcglearn.asking.candidates import made_candidates
from dcglearn.lab.claims import Claim, judge_all
from dcglearn.lab.decorators import judge, lists, policy
from dcglearn.lab.plots import BAND, Figure, Plot, curves
from dcglearn.lab.repetitions import mean_interval
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.measure import Measure

COLUMNS = ("precision",)

POOLS = {"permutations": "permutations", "made": "made pairs"}
POLICIES = {"unchosen": "at random", "everything": "most said"}
TRUTHS = {"data-2": "exponential gains"}
OTHER = "gains and discounts in steps"
QUERIES, DOCUMENTS = 50, 30
LATER = 100


@lists
def made(setting: Setting, n: int, rng: np.random.Generator) -> np.ndarray:
    """Make pairs of documents of 50 queries that differ in a few ranks, as a plan does."""
    scale = grade_scale(setting.grades)
    grades = rng.choice(scale.labels, (QUERIES, DOCUMENTS)).tolist()
    qrels = {
        f"q{query}": {f"d{number}": grade for number, grade in enumerate(row)}
        for query, row in enumerate(grades)
    }
    found = np.zeros((0, 2, setting.n_ranks), np.int8)
    while len(found) < n:
        more = made_candidates(qrels, setting.n_ranks, n, rng, scale).lists
        found = np.concatenate([found, rng.permutation(more)])
    return found[:n]


@judge
def tying(
    truth: Measure,
    lists: np.ndarray,
    setting: Setting,
    rng: np.random.Generator,
    *,
    log_odds: float = 10.0,
    ties_within: float = 1.0,
) -> np.ndarray:
    """Judge with logistic noise; differences within a bound are ties, which are left out.

    `log_odds` are those of the best grade at the first rank against the worst.
    """
    W = truth.matrix_for(setting.n_ranks)
    seen = log_odds * score_differences(truth, lists) / (W[0, 0] - W[0, -1])
    seen += rng.logistic(size=len(lists))
    best_first = np.where(seen[:, None, None] > 0, lists, lists[:, ::-1])
    return best_first[np.abs(seen) > ties_within]


@policy
def unchosen(
    lists: np.ndarray, judged: np.ndarray, n: int, setting: Setting, rng: np.random.Generator
) -> np.ndarray:
    """Ask at random; ties count as asked."""
    return rng.permutation(len(lists))[:n]


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure Q5, with a panel for each truth."""
    what = table["lists"].map(POOLS) + ", " + table["policy"].map(POLICIES)
    truths = [TRUTHS.get(truth, OTHER) for truth in table["truth"]]
    table = table.assign(error=1 - table["precision"], what=what, truth=truths)
    first, *more = (
        Plot(
            "questions asked, ties among them",
            "1 - precision",
            curves(rows, "pairs", "error", "what"),
            log_x=True,
            within=(0.0, np.inf),
            title=str(truth),
        )
        for truth, rows in table.groupby("truth", sort=False)
    )
    caption = (
        f"Of a pool of {table['pool'].iloc[0]:,} pairs; judges with logistic noise, who call small "
        f"differences ties. Tested on independent lists. {BAND}"
    )
    return [Figure("Q5", "Made pairs, and ties", first, tuple(_claims(table)), caption, (*more,))]


def _claims(table: pd.DataFrame) -> list[Claim]:
    gains = []
    for (truth, n), rows in table.groupby(["truth", "pairs"], sort=False):
        by = rows.pivot_table("error", "repetition", ["lists", "policy"])
        best, usual = ("made", "everything"), ("permutations", "unchosen")
        if n >= LATER and best in by and usual in by:
            gains.append(mean_interval(by[best] - by[usual], f"{truth}, {n} questions:"))
    words = (
        f"From {LATER} questions on, chosen pairs that were made for asking leave less error than "
        "permutations asked at random; ties count as asked."
    )
    return [Claim(words, judge_all(gains, below=0.0))]
