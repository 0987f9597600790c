"""Reliability, held-out log loss and the test of the link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcglearn import InputError, JudgmentModel, Preferences, held_out, link_test, reliability
from dcglearn.inference.evidence import Evidence
from dcglearn.judgments.preferences import concatenated
from helpers.simulated import SCALE, every_answer, utilities, with_ids


def answered(n: int, seed: int, noise: str, lapses: float = 0.0) -> Preferences:
    """Strict judgments by a judge whose noise has the given distribution."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 3, size=(n, 2, 4))
    utility = utilities(3 * np.outer([1, 0.7, 0.5, 0.4], [1, 0.5, 0]), lists)
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
    used = np.array_split(np.arange(len(fit.evidence)), 5)
    assert [one.judgments for one in groups] == list(map(len, used))
    for one in groups:
        spread = np.sqrt(one.expected * (1 - one.expected) / one.judgments)
        assert abs(one.observed - one.expected) < 4 * spread
    assert [one.expected for one in groups] == sorted(one.expected for one in groups)[::-1]


def test_held_out_log_loss_by_hand() -> None:
    """Three queries: each is predicted by the model of the others, whatever is not used."""
    data = with_ids(every_answer(210, 3), ["left"] * 70 + ["middle"] * 40 + ["right"] * 100)
    same = Preferences.of([[[0, 1], [0, 1]]], ["a"], SCALE, None, ["left"])
    data = concatenated([same, data])
    model = JudgmentModel(discounts="log2")
    found = held_out(model, data, np.random.default_rng(0), n_folds=3)
    total, weight, used = 0.0, 0.0, 0
    for query in ("left", "middle", "right"):
        one, others = (
            model.fit(data[data.queries != query]),
            Evidence.of(data[data.queries == query]),
        )
        total -= replace(one.likelihood, evidence=others).log_likelihood(one.parameters)
        weight, used = weight + others.judged.weights.sum(), used + len(others)
    assert found.log_loss == pytest.approx(total / weight)
    assert sum(one.judgments for one in found.groups) == used
    assert found.n_folds == 3


def test_held_out_needs_two_queries() -> None:
    one = Preferences.of([[[0, 1], [1, 1]]] * 6, ["a"] * 6, SCALE, None, ["q"] * 6)
    with pytest.raises(InputError, match="query"):
        held_out(JudgmentModel(discounts="log2"), one, np.random.default_rng(0))


def test_heavy_and_light_tails_are_noticed() -> None:
    model = JudgmentModel(discounts="log2", lapses=False)
    heavy = link_test(model.fit(answered(3000, 5, "heavy")))
    assert heavy.gamma < 0
    assert heavy.p < 1e-6
    light = link_test(model.fit(answered(20_000, 6, "normal")))
    assert light.gamma > 0
    assert light.p < 0.01
