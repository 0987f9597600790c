"""Problems and pairs that several tests of the solver share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dcglearn import Problem, drawn_lists, true_pairs
from helpers.truths import DATA_1


@st.composite
def problems(draw: st.DrawFn, most_pairs: int = 12) -> Problem:
    """Small problems of all kinds: empty ranks, any margins, weights of 0, any C."""
    n, K, L = draw(st.integers(1, most_pairs)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    low = draw(st.sampled_from([-1, 0]))
    pairs = rng.integers(low, L, (n, 2, K))
    margin = draw(st.sampled_from(["unit", "hamming", "custom"]))
    return Problem.of(
        pairs,
        L,
        np.round(8 * rng.normal(1, 1, n)) / 8 if margin == "custom" else margin,
        rng.choice([0.0, 0.5, 1.0, 3.0], n),
        draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0])),
        draw(st.booleans()),
    )


def noisy_pairs(n: int, rng: np.random.Generator, flips: float = 0.1) -> np.ndarray:
    """Pairs of lists of ten independent grades, each reversed with the given probability."""
    pairs = true_pairs(DATA_1, drawn_lists(n + n // 20 + 20, 10, [0.2] * 5, rng))
    reversed_pairs = rng.random(n) < flips
    pairs = pairs[:n]
    pairs[reversed_pairs] = pairs[reversed_pairs][:, ::-1]
    return pairs
