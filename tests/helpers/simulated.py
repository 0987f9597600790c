"""Simulated side-by-side judgments that several test files use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from dcglearn import DCG, Preferences, Scale, drawn_lists, preset, side_by_side

Ids = Iterable[str | None] | None
SCALE = Scale((2, 1, 0))
TRUTH = DCG([2, 1, 0], "log2")


def utilities(W: np.ndarray, lists: np.ndarray) -> np.ndarray:
    """What lists are worth, shape (n, 2); empty ranks (-1) have the last column of W, (K, L)."""
    return np.asarray(W[np.arange(len(W)), lists].sum(axis=2))


def noisy_answers(utility: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Answers "a" and "b" of a logistic judge."""
    return np.where(utility @ [1.0, -1.0] + rng.logistic(size=len(utility)) > 0, "a", "b")


def with_ids(data: Preferences, queries: Ids = None, judges: Ids = None) -> Preferences:
    """The same judgments of other queries or judges, where they are given."""
    given = {"queries": queries, "judges": judges}
    return replace(data, **{k: np.array([*v], object) for k, v in given.items() if v is not None})


def scale_of(L: int) -> Scale:
    """L grades, the worst of which is 0."""
    return Scale(tuple(range(L))[::-1])


def simulated_judgments(n: int, seed: int, **options: float) -> Preferences:
    """Judgments of lists of five documents with independent grades."""
    rng = np.random.default_rng(seed)
    lists = drawn_lists(n, 5, [0.3, 0.3, 0.4], rng)
    return side_by_side(TRUTH, lists, SCALE, rng, **options)


def weighted_and_repeated(n: int, seed: int, least: int = 0) -> tuple[Preferences, Preferences]:
    """The same judgments: with whole weights, and each as often as it weighs."""
    data = simulated_judgments(n, seed, reliability=1.0)
    times = np.random.default_rng(seed).integers(least, 4, len(data))
    return replace(data, weights=times.astype(float)), data[np.repeat(np.arange(n), times)]


def every_answer(n: int, seed: int, empty: bool = False, levels: bool = True) -> Preferences:
    """Random lists, with every answer; some ranks are empty if asked."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 3, size=(n, 2, 4))
    if empty:
        lists[rng.random(n) < 0.3, rng.integers(2), -1] = -1
    W = 2 * np.outer([1, 0.7, 0.5, 0.4], [1, 0.5, 0, 0])  # the last column is index -1
    utility = W[np.arange(4), lists].sum(axis=2)
    z = utility[:, 0] - utility[:, 1] + rng.logistic(size=n)
    tie = np.where(utility.sum(axis=1) + rng.logistic(size=n) > 4, "good", "bad")
    answers = np.where(z > 1, "a", np.where(z < -1, "b", tie if levels else "tie"))
    queries = [f"q{number}" for number in rng.integers(0, n // 5, size=n)]
    weights = rng.choice([0.5, 1.0, 2.0], size=n)
    return Preferences.of(lists, answers, SCALE, weights, queries)


def logistic_judgments(
    W: np.ndarray, n: int, rng: np.random.Generator, side: float = 0.0, per_query: int = 0
) -> Preferences:
    """Judgments of a logistic judge; W, shape (K, L), says what a grade is worth at a rank."""
    K, L = W.shape
    lists = rng.integers(0, L, (n, 2, K))
    answers = noisy_answers(utilities(W, lists) + np.array([side, 0.0]), rng)
    queries = [f"q{i // per_query}" for i in range(n)] if per_query else None
    return Preferences.of(lists, answers, scale_of(L), None, queries)


def preset_judgments(truth: str, n: int, seed: int, scale: Scale = SCALE) -> Preferences:
    """Judgments of a logistic judge who follows a preset, of four ranks and n / 4 queries."""
    rng = np.random.default_rng(seed)
    W = np.array(preset(truth, scale, 4).matrix_for(4))
    data = logistic_judgments(4 * W / W.max(), n, rng)
    queries = np.array([f"q{i}" for i in rng.integers(0, n // 4, size=n)], dtype=object)
    return replace(data, queries=queries, scale=scale)
