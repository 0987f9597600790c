"""Reliability, held-out log loss, the test of the link, and judges who lapse more or less often."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from dcglearn import InputError, JudgmentFit, JudgmentModel, Preferences, Scale, held_out, link_test
from dcglearn.inference.estimate import JudgeLapses, judge_lapses
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
    model, data = JudgmentModel(discounts="log2"), answered(4000, 1, "logistic", 0.1)
    groups = held_out(model, data, np.random.default_rng(0)).groups
    used = np.array_split(np.arange(len(model.evidence(data))), 5)
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


# --- judges who lapse


MODEL = JudgmentModel(discounts="log2")


def of_people(lapses: list[float], n: int, seed: int) -> Preferences:
    """Judgments of people of whom each answers a share at random."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 3, size=(n, 2, 4))
    judges = rng.integers(0, len(lapses), n)
    W = np.outer(3 / np.log2(np.arange(2, 6)), [1, 1 / 3, 0])
    utility = W[np.arange(4), lists].sum(axis=2)
    e = np.array(lapses)[judges]
    a = rng.random(n) < e / 2 + (1 - e) * expit(utility[:, 0] - utility[:, 1])
    names = [f"judge {number:02}" for number in judges]
    return Preferences.of(lists, np.where(a, "a", "b"), Scale((2, 1, 0)), judges=names)


def found(data: Preferences) -> tuple[JudgmentFit, JudgeLapses, list[str]]:
    fit = MODEL.fit(data)
    evidence = fit.evidence
    names: dict[int, str] = dict(
        zip(evidence.judged.judges.tolist(), data.judges[evidence.rows].tolist(), strict=True)
    )
    return fit, judge_lapses(fit.likelihood, fit.parameters), [names[i] for i in range(len(names))]


def test_random_judges_are_told_from_careful_ones() -> None:
    _, lapses, names = found(of_people([0.02] * 20 + [0.9] * 4, 4000, 1))
    worst = {names[i] for i in np.argsort(-lapses.mean)[:4]}
    assert worst == {f"judge {number}" for number in range(20, 24)}
    assert lapses.low[lapses.mean > 0.5].min() > lapses.high[lapses.mean < 0.2].max()
    assert ((lapses.low <= lapses.mean) & (lapses.mean <= lapses.high)).all()


def test_a_share_of_random_answers_is_estimated_even_where_most_are() -> None:
    data = of_people([0.8], 30_000, 9)
    share = replace(MODEL, judges=False).fit(data).other("lapses")
    assert share.low < 0.8 < share.high
    assert share.high - share.low < 0.1


def test_unlike_judges_make_intervals_narrower() -> None:
    data = of_people([0.02] * 24 + [0.9] * 8, 3000, 5)
    wide, narrow = (replace(MODEL, judges=judges).fit(data).gains()[1] for judges in (False, True))
    assert narrow.high - narrow.low < 0.95 * (wide.high - wide.low)
    assert narrow.low < 1 / 3 < narrow.high


def test_gradient_with_judges() -> None:
    likelihood = MODEL.fit(of_people([0.05] * 5 + [0.6] * 3, 400, 6)).likelihood
    relative = likelihood.evidence.relative_lapses
    assert relative is not None
    most = likelihood.bounds[1][likelihood.places["lapses"].start]
    assert 0.9 < most * relative.max() < 1, "no judge answers at random more often than always"
    x = likelihood.start.copy()
    x[likelihood.places["lapses"].start] = 0.1 / relative.max()
    at = likelihood.expand(x)
    for i, step in enumerate(1e-6 * np.eye(len(x))):
        up, down = likelihood.expand(x + step), likelihood.expand(x - step)
        assert at.gradient[i] == pytest.approx((up.value - down.value) / 2e-6, rel=1e-4, abs=1e-3)
        second = (up.gradient - down.gradient) / 2e-6
        np.testing.assert_allclose(at.hessian[i], second, rtol=1e-4, atol=1e-2)
