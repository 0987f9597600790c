"""The likelihood of cells is that of everybody else, and samples grow block by block."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dcglearn import JudgmentFit, JudgmentModel, Preferences, Scale, link_test
from dcglearn.inference.covariance import covariance
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.highest import highest_posterior
from dcglearn.inference.likelihood import Likelihood, Rows
from dcglearn.trials.counted_likelihood import CountedLikelihood

SCALE = Scale((2, 1, 0))
MODELS = [
    JudgmentModel(),
    JudgmentModel(side=False),
    JudgmentModel(gains="power:free", discounts="zipf:free"),
    JudgmentModel(position_dependent=True),
    JudgmentModel(ties="davidson"),
    JudgmentModel(ties="davidson", gains="linear"),
]


def random_judgments(n: int, ties: str, rng: np.random.Generator) -> Preferences:
    lists = rng.integers(-1, 3, (n, 2, 5))
    names = ["a", "b"] if ties == "strict" else ["a", "b", "tie"]
    answers = [names[i] for i in rng.integers(0, len(names), n)]
    queries = [f"q{i}" for i in rng.integers(0, 40, n)]
    weights = 0.5 + rng.random(n)
    return Preferences.of(lists, answers, SCALE, weights, queries if n % 2 else None)


def both(model: JudgmentModel, data: Preferences) -> tuple[CountedLikelihood, Likelihood]:
    plain = model.likelihood(Evidence.of(data, model.ties), SCALE)
    parts = (plain.evidence, plain.family, plain.ties, plain.side, plain.lapses)
    return CountedLikelihood(*parts), plain


def of_rows(one: Likelihood, x: np.ndarray) -> tuple[np.ndarray, ...]:
    def matrices(rows: Rows) -> tuple[np.ndarray, ...]:
        return one.scores(x, rows), *one.information_rows(x, rows)

    return one.sum_over_rows(x, matrices)[0]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n", [301, 6000])
def test_sums_over_codes_are_those_over_judgments(
    model: JudgmentModel, n: int, rng: np.random.Generator
) -> None:
    counted, plain = both(model, random_judgments(n, model.ties, rng))
    assert counted.has_short_way
    assert (counted.coded.X is None) == (n > 4000)
    start = plain.start + 0.3 * rng.random(plain.n_parameters)
    for lapses, steepness in itertools.product((0.2, 1e-5, 0.0), (1, 30, 1000)):
        x = steepness * start
        x[plain.index("lapses")] = lapses
        for found, twin in zip(counted.expand(x), plain.expand(x), strict=True):
            scale = np.abs(twin).max()
            np.testing.assert_allclose(found, twin, rtol=1e-11, atol=1e-12 * scale)
        assert counted.log_likelihood(x) == pytest.approx(plain.log_likelihood(x), rel=1e-12)
        for found, twin in zip(of_rows(counted, x), of_rows(plain, x), strict=True):
            np.testing.assert_allclose(found, twin, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n", [300, 301])
def test_so_are_covariances_and_the_test_of_the_link(
    model: JudgmentModel, n: int, rng: np.random.Generator
) -> None:
    """With each judgment a cluster of its own, and in clusters."""
    fits = [
        JudgmentFit(model, SCALE, *highest_posterior(one))
        for one in both(model, random_judgments(n, model.ties, rng))
    ]
    counted, plain = (covariance(fit.likelihood, fit.maximum) for fit in fits)
    scale = np.abs(plain.robust).max()
    assert counted.robust == pytest.approx(plain.robust, rel=1e-4, abs=1e-6 * scale)
    direction = np.eye(len(plain.robust))[0]
    assert counted.degrees_of_freedom(direction) == pytest.approx(
        plain.degrees_of_freedom(direction), rel=1e-4
    )
    assert link_test(fits[0]).t == pytest.approx(link_test(fits[1]).t, rel=1e-3, abs=1e-5)


def test_rao_kuppers_ties_and_many_judgments_are_left_to_the_general_likelihood(
    rng: np.random.Generator,
) -> None:
    counted, plain = both(
        JudgmentModel(ties="rao-kupper"), random_judgments(200, "rao-kupper", rng)
    )
    assert not counted.has_short_way
    x = plain.start
    assert counted.expand(x).value == plain.expand(x).value
    assert counted.log_likelihood(x) == plain.log_likelihood(x)
    counted, plain = both(JudgmentModel(), random_judgments(33_000, "strict", rng))
    assert not counted.has_short_way
    assert counted.expand(plain.start).value == plain.expand(plain.start).value


def test_an_adjusted_cluster_of_one_judgment_is_a_root_of_its_information(
    rng: np.random.Generator,
) -> None:
    """(I - r r')^-1/2 u, from its eigenvalues, for few judgments that each decide a lot."""
    counted, _ = both(JudgmentModel(gains="linear"), random_judgments(20, "strict", rng))
    counted, maximum = highest_posterior(counted)
    found = covariance(counted, maximum).clusterings[0]
    whitened = counted.sum_over_rows(
        maximum.parameters, lambda rows: counted.scores(maximum.parameters, rows)
    )[0]
    root = covariance(counted, maximum).root
    scores = counted.evidence.weights[:, None] * whitened @ root
    assert (found.rows**2).sum(axis=1).max() > 0.1
    for u, r, step in zip(scores, found.rows, found.steps, strict=True):
        if r @ r > 0.02:
            values, vectors = np.linalg.eigh(np.eye(len(r)) - np.outer(r, r))
            adjusted = vectors @ ((vectors.T @ u) / np.sqrt(np.maximum(values, 0.02)))
            assert step == pytest.approx(root @ adjusted, rel=1e-9, abs=1e-12)
