"""Where answers do not depend on the grades, nothing about gains and discounts is rejected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, f

from dcglearn import JudgmentModel, Preferences, Scale, likelihood_ratio, usual_questions
from dcglearn.inference.tests import no_effect
from helpers.simulated import logistic_judgments, noisy_answers, utilities

SCALE = Scale((3, 2, 1, 0))
K, L = 5, 4


def with_effect(
    n: int, rng: np.random.Generator, effect: float = 0.0, side: float = 0.0, per_query: int = 1
) -> Preferences:
    W = effect * np.outer(1 / np.log2(np.arange(2, K + 2)), np.linspace(1, 0, L))
    return logistic_judgments(W, n, rng, side, per_query if per_query > 1 else 0)


def test_the_side_is_tested_nevertheless(rng: np.random.Generator) -> None:
    data = with_effect(400, rng, side=1.0)
    found = {(one.about, one.hypothesis): one.verdict for one in usual_questions(data)}
    assert [about for (about, _), verdict in found.items() if verdict == "rejected"] == ["side"]


@pytest.mark.parametrize("gains", [[0.3, 0.2, 0.1, 0], [0.5, 0, 0, 0.5], [3, 2, 1, 0]])
def test_they_are_hotellings_tests_of_the_answers_by_query(gains: list[float]) -> None:
    """Of answers times what lists differ in, in the direction of a usual measure, and in all."""
    discounts = 1 / np.log2([2, 3, 4, 5, 6])
    W = np.outer(discounts, gains)
    data = logistic_judgments(W, 1200, np.random.default_rng(3), per_query=4)
    found = no_effect(JudgmentModel(discounts="log2", side=False).fit(data))
    x = np.eye(L)[data.lists][..., :-1]
    signs = np.where(data.answers == 0, 1, -1)
    U = (x[:, 0] - x[:, 1]).reshape(-1, K * (L - 1)) * signs[:, None]
    of_queries = U.reshape(-1, 4, K * (L - 1)).sum(axis=1)
    usual = np.outer(discounts, [1, 2 / 3, 1 / 3]).reshape(-1, 1)
    p = [hotelling(of_queries @ usual), hotelling(of_queries)]
    assert found == pytest.approx(2 * min(p))


def hotelling(u: np.ndarray) -> float:
    """The p-value of mean 0 for rows of u, (Q, d), whose second moments are about 0."""
    Q, d = u.shape
    S, V = u.sum(axis=0), u.T @ u
    T = S @ np.linalg.solve(V, S)
    return float(f.sf(T / d * (Q - d) / (Q - T), d, Q - d))


def test_a_hypothesis_about_grades_is_not_surer_than_that_they_count() -> None:
    p = []
    for seed in range(5):
        data = with_effect(300, np.random.default_rng(seed), 0.1)
        small, large = (
            JudgmentModel(gains=gains, discounts="log2").fit(data) for gains in ("linear", "free")
        )
        p.append((likelihood_ratio(small, large, 0.0).p, no_effect(large)))
        assert likelihood_ratio(small, large).p == max(p[-1])
    assert any(alone < without_effect for alone, without_effect in p)


def test_a_side_bias_is_not_surer_than_the_answers_on_each_side(rng: np.random.Generator) -> None:
    """Where a is mostly the better list but wins half of the time, p is that of a sign test."""
    lists = rng.integers(0, L, (400, 2, K))
    W = 4 * np.outer(1 / np.log2(np.arange(2, K + 2)), np.linspace(1, 0, L))
    utility = utilities(W, lists)
    swap = (utility[:, 0] < utility[:, 1]) & (rng.random(400) < 0.5)
    lists[swap], utility[swap] = lists[swap][:, ::-1], utility[swap][:, ::-1]
    answers = noisy_answers(utility - np.array([1.3, 0.0]), rng)
    queries = np.arange(400) // 4
    data = Preferences.of(lists, answers, SCALE, None, [f"q{i}" for i in queries])
    small, large = (JudgmentModel(discounts="log2", side=side).fit(data) for side in (False, True))
    found = likelihood_ratio(small, large)
    sums = np.bincount(queries, (answers == "a") - 0.5)
    by_signs = hotelling(sums[:, None])
    assert found.p == pytest.approx(by_signs)
    assert by_signs > 0.05 > 1e-6 > chi2.sf(found.statistic, 1)


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_ties_and_judges(ties: str, rng: np.random.Generator) -> None:
    lists = rng.integers(0, L, (600, 2, K))
    better = lists[:, 0].sum(axis=1) < lists[:, 1].sum(axis=1)
    coin = np.array(["a", "b", "tie"])[rng.integers(0, 3, 600)]
    judges = [f"j{i % 7}" for i in range(600)]
    queries = [f"q{i // 3}" for i in range(600)]
    seen = np.where(rng.random(600) < 0.5, np.where(better, "a", "b"), coin)
    p = [
        no_effect(
            JudgmentModel(ties=ties, discounts="log2", judges=True).fit(
                Preferences.of(lists, answers.tolist(), SCALE, None, queries, judges)
            )
        )
        for answers in (coin, seen)
    ]
    assert p[0] > 0.01
    assert p[1] < 1e-4, "of seven judges"


def test_where_nothing_counts_no_judge_answers_at_random(rng: np.random.Generator) -> None:
    """Of eight judges with a side bias, three answer by a coin: p is that without judges."""
    data = with_effect(800, rng, 0.3, side=3.0, per_query=2)
    judges = np.arange(800) % 8
    a = np.where(judges < 3, rng.random(800) < 0.5, data.answers == 0)
    names = [f"judge {i}" for i in judges]
    data = Preferences.of(
        data.lists, np.where(a, "a", "b"), SCALE, None, data.queries.tolist(), names
    )
    apart, alike = (JudgmentModel(discounts="log2", judges=own).fit(data) for own in (True, False))
    assert no_effect(apart) == pytest.approx(no_effect(alike))
