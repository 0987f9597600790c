"""The likelihood of judgments: probabilities, derivatives, maxima against other optimisers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import beta, norm
from sklearn.linear_model import LogisticRegression

from dcglearn import InputError, JudgmentModel, Preferences, Scale, SolverError
from dcglearn.inference import evidence
from dcglearn.inference.answers import BAD, GOOD, TIE, A, B, answer_terms
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.likelihood import PRIOR_SD, Expanded, Likelihood, Rows
from dcglearn.inference.maximise import maximise
from helpers.simulated import SCALE, every_answer

TIES = ["strict", "davidson", "rao-kupper"]


def test_extreme_differences_are_finite() -> None:
    v = np.array([-2000.0, 2000.0])
    for ties in TIES:
        for lapses in (0.0, 0.1):
            given = np.array([A, B], np.int8), v, 1.0, np.zeros(2), lapses, ties, 0.5
            value, first, second = answer_terms(*given)
            for part in (value, *first.values(), *second.values()):
                assert np.isfinite(part).all()


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize(
    "family", [{}, {"gains": "power:free", "discounts": "zipf:free"}, {"position_dependent": True}]
)
def test_gradient_and_hessian(
    ties: str, empty: bool, family: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = every_answer(60, 3, empty)
    model = JudgmentModel(ties=ties, **family)
    likelihood = model.likelihood(Evidence.of(data, ties))
    assert likelihood.evidence.layout.empty == empty
    x, h = likelihood.start + 0.03, 1e-5
    at = likelihood.expand(x)
    for i in range(len(x)):
        step = np.zeros(len(x))
        step[i] = h
        up, down = likelihood.expand(x + step), likelihood.expand(x - step)
        assert at.gradient[i] == pytest.approx((up.value - down.value) / (2 * h), abs=1e-5)
        second = (up.gradient - down.gradient) / (2 * h)
        np.testing.assert_allclose(at.hessian[i], second, atol=1e-4)
    at_several(likelihood, np.stack([x, x + 0.1, x - 0.02]))
    monkeypatch.setattr(evidence, "CHUNK", 20)  # many judgments are summed in parts
    np.testing.assert_allclose(likelihood.expand(x).hessian, at.hessian, rtol=1e-9, atol=1e-9)


def at_several(likelihood: Likelihood, points: np.ndarray) -> None:
    """Check that several points are expanded as each alone is."""
    alone = [likelihood.expand(one) for one in points]
    for together, each in zip(likelihood.expand(points), zip(*alone, strict=True), strict=True):
        np.testing.assert_allclose(together, np.stack(each), rtol=1e-10, atol=1e-10)


def test_judges_who_lapse_more_than_others_do_so_at_each_of_several_points() -> None:
    data = replace(every_answer(60, 4), judges=np.array(["x", "y", "z"] * 20, object))
    for ties in TIES:
        judged = replace(Evidence.of(data, ties), relative_lapses=np.array([0.5, 1.0, 2.0]))
        likelihood = JudgmentModel(ties=ties).likelihood(judged)
        x = likelihood.start
        at_several(likelihood, np.stack([x, x + 0.01, x + 0.1]))
        alike = replace(likelihood, evidence=replace(judged, relative_lapses=np.ones(3)))
        assert alike.expand(x).value != likelihood.expand(x).value


def test_without_lapses_it_is_logistic_regression() -> None:
    data = every_answer(400, 5)
    model = JudgmentModel(position_dependent=True, lapses=False)
    found = model.fit(data)
    used = data[data.strict & (data.lists[:, 0] != data.lists[:, 1]).any(axis=1)]
    one_hot = np.eye(3)[used.lists][..., :2]
    X = (one_hot[:, 0] - one_hot[:, 1]).reshape(len(used), -1)
    X = np.hstack([X, np.ones((len(X), 1))])  # the side bias is penalised like the weights
    twin = LogisticRegression(C=PRIOR_SD**2, fit_intercept=False, tol=1e-12, max_iter=10_000)
    twin.fit(X, used.answers == A, sample_weight=used.weights)
    np.testing.assert_allclose(found.parameters, twin.coef_[0], atol=1e-6)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("discounts", ["free", "decreasing"])
def test_the_maximum_is_that_of_another_optimiser(ties: str, discounts: str) -> None:
    model = JudgmentModel(discounts=discounts, ties=ties)
    found = model.fit(every_answer(400, 6))
    likelihood = found.likelihood
    twin = minimize(
        lambda x: -likelihood.expand(x).value,
        likelihood.start,
        jac=lambda x: -likelihood.expand(x).gradient,
        bounds=list(zip(*likelihood.bounds, strict=True)),
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-8},
    )
    assert found.maximum.value == pytest.approx(-twin.fun, abs=1e-6)


@pytest.mark.parametrize(
    ("ties", "levels"),
    [("strict", False), *((ties, levels) for ties in TIES[1:] for levels in (True, False))],
)
def test_a_likelihood_written_plainly(ties: str, levels: bool) -> None:
    """Each answer by its formula; a lapse is any of the two, three or four answers."""
    data = every_answer(60, 7, levels=levels)
    likelihood = JudgmentModel(ties=ties, position_dependent=True).likelihood(
        Evidence.of(data, ties)
    )
    x = likelihood.start + np.linspace(-0.3, 0.4, likelihood.n_parameters)
    x[likelihood.places["lapses"].start] = 0.2
    W = likelihood.family.weights(x[: likelihood.n_weights])
    of = {name: likelihood.value_of(name, x) for name in (*likelihood.names, "level offset")}
    total = 0.0
    for lists, answer, weight in zip(data.lists, data.answers, data.weights, strict=True):
        if (lists[0] == lists[1]).all() or (ties == "strict" and answer > B):
            continue
        a, b = (sum(W[k, grade] for k, grade in enumerate(one)) for one in lists)
        v = a - b + of["side"]
        if ties == "davidson":
            all_three = np.exp(v / 2) + np.exp(-v / 2) + np.exp(of["ties"])
            p = {A: np.exp(v / 2) / all_three, B: np.exp(-v / 2) / all_three}
        else:
            t = of["ties"] if ties == "rao-kupper" else 0.0
            p = {A: expit(v - t), B: expit(-v - t)}
        if ties != "strict":
            p[TIE] = 1 - p[A] - p[B]
        kinds = len(p)
        if levels:
            good = expit(of["level offset"] + of["level slope"] * (a + b) / 2)
            p[GOOD], p[BAD], kinds = p[TIE] * good, p[TIE] * (1 - good), 4
        total += weight * np.log(0.2 / kinds + 0.8 * p[answer])
    assert likelihood.log_likelihood(x) == pytest.approx(total)


@pytest.mark.parametrize(
    ("ties", "levels"), [("strict", False), ("davidson", True), ("rao-kupper", False)]
)
def test_the_information_is_that_of_the_probabilities(ties: str, levels: bool) -> None:
    """The sum over judgments and answers of weight times P'P'^T / P, with P' by differences."""
    data = every_answer(60, 8, levels=levels)
    likelihood = JudgmentModel(ties=ties).likelihood(Evidence.of(data, ties))
    x, weights = likelihood.start + 0.1, likelihood.evidence.judged.weights

    def p(at: np.ndarray, answer: int) -> np.ndarray:
        def of_rows(rows: Rows) -> np.ndarray:
            return np.exp(likelihood.terms(at, rows, answer).value)

        return np.concatenate([*likelihood.map(at, of_rows)])

    expected = np.zeros((len(x), len(x)))
    for answer in likelihood.answers:
        steps = 1e-5 * np.eye(len(x))
        slopes = np.array([(p(x + h, answer) - p(x - h, answer)) / 2e-5 for h in steps])
        expected += slopes * (weights / p(x, answer)) @ slopes.T
    np.testing.assert_allclose(likelihood.information(x), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("ties", TIES)
def test_the_prior_is_normal_and_that_of_lapses_a_beta_distribution(ties: str) -> None:
    """With standard deviation 10, and Beta(1, 10); its information is minus its Hessian."""
    likelihood = JudgmentModel(ties=ties, position_dependent=True).likelihood(
        Evidence.of(every_answer(60, 7), ties)
    )
    n, at_lapses = likelihood.n_parameters, likelihood.places["lapses"].start
    others = np.arange(n) != at_lapses

    def found(x: np.ndarray) -> float:
        return likelihood.expand(x).value - likelihood.log_likelihood(x)

    def twin(x: np.ndarray) -> float:
        W = likelihood.family.weights(x[: likelihood.n_weights])
        rest = x[likelihood.n_weights :][others[likelihood.n_weights :]]
        sizes = np.concatenate([W.ravel(), rest])
        return float(norm(0, 10).logpdf(sizes).sum() + beta(1, 10).logpdf(x[at_lapses]))

    rng = np.random.default_rng(5)
    one, other = rng.uniform(0.5, 4.0, (2, n))
    one[at_lapses], other[at_lapses] = 0.1, 0.4
    assert found(one) - found(other) == pytest.approx(twin(one) - twin(other))
    h, information = 0.01, -likelihood.prior(one).hessian
    for i, step in enumerate(h * np.eye(n)):
        bend = (twin(one + step) - 2 * twin(one) + twin(one - step)) / h**2
        assert information[i, i] == pytest.approx(-bend, rel=0.001)


def test_separable_judgments_have_a_finite_estimate() -> None:
    lists = [[[0, 1], [1, 2]], [[0, 0], [2, 2]], [[1, 0], [2, 1]]] * 10
    data = Preferences.of(lists, ["a"] * 30, SCALE)
    found = JudgmentModel().fit(data)
    assert np.isfinite(found.weights).all()
    assert np.abs(found.weights).max() < 10 * PRIOR_SD
    assert not any(one.determined for one in found.discounts()[1:])


def test_bad_evidence() -> None:
    same = Preferences.of([[[0, 1], [0, 1]]], ["a"], SCALE)
    with pytest.raises(InputError, match="no judgment of lists that differ"):
        JudgmentModel().fit(same)
    shorter = Preferences.of([[[0, 0], [0, -1]]], ["a"], Scale((1,)))
    with pytest.raises(InputError, match="only one grade occurs"):
        JudgmentModel().fit(shorter)
    strict = Preferences.of([[[0, 1], [1, 1]]], ["a"], SCALE)
    with pytest.raises(InputError, match="there are no ties"):
        JudgmentModel(ties="davidson").fit(strict)


def test_a_function_without_maximum_is_an_error() -> None:
    def rising(x: np.ndarray) -> Expanded:
        return Expanded(x[:, 0], np.ones((1, 1)), np.full((1, 1, 1), 1e-3))

    with pytest.raises(SolverError, match="no maximum"):
        maximise(rising, np.zeros(1), (np.array([-np.inf]), np.array([np.inf])))
