"""Intervals, tests and comparisons of systems, against counts over all signs and other tools."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp, ttest_rel

from dcglearn import InputError, Rules, compare_systems, evaluate
from dcglearn.base.significance import holm
from dcglearn.report.systems.words import comparisons_in_words, comparisons_table
from dcglearn.systems import paired_tests
from dcglearn.systems.paired_tests import paired_intervals, paired_p_values, t_intervals


def test_intervals_of_few_queries_are_students(rng: np.random.Generator) -> None:
    """A bootstrap's would cover the mean of 10 queries in 88 to 90% of the cases."""
    differences = rng.exponential(size=(3, 10))
    for row, found in zip(differences, t_intervals(differences), strict=True):
        assert found == pytest.approx([*ttest_1samp(row, 0.0).confidence_interval()])
    qrels = {f"q{q}": {"a": 1, "b": 0} for q in range(60)}
    runs = {
        name: {q: {"a": rng.random(), "b": rng.random()} for q in qrels} for name in ("x", "y", "z")
    }
    words = {}
    for n, test in ((60, "randomisation"), (60, "t"), (20, "randomisation")):
        some = {q: qrels[q] for q in list(qrels)[:n]}
        found = evaluate(some, runs, "zipf")
        (one, *_) = pairs = compare_systems(found, "x", np.random.default_rng(0), test)  # type: ignore[arg-type]  # its two values
        words[n, test] = comparisons_in_words(pairs)[0]
        differences = found.values[1, 0] - found.values[0, 0]
        student = (one.low, one.high) == pytest.approx(tuple(t_intervals(differences[None])[0]))
        assert student == ((n, test) != (60, "randomisation"))
    assert (
        "interval, by a bootstrap over queries (Student's t below 50), of this"
        in words[60, "randomisation"]
    )
    assert "interval, by Student's t, of this comparison alone" in words[60, "t"]
    assert words[20, "randomisation"] == words[60, "t"]


def test_randomisation_is_the_count_over_all_signs(rng: np.random.Generator) -> None:
    differences = rng.normal(0.3, 1, (3, 8))
    sums = np.array([[row @ signs for signs in product([1, -1], repeat=8)] for row in differences])
    observed = np.abs(differences.sum(axis=1))[:, None] - 1e-9
    expected = (np.abs(sums) >= observed).mean(axis=1)
    assert paired_p_values(differences, rng) == pytest.approx(expected)
    sampled = paired_p_values(differences, rng, resamples=255)  # 2^8 signs are too many then
    assert sampled == pytest.approx(expected, abs=0.12)
    assert paired_p_values(np.zeros((1, 30)), rng).tolist() == [1.0]
    assert paired_p_values(np.zeros((1, 30)), rng, "t").tolist() == [1.0]
    with_gaps = np.append(differences[0], np.nan)[None]
    assert paired_p_values(with_gaps, rng, resamples=600)[0] == pytest.approx(expected[0])
    a, b = rng.normal(size=(2, 20))
    assert paired_p_values((a - b)[None], rng, "t")[0] == pytest.approx(ttest_rel(a, b).pvalue)


def test_signs_and_resamples_in_parts_change_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    differences = rng.normal(0.3, 1, (5, 12))

    def found(resamples: int) -> list[float]:
        draws = np.random.default_rng(0)
        p = paired_p_values(differences, draws, "randomisation", resamples)
        return [*p, *paired_intervals(differences, draws, resamples).ravel()]

    at_once = found(5000), found(3000)
    for name in ("_SIGNED_AT_ONCE", "_COUNTED_AT_ONCE"):
        monkeypatch.setattr(paired_tests, name, 1500)
    assert found(3000) == pytest.approx(at_once[1], abs=1e-14)
    assert found(5000)[:5] == at_once[0][:5]


def test_holm_is_the_step_down_by_hand() -> None:
    assert holm(np.array([0.02, 0.01, 0.5, 0.04])) == pytest.approx([0.06, 0.04, 0.5, 0.08])
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]


