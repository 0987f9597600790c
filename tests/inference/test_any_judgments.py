"""Judgments that say little, or what nobody expects: estimates reach a maximum, and say so."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from dcglearn import (
    InputError,
    JudgmentFit,
    JudgmentModel,
    Preferences,
    compare_segments,
    study_judgments,
)
from dcglearn.inference.families import any_weights
from dcglearn.inference.maximise import maximise
from dcglearn.report.study.page import headline, study_json, study_page
from helpers.simulated import logistic_judgments, scale_of

DISCOUNTS = ("free", "log2", "constant", "log:free", "decreasing", "convex")


def noise(n: int, seed: int, L: int = 3, K: int = 4) -> Preferences:
    """Judgments that depend on nothing."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, L, (n, 2, K))
    answers = rng.choice(["a", "b"], n).tolist()
    return Preferences.of(lists, answers, scale_of(L), None, [f"q{i // 3}" for i in range(n)])


def with_gains(gains: list[float], n: int, seed: int, K: int = 4) -> Preferences:
    """Judgments of a judge with these gains, by index of the grade, and log2."""
    W = 2 * np.outer(1 / np.log2(np.arange(2, K + 2)), gains)
    return logistic_judgments(W, n, np.random.default_rng(seed), per_query=3)


def gradient_in_W(fit: JudgmentFit) -> np.ndarray:
    """The gradient of the posterior in any W, shape (K, L - 1)."""
    K, L = fit.weights.shape
    anywhere = replace(fit.likelihood, family=any_weights(K, L))
    others = fit.parameters[fit.likelihood.n_weights :]
    gradient = anywhere.expand(np.concatenate([fit.weights[:, :-1].ravel(), others])).gradient
    return np.asarray(gradient[: K * (L - 1)].reshape(K, L - 1))


@pytest.mark.parametrize("discounts", DISCOUNTS)
def test_noise_has_a_maximum(discounts: str) -> None:
    """The gradient in W is 0 along the matrices c g', unless it leads out of the bounds."""
    for seed in range(6):
        fit = JudgmentModel(discounts=discounts).fit(
            noise((2, 20, 60)[seed % 3], seed, 3 + seed % 2)
        )
        family = fit.likelihood.family
        assert family.factored
        slopes = gradient_in_W(fit)
        product = family.at(fit.parameters[: fit.likelihood.n_weights])
        c, g = product.c, product.g
        of_gains, of_discounts = c.values @ slopes, c.jacobian.T @ slopes @ g.values[:-1]
        if discounts in ("decreasing", "convex"):  # the best gain and coefficients are 0 or more
            assert of_gains[0] == pytest.approx(0, abs=2e-4) or (
                of_gains[0] < 0 and g.values[0] == 0
            )
            held = fit.parameters[: len(of_discounts)] == 0
            assert np.abs(of_discounts[~held]).max(initial=0) < 2e-4
            assert (of_discounts[held] < 2e-4).all()
            of_gains = of_gains[1:]
        else:
            assert np.abs(of_discounts).max(initial=0) < 2e-4
        assert np.abs(of_gains).max() < 2e-4
        assert np.abs(fit.parameters).max() <= 100


def test_the_highest_of_several_maxima_is_kept() -> None:
    """Of few judgments: no search from anywhere else ends higher."""
    for seed in range(5):
        fit = JudgmentModel().fit(noise(40, seed))
        likelihood, rng = fit.likelihood, np.random.default_rng(seed)
        for _ in range(6):
            start = likelihood.start + rng.standard_normal(likelihood.n_parameters)
            start[likelihood.places["lapses"].start] = 0.3 * rng.random()
            other = maximise(likelihood.expand, start, likelihood.bounds)
            assert other.value < fit.maximum.value + 1e-6


def test_discounts_are_read_from_the_middle_grade_where_only_that_counts() -> None:
    data = with_gains([0.0, 1.0, 0.0], 1000, 3)
    fit = JudgmentModel().fit(data)
    discounts = fit.discounts()
    assert not fit.gains()[1].determined
    true = 1 / np.log2(np.arange(2, 6))
    for one, value in zip(discounts, true, strict=True):
        assert one.determined
        assert one.low - 1e-12 <= value <= one.high + 1e-12
    restored = pickle.loads(pickle.dumps(fit))  # noqa: S301 - our own bytes
    assert restored.discounts() == discounts
    found = restored.likelihood.expand(fit.parameters).value
    assert found == fit.likelihood.expand(fit.parameters).value


def test_better_grades_that_lose_are_worth_nothing_where_discounts_decrease() -> None:
    """With two grades W = 0 is the maximum; with three, the middle grade has a negative weight."""
    assert (
        not JudgmentModel(discounts="decreasing").fit(with_gains([-1.0, 0.0], 300, 1)).weights.any()
    )
    fit = JudgmentModel(discounts="decreasing").fit(with_gains([-1.0, -0.9, 0.0], 300, 1))
    assert not fit.weights[:, 0].any()
    assert fit.weights[0, 1] < 0
    assert not any(one.determined for one in fit.gains())
    assert not fit.gain_slopes.any()


@pytest.mark.filterwarnings("ignore:grades seem to be upside down")
@pytest.mark.parametrize(
    ("data", "support", "words"),
    [
        (noise(60, 0, 4), "open", "These judgments do not show that people"),
        (with_gains([-1.0, -0.7, 0.0], 600, 1), "reversed", "Better grades lose: people prefer"),
        (
            with_gains([0.0, 1.0, 0.0], 600, 2),
            "contradicted",
            "These judgments do not show that grade 2, the best one",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_study_proposes_nothing_that_judgments_do_not_show(
    data: Preferences, support: str, words: str
) -> None:
    study = study_judgments(data, "x", np.random.default_rng(0))
    assert study.conclusion.support == support
    assert f": not yet. {words}" in headline(study)[0]
    assert study.change == "not yet"
    assert study.proposed is None
    assert "proposed measure" not in study_page(study, "txt")
    json.dumps(study_json(study), allow_nan=False)


def test_groups_of_random_answers_have_nothing_to_compare() -> None:
    data = noise(300, 5)
    with pytest.raises(InputError, match="no gain or discount that could be compared"):
        compare_segments(data, ["x"] * 150 + ["y"] * 150)
