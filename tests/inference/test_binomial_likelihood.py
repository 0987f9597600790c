"""Counts of answers to each difference of lists give what the judgments one by one give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import JudgmentFit, JudgmentModel, LinearUtility, Preferences, Scale, link_test
from dcglearn.design.cells import cell_of, rng_for
from dcglearn.design.own_functions import NO_FUNCTIONS
from dcglearn.design.setting import Setting
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.highest import highest_posterior
from dcglearn.inference.likelihood import Likelihood
from dcglearn.trials.binomial_likelihood import (
    BinomialEvidence,
    BinomialFit,
    BinomialLikelihood,
    Differences,
    fit_counted,
)
from dcglearn.trials.certainty_cells import certainty
from dcglearn.trials.draws import training_lists, true_measure

SCALE = Scale((2, 1, 0))
MODELS = [
    JudgmentModel(),
    JudgmentModel(gains="linear"),
    JudgmentModel(gains="power:free", discounts="zipf:free"),
    JudgmentModel(position_dependent=True),
]


def differences_of(lists: np.ndarray, n_grades: int = 3) -> Differences:
    found = Differences.of(lists.astype(np.int8), n_grades)
    assert found is not None
    return found


def counted_and_plain(n: int, rng: np.random.Generator) -> tuple[BinomialEvidence, Evidence]:
    """Judgments of three ranks, so that most of them repeat, some with empty ranks."""
    lists = rng.integers(-1, 3, (n, 2, 3)).astype(np.int8)
    lists[: n // 5, 1] = lists[: n // 5, 0]
    answers = rng.integers(0, 2, n).astype(np.int8)
    answers[n // 2 :] = lists[n // 2 :, 0].sum(axis=1) < lists[n // 2 :, 1].sum(axis=1)
    data = Preferences.of(lists, np.array(["a", "b"])[answers].tolist(), SCALE)
    return BinomialEvidence.of_answers(differences_of(lists), answers), Evidence.of(data)


def both(model: JudgmentModel, n: int, rng: np.random.Generator) -> tuple[Likelihood, Likelihood]:
    counted, plain = counted_and_plain(n, rng)
    family = model.family(SCALE, 3)
    return BinomialLikelihood(counted, family), Likelihood(plain, family)


def fits(model: JudgmentModel, n: int, rng: np.random.Generator) -> tuple[BinomialFit, JudgmentFit]:
    counted, plain = counted_and_plain(n, rng)
    found = fit_counted(model, counted, SCALE)
    assert found is not None
    likelihood = model.likelihood(plain, SCALE)
    return found, JudgmentFit(model, SCALE, *highest_posterior(likelihood), None)


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 3), st.integers(1, 40))
def test_differences_are_those_of_encoded_lists(seed: int, K: int, L: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    lists, W = rng.integers(-1, L, (n, 2, K)), rng.integers(-50, 50, (K, L)).astype(float)
    found = differences_of(lists, L)
    exact = LinearUtility(W).score(lists.astype(np.int8))
    np.testing.assert_array_equal(found.scores(W), exact[:, 0] - exact[:, 1])
    x = found.coded.products(np.eye(K * L)).T
    assert len(np.unique(x, axis=0)) == len(x)
    assert x.any(axis=1).all()
    same = (lists[:, 0] == lists[:, 1]).all(axis=1)
    np.testing.assert_array_equal(found.of_pair == 0, same)


def test_lists_that_may_differ_in_too_many_ways_are_left_to_the_general_likelihood(
    rng: np.random.Generator,
) -> None:
    assert Differences.of(np.zeros((2, 2, 40), np.int8), 5) is None
    many = rng.integers(0, 5, (40_000, 2, 10)).astype(np.int8)
    assert Differences.of(many, 5) is None
    assert Differences.of(many[:1000], 5) is not None


@pytest.mark.parametrize("model", MODELS)
def test_sums_over_differences_are_those_over_judgments(
    model: JudgmentModel, rng: np.random.Generator
) -> None:
    counted, plain = both(model, 600, rng)
    assert len(counted.evidence) < len(plain.evidence)
    start = plain.start + 0.3 * rng.random(plain.n_parameters)
    for lapses in (0.2, 1e-5, 0.0):
        for steepness in (1, 30, 1000):
            x = steepness * start
            x[plain.index("lapses")] = lapses
            for found, twin in zip(counted.expand(x), plain.expand(x), strict=True):
                scale = np.abs(twin).max()
                np.testing.assert_allclose(found, twin, rtol=1e-10, atol=1e-12 * scale)
            assert counted.log_likelihood(x) == pytest.approx(plain.log_likelihood(x), rel=1e-12)


@pytest.mark.parametrize("n", [30, 600])
@pytest.mark.parametrize("model", MODELS)
def test_so_are_estimates_covariances_and_the_test_of_the_link(
    model: JudgmentModel, n: int, rng: np.random.Generator
) -> None:
    counted, plain = fits(model, n, rng)
    np.testing.assert_allclose(counted.weights, plain.weights, rtol=1e-5, atol=1e-6)
    assert counted.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-9)
    robust = plain.covariance.robust
    np.testing.assert_allclose(
        counted.covariance.robust, robust, rtol=1e-4, atol=1e-6 * np.abs(robust).max()
    )
    for direction in np.eye(len(robust)):
        if direction @ robust @ direction:
            found, twin = (fit.covariance.degrees_of_freedom(direction) for fit in (counted, plain))
            assert found == pytest.approx(twin, rel=1e-4)
    assert (counted.covariance.clusterings[0].rows ** 2).sum(axis=1).max() > 0.02
    link, twin_link = counted.link_test(), link_test(plain)
    assert (link.t, link.df) == pytest.approx((twin_link.t, twin_link.df), rel=1e-3, abs=1e-5)
    assert link.gamma == pytest.approx(twin_link.gamma, rel=1e-3, abs=1e-6)


def test_judgments_one_by_one_are_those_that_were_counted(rng: np.random.Generator) -> None:
    counted, plain = counted_and_plain(500, rng)
    alone = counted.one_by_one()
    assert type(alone) is Evidence
    assert len(alone) == len(plain)
    assert (counted.same_lists, alone.same_lists) == (plain.same_lists,) * 2
    assert not alone.has_query_ids
    found, twin = (Likelihood(one, JudgmentModel().family(SCALE, 3)) for one in (alone, plain))
    assert found.expand(found.start).value == pytest.approx(twin.expand(twin.start).value)


def test_other_models_and_certain_answers_are_left_to_the_general_way(
    rng: np.random.Generator,
) -> None:
    counted, _ = counted_and_plain(200, rng)
    for changed in ({"discounts": "decreasing"}, {"lapses": False}, {"side": False}):
        assert fit_counted(JudgmentModel(**changed), counted, SCALE) is None
    likelihood = BinomialLikelihood(counted, JudgmentModel().family(SCALE, 3))
    x = 100 * likelihood.start
    x[likelihood.index("lapses")] = 0.0
    assert likelihood.at(x) is None


def test_a_link_that_cannot_be_tested_is_not_rejected() -> None:
    """One difference of lists, right half of the time: nothing is left for the link."""
    lists = np.array([[[0], [1]], [[1], [0]]] * 2, np.int8)
    evidence = BinomialEvidence.of_answers(
        differences_of(lists, 2), np.array([0, 0, 1, 1], np.int8)
    )
    model, scale = JudgmentModel(gains="linear", discounts="log2"), Scale((1, 0))
    counted = fit_counted(model, evidence, scale)
    assert counted is not None
    plain = link_test(model.fit_evidence(evidence.one_by_one(), scale))
    for found in (counted.link_test(), plain):
        assert (found.gamma, found.t, found.p) == (0, 0, 1)


def test_one_judgment_is_one_cluster() -> None:
    lists = np.array([[[0, 1, 2], [1, 1, 2]]] * 2)
    for n, one in ((1, True), (2, False)):
        answers = np.zeros(n, np.int8)
        evidence = BinomialEvidence.of_answers(differences_of(lists[:n]), answers)
        found = fit_counted(JudgmentModel(), evidence, SCALE)
        assert found is not None
        assert found.covariance.one_cluster is one


@pytest.mark.parametrize(
    "changed",
    [
        {"lapses": 0.05, "hypotheses": ["linear-free in free-free", "free-free in positions"]},
        {"noise": "cauchy", "truth": "data-2"},
        {"lists": "permutations"},
        {"discounts": "decreasing"},
    ],
)
def test_cells_are_those_of_judgments_one_by_one(changed: dict[str, Any]) -> None:
    small = {"learner": "judgment-model", "base": [3, 2, 1, 1], "grades": 3, "pairs": 400}
    setting = Setting(**{"lists": "drawn", **small, **changed})
    cell = cell_of(setting, 1, 0)
    truth = true_measure(cell, NO_FUNCTIONS)
    lists = training_lists(cell, NO_FUNCTIONS, setting.pairs)
    results = [
        certainty(setting, truth, rng_for(cell, "training"), rng_for(cell, "judge"), drawn=drawn)
        for drawn in (differences_of(lists), lists, None)
    ]
    assert results[1] == results[2]
    assert results[0].keys() == results[1].keys()
    for key, value in results[0].items():
        assert value == pytest.approx(results[1][key], rel=1e-4, abs=1e-5), key
