"""Draws of measures: their order, their spread, and the prior before any judgment."""

from __future__ import annotations

import numpy as np
import pytest

from dcglearn import JudgmentModel, Preferences, Scale, learn_dcg
from dcglearn.inference.centres import SPREADS, before_judgments
from dcglearn.inference.usual import members_of

SCALE = Scale((2, 1, 0))


def judged(n: int, seed: int = 0) -> Preferences:
    """Answers by gains 1, .4, 0 and 1/rank, with logistic errors."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 3, (n, 2, 3))
    worth = (np.array([1, 0.4, 0])[lists] / np.arange(1, 4)).sum(axis=2)
    p = 1 / (1 + np.exp(-3 * (worth[:, 0] - worth[:, 1])))
    return Preferences.of(lists, np.where(rng.random(n) < p, "a", "b"), SCALE)


def test_gains_and_discounts_of_draws_fall(rng: np.random.Generator) -> None:
    drawn = learn_dcg(judged(40)).posterior.draw(200, rng)
    for numbers in (drawn.gains, drawn.discounts):
        assert (np.diff(numbers) < 0).all()
        assert numbers[:, 0] == pytest.approx(1)
    assert drawn.gains[:, -1] == pytest.approx(0, abs=1e-12)
    W = drawn.scale[:, None, None] * drawn.discounts[:, :, None] * drawn.gains[:, None, :]
    np.testing.assert_allclose(W, drawn.weights, rtol=1e-9, atol=1e-9)


def test_draws_spread_as_estimates_do(rng: np.random.Generator) -> None:
    """With much data the prior hardly matters: the intervals of the model without it."""
    data = judged(20_000)
    learned, (gain, *_) = learn_dcg(data), JudgmentModel().fit(data).gains()[1:]
    drawn = learned.posterior.draw(4_000, rng).gains[:, 1]
    assert drawn.mean() == pytest.approx(gain.estimate, abs=0.01)
    assert 2 * 1.96 * drawn.std() == pytest.approx(gain.high - gain.low, rel=0.15)
    fewer = learn_dcg(data, design_effect=4.0).posterior.draw(4_000, rng).gains[:, 1]
    assert fewer.std() == pytest.approx(2 * drawn.std(), rel=0.15)


def test_before_judgments_steps_are_those_of_the_prior(rng: np.random.Generator) -> None:
    lists = np.zeros((1, 2, 3), np.int8)
    prior = before_judgments(members_of("linear-log2", SCALE, lists))
    drawn = prior.draw(20_000, rng)
    steps = np.log((drawn.gains[:, 0] - drawn.gains[:, 1]) / drawn.gains[:, 1])
    variance = prior.share @ (2 * np.array(SPREADS) ** 2)
    assert steps.mean() == pytest.approx(0, abs=0.03)
    assert steps.var() == pytest.approx(variance, rel=0.05)
    assert np.log(drawn.scale).std() > 1.4
