"""Linear NDCG and its pair-wise loss.

Independent checks follow the definitions: all pairs of documents, all orderings, and all orders
of tied documents. Expected numbers are those of the figures in Jin & Geng's paper.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import DCG, InputError, linear_ndcg, pairwise_loss, score_runs
from dcglearn.correlation.linear_ndcg import linear_dcg, linear_error, linear_ideal

FIGURE_2 = [1, 0, 1, 0, 0, 1]  # values r; a grade's index is 1 - r
FIGURE_3 = [2, 2, 0, 0, 0, 1]

whole = st.integers(-4, 4).map(float)


def indices(values: list[int], best: int) -> list[int]:
    return [best - value for value in values]


def linear_gains(n_grades: int) -> np.ndarray:
    return np.arange(n_grades - 1.0, -1, -1)


def linear_measure(gains: list[float], n_documents: int, normalise: Any = None) -> DCG:
    """The same measure by its discounts |S| - 1, ..., 0."""
    return DCG(gains, np.arange(n_documents - 1.0, -1, -1), normalise=normalise)


def scores_in_order(ranking: list[int]) -> list[int]:
    """Scores that put documents in the order in which they are given."""
    return list(range(len(ranking), 0, -1))


@st.composite
def queries(draw: st.DrawFn, strict: bool = False) -> tuple[int, list[int], list[float]]:
    """The number of grades, the documents' grade indices, and scores with or without ties."""
    L, N = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    grades = draw(st.lists(st.integers(0, L - 1), min_size=N, max_size=N))
    levels = st.integers(-50, 50) if strict else st.integers(-1, 1)
    scores = draw(st.lists(levels.map(float), min_size=N, max_size=N, unique=strict))
    return L, grades, scores


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


def naive_dcg(gains: list[float], ranking: list[int]) -> float:
    return sum(gains[g] * (len(ranking) - i) for i, g in enumerate(ranking, start=1))


@pytest.mark.parametrize(
    ("values", "best", "dcg", "ideal", "error"),
    [(FIGURE_2, 1, 8, 12, 4), (FIGURE_3, 2, 18, 21, 3)],
)
def test_the_figures(values: list[int], best: int, dcg: int, ideal: int, error: int) -> None:
    ranking, gains = indices(values, best), linear_gains(best + 1)
    assert float(linear_dcg(ranking, gains)) == dcg
    assert float(linear_ideal(ranking, gains)) == ideal
    assert float(linear_error(ranking)) == error
    assert float(linear_ndcg(ranking, gains)) == dcg / ideal
    assert float(pairwise_loss(ranking, scores_in_order(ranking))) == error


def test_the_last_rank_weighs_nothing() -> None:
    assert linear_dcg([[1, 1, 0], [1, 1, 1]], [1, 0]).tolist() == [0.0, 0.0]
    assert linear_measure([1, 0], 3).discounts == (2, 1, 0)


def test_the_ideal_of_two_grades() -> None:
    for m, n in itertools.product(range(5), range(1, 5)):
        assert float(linear_ideal([0] * m + [1] * n, [1, 0])) == m * n + m * (m - 1) / 2


def test_the_error_of_a_swap() -> None:
    """The relevant document at rank i and the irrelevant one at rank m + j are swapped."""
    m, n = 3, 4
    for i, j in itertools.product(range(1, m + 1), range(1, n + 1)):
        ranking = [0] * m + [1] * n
        ranking[i - 1], ranking[m + j - 1] = 1, 0
        assert float(linear_error(ranking)) == m + j - i


@given(query=queries())
def test_the_loss_is_that_of_all_pairs(query: tuple[int, list[int], list[float]]) -> None:
    L, grades, scores = query
    R, T = by_pairs(linear_gains(L).tolist(), grades, scores)
    assert float(pairwise_loss(grades, scores, "best")) == R
    assert float(pairwise_loss(grades, scores)) == R + T / 2
    assert float(pairwise_loss(grades, scores, "worst")) == R + T


@given(query=queries(), data=st.data())
def test_other_gains_weigh_pairs_by_their_difference(
    query: tuple[int, list[int], list[float]], data: st.DataObject
) -> None:
    """Gains of any order and sign, as theorem 3 allows."""
    L, grades, scores = query
    gains = data.draw(st.lists(whole, min_size=L, max_size=L))
    R, T = by_pairs(gains, grades, scores)
    assert float(pairwise_loss(grades, scores, "best", gains)) == R
    assert float(pairwise_loss(grades, scores, "mean", gains)) == R + T / 2
    errors = [float(linear_error([grades[d] for d in order], gains)) for order in orderings(scores)]
    assert (min(errors), max(errors)) == (R, R + T)
    assert np.mean(errors) == pytest.approx(R + T / 2)


