"""What a learning problem accepts and refuses, and what its parts mean."""

from __future__ import annotations

import numpy as np
import pytest

from dcglearn import InputError, Problem, permuted_lists, solve, true_pairs
from dcglearn.lab.simulation.truths import DATA_1
from dcglearn.learning.source import MAX_BLOCK_PAIRS, MIN_BLOCK_PAIRS


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
        ({"C": 1e200}, "below 1e\\+100"),
        ({"weights": [1, np.nan]}, "weights hold nan"),
        ({"weights": [1]}, "weights of shape"),
        ({"margin": [1, np.nan]}, "row 1: margins hold nan"),
        ({"margin": "unti"}, "did you mean 'unit'"),
        ({"pairs": np.zeros((0, 2, 3), int)}, "no pair"),
        ({"pairs": [[[0, 5], [1, 1]]]}, "grade index 5"),
        ({"pairs": [[0, 1, 1]]}, "pairs of shape"),
        ({"pairs": np.zeros((1, 2, 2000), int), "n_grades": 6}, "12,000 weights"),
    ],
)
def test_bad_parts_are_refused(change: dict[str, object], problem: str) -> None:
    parts: dict[str, object] = {"pairs": [[[0, 1], [1, 1]], [[0, 0], [1, 0]]], "n_grades": 2}
    with pytest.raises(InputError, match=problem):
        Problem.of(**(parts | change))


def test_block_sizes_depend_on_the_number_of_pairs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = np.zeros((10, 2, 1), np.int8)
    monkeypatch.setattr("dcglearn.learning.source.MIN_BLOCK_PAIRS", 3)
    assert [len(b) for b in Problem.of(pairs, 1).arrays.blocks] == [5, 5]
    monkeypatch.setattr("dcglearn.learning.source.MAX_BLOCK_PAIRS", 4)
    assert [len(b) for b in Problem.of(pairs, 1).arrays.blocks] == [4, 4, 2]
    assert MAX_BLOCK_PAIRS > MIN_BLOCK_PAIRS
