"""Simulated judgments, clustered intervals, and learned against ad hoc."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import norm

from dcglearn.base.errors import InputError
from dcglearn.data.judgment_fields import ANSWERS
from dcglearn.data.preferences import Preferences
from dcglearn.evaluation.significance import clustered_intervals
from dcglearn.lab.similarity import identifiable_similarity, similarity
from dcglearn.learning.compare import LEARNED_DCG, LEARNED_UTILITY, compare
from dcglearn.learning.intervals import parameter_intervals
from dcglearn.learning.learner import DCGLearner
from dcglearn.measures.agreement import agreement, score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.presets import usual_presets
from dcglearn.measures.scale import Scale
from dcglearn.simulation.judges import flip_pairs, misgrade_pairs, side_by_side, true_pairs
from dcglearn.simulation.lists import (
    BASE_LIST,
    drawn_lists,
    permuted_lists,
    sorted_against_another,
    sorted_against_shuffled,
)
from dcglearn.simulation.truths import DATA_1, DATA_2

SCALE = Scale((2, 1, 0))
TRUTH = DCG([2, 1, 0], "log2")


def judged(n: int, seed: int, **options: float) -> Preferences:
    rng = np.random.default_rng(seed)
    lists = drawn_lists(n, 5, [0.3, 0.3, 0.4], rng)
    return side_by_side(TRUTH, lists, SCALE, rng, **options)


def test_the_papers_truths() -> None:
    assert [5 - g for g in BASE_LIST] == [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
    assert DATA_1.gains == (5, 4, 3, 2, 1)
    assert DATA_2.gains == tuple(2.0**label - 1 for label in (5, 4, 3, 2, 1))
    natural = 1 / np.log(np.arange(2, 12))
    assert DATA_1.discounts_for(10) / DATA_1.discounts_for(10)[0] == pytest.approx(
        natural / natural[0]
    )


def test_permutations_keep_the_content_and_draws_are_dropped(rng: np.random.Generator) -> None:
    lists = permuted_lists(300, rng, [0, 0, 1, 1])
    assert (np.sort(lists, axis=2) == [0, 0, 1, 1]).all()
    pairs = true_pairs(DCG([1, 0], "constant"), lists)
    assert pairs.shape == (0, 2, 4)
    pairs = true_pairs(DCG([1, 0], "zipf"), lists)
    distinct = score_differences(DCG([1, 0], "zipf"), lists) != 0
    assert 0 < len(pairs) == distinct.sum() < 300
    assert agreement(DCG([1, 0], "zipf"), pairs) == 1.0


def test_a_reliable_judge_agrees_with_the_truth() -> None:
    sure = judged(2000, 0, reliability=1e9, indifference=1e-6)
    assert agreement(TRUTH, sure.pairs) == 1.0
    doubtful = judged(2000, 0, reliability=0.5, indifference=0.0)
    assert 0.6 < agreement(TRUTH, doubtful.pairs) < 0.9
    partial = judged(2000, 0, bias=0.5, indifference=0.0)
    assert (partial.answers == ANSWERS.index("a")).mean() > 0.55
    tied = judged(2000, 0, indifference=1.0)
    levels = [tied.lists[tied.answers == ANSWERS.index(level)].mean() for level in ("good", "bad")]
    assert levels[0] < levels[1] - 0.3  # grade indices: good ties hold better grades
    assert (judged(300, 5).lists == judged(300, 5).lists).all()


def test_bad_judges_and_lists_are_refused(rng: np.random.Generator) -> None:
    for options in ({"reliability": 0.0}, {"indifference": -1.0}, {"reliability": np.inf}):
        with pytest.raises(InputError, match=r"reliability|indifference"):
            judged(10, 0, **options)
    with pytest.raises(InputError, match="bias nan"):
        judged(10, 0, bias=np.nan)
    with pytest.raises(InputError, match="probabilities"):
        drawn_lists(5, 5, [0.5, 0.4], rng)
    with pytest.raises(InputError, match="shortest"):
        drawn_lists(5, 5, [0.5, 0.5], rng, shortest=6)


def test_intervals_cover_and_know_clusters(rng: np.random.Generator) -> None:
    """Against normal theory where clusters are alike, and wider where they are not."""
    n = 400
    values = rng.normal(size=(n, 1))
    alone = clustered_intervals(values, np.arange(n), np.ones(n), rng)[0]
    half = norm.ppf(0.975) * values.std() / np.sqrt(n)
    assert alone == pytest.approx([values.mean() - half, values.mean() + half], abs=0.03)
    groups = np.repeat(np.arange(20), 20)
    together = rng.normal(size=20)[groups][:, None]
    clustered = clustered_intervals(together, groups, np.ones(n), rng)[0]
    naive = clustered_intervals(together, np.arange(n), np.ones(n), rng)[0]
    assert np.ptp(clustered) > 3 * np.ptp(naive)


def test_weightless_queries_do_not_spoil_intervals(rng: np.random.Generator) -> None:
    weights = np.array([1, 1, 1, 0, 0, 0.0])
    bounds = clustered_intervals(rng.random((6, 2)), np.arange(6), weights, rng)
    assert np.isfinite(bounds).all()
    one = clustered_intervals(rng.random((2, 1)), np.zeros(2, int), np.ones(2), rng)
    assert np.isnan(one).all()


def test_learned_is_compared_on_queries_it_has_not_seen() -> None:
    data = judged(400, 1, reliability=2.0)
    found = compare(
        data, usual_presets(SCALE, 5), DCGLearner(), np.random.default_rng(0), n_folds=4
    )
    assert [row.name for row in found.rows[:2]] == [LEARNED_DCG, LEARNED_UTILITY]
    assert found.rows[0].ahead is None
    for row in found.rows:
        assert row.low <= row.agreement <= row.high
    for row in found.rows[1:]:
        assert row.ahead == pytest.approx(found.rows[0].agreement - row.agreement)
        assert row.verdict in ("learned better", "learned worse", "undecided")
    binary = next(row for row in found.rows if row.name.startswith("binary"))
    assert binary.verdict == "learned better"
    json.dumps(found.to_json())
    again = compare(
        data, usual_presets(SCALE, 5), DCGLearner(), np.random.default_rng(0), n_folds=4
    )
    assert again == found
    other = compare(
        data, {"zipf": DCG([2, 1, 0], "zipf")}, DCGLearner(), np.random.default_rng(0), "utility", 4
    )
    assert other.learned == LEARNED_UTILITY


def test_a_label_that_only_training_could_know_is_not_known() -> None:
    """With answers drawn by lot, cross-validation must find about one half."""
    rng = np.random.default_rng(4)
    lists = drawn_lists(300, 5, [0.3, 0.3, 0.4], rng)
    answers = rng.choice(["a", "b"], 300)
    data = Preferences.of(lists, answers, SCALE, queries=[f"q{i}" for i in range(300)])
    found = compare(data, {}, DCGLearner(C=100), np.random.default_rng(0))
    assert abs(found.rows[0].agreement - 0.5) < 0.08
    assert DCGLearner(C=100).fit(data.pairs).score(data.pairs) > 0.55


def test_c_is_chosen_inside_each_fold() -> None:
    data = judged(150, 2)
    seen: list[tuple[int, int]] = []
    found = compare(
        data,
        {},
        DCGLearner(),
        np.random.default_rng(0),
        n_folds=2,
        tune=True,
        advance=lambda done, total: seen.append((done, total)),
    )
    assert len(found.C) == 2
    assert set(found.C) <= {10.0**p for p in range(-4, 4)}
    assert seen == [(1, 3), (2, 3)]


def test_nothing_to_compare_on_is_refused() -> None:
    data = judged(50, 3)
    one_query = data.take(data.queries == data.queries[0])
    ties = data.take(~data.strict)
    for part, problem in ((one_query, "queries"), (ties, "no strict")):
        with pytest.raises(InputError, match=problem):
            compare(part, {}, DCGLearner(), np.random.default_rng(0))


def learned_in_the_papers_design(n: int, seed: int, truth: DCG = DATA_1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return DCGLearner(n_grades=5).fit(true_pairs(truth, permuted_lists(n, rng))).weights_


@pytest.mark.parametrize("truth", [DATA_1, DATA_2])
def test_the_papers_similarity_stays_at_its_limit(truth: DCG) -> None:
    """However many pairs of one list's permutations are seen: cos(c, c - c_K) = .8917."""
    c = 1 / np.log(np.arange(2, 12))
    limit = c @ (c - c[-1]) / np.linalg.norm(c) / np.linalg.norm(c - c[-1])
    assert round(limit, 4) == 0.8917
    W = truth.matrix_for(10)
    assert similarity(W, learned_in_the_papers_design(3000, 0, truth)) == pytest.approx(
        limit, abs=0.01
    )


