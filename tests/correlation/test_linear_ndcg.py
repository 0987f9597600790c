"""Linear NDCG and its pair-wise loss, by all pairs of documents and all orders of tied ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import DCG, InputError, linear_ndcg, pairwise_loss

FEW = settings(max_examples=settings().max_examples * 2 // 5)
whole = st.integers(-4, 4).map(float)
Query = tuple[int, list[int], list[float]]


def linear_gains(n_grades: int) -> np.ndarray:
    return np.arange(n_grades - 1.0, -1, -1)


def linear_measure(gains: list[float], n_documents: int, normalise: Any = None) -> DCG:
    """The same measure by its discounts |S| - 1, ..., 0."""
    return DCG(gains, np.arange(n_documents - 1.0, -1, -1), normalise=normalise)


def error(ranking: list[int], gains: list[float] | None = None) -> float:
    """The loss of the scores that put documents in the order in which they are given."""
    return float(pairwise_loss(ranking, range(len(ranking), 0, -1), "mean", gains))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """The number of grades, the documents' grade indices, and scores with ties."""
    L, N = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    grades = draw(st.lists(st.integers(0, L - 1), min_size=N, max_size=N))
    return L, grades, draw(st.lists(st.integers(-1, 1).map(float), min_size=N, max_size=N))


def by_pairs(gains: list[float], grades: list[int], scores: list[float]) -> tuple[float, float]:
    """R and T by definition: every pair of documents, x of the smaller gain."""
    inverted = tied = 0.0
    for y, x in itertools.permutations(range(len(grades)), 2):
        step = gains[grades[y]] - gains[grades[x]]
        if step > 0:
            inverted += step * (scores[y] < scores[x])
            tied += step * (scores[y] == scores[x])
    return inverted, tied


def orderings(scores: list[float]) -> list[tuple[int, ...]]:
    """Every order of the documents in which none is above one with a higher score."""
    every = itertools.permutations(range(len(scores)))
    return [p for p in every if all(scores[a] >= scores[b] for a, b in itertools.pairwise(p))]


@pytest.mark.parametrize(
    ("ranking", "dcg", "ideal"), [([0, 1, 0, 1, 1, 0], 8, 12), ([0, 0, 2, 2, 2, 1], 18, 21)]
)
def test_the_figures_of_the_paper(ranking: list[int], dcg: int, ideal: int) -> None:
    assert float(linear_ndcg(ranking, linear_gains(max(ranking) + 1))) == dcg / ideal
    assert error(ranking) == ideal - dcg


@FEW
@given(query=queries(), data=st.data())
def test_the_loss_is_that_of_all_pairs_and_of_all_orders(query: Query, data: st.DataObject) -> None:
    """Gains of any order and sign, as theorem 3 allows; by default those of the paper."""
    L, grades, scores = query
    drawn = data.draw(st.lists(whole, min_size=L, max_size=L))
    for gains, given_gains in ((linear_gains(L).tolist(), None), (drawn, drawn)):
        R, T = by_pairs(gains, grades, scores)
        for ties, expected in (("best", R), ("mean", R + T / 2), ("worst", R + T)):
            assert float(pairwise_loss(grades, scores, ties, given_gains)) == expected
        errors = [error([grades[d] for d in order], given_gains) for order in orderings(scores)]
        assert (min(errors), max(errors)) == (R, R + T)
        assert np.mean(errors) == pytest.approx(R + T / 2)


@FEW
@given(query=queries(), data=st.data())
def test_a_dcg_with_these_discounts_agrees(query: Query, data: st.DataObject) -> None:
    L, ranking, _ = query
    N = len(ranking)
    gains = data.draw(st.lists(whole.map(abs), min_size=L, max_size=L))
    ndcg = float(linear_ndcg(ranking, gains))
    assert float(linear_measure(gains, N, "ideal").score(ranking)) == pytest.approx(ndcg)
    plain = linear_measure(gains, N)
    assert error(ranking, gains) == float(plain.ideal(ranking) - plain.score(ranking))
    if N > 1:  # the rule linear(n) with n = |S| - 1 is the same up to scale
        preset = DCG(gains, f"linear({N - 1})", normalise="ideal")
        assert float(preset.score(ranking)) == pytest.approx(ndcg)


@FEW
@given(rows=st.lists(queries(), min_size=1, max_size=4))
def test_many_queries_at_once(rows: list[Query]) -> None:
    """Rows of different length: an empty entry has no effect, wherever it is."""
    width = max(len(grades) for _, grades, _ in rows) + 1
    table, scores = np.full((len(rows), width), -1), np.full((len(rows), width), np.nan)
    for i, (_, grades, f) in enumerate(rows):
        table[i, : len(grades)], scores[i, : len(grades)] = grades, f
    gains = [3.0, -1.0, 0.5, 0.0]
    expected = [float(pairwise_loss(g, f, "worst", gains)) for _, g, f in rows]
    assert pairwise_loss(table, scores, "worst", gains).tolist() == expected
    reverse = pairwise_loss(table[:, ::-1], scores[:, ::-1], "worst", gains)
    assert reverse.tolist() == expected  # now with empty entries first
    ndcg = [float(linear_ndcg(g, linear_gains(4))) for _, g, _ in rows]
    assert linear_ndcg(table, linear_gains(4)).tolist() == ndcg


def test_two_grades_are_one_minus_the_area_under_the_roc_curve(rng: np.random.Generator) -> None:
    from sklearn.metrics import roc_auc_score

    grades, scores = rng.integers(0, 2, 200), rng.integers(0, 20, 200)
    loss = float(pairwise_loss(grades, scores)) / ((grades == 0).sum() * (grades == 1).sum())
    assert loss == pytest.approx(1 - roc_auc_score(grades == 0, scores))


def test_a_million_documents_have_5_10_11_pairs(rng: np.random.Generator) -> None:
    grades = rng.integers(0, 2, 1_000_000)  # as scores they are in the worst order
    assert float(pairwise_loss(grades, grades)) == (grades == 0).sum() * (grades == 1).sum()


def test_extremes() -> None:
    assert float(linear_ndcg([1, 1], [1, 0])) == 0.0
    assert float(linear_ndcg([0], [1, 0])) == 0.0  # one document: |S| - 1 = 0
    assert pairwise_loss(np.zeros((0, 3), int), np.zeros((0, 3))).shape == (0,)
    assert float(pairwise_loss([1, 1, 0], [np.inf, -np.inf, -np.inf])) == 1 + 0.5


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: linear_ndcg([[0, 1], [-1, 1]], [1, 0]), "row 1: an empty rank"),
        (lambda: linear_ndcg([0, 2], [1, 0]), "index 2, but the number of grades is 2"),
        (lambda: linear_ndcg([0, 1], [1, -1]), "a gain of -1"),
        (lambda: pairwise_loss([0, 1], [1, 2], "third"), "unknown order of ties 'third'"),
        (lambda: pairwise_loss([0, 1], [1]), r"scores of shape \(1,\) for grades of shape \(2,\)"),
        (lambda: pairwise_loss([[0, 1], [0, 1]], [[0, 1], [1, np.nan]]), "row 1: a score is nan"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        call()
