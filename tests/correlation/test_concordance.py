"""Counts of items above in one and in both of two orders, against all pairs."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError
from dcglearn.correlation.tau import concordance, paired_ranks

paired = st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), min_size=1, max_size=40)


@given(scores=paired)
def test_counts_match_all_pairs(scores: list[tuple[int, int]]) -> None:
    first, second = np.array(scores).T
    above, concordant, discordant = concordance(first, second)
    higher, also, not_also = (
        first[:, None] < first,
        second[:, None] < second,
        second[:, None] > second,
    )
    assert above.tolist() == higher.sum(axis=1).tolist()
    assert concordant.tolist() == (higher & also).sum(axis=1).tolist()
    assert discordant.tolist() == (higher & not_also).sum(axis=1).tolist()


def test_many_items_are_counted_without_a_matrix_of_pairs(rng: np.random.Generator) -> None:
    first, second = rng.integers(3_000, size=(2, 10_000))
    tracemalloc.start()
    found = concordance(first, second)[1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6  # a matrix of one bit per pair would take 12.5e6
    for i in (0, 17, 9_999):
        assert found[i] == ((first > first[i]) & (second > second[i])).sum()


def test_ranks_are_dense_and_increase_with_the_scores() -> None:
    first, second = paired_ranks(np.array([0.5, -1, 0.5]), [True, False, False])
    assert first.tolist() == [1, 0, 1]
    assert second.tolist() == [1, 0, 0]


def test_integers_beyond_double_precision_stay_distinct() -> None:
    assert paired_ranks([2**60, 2**60 + 1], [0, 0])[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("truth", "estimate", "message"),
    [
        ([1, 2], [1, 2, 3], "2 items in the truth, 3 in the estimate; score the same items"),
        ([1], [1], "1 items to order; give at least two"),
        ([1, 2], [1, float("nan")], "estimate, item 1: the score is nan; use finite numbers"),
        ([[1, 2]], [1, 2], r"truth: scores of shape \(1, 2\) and type int64"),
        ([1, 2], ["a", "b"], "estimate: scores of shape .* one number per item"),
    ],
)
def test_scores_that_cannot_be_ordered_are_refused(
    truth: object, estimate: object, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        paired_ranks(truth, estimate)
