"""Studies as teams run them: whose judgments, of which queries, answered how.

What one concludes should be right whoever judged: people who are careless, do not judge by a sum
over documents, or do not look at grades; few queries, many judges of one pair, lists of different
length. There are three grades and five ranks; each query has its own lists.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit

from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.lab.simulation.judges import NOISES, Noise, answers_by, drawn_lists
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale

N_RANKS = 5
SCALE = Scale((2, 1, 0))
SHARES = (0.25, 0.35, 0.4)
"""Of the grades, best first."""

PER_QUERY = 5
"""Judgments of a query, unless a design says otherwise."""

FEW_QUERIES = (40, 80)
"""Queries with one pair of lists each, up to MANY judgments and beyond."""

MANY = 1000


@dataclass(frozen=True)
class Design:
    """One kind of study."""

    about: str
    gains: tuple[float, float, float] = (1.0, 0.5, 0.0)
    worth: str = "dcg"  # or max, err
    queries: str = "even"  # or heavy-tailed, few
    unseen: float = 0.0
    tilt: float = 0.0
    judges: int = 0
    random: int = 0
    swapped: int = 0
    lapses: float = 0.05
    lapses_by_query: bool = False
    side: float = 0.0
    ties: str = ""  # or davidson, rao-kupper, random
    noise: Noise = "logistic"
    shortest: int | None = None
    coin: str = ""  # or one per judgment, query
    decided: float = 4.0

    @property
    def allowed(self) -> bool:
        """Whether the model of the judgment, or W = 0, may describe it."""
        return self.worth == "dcg" and self.noise == "logistic" and not self.swapped

    @property
    def middle_gain(self) -> float | None:
        """What the middle grade is worth, None if there is no such number."""
        if self.coin or self.worth != "dcg":
            return None
        best, middle, worst = self.gains
        return (middle - worst) / (best - worst)


DESIGNS: dict[str, Design] = {
    "even": Design("queries of even size"),
    "exponential": Design("gains 2^g - 1", gains=(1.0, 1 / 3, 0.0)),
    "heavy-tailed": Design("few queries hold most judgments", queries="heavy-tailed", tilt=0.6),
    "few-queries": Design("few queries, many judges", queries="few", unseen=2.0, judges=25),
    "spammer": Design("one judge of five at random", judges=5, random=1, lapses=0.02, decided=7.0),
    "swapped": Design("one judge of ten swaps answers", judges=10, swapped=1),
    "lapses-by-query": Design("careless on some queries", lapses=0.2, lapses_by_query=True),
    "ties-davidson": Design("ties after Davidson", ties="davidson"),
    "ties-rao-kupper": Design("ties after Rao & Kupper", ties="rao-kupper"),
    "ties-random": Design("ties at random", ties="random"),
    "side": Design("list a is liked more", side=0.7),
    "lengths": Design("lists of different length", gains=(1.0, 0.6, 0.2), shortest=2),
    "probit": Design("normal noise", noise="normal"),
    "cauchy": Design("Cauchy noise", noise="cauchy"),
    "coin": Design("a coin per judgment", coin="judgment"),
    "coin-by-query": Design("a coin per query", queries="few", judges=25, coin="query"),
    "max": Design("the best document decides", worth="max", decided=6.0),
    "err": Design("ERR decides", worth="err", decided=6.0),
}


def simulated_study(design: Design, n: int, rng: Generator) -> Preferences:
    """Draw n judgments of a design; with few queries, as many as they share evenly."""
    queries, lists = _shown(design, n, rng)
    n, names = len(queries), np.array([f"q{one}" for one in queries.tolist()], object)
    judge = rng.integers(0, max(design.judges, 1), n)
    judges = [f"judge {one}" if design.judges else None for one in judge.tolist()]
    v = _differences(design, queries, lists, rng) + design.side
    answers = _answers(design, v, queries, rng)
    answers = np.where(judge < design.random, rng.integers(0, 2, n), answers)
    answers = np.where(judge < design.swapped, 1 - answers, answers).astype(np.int8)
    return Preferences(lists, answers, SCALE, np.ones(n), names, np.array(judges, object))


def _shown(design: Design, n: int, rng: Generator) -> tuple[Integers, Pairs]:
    count, shown = n, np.arange(n)
    if design.queries == "few":
        count = FEW_QUERIES[n > MANY]
        shown = queries = np.repeat(np.arange(count), n // count)
    elif design.queries == "heavy-tailed":
        share = np.arange(1, 61) ** -1.2
        queries = rng.choice(60, n, p=share / share.sum())
    else:
        queries = shown % max(2, n // PER_QUERY)
    return queries, drawn_lists(count, N_RANKS, SHARES, rng, design.shortest)[shown]


def _differences(design: Design, queries: Integers, lists: Pairs, rng: Generator) -> Floats:
    """Return by how much list a is better, in log odds."""
    gains = np.array(design.gains)
    worth = DCG(design.gains).score(lists)
    if design.worth == "max":
        worth = (gains[lists] / np.log2(np.arange(2, N_RANKS + 2))).max(axis=2)
    elif design.worth == "err":  # satisfied by a document with the probability (2^g - 1) / 2^2
        satisfied = np.array([0.75, 0.25, 0.0])[lists]
        seen = np.insert(1 - satisfied[..., :-1], 0, 1.0, axis=2).cumprod(axis=2)
        worth = (satisfied * seen / np.arange(1, N_RANKS + 1)).sum(axis=2)
    v = design.decided * (worth[:, 0] - worth[:, 1])
    n = queries.max() + 1
    first = gains[lists[:, 0, 0]] - gains[lists[:, 1, 0]]
    tilts, unseen = rng.standard_normal((2, n))
    return np.asarray(v + design.tilt * tilts[queries] * first + design.unseen * unseen[queries])


def _answers(design: Design, v: Floats, queries: Integers, rng: Generator) -> NDArray[np.int8]:
    n = len(v)
    u, lapse = rng.random((2, n))
    if design.coin == "query":
        says = rng.integers(0, 2, queries.max() + 1)[queries]
        return np.asarray(np.where(u < 0.9, says, 1 - says), np.int8)
    if design.coin == "judgment":
        return np.asarray(u < 0.5, np.int8)
    share = np.full(n, design.lapses)
    if design.lapses_by_query:
        share = rng.beta(1, 1 / design.lapses - 1, queries.max() + 1)[queries]
    a, tie = NOISES[design.noise](v), np.zeros(n)
    if design.ties == "davidson":
        tie = 1 / (1 + 2 * np.exp(-0.8) * np.cosh(v / 2))
        a = (1 - tie) * expit(v)
    elif design.ties == "rao-kupper":
        a = expit(v - 0.8)
        tie = 1 - a - expit(-v - 0.8)
    elif design.ties == "random":
        tie[:], a = 0.3, 0.7 * expit(v)
    return answers_by(u, a, tie, lapse < share, 2 + bool(design.ties))
