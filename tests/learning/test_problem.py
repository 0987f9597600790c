"""What a learning problem accepts and refuses, and what its parts mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dcglearn import InputError, Problem, permuted_lists, solve, true_pairs
from dcglearn.simulation.truths import DATA_1


def test_weights_count_like_repeated_pairs(rng: np.random.Generator) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(60, rng))
    times = rng.integers(0, 4, len(pairs))
    once = solve(Problem.of(pairs, 5, weights=times)).W
    copies = solve(Problem.of(np.repeat(pairs, times, axis=0), 5)).W
    assert once == pytest.approx(copies, abs=1e-7)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": float("nan")}, "C is nan"),
        ({"C": True}, "C is True"),
        ({"weights": [1, np.nan]}, "weights hold nan"),
        ({"weights": [1, -1]}, "weights hold -1"),
        ({"weights": [1]}, "weights of shape"),
        ({"margin": "unti"}, "did you mean 'unit'"),
        ({"pairs": np.zeros((0, 2, 3), int)}, "no pair"),
        ({"pairs": [[[0, 5], [1, 1]]]}, "grade index 5"),
        ({"pairs": [[0, 1, 1]]}, "pairs of shape"),
    ],
)
def test_bad_parts_are_refused(change: dict[str, object], problem: str) -> None:
    parts: dict[str, object] = {"pairs": [[[0, 1], [1, 1]], [[0, 0], [1, 0]]], "n_grades": 2}
    with pytest.raises(InputError, match=problem):
        Problem.of(**(parts | change))


@pytest.mark.parametrize(
    "change",
    [
        {"C": 1e200},
        {"weights": [1e200, 1]},
        {"margin": [1e100, 1]},
        {"weights": [1e308, 1e308]},
        {"C": 1e60, "weights": [1e60, 1], "margin": [1e20, 1.0]},
    ],
)
def test_objectives_that_overflow_are_refused(change: dict[str, Any]) -> None:
    parts: dict[str, Any] = {"pairs": [[[0, 1], [1, 1]], [[0, 0], [1, 0]]], "n_grades": 2}
    with pytest.raises(InputError, match=r"overflow; scale them down: C x weights x margins\^2"):
        Problem.of(**parts, **change)


def test_the_prior_is_kept_where_no_pair_differs(rng: np.random.Generator) -> None:
    prior = np.outer([3.0, 2.0], [2.0, 1.0, 0.0])
    problem = Problem.of([[[0, 1], [1, 1]]], 3, C=1e6, prior=prior)
    W = solve(problem).W
    assert W[1] == pytest.approx(prior[1], abs=1e-12)
    assert W[0, 2] == pytest.approx(prior[0, 2], abs=1e-12)
    still = Problem.of([[[0, 1], [1, 1]]], 3, margin=[-10.0], prior=prior)
    assert pytest.approx(prior, abs=1e-12) == solve(still).W
    for bad in ([1.0], np.full((2, 3), np.nan), "x", np.zeros((3, 2))):
        with pytest.raises(InputError, match="prior"):
            Problem.of([[[0, 1], [1, 1]]], 3, prior=bad)
