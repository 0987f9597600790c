"""Intervals and tests from the likelihood: against plain twins, and known answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from dcglearn import InputError, JudgmentFit, JudgmentModel, Preferences, likelihood_ratio
from dcglearn.inference.covariance import Covariance, ratio_interval
from helpers.simulated import (
    SCALE,
    every_answer,
    logistic_judgments,
    noisy_answers,
    utilities,
    with_ids,
)


def plain_cr2(fit: JudgmentFit, clusters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CR2 by its definition, with a matrix root per cluster; H^-1, and p_q of each parameter."""
    likelihood, x = fit.likelihood, fit.parameters
    free = fit.maximum.free
    information = likelihood.information(x) - likelihood.prior(x).hessian
    inverse = np.linalg.inv(information[np.ix_(free, free)])
    root = np.real(sqrtm(inverse))
    ((scores, rows_of),) = likelihood.map(
        x,
        lambda rows: likelihood.scores_and_information(x, rows),
    )
    parts = rows_of.transpose(1, 0, 2)
    middle, p = np.zeros_like(inverse), []
    for q in np.unique(clusters):
        rows = clusters == q
        u = scores[rows].sum(axis=0)[free]
        F = sum(part[rows][:, free].T @ part[rows][:, free] for part in parts)
        adjust = np.linalg.inv(np.real(sqrtm(np.eye(len(u)) - root @ F @ root)))
        e = root @ adjust @ root @ u
        middle += np.outer(e, e)
        p.append(np.diag(inverse @ F @ inverse))
    return middle, inverse, np.array(p)


def query_or_alone(fit: JudgmentFit) -> np.ndarray:
    """The number of each judgment's cluster."""
    numbers = fit.evidence.judged.queries
    return np.where(numbers < 0, -1 - np.arange(len(numbers)), numbers)


