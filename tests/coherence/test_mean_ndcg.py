"""Verdicts by mean nDCG for all gains, against many gains and the measure itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import DCG, InputError, MeanVerdict, mean_verdict
from dcglearn.base.types import Floats, Grades
from dcglearn.coherence.mean_ndcg import mean_verdicts
from dcglearn.coherence.verdict import WorstGain
from dcglearn.measures.dcg import counts_by_grade
from dcglearn.measures.discounts import rule_discounts

GOOD_POOLS = np.array([[0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]])
X, Y = np.array([[0, 1, 1], [1, 0, 1]]), np.array([[1, 1, 0], [0, 1, 0]])


def mean_difference_of(measure: DCG, a: Grades, b: Grades, pools: Grades) -> float:
    return float(np.mean(measure.score(a, pools) - measure.score(b, pools)))


def ndcg(gains: Floats | list[float], discounts: str = "log2", K: int = 3) -> DCG:
    return DCG(gains, discounts, K, "ideal")


def mean_differences_of(gains: Floats, a: Grades, b: Grades, pools: Grades) -> Floats:
    """The mean difference for many gains at once, computed by sorting each pool."""
    worth = np.hstack([gains, np.zeros((len(gains), 1))])
    c = rule_discounts("log2", a.shape[1])
    ideal = worth[:, np.sort(pools, axis=1)[:, : a.shape[1]]] @ c
    gap = (worth[:, a] - worth[:, b]) @ c
    found: Floats = np.divide(gap, ideal, out=np.zeros_like(gap), where=ideal > 0).mean(axis=1)
    assert found[-1] == pytest.approx(mean_difference_of(ndcg(gains[-1]), a, b, pools), abs=1e-12)
    return found


def draw_runs(
    rng: np.random.Generator, n: int, Q: int, K: int, N: int, L: int
) -> tuple[Grades, Grades]:
    """Rankings of documents from the pool of each query, with some empty ranks."""
    pools = rng.integers(0, L, (Q, N))
    runs = np.stack([rng.permuted(pools, axis=1)[:, :K] for _ in range(n)])
    runs[rng.random(runs.shape) < 0.1] = -1
    return runs, pools


def check_witnesses(found: MeanVerdict, a: Grades, b: Grades, pools: Grades) -> None:
    for measure, margin, sign in zip(found.witnesses, found.differences, (1, -1), strict=True):
        if measure is None:
            assert margin == 0
            continue
        assert measure.normalise == "ideal"
        assert measure.gains[0] == 1
        falls = -np.diff(measure.gains)
        assert ((falls > 0) | (np.array(measure.gains[1:]) == 0)).all()
        assert mean_difference_of(measure, a, b, pools) == pytest.approx(
            margin, abs=found.tolerance
        )
        assert sign * margin > found.tolerance
    assert (found.winner == "depends") == (None not in found.witnesses)


def test_two_grades_depend_on_the_worst_gain() -> None:
    """The example: +.046082 with gains 1, 0 and -.022111 with gains 1, .5."""
    assert round(mean_difference_of(ndcg([1, 0]), X, Y, GOOD_POOLS), 6) == 0.046082
    assert round(mean_difference_of(ndcg([1, 0.5]), X, Y, GOOD_POOLS), 6) == -0.022111
    found = mean_verdict(X, Y, GOOD_POOLS, "log2", 2, worst_gain="nonnegative")
    assert found.winner == "depends"
    check_witnesses(found, X, Y, GOOD_POOLS)
    assert found.bounds[0] <= -0.022111
    assert found.bounds[1] >= 0.046081


@settings(max_examples=settings().max_examples * 4 // 5)
@given(seed=st.integers(0, 10**6), L=st.integers(2, 5), nonnegative=st.booleans())
def test_verdicts_hold_for_drawn_gains(seed: int, L: int, nonnegative: bool) -> None:
    rng = np.random.default_rng(seed)
    worst = "nonnegative" if nonnegative and L < 4 else "zero"
    runs, pools = draw_runs(rng, 2, int(rng.integers(1, 6)), 3, 5, L)
    found = mean_verdict(*runs, pools, "log2", L, worst, max_boxes=1000)
    check_witnesses(found, *runs, pools)
    gains = rng.random((200, L)) ** rng.choice([0.2, 1, 5], (200, 1))
    gains[:, 0] = 1
    gains = gains.cumprod(axis=1)
    if worst == "zero":
        gains[:, -1] = 0
    for row, zeros_from in zip(gains[:100], rng.integers(1, L + 1, 100), strict=True):
        row[zeros_from:] = 0
    values = mean_differences_of(gains, *runs, pools)
    assert (values >= found.bounds[0] - found.tolerance).all()
    assert (values <= found.bounds[1] + found.tolerance).all()
    free_ratios = L - 1 - (worst == "zero")
    assert found.winner != "undecided" or free_ratios > 1
    allowed = {"a": values >= -1e-9, "b": values <= 1e-9, "equal": abs(values) <= 1e-9}
    assert found.winner not in allowed or allowed[found.winner].all()
    back = mean_verdict(*runs[::-1], pools, "log2", L, worst, max_boxes=1000)
    assert back.bounds == pytest.approx((-found.bounds[1], -found.bounds[0]), abs=1e-12)
    assert back.winner == {"a": "b", "b": "a"}.get(found.winner, found.winner)


@pytest.mark.parametrize(
    ("L", "worst", "winners"),
    [
        (3, "nonnegative", "a/a/aa////ba/b/a//aaa/aaab//ab"),
        (4, "zero", "a//baa/b//baab/aaa/aa/a/ab//ab"),
        (5, "zero", "a////a////baa///aa//a/a/ab//ab"),
    ],
)
def test_random_runs_are_decided_with_two_and_three_free_ratios(
    L: int, worst: WorstGain, winners: str
) -> None:
    """The winners of 30 pairs of runs; a slash means that it depends on the gains."""
    for seed, winner in enumerate(winners):
        rng = np.random.default_rng(seed)
        runs, pools = draw_runs(rng, 2, 4, 3, 5, L)
        found = mean_verdict(*runs, pools, "log2", L, worst, max_boxes=1000)
        assert found.winner == {"/": "depends"}.get(winner, winner)
        check_witnesses(found, *runs, pools)


def test_swapped_rankings_of_two_equal_queries_are_tied_for_all_gains(
    rng: np.random.Generator,
) -> None:
    runs, pools = draw_runs(rng, 1, 1, 3, 5, 4)
    other = np.array([[2, 2, 1]])
    pools = np.hstack([pools, [[1, 2, 2]]])
    a, b = np.vstack([runs[0], other]), np.vstack([other, runs[0]])
    assert (a != b).any()
    found = mean_verdict(a, b, np.vstack([pools, pools]), "log2", 4)
    assert found.winner == "equal"
    assert found.witnesses == (None, None)


def test_a_tie_at_the_boundary_leaves_the_winner() -> None:
    """With a middle gain of 0 the runs are tied, although the two queries have opposite signs."""
    pools = np.array([[0, 1, 2, 2], [0, 1, 1, 2]])
    a, b = np.array([[0, 1, 2], [0, 2, 1]]), np.array([[0, 2, 1], [0, 1, 2]])
    assert mean_difference_of(ndcg([1, 0, 0]), a, b, pools) == 0
    assert mean_difference_of(ndcg([1, 1e-3, 0]), a, b, pools) > 0
    found = mean_verdict(a, b, pools, "log2", 3)  # grows with the square of the middle gain
    assert found.winner == "a"
    steeper = mean_verdict(np.array([[0, 1, 2], [0, 1, 2]]), b[[0, 0]], pools, "log2", 3)
    assert steeper.winner == "a"


def test_pools_without_best_documents_or_without_any_gain() -> None:
    pools = np.array([[1, 1, 2], [2, 2, 2], [0, 1, 2]])
    a = np.array([[1, 2, 1], [2, 2, 2], [1, 0, 2]])
    b = np.array([[2, 1, 1], [2, 2, -1], [1, 2, 0]])
    found = mean_verdict(a, b, pools, "log2", 3)
    assert found.winner == "a"
    check_witnesses(found, a, b, pools)
    # a query without best documents keeps its value however small the middle gain is, not at 0
    assert mean_difference_of(ndcg([1, 1e-9, 0]), a, b, pools) > 0.05
    assert found.bounds[0] == pytest.approx(mean_difference_of(ndcg([1, 0, 0]), a, b, pools))
    nothing = mean_verdict(a[1:2], b[1:2], pools[1:2], "log2", 3)
    assert nothing.winner == "equal"


def test_verdicts_of_all_pairs_equal_single_verdicts(rng: np.random.Generator) -> None:
    runs, pools = draw_runs(rng, 5, 12, 4, 8, 3)
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    found = mean_verdicts(runs, counts_by_grade(pools, 3), "zipf", "zero", np.full(5, 12), pairs)
    assert list(found) == pairs
    for (i, j), one in found.items():
        alone = mean_verdict(runs[i], runs[j], pools, "zipf", 3)
        assert (alone.winner, alone.bounds) == (one.winner, pytest.approx(one.bounds))
    assert {one.winner for one in found.values()} >= {"a", "b"}


def test_a_search_at_its_limit_is_undecided() -> None:
    winners = set()
    for seed in range(30):
        runs, pools = draw_runs(np.random.default_rng(seed), 2, 4, 3, 5, 4)
        at_limit = mean_verdict(*runs, pools, "log2", 4, max_boxes=1)
        found = mean_verdict(*runs, pools, "log2", 4)
        assert at_limit.winner in (found.winner, "undecided")
        if at_limit.winner == "undecided":
            winners.add(found.winner)
            assert None in at_limit.witnesses
            assert at_limit.bounds[0] < 0 < at_limit.bounds[1]
    assert winners == {"a", "b", "depends"}


def test_worst_documents_may_be_missing_from_the_pool_if_their_gain_is_zero() -> None:
    a, b, pools = [[0, 2, 2]], [[2, 2, 0]], [[0, 1]]
    assert mean_verdict(a, b, pools, "log2", 3).winner == "a"
    with pytest.raises(InputError, match="row 0: a ranking holds documents"):
        mean_verdict(a, b, pools, "log2", 3, worst_gain="nonnegative")


def test_no_query_is_no_mean() -> None:
    nothing = np.zeros((0, 3), int)
    with pytest.raises(InputError, match=r"runs of shape \(0, 3\)"):
        mean_verdict(nothing, nothing, nothing, "log2", 3)


@pytest.mark.parametrize(
    ("a", "pools", "options", "message"),
    [
        ([[0, 1]], [[0, 1, 1]], {}, "shape (1, 2) against (1, 3)"),
        ([[0, 0, 1]], [[0, 1, 1]], {}, "row 0: a ranking holds documents"),
        ([[0, 1, 1]], [[0, 1, 1]], {"discounts": [1, 2, 3]}, "discounts that increase"),
        ([[0, 1, 1]], [[0, 1, 1]], {"discounts": [1, 0, -1]}, "fall below 0"),
        ([[0, 1, 1]], [[0, 1, 1]], {"worst_gain": "free"}, "unknown worst gain 'free'"),
    ],
)
def test_bad_input_is_refused(
    a: list[list[int]], pools: list[list[int]], options: dict[str, object], message: str
) -> None:
    given_ = {"discounts": "log2", "n_grades": 2, **options}
    with pytest.raises(InputError) as error:
        mean_verdict(a, [[1, 1, 0]], pools, **given_)
    assert message in str(error.value)


def zipf_difference(gains: Floats | list[float], a: Grades, b: Grades, pools: Grades) -> float:
    return mean_difference_of(ndcg(gains, "zipf", a.shape[1]), a, b, pools)


def test_a_winner_for_positive_gains_may_be_behind_with_gains_of_zero() -> None:
    a, b, pools = (
        np.array(rows)
        for rows in ([[0, 2, 2], [2, 2, 1]], [[2, 0, 2], [1, 2, 2]], [[0, 2, 2], [1, 2, 2]])
    )
    for x in np.linspace(0.01, 1, 100):
        assert zipf_difference([1, x, 0], a, b, pools) < 0
    found = mean_verdict(a, b, pools, "zipf", 3)
    assert found.winner == "depends"
    assert found.witnesses[0] is not None
    assert found.witnesses[0].gains == (1, 0, 0)
    assert found.differences[0] == zipf_difference([1, 0, 0], a, b, pools) == 0.25


def test_a_nonnegative_worst_gain_adds_the_face_where_it_is_zero() -> None:
    """With gains 1, 0 the second query stops counting."""
    pools, a, b = np.array([[[0, 1], [1, 1]], [[0, 1], [1, -1]], [[1, 0], [1, 1]]])
    found = mean_verdict(a, b, pools, "zipf", 2, "nonnegative")
    inside = [zipf_difference([1, x], a, b, pools) for x in np.linspace(0.01, 1, 100)]
    assert max(inside) < 0.2
    assert found.bounds[1] == pytest.approx(0.25)
    assert found.winner == "depends"
