"""Figure Q5: pairs made for asking, against lists as they come, where judges see many ties."""

from math import inf

import numpy as np
import pandas as pd
from numpy.random import Generator

from dcglearn.asking.candidates import made_candidates
from dcglearn.base.types import Integers, Pairs
from dcglearn.lab.claims import Claim, judge_all
from dcglearn.lab.decorators import lists, policy
from dcglearn.lab.plots import BAND, Figure, over_pairs, paneled, panels
from dcglearn.lab.repetitions import means, rows_where
from dcglearn.lab.setting import Setting
from dcglearn.lab.simulation.noisy import tying  # noqa: F401 - configs name it
from dcglearn.lab.simulation.truths import grade_scale

COLUMNS = ("precision",)

POOLS = {"permutations": "permutations", "made": "made pairs"}
POLICIES = {"unchosen": "at random", "everything": "most said"}
QUERIES, DOCUMENTS = 50, 30
LATER = 100


@lists
def made(setting: Setting, n: int, rng: Generator) -> Pairs:
    """Make pairs of documents of 50 queries that differ in a few ranks, as a plan does."""
    scale = grade_scale(setting.grades)
    qrels = {
        f"q{query}": {f"d{number}": grade for number, grade in enumerate(row)}
        for query, row in enumerate(rng.choice(scale.labels, (QUERIES, DOCUMENTS)).tolist())
    }
    found = np.zeros((0, 2, setting.n_ranks), np.int8)
    while len(found) < n:
        more = made_candidates(qrels, setting.n_ranks, n, rng, scale).lists
        found = np.concatenate([found, rng.permutation(more)])
    return found[:n]


@policy
def unchosen(lists: Pairs, judged: Pairs, n: int, setting: Setting, rng: Generator) -> Integers:
    """Ask at random; ties count as asked."""
    return rng.permutation(len(lists))[:n]


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figure Q5, with a panel for each truth."""
    truths = table["truth"].map({"data-2": "exponential gains"})
    table = table.assign(
        error=1 - table["precision"],
        what=table["lists"].map(POOLS) + ", " + table["policy"].map(POLICIES),
        truth=truths.fillna("gains and discounts in steps"),
    )
    best = rows_where(table[table["pairs"] >= LATER], lists="made", policy="everything")
    usual = rows_where(table, lists="permutations", policy="unchosen")
    claim = Claim(
        f"From {LATER} questions on, chosen pairs that were made for asking leave less error than "
        "permutations asked at random; ties count as asked.",
        judge_all(means(best, "error", "{truth}, {pairs} questions:", minus=usual), below=0.0),
    )
    labels = "questions asked, ties among them", "1 - precision"
    plots = panels(table, "truth", over_pairs, "error", "what", *labels, None, (0.0, inf))
    pool = f"A pool of {table['pool'].iloc[0]:,} pairs; logistic noise"
    caption = f"{pool}, small differences are ties. Tested on independent lists. {BAND}"
    return [paneled("Q5", "Made pairs, and ties", plots, [claim], caption)]
