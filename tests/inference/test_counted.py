"""Equal judgments are counted, with the same results; samples grow block by block."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dcglearn import JudgmentModel, Preferences, Scale, link_test
from dcglearn.inference import evidence
from dcglearn.inference.covariance import Covariance

SCALE = Scale((2, 1, 0))
MODELS = [
    JudgmentModel(),
    JudgmentModel(gains="power:free", discounts="zipf:free"),
    JudgmentModel(position_dependent=True),
    JudgmentModel(ties="davidson"),
]


def random_judgments(n: int, ties: str, rng: np.random.Generator) -> Preferences:
    lists = rng.integers(-1, 3, (n, 2, 3))
    names = ["a", "b"] if ties == "strict" else ["a", "b", "tie"]
    answers = [names[i] for i in rng.integers(0, len(names), n)]
    return Preferences.of(lists, answers, SCALE)


@pytest.mark.parametrize("model", MODELS)
def test_sums_over_distinct_judgments_are_those_over_all(
    model: JudgmentModel, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random_judgments(3000, model.ties, rng)
    counted = model.fit(data)
    assert (
        len(counted.likelihood.counted)
        < len(counted.evidence)
        == len(data) - ((data.lists[:, 0] == data.lists[:, 1]).all(axis=1).sum())
    )
    monkeypatch.setattr(evidence, "_FEWEST_COUNTED", 10_000)
    plain = model.fit(data)
    assert plain.likelihood.counted is plain.evidence
    start = plain.likelihood.start + 0.3 * rng.random(plain.likelihood.n_parameters)
    for lapses, steepness in itertools.product((0.2, 1e-5, 0.0), (1, 10)):
        x = steepness * start
        x[plain.likelihood.index("lapses")] = lapses
        for found, twin in zip(
            counted.likelihood.expand(x), plain.likelihood.expand(x), strict=True
        ):
            scale = np.abs(twin).max()
            np.testing.assert_allclose(found, twin, rtol=1e-10, atol=1e-11 * scale)
        found, twin = (one.likelihood.information(x) for one in (counted, plain))
        np.testing.assert_allclose(found, twin, rtol=1e-9, atol=1e-11 * np.abs(twin).max())
    assert counted.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-10)
    x, free = plain.parameters, plain.maximum.free
    found, twin = (Covariance(one.likelihood, plain.maximum) for one in (counted, plain))
    scale = np.abs(twin.robust).max()
    np.testing.assert_allclose(found.robust, twin.robust, rtol=1e-8, atol=1e-10 * scale)
    contrasts = np.eye(len(x))[free]
    dfs = [one.degrees_of_freedom(contrasts) for one in (found, twin)]
    np.testing.assert_allclose(*dfs, rtol=1e-8)
    assert found.effective == pytest.approx(twin.effective) == pytest.approx(len(plain.evidence))
    assert link_test(counted).t == pytest.approx(link_test(plain).t, rel=1e-3, abs=1e-5)


def test_a_link_that_cannot_be_tested_is_not_rejected() -> None:
    """One difference of lists, right half of the time: nothing is left for the link."""
    data = Preferences.of([[[0], [1]], [[1], [0]]] * 2, ["a", "a", "b", "b"], Scale((1, 0)))
    found = link_test(JudgmentModel(gains="linear", discounts="log2").fit(data))
    assert (found.gamma, found.t, found.p) == (0, 0, 1)


def test_a_cluster_that_decides_a_lot_is_adjusted_by_the_root_of_its_information(
    rng: np.random.Generator,
) -> None:
    """(I - r r')^-1/2 u, from its eigenvalues, for few judgments alone."""
    fit = JudgmentModel(gains="linear").fit(random_judgments(20, "strict", rng))
    (chunk,) = fit.covariance.whitened(lambda rows: rows)
    total = np.zeros_like(fit.covariance.root)
    for u, r in zip(chunk.scores, chunk.information[:, 0], strict=True):
        values, vectors = np.linalg.eigh(np.eye(len(r)) - np.outer(r, r))
        adjusted = vectors @ ((vectors.T @ u) / np.sqrt(np.maximum(values, 0.02)))
        total += np.outer(adjusted, adjusted)
    assert chunk.leverage.max() > 0.1
    root = fit.covariance.root
    np.testing.assert_allclose(fit.covariance.robust, root @ total @ root.T, rtol=1e-3)