@given(query=queries(strict=True))
def test_theorem_3_the_error_is_the_loss(query: tuple[int, list[int], list[float]]) -> None:
    _, grades, scores = query
    ranking = [grades[d] for d in np.argsort(scores)[::-1]]
    for ties in ("best", "mean", "worst"):
        assert float(linear_error(ranking)) == float(pairwise_loss(grades, scores, ties))


@given(query=queries())
def test_the_error_of_tied_documents_is_a_mean_over_their_orders(
    query: tuple[int, list[int], list[float]],
) -> None:
    _, grades, scores = query
    errors = [float(linear_error([grades[d] for d in order])) for order in orderings(scores)]
    assert float(pairwise_loss(grades, scores, "best")) == min(errors)
    assert float(pairwise_loss(grades, scores, "worst")) == max(errors)
    assert float(pairwise_loss(grades, scores)) == pytest.approx(np.mean(errors))


@given(query=queries())
def test_theorem_1_the_loss_is_the_sum_of_two_grade_losses(
    query: tuple[int, list[int], list[float]],
) -> None:
    L, grades, scores = query
    for ties in ("best", "mean", "worst"):
        parts = 0.0
        for k in range(L - 1):
            above = [0 if L - 1 - g > k else 1 for g in grades]
            parts += float(pairwise_loss(above, scores, ties, [1, 0]))
        assert parts == float(pairwise_loss(grades, scores, ties))


def test_theorem_1_is_about_steps_of_one() -> None:
    grades, scores, gains = [2, 1, 0], [3, 2, 1], [5.0, 1.0, 0.0]
    assert float(pairwise_loss(grades, scores)) == 2 + 2
    assert float(pairwise_loss(grades, scores, gains=gains)) == 2 * 1 + 2 * 4


@given(query=queries(), data=st.data())
def test_dcg_and_ideal_are_those_of_all_orderings(
    query: tuple[int, list[int], list[float]], data: st.DataObject
) -> None:
    L, pool, _ = query
    gains = data.draw(st.lists(whole, min_size=L, max_size=L))
    every = [list(p) for p in itertools.permutations(pool)]
    values = [naive_dcg(gains, ranking) for ranking in every]
    assert linear_dcg(every, gains).tolist() == values
    assert float(linear_ideal(pool, gains)) == max(values)


@given(query=queries(), data=st.data())
def test_a_dcg_with_these_discounts_agrees(
    query: tuple[int, list[int], list[float]], data: st.DataObject
) -> None:
    L, ranking, _ = query
    gains = data.draw(st.lists(whole.map(abs), min_size=L, max_size=L))
    N = len(ranking)
    plain = linear_measure(gains, N)
    assert float(plain.score(ranking)) == float(linear_dcg(ranking, gains))
    assert float(plain.ideal(ranking)) == float(linear_ideal(ranking, gains))
    ndcg = float(linear_ndcg(ranking, gains))
    assert float(linear_measure(gains, N, "ideal").score(ranking)) == pytest.approx(ndcg)
    if N > 1:  # the rule linear(n) with n = |S| - 1 is the same up to scale
        rule = f"linear({N - 1})"
        assert float(DCG(gains, rule).score(ranking)) * (N - 1) == pytest.approx(
            float(linear_dcg(ranking, gains))
        )
        assert float(DCG(gains, rule, normalise="ideal").score(ranking)) == pytest.approx(ndcg)


def test_expected_dcg_of_tied_runs_agrees(rng: np.random.Generator) -> None:
    """`evaluation.ranked` computes means over tied documents in another way."""
    from dcglearn import Ranked

    N, L = 40, 4
    grades, scores = rng.integers(0, L, N), rng.integers(0, 12, N)
    order = np.argsort(-scores, kind="stable")
    run = Ranked(
        np.array([0, N]),
        grades[order],
        np.bincount(grades, minlength=L)[None],
        np.cumsum(np.diff(scores[order], prepend=scores.max()) != 0),
    )
    expected = float(linear_ideal(grades, linear_gains(L)) - pairwise_loss(grades, scores))
    assert float(score_runs(linear_measure(linear_gains(L), N), run)[0]) == pytest.approx(expected)