def test_systems_are_compared_with_a_baseline(rng: np.random.Generator) -> None:
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(6)} for i in range(30)}
    better = {q: {d: g + rng.normal(0, 0.5) for d, g in docs.items()} for q, docs in qrels.items()}
    noise = {q: {d: rng.random() for d in docs} for q, docs in qrels.items()}
    runs = {"noise": noise, "better": better, "again": noise}
    found = evaluate(qrels, runs, "nDCG(linear-log2) @ 3")
    first, same = compare_systems(found, "noise", rng)
    assert first.difference > 0
    assert 0 < first.low < first.difference < first.high
    assert first.corrected == pytest.approx(2 * first.p) == pytest.approx(2e-4)
    assert (same.difference, same.p) == (0, 1)
    with pytest.raises(InputError, match="did you mean 'noise'"):
        compare_systems(found, "nois", rng)


def test_sums_that_are_equal_but_for_rounding_are_equal(rng: np.random.Generator) -> None:
    for _ in range(200):
        one = rng.integers(0, 10, 9) / 10
        differences = (one - rng.permutation(one))[None]
        assert paired_p_values(differences, rng)[0] == 1
        assert paired_p_values(differences, rng, "t")[0] == 1


def test_drawn_signs_give_the_p_value_of_all_signs(rng: np.random.Generator) -> None:
    differences = rng.normal(0.3, 1, (2, 12))
    exact = paired_p_values(differences, rng, resamples=2**12)
    drawn = paired_p_values(differences, rng, resamples=2**12 - 1)
    assert (drawn != exact).any()
    spread = np.sqrt(exact * (1 - exact) / 2**12)
    assert (np.abs(drawn - exact) < 4 * spread).all()
    assert paired_p_values(np.ones((1, 40)), rng, resamples=99).tolist() == [1 / 100]


def test_intervals_of_paired_differences(rng: np.random.Generator) -> None:
    """Against normal theory; queries left out by one comparison do not count there."""
    differences = rng.normal(0.5, 1, (2, 300))
    differences[1, 150:] = np.nan
    for level in (0.95, 0.5):
        found = paired_intervals(differences, rng, level=level)
        for row, (low, high) in zip(differences, found, strict=True):
            kept = row[np.isfinite(row)]
            half = norm.ppf(0.5 + level / 2) * kept.std() / np.sqrt(len(kept))
            assert (low, high) == pytest.approx(
                (kept.mean() - half, kept.mean() + half), abs=0.15 * half
            )


def test_a_comparison_counts_the_queries_that_both_have(rng: np.random.Generator) -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(6)}
    best = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    worse = {q: {"a": 1.0, "b": 2.0} for q in list(qrels)[:4]}
    found = evaluate(qrels, {"best": best, "worse": worse}, "zipf", rules=Rules(missing=None))
    for test, p in (("randomisation", 2 / 16), ("t", 0.0)):
        (one,) = compare_systems(found, "best", rng, test)
        assert (one.system, one.baseline, one.measure) == ("worse", "best", "zipf")
        assert (one.difference, one.low, one.high, one.queries) == (-0.5, -0.5, -0.5, 4)
        assert (one.p, one.corrected) == (p, p)
        assert comparisons_table([one]).shown()[0][5] == (".125" if p else "< .001")
    assert compare_systems(evaluate(qrels, best, "zipf"), "run", rng) == []


def test_comparisons_that_are_refused(rng: np.random.Generator) -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    runs = {"one": {"q1": {"a": 1.0}}, "two": {"q2": {"a": 1.0}}}
    apart = evaluate(qrels, runs, "zipf", rules=Rules(missing=None))
    with pytest.raises(InputError, match="zipf: fewer than two queries to compare 'two' and 'one'"):
        compare_systems(apart, "one", rng)
    bounds = evaluate(qrels, runs, "zipf", rules=Rules(unjudged="bounds"))
    with pytest.raises(InputError, match="no single difference"):
        compare_systems(bounds, "one", rng)