@pytest.mark.parametrize(("n", "known"), [(20, 0.76), (100, 0.957), (200, 0.982), (3000, 0.999)])
def test_the_identifiable_part_becomes_exact(n: int, known: float) -> None:
    W = DATA_1.matrix_for(10)
    repeats = 8 if n <= 200 else 1
    found = [
        identifiable_similarity(W, learned_in_the_papers_design(n, seed)) for seed in range(repeats)
    ]
    assert np.mean(found) == pytest.approx(known, abs=0.03 if n == 20 else 0.01)


def test_similarities_of_odd_input() -> None:
    assert similarity(np.ones((2, 2)), np.eye(2)) == 0.0
    assert similarity(np.eye(2), -np.eye(2)) == pytest.approx(-1)
    with pytest.raises(InputError, match="shapes"):
        similarity(np.eye(2), np.eye(3))


def test_pairs_with_an_optimal_list(rng: np.random.Generator) -> None:
    same = sorted_against_shuffled(50, rng)
    assert (same[:, 0] == BASE_LIST).all()
    assert (np.sort(same[:, 1], axis=1) == BASE_LIST).all()
    other = sorted_against_another(500, 6, 4, rng)
    assert (np.diff(other[:, 0], axis=1) >= 0).all()
    assert (np.diff(other[:, 1], axis=1) < 0).any()
    assert np.bincount(other.ravel()) == pytest.approx(1500, abs=150)


