"""Intervals, tests, comparisons, corrections and power, against counts and other tools."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp, ttest_rel

from dcglearn import Evaluation, InputError, Rules, compare_systems, evaluate, queries_needed
from dcglearn.base.statistics import holm
from dcglearn.report.systems.evaluations import comparisons_in_words, comparisons_table
from dcglearn.systems.paired_tests import (
    paired_deviations,
    paired_intervals,
    paired_p_values,
    paired_power,
    t_intervals,
    tukey_test,
)


def test_intervals_of_few_queries_are_students(rng: np.random.Generator) -> None:
    """A bootstrap's would cover the mean of 10 queries in 88 to 90% of the cases."""
    differences = rng.exponential(size=(3, 10))
    for row, found in zip(differences, t_intervals(differences), strict=True):
        assert found == pytest.approx([*ttest_1samp(row, 0.0).confidence_interval()])
    qrels = {f"q{q}": {"a": 1, "b": 0} for q in range(60)}
    runs = {
        name: {q: {"a": rng.random(), "b": rng.random()} for q in qrels} for name in ("x", "y", "z")
    }
    for n, test in ((60, "randomisation"), (60, "t"), (20, "randomisation")):
        some = {q: qrels[q] for q in list(qrels)[:n]}
        found = evaluate(some, runs, "zipf")
        (one, *_) = compare_systems(found, "x", np.random.default_rng(0), test)  # type: ignore[arg-type]  # its two values
        differences = found.values[1, 0] - found.values[0, 0]
        student = (one.low, one.high) == pytest.approx(tuple(t_intervals(differences[None])[0]))
        assert student == ((n, test) != (60, "randomisation"))


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


@pytest.mark.parametrize(("effect", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_numbers_of_the_tables(effect: float, n: int) -> None:
    """Cohen's small, medium and large effects, as G*Power prints them for a paired t test."""
    assert queries_needed(effect, 1.0) == n
    assert queries_needed(effect / 100, 0.01) == n
    assert paired_power(n, effect, 1.0) >= 0.8 > paired_power(n - 1, effect, 1.0)


def test_many_queries_follow_the_normal_closed_form() -> None:
    closed = ((norm.isf(0.025) + norm.isf(0.2)) / 0.01) ** 2
    assert queries_needed(0.01, 1.0) == pytest.approx(closed, rel=1e-4)


def test_the_power_is_that_of_simulated_tests(rng: np.random.Generator) -> None:
    drawn = rng.normal(0.4, 1.0, (20_000, 30))
    share = (ttest_1samp(drawn, 0.0, axis=1).pvalue < 0.05).mean()
    assert share == pytest.approx(paired_power(30, 0.4, 1.0), abs=4 * np.sqrt(0.25 / 20_000))


def test_deviations_of_all_pairs_with_queries_left_out(rng: np.random.Generator) -> None:
    values = rng.random((4, 9))
    values[1, 3] = np.nan
    variances = []
    for i in range(4):
        for j in range(i):
            difference = values[i] - values[j]
            variances.append(difference[~np.isnan(difference)].var(ddof=1))
    mean, largest = paired_deviations(values)
    assert mean == pytest.approx(np.sqrt(np.mean(variances)))
    assert largest == pytest.approx(np.sqrt(max(variances)))


def test_what_never_differs_and_what_is_refused() -> None:
    assert queries_needed(0.02, 0.0) == 2
    for arguments in ((0.0, 1.0), (0.1, -1.0), (0.1, 1.0, 1.0), (1e-9, 1.0)):
        with pytest.raises(InputError):
            queries_needed(*arguments)


# --- corrections for many comparisons


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
        again = tukey_test(values, rng, 500, across_measures)[0]
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