def test_cr2_is_that_of_its_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the judgments has no query: each is a cluster of its own."""
    data = every_answer(300, 11)
    data = with_ids(data, np.where(np.arange(300) % 5, data.queries, None))
    fit = JudgmentModel(ties="davidson", discounts="log2").fit(data)
    found = Covariance(fit.likelihood, fit.maximum)
    free = fit.maximum.free
    twin, *_ = plain_cr2(fit, query_or_alone(fit))
    np.testing.assert_allclose(found.robust[np.ix_(free, free)], twin, rtol=2e-3, atol=1e-9)
    monkeypatch.setattr("dcglearn.inference.covariance.SMALL_CLUSTER", 0.0)
    exact = Covariance(fit.likelihood, fit.maximum)
    np.testing.assert_allclose(exact.robust[np.ix_(free, free)], twin, rtol=1e-8, atol=1e-12)


def test_cr2_of_many_small_clusters_is_that_of_its_definition() -> None:
    """Their roots are approximated by I + F_q H^-1 / 2; a third of the judgments has no query."""
    data = every_answer(3000, 11)
    data = with_ids(data, np.where(np.arange(3000) % 3, data.queries, None))
    fit = JudgmentModel(ties="davidson", discounts="log2").fit(data)
    free = fit.maximum.free
    twin, *_ = plain_cr2(fit, query_or_alone(fit))
    np.testing.assert_allclose(fit.covariance.robust[np.ix_(free, free)], twin, rtol=3e-4)


def test_equal_clusters_have_one_degree_of_freedom_less() -> None:
    repeated = every_answer(40, 13)[np.tile(np.arange(40), 12)]
    data = with_ids(repeated, np.repeat([f"q{i}" for i in range(12)], 40))
    fit = JudgmentModel(discounts="log2", lapses=False).fit(data)
    contrasts = np.eye(fit.likelihood.n_parameters)
    assert fit.covariance.degrees_of_freedom(contrasts) == pytest.approx(11)
    assert fit.covariance.effective == pytest.approx(12)
    assert fit.covariance.design_effect == 1, "although no query differs from another"


@pytest.mark.parametrize(
    ("n", "seed", "n_judges", "negative"),
    [(90, 56, 26, True), (150, 24, 60, False), (150, 24, 22, False)],
)
def test_two_ways_of_clustering_are_those_of_the_definition(
    n: int, seed: int, n_judges: int, negative: bool
) -> None:
    """V_query + V_judge - V_both: for a contrast never less than either, and no eigenvalue < 0.

    Of the degrees of freedom by query and by judge the fewer count, and of few clusters one less
    than of clusters of equal weight.
    """
    data, rng = every_answer(n, seed), np.random.default_rng(1)
    judges = rng.permutation(np.arange(len(data)) % n_judges)
    both = with_ids(data, judges=[f"judge {i:02}" for i in judges])
    fit = JudgmentModel(ties="davidson", discounts="log2", judges=False).fit(both)
    free, used = fit.maximum.free, fit.evidence.rows
    by_query, by_judge = np.unique(data.queries, return_inverse=True)[1][used], judges[used]
    (query, inverse, *p), (judge, _, *more), (pair, *_) = (
        plain_cr2(fit, one) for one in (by_query, by_judge, by_query * n_judges + by_judge)
    )
    contrasts = np.eye(len(free))[free]
    for along, contrast in zip(np.eye(free.sum()), contrasts, strict=True):
        parts = [float(along @ V @ along) for V in (query, judge, query + judge - pair)]
        assert fit.covariance.variance(contrast) == pytest.approx(max(parts), rel=5e-3)
        inflation = max(parts) / (along @ inverse @ along)
        assert fit.covariance.inflation(contrast) == pytest.approx(inflation, rel=5e-3)
    values, vectors = np.linalg.eigh(query + judge - pair)
    twin = (vectors * np.maximum(values, 0)) @ vectors.T
    scale = np.abs(twin).max()
    np.testing.assert_allclose(
        fit.covariance.robust[np.ix_(free, free)], twin, rtol=5e-3, atol=5e-3 * scale
    )
    assert (values.min() < -0.1) == negative
    totals = [np.bincount(one, data.weights[used]) for one in (by_query, by_judge)]
    effective = min(sum(total) ** 2 / sum(total**2) for total in totals)
    assert fit.covariance.effective == pytest.approx(effective)
    df = np.min([x.sum(axis=0) ** 2 / (x**2).sum(axis=0) for x in p + more], axis=0)
    most = effective - 1 if effective < 20 else np.inf
    assert fit.covariance.degrees_of_freedom(contrasts) == pytest.approx(np.minimum(df, most))
    pooled = min(x.sum() ** 2 / (x.sum(axis=1) ** 2).sum() for x in p + more)
    found = fit.covariance.degrees_of_freedom(contrasts, pooled=True)
    assert found == pytest.approx([min(pooled, most)])
    effect = max(1.0, np.trace(np.linalg.solve(inverse, twin)) / free.sum())
    assert fit.covariance.design_effect == pytest.approx(effect, rel=5e-3)


@given(st.floats(-3, 3), st.floats(0.5, 3), st.floats(0.01, 0.3), st.floats(-0.9, 0.9))
def test_fieller_by_brute_force(above: float, below: float, sd: float, correlation: float) -> None:
    V = sd**2 * np.array([[1, correlation], [correlation, 1]])
    low, high = ratio_interval(above, below, V, 1.96)
    bounded = np.isfinite(low)
    r = np.linspace(-60, 60, 200_001)
    spread = np.sqrt(V[0, 0] - 2 * r * V[0, 1] + r**2 * V[1, 1])
    inside = np.abs(above - r * below) <= 1.96 * spread
    if bounded and low > -59 and high < 59:
        assert r[inside].min() == pytest.approx(low, abs=1e-3)
        assert r[inside].max() == pytest.approx(high, abs=1e-3)
    elif not bounded:
        assert inside[0] or inside[-1]


def test_a_design_of_permutations_does_not_determine_gains_and_discounts() -> None:
    """Lists that are permutations of one list leave an affine map of each open."""
    rng = np.random.default_rng(18)
    lists = rng.permuted(np.tile([0, 0, 1, 1, 2], (400, 2, 1)), axis=2)
    W = np.outer([3, 2, 1.5, 1.2, 1], [1, 0.5, 0])
    data = Preferences.of(lists, noisy_answers(utilities(W, lists), rng), SCALE)
    fit = JudgmentModel().fit(data)
    assert not any(one.determined for one in fit.discounts()[1:])


def test_models_that_are_not_nested_are_refused() -> None:
    data = every_answer(200, 21)
    one = JudgmentModel(discounts="zipf:free").fit(data)
    other = JudgmentModel(discounts="log:free").fit(data)
    with pytest.raises(InputError, match="do not hold"):
        likelihood_ratio(one, other)
    with pytest.raises(InputError, match="ties"):
        likelihood_ratio(one, JudgmentModel(ties="davidson").fit(data))
    with pytest.raises(InputError, match="only the smaller model has lapses"):
        likelihood_ratio(one, JudgmentModel(lapses=False).fit(data))


def test_known_answers_on_ecir2015(ecir: Preferences) -> None:
    """Estimates and ratios that were computed with another optimiser, without a prior."""

    def fitted(**family: object) -> JudgmentFit:
        return JudgmentModel(**family).fit(ecir)

    log2, free = fitted(discounts="log2"), fitted()
    gain = log2.gains()[1]
    assert gain.estimate == pytest.approx(0.654, abs=0.002)
    assert (gain.low, gain.high) == pytest.approx((0.557, 0.743), abs=0.025)
    assert log2.other("lapses").estimate == pytest.approx(0.041, abs=0.003)
    assert log2.other("side").estimate == pytest.approx(-0.135, abs=0.003)
    exponential = fitted(gains="exponential", discounts="log2")
    assert likelihood_ratio(exponential, log2).statistic == pytest.approx(49.1, abs=0.2)
    linear = fitted(gains="linear", discounts="log2")
    assert likelihood_ratio(linear, log2).statistic == pytest.approx(11.2, abs=0.2)
    no_lapses = fitted(discounts="log2", lapses=False)
    assert likelihood_ratio(no_lapses, log2).statistic == pytest.approx(14.2, abs=0.2)
    assert likelihood_ratio(log2, free).p > 0.1
    assert likelihood_ratio(free, fitted(position_dependent=True)).df == 4
    plain = {"lapses": False}
    free = fitted(**plain)
    for discounts, expected in (("log2", 5.4), ("constant", 52)):
        found = likelihood_ratio(fitted(discounts=discounts, **plain), free)
        assert (found.df, found.statistic) == (4, pytest.approx(expected, abs=0.3))
    any_weights = fitted(position_dependent=True, **plain)
    assert likelihood_ratio(free, any_weights).statistic == pytest.approx(4.2, abs=0.1)


def test_lapses_at_their_border_have_an_upper_bound() -> None:
    """No lapse is estimated, and few judgments do not exclude some."""
    found = []
    for n in (300, 3000):
        rng = np.random.default_rng(40)
        data = logistic_judgments(np.outer([5, 3, 2, 2], [1, 0.5, 0]) / 0.3, n, rng)
        found.append(JudgmentModel(discounts="log2").fit(data).other("lapses"))
    assert found[0].estimate == 0
    assert 0 < found[1].high < found[0].high < 0.2
