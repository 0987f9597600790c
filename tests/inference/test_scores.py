"""Tests by scores of queries: against explicit matrices, and known answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f

from dcglearn import JudgmentFit, JudgmentModel, Preferences, Scale, likelihood_ratio
from dcglearn.inference.calibration import additivity_test
from dcglearn.inference.tests import score_test
from dcglearn.lab.simulation.designs import DESIGNS, simulated_study
from helpers.simulated import (
    every_answer,
    logistic_judgments,
    noisy_answers,
    preset_judgments,
    utilities,
    with_ids,
)


def scores_by_differences(fit: JudgmentFit, at: np.ndarray) -> np.ndarray:
    """The gradient of each judgment's log likelihood, (n, P), by central differences."""
    likelihood = fit.likelihood

    def of_each(x: np.ndarray) -> np.ndarray:
        parts = likelihood.map(
            fit.evidence, x, lambda rows: likelihood.terms(x, rows).value * rows.judged.weights
        )
        return np.concatenate(list(parts))

    steps = 1e-5 * np.eye(len(at))
    return np.stack([(of_each(at + h) - of_each(at - h)) / 2e-5 for h in steps], axis=1)


@pytest.mark.parametrize("ties", ["strict", "davidson"])
@pytest.mark.parametrize("of_queries", [True, False])
def test_by_explicit_matrices(ties: str, of_queries: bool) -> None:
    """One discount is given: its efficient scores, summed by query, in Hotelling's formula."""
    queries = [f"q{i % 40}" if of_queries else None for i in range(240)]
    data = with_ids(every_answer(240, 5, levels=False), queries)
    model = JudgmentModel(gains="linear", discounts="zipf:free", ties=ties, lapses=False)
    fit = model.fit(data)
    null, likelihood = fit.parameters, fit.likelihood
    at = len(likelihood.family.discounts.start) - 1  # type: ignore[union-attr]  # a formula
    others = np.delete(np.eye(len(null)), at, axis=1)
    found = score_test(likelihood, null + 0.1 * np.eye(len(null))[at], others, fit.maximum.free)

    moved = null + 0.1 * np.eye(len(null))[at]
    u = scores_by_differences(fit, moved)
    H = likelihood.information(moved) + likelihood.prior_information(moved)
    rest = np.arange(len(null)) != at
    efficient = u[:, at] - u[:, rest] @ np.linalg.solve(H[np.ix_(rest, rest)], H[rest, at])
    clusters = fit.evidence.judged.queries
    Q = len(efficient)
    if of_queries:
        efficient = np.bincount(clusters, efficient)
        Q = len(np.unique(clusters))
    T = efficient.sum() ** 2 / (efficient**2).sum()
    assert found.df == 1
    assert found.statistic == pytest.approx(T, rel=1e-5)
    assert found.cluster_df == Q - len(null)
    assert found.p == pytest.approx(f.sf(T * (Q - len(null)) / (Q - T), 1, Q - len(null)), rel=1e-4)


def test_a_query_counts_once_however_often_it_is_judged() -> None:
    """All judgments of a query repeated ten times prove no more than once."""
    data = with_ids(every_answer(120, 7, levels=False), [f"q{i % 30}" for i in range(120)])
    p = []
    for times in (1, 10):
        many = data[np.tile(np.arange(120), times)]
        small, large = (
            JudgmentModel(gains=gains, lapses=False).fit(many) for gains in ("linear", "free")
        )
        p.append(likelihood_ratio(small, large, 0.0).p)
    assert p[1] == pytest.approx(p[0], abs=0.05)


def test_fewer_queries_than_parameters_say_nothing() -> None:
    few = with_ids(every_answer(200, 9, levels=False), [f"q{i % 5}" for i in range(200)])
    found = likelihood_ratio(JudgmentModel(discounts="constant").fit(few), JudgmentModel().fit(few))
    assert (found.df, found.p) == (0, 1.0)


def test_with_many_judges_p_is_the_larger_of_that_by_query_and_that_by_judge() -> None:
    data = every_answer(400, 8)
    names = [f"judge {i % 25}" for i in range(400)]
    p = []
    for used in (with_ids(data, judges=names), data, with_ids(data, names)):
        small, large = (
            JudgmentModel(gains=gains, discounts="log2", judges=False).fit(used)
            for gains in ("exponential", "free")
        )
        p.append(likelihood_ratio(small, large, 0.0).p)
    assert p[1] != pytest.approx(p[2], rel=0.1)
    assert p[0] == pytest.approx(max(p))


def test_a_share_of_lapses_that_is_held_at_0_is_not_a_parameter() -> None:
    data = preset_judgments("linear-log2", 400, 2)
    found = []
    for lapses in (True, False):
        small, large = (
            JudgmentModel(gains=gains, discounts="log2", lapses=lapses).fit(data)
            for gains in ("exponential", "free")
        )
        assert small.likelihood.value_of("lapses", small.parameters) == 0
        found.append(likelihood_ratio(small, large, 0.0))
    held, without = found
    assert (held.df, held.cluster_df) == (without.df, without.cluster_df)
    assert held.score == pytest.approx(without.score)
    assert held.p == pytest.approx(without.p)


@pytest.mark.parametrize(("ranks", "discounts"), [(4, "free"), (2, "free"), (2, "zipf:free")])
def test_of_two_grades_any_discounts_are_any_weights(ranks: int, discounts: str) -> None:
    """So a smaller model has the same test within both, however its W is found in them."""
    W = 2 * np.outer([1, 0.8, 0.5, 0.4][:ranks], [1, 0])
    data = logistic_judgments(W, 800, np.random.default_rng(0), per_query=2)
    small = JudgmentModel(discounts="constant", lapses=False).fit(data)
    product, any_weights = (
        likelihood_ratio(small, JudgmentModel(lapses=False, **wider).fit(data), 0.0)
        for wider in ({"discounts": discounts}, {"position_dependent": True})
    )
    assert product.df == any_weights.df == ranks - 1
    assert product.score == pytest.approx(any_weights.score)
    assert product.statistic == pytest.approx(any_weights.statistic)


@pytest.mark.parametrize(("weight", "df"), [(0.003, 0), (0.03, 1)])
def test_a_direction_counts_if_judgments_say_more_than_the_prior(weight: float, df: int) -> None:
    """Near W = 0, four judgments of a difference at rank 2 have the information 4 weight / 4."""
    W = 0.1 * np.outer([1, 1], [1, 0])
    lists = np.tile([[[0, 0], [1, 0]]], (200, 1, 1))
    lists[:4] = [[0, 0], [0, 1]]
    answers = noisy_answers(utilities(W, lists), np.random.default_rng(1))
    data = Preferences.of(lists, answers, Scale((1, 0)), [weight] * 4 + [1.0] * 196)
    small, large = (
        JudgmentModel(side=False, lapses=False, **wider).fit(data)
        for wider in ({"discounts": "constant"}, {"position_dependent": True})
    )
    assert likelihood_ratio(small, large, 0.0).df == df


@pytest.mark.parametrize(("design", "adds_up"), [("max", False), ("err", False), ("even", True)])
def test_whether_documents_add_up(design: str, adds_up: bool) -> None:
    rng = np.random.default_rng(3)
    fit = JudgmentModel().fit(simulated_study(DESIGNS[design], 5000, rng))
    found = additivity_test(fit)
    assert found.df == 10
    assert (found.p > 0.05) == adds_up
