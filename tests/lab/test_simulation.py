"""Simulated truths, lists and judges, and similarity in the design of Zhou et al."""

from __future__ import annotations

import numpy as np
import pytest

from dcglearn import (
    DCG,
    DCGLearner,
    InputError,
    agreement,
    drawn_lists,
    identifiable_similarity,
    named_truth,
    permuted_lists,
    similarity,
    true_pairs,
)
from dcglearn.judgments.meaning.answers import ANSWERS
from dcglearn.lab.simulation.judges import (
    BASE_LIST,
    flip_pairs,
    judged_pairs,
    misgrade_pairs,
    noise_scale,
    sorted_against_another,
    sorted_against_shuffled,
)
from dcglearn.lab.simulation.truths import gains_by_rank
from dcglearn.measures.agreement import score_differences
from helpers.simulated import TRUTH, simulated_judgments
from helpers.truths import DATA_1, DATA_2


def test_truths_of_the_paper() -> None:
    assert [5 - g for g in BASE_LIST] == [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
    assert DATA_1.gains == (5, 4, 3, 2, 1)
    assert DATA_2.gains == tuple(2.0**label - 1 for label in (5, 4, 3, 2, 1))
    natural = 1 / np.log(np.arange(2, 12))
    assert DATA_1.discounts_for(10) / DATA_1.discounts_for(10)[0] == pytest.approx(
        natural / natural[0]
    )


def test_gains_that_change_with_the_rank(rng: np.random.Generator) -> None:
    """Those between the best and the worst fall from rank to rank, except with strength 0."""
    even, falling = (named_truth(f"gains-by-rank:{s}", 5, 4, rng).matrix for s in (0, 0.5))
    c = 1 / np.log2(np.arange(2, 7))
    assert even == pytest.approx(np.outer(c, [1, 2 / 3, 1 / 3, 0]))
    gains = falling / c[:, None]
    assert (gains[:, [0, 3]] == [1, 0]).all()
    assert (np.diff(gains[:, 1:3], axis=0) < 0).all()
    assert gains[2] == pytest.approx([1, 2 / 3, 1 / 3, 0])  # the middle rank
    assert gains_by_rank(1, 2, 3.0).matrix.tolist() == [[1, 0]]


@pytest.mark.parametrize("number", ["", "-1", "nan", "1e9"])
def test_truths_that_do_not_say_how_gains_change_are_refused(
    number: str, rng: np.random.Generator
) -> None:
    with pytest.raises(InputError, match=r"the number of .gains-by-rank:"):
        named_truth(f"gains-by-rank:{number}", 5, 4, rng)


def test_permutations_keep_the_documents_and_equal_utilities_are_dropped(
    rng: np.random.Generator,
) -> None:
    lists = permuted_lists(300, rng, [0, 0, 1, 1])
    assert (np.sort(lists, axis=2) == [0, 0, 1, 1]).all()
    pairs = true_pairs(DCG([1, 0], "constant"), lists)
    assert pairs.shape == (0, 2, 4)
    pairs = true_pairs(DCG([1, 0], "zipf"), lists)
    distinct = score_differences(DCG([1, 0], "zipf"), lists) != 0
    assert 0 < len(pairs) == distinct.sum() < 300
    assert agreement(DCG([1, 0], "zipf"), pairs) == 1.0


def test_pairs_with_a_sorted_list(rng: np.random.Generator) -> None:
    same = sorted_against_shuffled(50, rng)
    assert (same[:, 0] == BASE_LIST).all()
    assert (np.sort(same[:, 1], axis=1) == BASE_LIST).all()
    other = sorted_against_another(500, 6, 4, rng)
    assert (np.diff(other[:, 0], axis=1) >= 0).all()
    assert (np.diff(other[:, 1], axis=1) < 0).any()
    assert np.bincount(other.ravel()) == pytest.approx(1500, abs=150)


def test_exactly_the_given_numbers_of_pairs_and_grades_are_wrong(rng: np.random.Generator) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(200, rng))
    before = pairs.copy()
    flipped = flip_pairs(pairs, 40, rng)
    assert sum(int((a == b[::-1]).all()) for a, b in zip(flipped, pairs, strict=True)) == 40
    wrong = misgrade_pairs(pairs, 400, 5, rng)
    assert (wrong != pairs).sum() == 400
    assert 0 <= wrong.min() <= wrong.max() <= 4
    assert (pairs == before).all()
    short = np.array([[[0, -1], [1, 0]]], np.int8)
    assert misgrade_pairs(short, 3, 2, rng).tolist() == [[[1, -1], [0, 1]]]
    with pytest.raises(InputError, match="4001 wrong grades among 4000 documents"):
        misgrade_pairs(pairs, 4001, 5, rng)


def test_reliability_bias_and_indifference_of_a_judge() -> None:
    reliable = simulated_judgments(2000, 0, reliability=1e9, indifference=1e-6)
    assert agreement(TRUTH, reliable.pairs) == 1.0
    noisy = simulated_judgments(2000, 0, reliability=0.5, indifference=0.0)
    assert 0.6 < agreement(TRUTH, noisy.pairs) < 0.9
    biased = simulated_judgments(2000, 0, bias=0.5, indifference=0.0)
    assert (biased.answers == ANSWERS.index("a")).mean() > 0.55
    tied = simulated_judgments(2000, 0, indifference=1.0)
    levels = [tied.lists[tied.answers == ANSWERS.index(level)].mean() for level in ("good", "bad")]
    assert levels[0] < levels[1] - 0.3  # grade indices: good ties hold better grades


@pytest.mark.parametrize("reliability", [0.6, 0.75, 0.95])
def test_noise_of_a_given_reliability(reliability: float, rng: np.random.Generator) -> None:
    lists = permuted_lists(20_000, rng)
    noise = noise_scale(score_differences(DATA_1, lists), reliability)
    pairs = judged_pairs(DATA_1, lists, rng, noise)
    assert agreement(DATA_1, pairs) == pytest.approx(reliability, abs=0.01)


def test_a_biased_judge_prefers_the_list_shown_first(rng: np.random.Generator) -> None:
    lists = permuted_lists(100, rng)
    distinct = score_differences(DATA_1, lists) != 0
    np.testing.assert_array_equal(judged_pairs(DATA_1, lists, rng, bias=99.0), lists[distinct])
    last = judged_pairs(DATA_1, lists, rng, bias=-99.0)
    np.testing.assert_array_equal(last, lists[distinct][:, ::-1])


def test_noise_of_impossible_reliability_is_refused() -> None:
    assert noise_scale(np.array([1.0, -2.0]), 1.0) == 0
    with pytest.raises(InputError, match="gives all lists the same utility"):
        noise_scale(np.zeros(3), 0.9)


def test_bad_judges_and_lists_are_refused(rng: np.random.Generator) -> None:
    for name, value in (("reliability", 0.0), ("indifference", np.nan), ("bias", np.nan)):
        with pytest.raises(InputError, match=f"`{name}` is {value}"):
            simulated_judgments(10, 0, **{name: value})
    with pytest.raises(InputError, match="probabilities"):
        drawn_lists(5, 5, [0.5, 0.4], rng)
    with pytest.raises(InputError, match="`shortest` is 6; use a whole number from 1 to 5"):
        drawn_lists(5, 5, [0.5, 0.5], rng, shortest=6)


# --- similarity; precision is compared in test_results


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
