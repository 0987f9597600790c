"""Which systems the command evaluate compares, and what it says of many pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dcglearn import Evaluation, Rules, compare_systems, evaluate
from dcglearn.base.significance import holm
from dcglearn.report.systems.words import comparisons_in_words
from dcglearn.systems.tukey import tukey_test

N_QUERIES, N_SYSTEMS = 12, 12
SYSTEMS = [f"s{s:02}" for s in range(N_SYSTEMS)]


def scores(s: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """Scores of six documents per query; later systems have less noise."""
    noise = 4 / (1 + s)
    return {
        f"q{q}": {f"d{d}": -d + float(rng.normal(0, noise)) for d in range(6)}
        for q in range(N_QUERIES)
    }


QRELS = {f"q{q}": {f"d{d}": max(0, 3 - d) for d in range(6)} for q in range(N_QUERIES)}


@pytest.fixture(scope="module")
def runs() -> dict[str, dict[str, dict[str, float]]]:
    rng = np.random.default_rng(0)
    return {name: scores(s, rng) for s, name in enumerate(SYSTEMS)}


@pytest.fixture(scope="module")
def found(runs: dict[str, dict[str, dict[str, float]]]) -> Evaluation:
    return evaluate(QRELS, runs, ["zipf", "nDCG(linear-log2) @ 3"])


def test_corrections_of_all_pairs(found: Evaluation) -> None:
    def compared(**options: str) -> np.ndarray:
        pairs = compare_systems(found, None, np.random.default_rng(1), resamples=500, **options)  # type: ignore[arg-type]  # options by name
        names = [(one.measure, one.system, one.baseline) for one in pairs]
        assert names == [
            (m.name, a, b) for m in found.measures for a, b in combinations(found.systems, 2)
        ]
        return np.array([[one.p, one.corrected, one.family] for one in pairs]).reshape(2, 66, 3)

    within, across, none = (compared(correct=name) for name in ("measure", "all", "none"))
    assert (within[..., 0] == across[..., 0]).all(), "what is corrected does not change p"
    assert (none[..., 0] == none[..., 1]).all()
    assert [one[0, 0, 2] for one in (within, across, none)] == [66, 132, 1]
    values, rng = found.values.swapaxes(0, 1), np.random.default_rng(2)
    for corrected, across_measures in ((within[..., 1], False), (across[..., 1], True)):
        again = tukey_test(values, rng, 500, across_measures).p
        assert np.abs(corrected - again).max() < 0.1, "other draws of the same orders"
    assert (across[..., 1] >= within[..., 1]).all()
    assert (across[..., 1] > within[..., 1]).any()
    t = compared(test="t")
    assert t[1, :, 1] == pytest.approx(holm(t[1, :, 0]))


def test_one_system_has_no_pairs() -> None:
    """Not even if all its queries are left out."""
    qrels = {"q1": {"a": 0}, "q2": {"a": 0}}
    rules = Rules(worthless=None, missing=None)
    found = evaluate(qrels, {"one": {"q1": {"a": 1.0}}}, "nDCG@2", rules=rules)
    assert np.isnan(found.values).all()
    assert compare_systems(found, None, np.random.default_rng(0)) == []


def test_corrections_with_a_baseline(found: Evaluation) -> None:
    def compared(correct: str) -> np.ndarray:
        rng = np.random.default_rng(1)
        ones = compare_systems(found, "s00", rng, "t", correct=correct)  # type: ignore[arg-type]  # by name
        return np.array([[one.p, one.corrected, one.family] for one in ones])

    within, across, none = map(compared, ("measure", "all", "none"))
    assert (within[:, 0] == across[:, 0]).all()
    assert across[:, 1] == pytest.approx(holm(across[:, 0]))
    assert within[:11, 1] == pytest.approx(holm(within[:11, 0]))
    assert (none[:, 0] == none[:, 1]).all()
    assert [one[0, 2] for one in (within, across, none)] == [11, 22, 1]


def test_queries_are_counted_as_better_worse_or_equal() -> None:
    """By hand; what one system leaves out is not counted."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(7)}
    first = {q: {"a": 2.0, "b": 1.0} for q in list(qrels)[:6]}
    second = {q: {"a": 2.0, "b": 1.0 if q in ("q0", "q1", "q6") else 3.0} for q in qrels}
    third = {q: {"a": 1.0, "b": 1.0 if q == "q0" else 0.0} for q in qrels}
    runs = {"first": first, "second": second, "third": third}
    found = evaluate(qrels, runs, "zipf", rules=Rules(missing=None))
    pairs = compare_systems(found, None, np.random.default_rng(0))
    counts = [(one.better, one.worse, one.equal, one.queries) for one in pairs]
    (said,) = (line for line in comparisons_in_words(pairs) if "neither" in line)
    assert said == "two systems are compared on the queries that neither leaves out, 6 to 7 of them"
    assert counts == [(4, 0, 2, 6), (1, 0, 5, 6), (1, 4, 2, 7)]


def test_rounding_makes_no_query_better() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(3)}
    run = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    found = evaluate(qrels, {"one": run, "two": run}, "zipf")
    found.values[1] *= 1 + 2**-52
    (pair,) = compare_systems(found, None, np.random.default_rng(0))
    assert (pair.better, pair.worse, pair.equal) == (0, 0, 3)
