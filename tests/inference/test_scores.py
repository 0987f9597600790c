"""Tests by scores of queries: by matrices, known answers, and where nothing depends on grades."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, f

from dcglearn import (
    JudgmentFit,
    JudgmentModel,
    Preferences,
    Scale,
    likelihood_ratio,
    usual_questions,
)
from dcglearn.inference.tests import (
    additivity_test,
    link_test,
    no_effect,
    score_test,
    verdict_of,
)
from dcglearn.lab.simulation.judges import DESIGNS, simulated_study
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
            x, lambda rows: likelihood.terms(x, rows).value * rows.judged.weights
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
    moved = null + 0.1 * np.eye(len(null))[at]
    found, _ = score_test(likelihood, moved, others, fit.maximum.free)

    u = scores_by_differences(fit, moved)
    H = likelihood.information(moved) - likelihood.prior(moved).hessian
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


@pytest.mark.parametrize(
    ("p", "verdict"),
    [
        (0.0099, "rejected"),
        (0.01, "near the line"),
        (0.0999, "near the line"),
        (0.1, "not rejected"),
    ],
)
def test_what_a_p_value_says(p: float, verdict: str) -> None:
    assert verdict_of(p) == verdict


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


# --- where answers do not depend on the grades, nothing about gains and discounts is rejected


SCALE = Scale((3, 2, 1, 0))
K, L = 5, 4


def test_a_judge_who_makes_no_errors_is_no_departure(rng: np.random.Generator) -> None:
    """The prior holds W back, so that answers are more certain than the model makes them."""
    exact = 1e6 * np.outer(1 / np.log2(np.arange(2, 7)), [1, 0.7, 0])
    fit = JudgmentModel().fit(logistic_judgments(exact, 600, rng))
    assert not additivity_test(fit).df
    assert link_test(fit).p == 1


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