def test_noise_is_of_exactly_the_size_asked_for(rng: np.random.Generator) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(200, rng))
    before = pairs.copy()
    turned = flip_pairs(pairs, 40, rng)
    assert sum(int((a == b[::-1]).all()) for a, b in zip(turned, pairs, strict=True)) == 40
    wrong = misgrade_pairs(pairs, 400, 5, rng)
    assert (wrong != pairs).sum() == 400
    assert 0 <= wrong.min() <= wrong.max() <= 4
    assert (pairs == before).all()
    short = np.array([[[0, -1], [1, 0]]], np.int8)
    assert misgrade_pairs(short, 3, 2, rng).tolist() == [[[1, -1], [0, 1]]]
    for wrong_call in (
        lambda: flip_pairs(pairs, 201, rng),
        lambda: flip_pairs(pairs, -1, rng),
        lambda: misgrade_pairs(pairs, 4001, 5, rng),
        lambda: misgrade_pairs(pairs, 1, 1, rng),
    ):
        with pytest.raises(InputError, match="use 0"):
            wrong_call()


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
def test_precision_where_others_replicated_the_paper(
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
        return DCGLearner(n_grades=5).fit(train).score(test)
    train, held_out = flip_pairs(train, 40, rng), pairs(1000, "permutations")
    learners = [DCGLearner(n_grades=5, C=10.0**p).fit(train) for p in range(-4, 4)]
    return max(learners, key=lambda one: one.score(held_out)).score(test)


def test_intervals_of_parameters_hold_the_truth_about_as_often_as_they_say() -> None:
    held = []
    for seed in range(10):
        data = judged(400, seed, reliability=2.0, indifference=0.0)
        learner = DCGLearner(n_grades=3).fit(data.pairs)
        found = parameter_intervals(learner, data, np.random.default_rng(0), 40)
        assert found.gains[0].tolist() == [1, 1]  # fixed
        assert found.gains[2].tolist() == [0, 0]
        assert found.discounts[0].tolist() == [1, 1]
        c = 1 / np.log2(np.arange(2, 7))
        held += list((found.discounts[1:, 0] <= c[1:]) & (c[1:] <= found.discounts[1:, 1]))
        held.append(found.gains[1, 0] <= 0.5 <= found.gains[1, 1])
    assert 0.8 <= np.mean(held) <= 1.0


def test_intervals_are_the_same_for_the_same_seed_and_narrow_with_more_data() -> None:
    few, many = judged(150, 1), judged(1500, 1)
    widths = []
    for data in (few, many):
        learner = DCGLearner(n_grades=3).fit(data.pairs, sample_weight=data.pair_weights)
        one, two = (
            parameter_intervals(learner, data, np.random.default_rng(5), 20) for _ in range(2)
        )
        assert (one.gains == two.gains).all()
        assert (one.discounts == two.discounts).all()
        assert one.left_out == 0
        widths.append(np.ptp(one.discounts, axis=1).mean())
    assert widths[1] < 0.6 * widths[0]


def test_intervals_need_queries() -> None:
    data = judged(40, 3)
    one = data.take(data.queries == data.queries[np.flatnonzero(data.strict)[0]])
    learner = DCGLearner(n_grades=3).fit(data.pairs)
    with pytest.raises(InputError, match="intervals from judgments of 1 query"):
        parameter_intervals(learner, one, np.random.default_rng(0), 5)


@pytest.mark.parametrize(
    ("K", "n", "known"), [(5, 20, 0.795), (5, 100, 0.94), (10, 20, 0.616), (10, 200, 0.856)]
)
def test_precision_without_grades(K: int, n: int, known: float) -> None:
    """Section 8, figure 13: rankings of one set of documents, relevant as in the base list."""
    grades = np.arange(5) if K == 5 else np.array(BASE_LIST)
    truth = DCG(np.array(DATA_1.gains)[grades], "log2")
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        train, test = (
            true_pairs(truth, permuted_lists(size, rng, np.arange(K))) for size in (n, 3000)
        )
        found.append(DCGLearner(encoding="documents").fit(train).score(test))
    assert np.mean(found) == pytest.approx(known, abs=0.03)
