"""Reliability, held-out log loss and the test of the link."""

from __future__ import annotations

import numpy as np
import pytest

from dcglearn import InputError, JudgmentModel, Preferences, held_out, link_test, reliability
from helpers.simulated import SCALE, every_answer


def answered(n: int, seed: int, noise: str, lapses: float = 0.0) -> Preferences:
    """Strict judgments by a judge whose noise has the given distribution."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 3, size=(n, 2, 4))
    utility = (3 * np.outer([1, 0.7, 0.5, 0.4], [1, 0.5, 0]))[np.arange(4), lists].sum(axis=2)
    error = {
        "logistic": rng.logistic(size=n),
        "normal": 1.7 * rng.standard_normal(n),
        "heavy": rng.standard_cauchy(n),
    }[noise]
    a = utility[:, 0] - utility[:, 1] + error > 0
    random = rng.random(n) < lapses
    a[random] = rng.random(int(random.sum())) < 0.5
    return Preferences.of(lists, np.where(a, "a", "b"), SCALE)


def test_reliability_of_a_right_model() -> None:
    fit = JudgmentModel(discounts="log2").fit(answered(4000, 1, "logistic", 0.1))
    groups = reliability(fit)
    assert [one.judgments for one in groups] == [
        len(fit.likelihood.evidence) // 5 + i
        for i in (
            *[1] * (len(fit.likelihood.evidence) % 5),
            *[0] * (5 - len(fit.likelihood.evidence) % 5),
        )
    ]
    for one in groups:
        spread = np.sqrt(one.expected * (1 - one.expected) / one.judgments)
        assert abs(one.observed - one.expected) < 4 * spread
    assert [one.expected for one in groups] == sorted(one.expected for one in groups)[::-1]


def test_reliability_weighs_judgments() -> None:
    data = every_answer(300, 2)
    doubled = Preferences.of(
        data.lists,
        np.array(["a", "b", "tie", "good", "bad"])[data.answers],
        SCALE,
        2 * data.weights,
        data.queries,
    )
    model = JudgmentModel(discounts="log2", lapses=False)
    one, two = (reliability(model.fit(part), 1)[0] for part in (data, doubled))
    assert one.observed == pytest.approx(two.observed)


def test_held_out_log_loss_by_hand() -> None:
    """Two queries: each is predicted by the model of the other."""
    data = every_answer(200, 3)
    queries = np.where(np.arange(200) < 100, "left", "right")
    words = np.array(["a", "b", "tie", "good", "bad"])[data.answers]
    data = Preferences.of(data.lists, words, SCALE, data.weights, queries)
    model = JudgmentModel(discounts="log2")
    found = held_out(model, data, np.random.default_rng(0), n_folds=2)
    total, weight = 0.0, 0.0
    for train, test in ((data[:100], data[100:]), (data[100:], data[:100])):
        one = model.fit(train).on(test)
        assert one is not None
        total -= one.log_likelihood
        weight += one.evidence.judged.weights.sum()
    assert found.log_loss == pytest.approx(total / weight)
    assert found.n_folds == 2


def test_held_out_needs_two_queries() -> None:
    one = Preferences.of([[[0, 1], [1, 1]]] * 6, ["a"] * 6, SCALE, None, ["q"] * 6)
    with pytest.raises(InputError, match="query"):
        held_out(JudgmentModel(discounts="log2"), one, np.random.default_rng(0))


def test_ties_are_predicted_as_well() -> None:
    data = every_answer(400, 4)
    found = held_out(JudgmentModel(ties="davidson"), data, np.random.default_rng(0), n_folds=5)
    assert 0 < found.log_loss < np.log(4)


def test_the_link_of_a_logistic_judge_is_not_rejected_too_often() -> None:
    model = JudgmentModel(discounts="log2")
    p = [link_test(model.fit(answered(400, seed, "logistic", 0.05))).p for seed in range(60)]
    assert 0 <= sum(one < 0.05 for one in p) <= 9  # 3 expected; more with probability .0025


def test_heavy_and_light_tails_are_noticed() -> None:
    model = JudgmentModel(discounts="log2", lapses=False)
    heavy = link_test(model.fit(answered(3000, 5, "heavy")))
    assert heavy.gamma < 0
    assert heavy.p < 1e-6
    light = link_test(model.fit(answered(20_000, 6, "normal")))
    assert light.gamma > 0
    assert light.p < 0.01
