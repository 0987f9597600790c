"""Judgments in packed files, and counted where they are equal: as each in memory."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    InputError,
    JudgmentFit,
    JudgmentModel,
    PackedPairs,
    Preferences,
    Scale,
    ask,
    link_test,
    preset,
    usual_questions,
)
from dcglearn.base import threads
from dcglearn.inference import evidence, maximise
from dcglearn.inference.covariance import Covariance
from dcglearn.inference.evidence import Evidence
from dcglearn.judgments import packed
from helpers.written import write_packed

SCALE = Scale((2, 1, 0))


def uneven_judgments(
    rng: np.random.Generator, n: int = 500, ties: float = 0.0, **changes: Any
) -> Preferences:
    """Judgments of queries of uneven size, some without a query, some short lists."""
    lists = rng.integers(0, 3, (n, 2, 4))
    lists[rng.random(n) < 0.1, :, 3] = -1
    gains = np.array([1.0, 0.6, 0.0, 0.0])
    v = 3 * (gains[lists[:, 0]] - gains[lists[:, 1]]) @ [1.0, 0.7, 0.5, 0.4]
    answers = np.where(rng.random(n) < 1 / (1 + np.exp(-v)), "a", "b").astype(object)
    answers[rng.random(n) < ties] = "tie"
    queries = np.array([f"q{int(one)}" for one in rng.exponential(12, n)], object)
    queries[rng.random(n) < 0.2] = None
    given: dict[str, Any] = {"weights": rng.integers(0, 3, n), "queries": queries} | changes
    return Preferences.of(lists, answers, SCALE, **given)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "ROW_GROUP_SIZE", 150)
    monkeypatch.setattr(evidence, "CHUNK", 100)
    monkeypatch.setattr(evidence, "SAMPLE", 100)
    monkeypatch.setattr(evidence, "_FEWEST_COUNTED", 100)


def streamed(path: Path, data: Preferences, model: JudgmentModel) -> JudgmentFit:
    write_packed(data, path / "p.parquet", data.scale)
    return model.fit(PackedPairs.of(path / "p.parquet"))


def numbers(fit: JudgmentFit) -> np.ndarray:
    others = [fit.other(name) for name in fit.likelihood.names]
    return np.array(
        [
            (one.estimate, one.low, one.high, one.df or 0.0, one.given, one.determined)
            for one in (*fit.gains(), *fit.discounts(), *others)
        ]
    )


MODELS = {
    "free": JudgmentModel(judges=False),
    "log2": JudgmentModel(discounts="log2", side=False, lapses=False),
    "decreasing": JudgmentModel(discounts="decreasing"),
    "positions": JudgmentModel(position_dependent=True),
    "davidson": JudgmentModel(ties="davidson", discounts="log2"),
}


@pytest.mark.parametrize(
    ("name", "ids"), [*((name, "queries") for name in MODELS), ("free", "judges")]
)
def test_estimates_and_intervals_are_those_in_memory(
    tmp_path: Path, rng: np.random.Generator, name: str, ids: str
) -> None:
    model = MODELS[name]
    changes: dict[str, Any] = {}
    if ids == "judges":
        changes["judges"] = [f"j{int(one)}" for one in rng.integers(0, 7, 500)]
    data = uneven_judgments(rng, ties=0.15, **changes)
    found, twin = streamed(tmp_path, data, model), model.fit(data)
    assert numbers(found) == pytest.approx(numbers(twin), rel=1e-4, abs=1e-4)
    here, there = (one.likelihood.expand(twin.parameters) for one in (found, twin))
    assert here.value == pytest.approx(there.value, rel=1e-10, abs=1e-9)
    assert here.gradient == pytest.approx(there.gradient, rel=1e-10, abs=1e-9)
    assert here.hessian == pytest.approx(there.hessian, rel=1e-10, abs=1e-9)
    same = replace(found, maximum=twin.maximum)  # two maxima differ by more than rounding
    if found.free is not None and twin.free is not None:
        same = replace(same, free=replace(found.free, maximum=twin.free.maximum))
    assert same.log_likelihood == pytest.approx(twin.log_likelihood, rel=1e-12)
    assert same.covariance.robust == pytest.approx(twin.covariance.robust, rel=1e-8, abs=1e-10)
    assert numbers(same) == pytest.approx(numbers(twin), rel=1e-8, abs=1e-8)


def test_the_number_of_threads_does_not_matter(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = uneven_judgments(rng)
    here = streamed(tmp_path, data, JudgmentModel())
    monkeypatch.setattr(threads, "_processors", lambda: 1)
    there = streamed(tmp_path, data, JudgmentModel())
    np.testing.assert_array_equal(here.parameters, there.parameters)
    np.testing.assert_array_equal(here.covariance.robust, there.covariance.robust)


def test_equal_judgments_are_counted_once(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = uneven_judgments(rng, 150)
    many = some[rng.integers(0, 150, 900)]
    found = streamed(tmp_path, many, JudgmentModel())
    assert len(found.evidence.counted) < 150
    twin = JudgmentModel().fit(many)
    assert numbers(found) == pytest.approx(numbers(twin), rel=1e-5, abs=1e-6)
    monkeypatch.setattr(maximise, "_SAMPLE", 50)
    assert numbers(JudgmentModel().fit(many)) == pytest.approx(numbers(twin), rel=1e-5, abs=1e-6)
    monkeypatch.setattr(evidence, "_MAX_DISTINCT", 20)
    found = streamed(tmp_path, many, JudgmentModel())
    assert found.evidence.counted is found.evidence
    assert numbers(found) == pytest.approx(numbers(twin), rel=1e-5, abs=1e-6)


def test_a_maximum_of_many_judgments_is_one(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "CHUNK", 1 << 14)
    fit = JudgmentModel().fit(uneven_judgments(rng, 60_000))
    at, free = fit.likelihood.expand(fit.parameters), fit.maximum.free
    gradient = at.gradient[free]
    assert -gradient @ np.linalg.solve(at.hessian[free][:, free], gradient) / 2 < 1e-18


def test_what_cannot_be_streamed(tmp_path: Path, rng: np.random.Generator) -> None:
    write_packed(uneven_judgments(rng).pairs, tmp_path / "p.parquet", SCALE)
    with pytest.raises(InputError, match="do not say how the lists were shown"):
        Evidence.of(PackedPairs.of(tmp_path / "p.parquet"))


def test_questions_have_the_same_answers(tmp_path: Path, rng: np.random.Generator) -> None:
    data = uneven_judgments(rng)
    write_packed(data, tmp_path / "p.parquet", SCALE)
    measures = {"linear": preset("linear-log2", SCALE, 4)}
    packed_pairs = PackedPairs.of(tmp_path / "p.parquet")
    found = usual_questions(packed_pairs, None, measures)
    twins = usual_questions(data, None, measures)
    for one, twin in zip(found, twins, strict=True):
        assert (one.about, one.hypothesis, one.verdict) == (
            twin.about,
            twin.hypothesis,
            twin.verdict,
        )
        here, there = (
            (*asdict(each.test).values(), each.corrected, each.reversed_judged)
            for each in (one, twin)
        )
        assert here == pytest.approx(there, rel=1e-4, abs=1e-6)
    hypothesis, name = JudgmentModel(gains="linear"), "gains linear"
    one = ask(packed_pairs, hypothesis, JudgmentModel(), name)
    twin = ask(data, hypothesis, JudgmentModel(), name)
    assert one.test.p == pytest.approx(twin.test.p, rel=1e-4)


COUNTED = [
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


@pytest.mark.parametrize("model", COUNTED)
def test_sums_over_distinct_judgments_are_those_over_all(
    model: JudgmentModel, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random_judgments(3000, model.ties, rng)
    counted = model.fit(data)
    assert (
        len(counted.evidence.counted)
        < len(counted.evidence)
        == len(data) - ((data.lists[:, 0] == data.lists[:, 1]).all(axis=1).sum())
    )
    monkeypatch.setattr(evidence, "_FEWEST_COUNTED", 10_000)
    plain = model.fit(data)
    assert plain.evidence.counted is plain.evidence
    start = plain.likelihood.start + 0.3 * rng.random(plain.likelihood.n_parameters)
    for lapses, steepness in itertools.product((0.2, 1e-5, 0.0), (1, 10)):
        x = steepness * start
        x[plain.likelihood.places["lapses"].start] = lapses
        here, there = (one.likelihood.expand(x) for one in (counted, plain))
        for name in ("value", "gradient", "hessian"):
            found, twin = getattr(here, name), getattr(there, name)
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
