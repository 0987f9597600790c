"""Similarity in the design of Zhou et al.; precision is compared in ``test_results``."""

from __future__ import annotations

import numpy as np
import pytest

from dcglearn import (
    DCG,
    DCGLearner,
    InputError,
    identifiable_similarity,
    permuted_lists,
    similarity,
    true_pairs,
)
from helpers.truths import DATA_1, DATA_2


def learned_weights(n: int, seed: int, truth: DCG = DATA_1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return DCGLearner(n_grades=5).fit(true_pairs(truth, permuted_lists(n, rng))).weights_


@pytest.mark.parametrize("truth", [DATA_1, DATA_2])
def test_similarity_in_the_design_of_the_paper_stays_below_1(truth: DCG) -> None:
    """With permutations of one list it tends to cos(c, c - c_K) = .8917, not to 1."""
    c = 1 / np.log(np.arange(2, 12))
    limit = c @ (c - c[-1]) / np.linalg.norm(c) / np.linalg.norm(c - c[-1])
    assert round(limit, 4) == 0.8917
    W = truth.matrix_for(10)
    assert similarity(W, learned_weights(3000, 0, truth)) == pytest.approx(limit, abs=0.01)


@pytest.mark.parametrize(("n", "known"), [(20, 0.76), (100, 0.957), (200, 0.982), (3000, 0.999)])
def test_similarity_of_the_identifiable_part_tends_to_1(n: int, known: float) -> None:
    W = DATA_1.matrix_for(10)
    repeats = 8 if n <= 200 else 1
    found = [identifiable_similarity(W, learned_weights(n, seed)) for seed in range(repeats)]
    assert np.mean(found) == pytest.approx(known, abs=0.03 if n == 20 else 0.01)


def test_similarity_of_constant_opposite_and_unequal_weights() -> None:
    assert similarity(np.ones((2, 2)), np.eye(2)) == 0.0
    assert similarity(np.eye(2), -np.eye(2)) == pytest.approx(-1)
    with pytest.raises(InputError, match="of shape"):
        similarity(np.eye(2), np.eye(3))
