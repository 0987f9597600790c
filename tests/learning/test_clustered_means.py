"""Means of clustered values: against clusters left out by hand, scipy, exact counts; coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from dcglearn import DCG, Preferences, Scale, agreement
from dcglearn.base.statistics import clustered_mean
from dcglearn.learning.agreement import judged_agreement
from dcglearn.measures.agreement import agreement_with_ties


def test_the_error_is_the_jackknife_of_whole_clusters(rng: np.random.Generator) -> None:
    values, weights = rng.normal(size=40), rng.integers(1, 4, 40).astype(float)
    groups = rng.integers(0, 7, 40)
    found = clustered_mean(values, groups, weights)
    without = [
        np.average(values[groups != g], weights=weights[groups != g]) for g in np.unique(groups)
    ]
    steps = np.array(without) - found.value
    two_more = 2 / weights.sum() ** 2
    assert found.error**2 == pytest.approx(6 / 7 * steps @ steps + two_more)
    sizes = np.bincount(groups, weights)
    assert found.effective == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum())
    by_moments = 2 * (steps**2).sum() ** 2 / (steps**4).sum()
    assert found.df == pytest.approx(min(by_moments, found.effective) - 1)
    more = clustered_mean(np.array([values + 0.5, values - 0.5]), groups, weights)
    assert more.error**2 == pytest.approx(found.error**2 + 0.25)
    assert more.between_repeats == pytest.approx(0.5)


def test_equal_clusters_of_one_give_the_t_test(rng: np.random.Generator) -> None:
    values = rng.normal(0.2, 1, 300)
    found, known = clustered_mean(values, np.arange(300)), ttest_1samp(values, 0.0)
    own = known.confidence_interval()
    assert found.interval() == pytest.approx((own.low, own.high), abs=0.002)
    assert found.error**2 == pytest.approx(values.var(ddof=1) / 300 + 2 / 300**2)
    assert found.p_value() == pytest.approx(known.pvalue, rel=0.1)
    assert found.p_value(0.2) == pytest.approx(
        2 * t.sf(abs(found.value - 0.2) / found.error, found.df)
    )


def test_one_cluster_has_no_interval_and_a_dominant_one_has_a_wide_one() -> None:
    one = clustered_mean(np.array([1.0, 0.0]), [0, 0])
    assert (one.value, one.effective) == (0.5, 1.0)
    assert np.isnan([*one.interval(), one.p_value()]).all()
    heavy = clustered_mean(np.array([1.0, 0.0]), [0, 1], np.array([1e-300, 1e12]))
    assert heavy.value == pytest.approx(0, abs=1e-300)
    assert np.isnan([heavy.error, *heavy.interval(0, 1)]).all()
    values = np.tile([1.0, 1.0, 1.0, 0.0], 100)
    groups = np.where(np.arange(400) < 396, 0, np.arange(400))
    found = clustered_mean(values, groups)
    assert found.effective < 1.1
    assert found.interval(0, 1) == (0, 1)
    assert found.p_value(0.5) > 0.5


@pytest.mark.parametrize("m", [4, 5, 7, 8, 11])
def test_few_differing_queries_prove_nothing_more_than_their_signs(m: int) -> None:
    """All 2^m signs of m differing judgments among 400: at most 5% are called a difference."""
    called = 0
    for signs in range(2**m):
        values = np.zeros(400)
        values[:m] = [1 - 2 * (signs >> i & 1) for i in range(m)]
        called += clustered_mean(values, np.arange(400)).p_value() < 0.05
    assert called / 2**m <= 0.05
    assert m < 8 or called


def test_agreement_with_ties_counts_every_answer(rng: np.random.Generator) -> None:
    """Against the mean over random orders of equally close pairs."""
    difference = rng.integers(-3, 4, 60).astype(float)
    tied = rng.random(60) < 0.4
    shares = []
    for _ in range(4000):
        order = np.lexsort((rng.random(60), np.abs(difference)))
        called = np.zeros(60, bool)
        called[order[: tied.sum()]] = True
        right = np.where(called, tied, ~tied & (difference > 0))
        right = right + 0.5 * (~called & ~tied & (difference == 0))
        shares.append(right.mean())
    assert agreement_with_ties(difference, tied) == pytest.approx(np.mean(shares), abs=0.003)
    assert agreement_with_ties(difference * 1e200, tied) == agreement_with_ties(difference, tied)
    weights = rng.integers(0, 3, 60)
    repeated = np.repeat(difference, weights), np.repeat(tied, weights)
    assert agreement_with_ties(difference, tied, weights) == pytest.approx(
        agreement_with_ties(*repeated)
    )
    strict = agreement_with_ties(difference, np.zeros(60, bool))
    assert strict == np.mean((np.sign(difference) + 1) / 2)
    assert agreement_with_ties(np.array([5.0, -4.0, 0.1]), np.array([False, False, True])) == 2 / 3


def test_the_agreement_of_a_measure(rng: np.random.Generator) -> None:
    lists = rng.integers(0, 3, (80, 2, 4))
    answers = rng.choice(["a", "b", "tie", "good"], 80)
    queries = [f"q{i}" for i in rng.integers(0, 9, 80)]
    weights = rng.integers(0, 3, 80)
    data = Preferences.of(lists, answers, Scale((2, 1, 0)), weights, queries)
    measure = DCG([2, 1, 0], "zipf")
    found = judged_agreement(measure, data)
    assert found.agreement == pytest.approx(agreement(measure, data.pairs, data.pair_weights))
    assert found.right + found.tied + found.wrong == (data.pair_weights > 0).sum()
    assert 0 <= found.low < found.agreement < found.high <= 1
    swapped = np.array([{"a": "b", "b": "a"}.get(str(a), a) for a in answers])
    other = Preferences.of(lists[:, ::-1], swapped, data.scale, weights, queries)
    assert judged_agreement(measure, other) == found
    assert judged_agreement(measure, data[data.strict]).with_ties is None
