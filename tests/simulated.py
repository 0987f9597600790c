"""Simulated side-by-side judgments that several test files use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale
from dcglearn.simulation.judges import side_by_side
from dcglearn.simulation.lists import drawn_lists

SCALE = Scale((2, 1, 0))
TRUTH = DCG([2, 1, 0], "log2")


def simulated_judgments(n: int, seed: int, **options: float) -> Preferences:
    """Judgments of lists of five documents with independent grades."""
    rng = np.random.default_rng(seed)
    lists = drawn_lists(n, 5, [0.3, 0.3, 0.4], rng)
    return side_by_side(TRUTH, lists, SCALE, rng, **options)


def weighted_and_repeated(n: int, seed: int, least: int = 0) -> tuple[Preferences, Preferences]:
    """The same judgments: with whole weights, and each as often as it weighs."""
    data = simulated_judgments(n, seed, reliability=1.0)
    times = np.random.default_rng(seed).integers(least, 4, len(data))
    return replace(data, weights=times.astype(float)), data.take(np.repeat(np.arange(n), times))
