"""Similarity and precision in the designs of Zhou et al., against independent replications."""

from __future__ import annotations

import numpy as np
import pytest

from dcglearn import (
    DCG,
    DCGLearner,
    InputError,
    agreement,
    identifiable_similarity,
    permuted_lists,
    similarity,
    true_pairs,
)
from dcglearn.lab.simulation.judges import flip_pairs
from dcglearn.lab.simulation.lists import BASE_LIST, sorted_against_another, sorted_against_shuffled
from dcglearn.lab.simulation.truths import DATA_1, DATA_2


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
    with pytest.raises(InputError, match="shapes"):
        similarity(np.eye(2), np.eye(3))


@pytest.mark.parametrize(
    ("design", "n", "known"),
    [
        ("permutations", 20, (0.778, 0.763)),
        ("permutations", 200, (0.941, 0.936)),
        ("40 flips, best C", 200, (0.869, 0.857)),
        ("same content, sorted", 60, (0.666, 0.72)),
        ("other content, sorted", 200, (0.908, 0.940)),
    ],
)
def test_precision_of_independent_replications(
    design: str, n: int, known: tuple[float, float]
) -> None:
    """Means over seeds, within about .02 of independent replications of section 6."""
    for truth, expected in zip((DATA_1, DATA_2), known, strict=True):
        found = [precision(design, n, truth, seed) for seed in range(10)]
        if design == "other content, sorted":  # one number was found for both truths together
            expected = np.mean(known)
        assert np.mean(found) == pytest.approx(expected, abs=0.035), (design, truth)


def precision(design: str, n: int, truth: DCG, seed: int) -> float:
    rng = np.random.default_rng(seed)

    def pairs(count: int, kind: str) -> np.ndarray:
        if kind == "same content, sorted":
            lists = sorted_against_shuffled(count, rng)
        elif kind == "other content, sorted":
            lists = sorted_against_another(count, 10, 5, rng)
        else:
            lists = permuted_lists(count, rng)
        return true_pairs(truth, lists)

    train = pairs(n, design)
    test = pairs(5000, design if design.startswith("other") else "permutations")
    if "flips" not in design:
        return agreement(DCGLearner(n_grades=5).fit(train).utility_, test)
    train, held_out = flip_pairs(train, 40, rng), pairs(1000, "permutations")
    learners = [DCGLearner(n_grades=5, C=10.0**p).fit(train) for p in range(-4, 4)]
    return agreement(
        max(learners, key=lambda one: agreement(one.utility_, held_out)).utility_, test
    )


@pytest.mark.parametrize(
    ("K", "n", "known"), [(5, 20, 0.795), (5, 100, 0.94), (10, 20, 0.616), (10, 200, 0.856)]
)
def test_precision_without_grades(K: int, n: int, known: float) -> None:
    """Section 8, figure 13: rankings of one set of documents, graded as the base list."""
    grades = np.arange(5) if K == 5 else np.array(BASE_LIST)
    truth = DCG(np.array(DATA_1.gains)[grades], "log2")
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        train, test = (
            true_pairs(truth, permuted_lists(size, rng, np.arange(K))) for size in (n, 3000)
        )
        found.append(agreement(DCGLearner(encoding="documents").fit(train).utility_, test))
    assert np.mean(found) == pytest.approx(known, abs=0.03)