@given(rows=st.lists(queries(), min_size=1, max_size=4))
def test_many_queries_at_once(rows: list[tuple[int, list[int], list[float]]]) -> None:
    """Rows of different length: an empty entry has no effect, wherever it is."""
    L, width = 4, max(len(grades) for _, grades, _ in rows) + 1
    table, scores = np.full((len(rows), width), -1), np.full((len(rows), width), np.nan)
    for i, (_, grades, f) in enumerate(rows):
        table[i, : len(grades)], scores[i, : len(grades)] = grades, f
    gains = [3.0, -1.0, 0.5, 0.0]

    def row_by_row(function: Callable[..., np.ndarray]) -> list[object]:
        return [function(np.array(g), np.array(f)).tolist() for _, g, f in rows]

    def at_once(function: Callable[..., np.ndarray]) -> object:
        return function(table, scores).tolist()

    rankings = [
        lambda g, _: linear_dcg(g, gains),
        lambda g, _: linear_ideal(g, gains),
        lambda g, _: linear_error(g),
        lambda g, _: linear_ndcg(g, linear_gains(L)),
    ]
    losses = [
        lambda g, f: pairwise_loss(g, f, "worst", gains),
        lambda g, f: pairwise_loss(g, f),
    ]
    for function in rankings + losses:
        assert at_once(function) == row_by_row(function)
    before = [function(table, scores).tolist() for function in losses]
    table, scores = table[:, ::-1], scores[:, ::-1]  # now with empty entries first
    assert [function(table, scores).tolist() for function in losses] == before


def test_two_grades_are_one_minus_the_area_under_the_roc_curve(rng: np.random.Generator) -> None:
    from sklearn.metrics import roc_auc_score

    grades, scores = rng.integers(0, 2, 200), rng.integers(0, 20, 200)
    loss = float(pairwise_loss(grades, scores)) / ((grades == 0).sum() * (grades == 1).sum())
    assert loss == pytest.approx(1 - roc_auc_score(grades == 0, scores))


@given(query=queries(), shift=st.integers(-3, 3))
def test_only_differences_of_gains_and_the_order_of_scores_matter(
    query: tuple[int, list[int], list[float]], shift: int
) -> None:
    L, grades, scores = query
    loss = float(pairwise_loss(grades, scores))
    moved = linear_gains(L) + shift
    assert float(pairwise_loss(grades, scores, gains=moved)) == loss
    assert float(pairwise_loss(grades, np.exp(scores))) == loss
    assert float(pairwise_loss([g + 2 for g in grades], scores)) == loss
    assert float(linear_error(grades, moved)) == float(linear_error(grades))


def test_reversed_scores_invert_the_other_pairs(rng: np.random.Generator) -> None:
    grades, scores = rng.integers(0, 4, 60), rng.integers(0, 9, 60)
    both = pairwise_loss(grades, scores) + pairwise_loss(grades, -scores)
    assert float(both) == by_pairs([3, 2, 1, 0], grades.tolist(), [0.0] * 60)[1]


def test_scores_may_be_infinite() -> None:
    scores = [np.inf, -np.inf, -np.inf]
    assert float(pairwise_loss([1, 1, 0], scores)) == 1 + 0.5


def test_a_million_documents_are_fast(rng: np.random.Generator) -> None:
    """They have 5 10^11 pairs; the scores put them in the worst order."""
    N = 1_000_000
    grades = rng.integers(0, 2, N)
    assert float(pairwise_loss(grades, grades)) == (grades == 0).sum() * (grades == 1).sum()


def test_an_ideal_of_zero_gives_zero() -> None:
    assert float(linear_ndcg([1, 1], [1, 0])) == 0.0
    assert float(linear_ndcg([0], [1, 0])) == 0.0  # one document: |S| - 1 = 0
    assert linear_dcg([-1, -1], [1, 0]).tolist() == 0.0
    assert pairwise_loss(np.zeros((0, 3), int), np.zeros((0, 3))).shape == (0,)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: linear_dcg([[0, 1], [-1, 1]], [1, 0]), "row 1: an empty rank"),
        (lambda: linear_dcg([0, 2], [1, 0]), "index 2, but the number of grades is 2"),
        (lambda: linear_ideal([0], [np.inf, 0]), "finite"),
        (lambda: linear_ndcg([0, 1], [1, -1]), "a gain of -1; use linear_error"),
        (lambda: pairwise_loss([0, 1], [1, 2], "third"), "unknown order of ties 'third'"),
        (lambda: pairwise_loss([0, 1], [1]), r"scores of shape \(1,\) for grades of shape \(2,\)"),
        (lambda: pairwise_loss([[0, 1], [0, 1]], [[0, 1], [1, np.nan]]), "row 1: a score is nan"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        call()
