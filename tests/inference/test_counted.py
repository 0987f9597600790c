"""Equal judgments are counted, with the same results; samples grow block by block."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from dcglearn import InputError, JudgmentModel, Preferences, Scale, link_test
from dcglearn.inference import evidence
from dcglearn.inference.covariance import covariance
from dcglearn.trials.draws import Blocks

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
    found, twin = (covariance(one.likelihood, x, free) for one in (counted, plain))
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
    (chunk,) = fit.covariance.passes.run(lambda rows: rows)
    total = np.zeros_like(fit.covariance.root)
    for u, r in zip(chunk.scores, chunk.information[:, 0], strict=True):
        values, vectors = np.linalg.eigh(np.eye(len(r)) - np.outer(r, r))
        adjusted = vectors @ ((vectors.T @ u) / np.sqrt(np.maximum(values, 0.02)))
        total += np.outer(adjusted, adjusted)
    assert chunk.leverage.max() > 0.1
    root = fit.covariance.root
    np.testing.assert_allclose(fit.covariance.robust, root @ total @ root.T, rtol=1e-3)


@pytest.mark.parametrize("queries", [None, 30])
@pytest.mark.parametrize("model", [JudgmentModel(), JudgmentModel(ties="davidson")])
def test_information_of_clusters_and_of_all_is_of_one_kind(
    model: JudgmentModel, queries: int | None, rng: np.random.Generator
) -> None:
    """The trace of sum F_q H^-1 is the number of parameters, but for the prior's share."""
    data = random_judgments(1500, model.ties, rng)
    if queries:
        ids = np.array([f"q{i}" for i in rng.integers(0, queries, len(data))], object)
        data = replace(data, queries=ids)
    fit = model.fit(data)
    leverage = sum(fit.covariance.passes.run(lambda rows: rows.leverage.sum()))
    prior = fit.covariance.prior
    H = fit.likelihood.information(fit.parameters) + prior
    free = fit.maximum.free
    of_prior = np.trace(np.linalg.solve(H[np.ix_(free, free)], prior[np.ix_(free, free)]))
    assert leverage == pytest.approx(free.sum() - of_prior, rel=1e-6)
    assert leverage > 0.8 * (free.sum() - 1)  # one direction is the scale of two factors


def failing() -> Iterator[int]:
    yield 1
    raise InputError("no more", "stop", "here")


def test_blocks_are_drawn_once_and_their_error_is_raised_again() -> None:
    drawn = []
    blocks = Blocks(lambda: (drawn.append(i) or i for i in range(3)))
    assert next(iter(blocks)) == 0
    assert drawn == [0]
    assert list(blocks) == list(blocks) == [0, 1, 2]
    assert drawn == [0, 1, 2]
    blocks = Blocks(failing)
    for _ in range(2):
        with pytest.raises(InputError, match="no more"):
            list(blocks)
