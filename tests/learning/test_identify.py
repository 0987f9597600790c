"""What pairs determine: the null space, data shares, sentences about them, and the factors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import (
    DCG,
    DCGLearner,
    InputError,
    Problem,
    drawn_lists,
    identify,
    permuted_lists,
    true_pairs,
)
from dcglearn.learning.factorise import factorise, fix_gauge, rank_one
from dcglearn.learning.identify import DataShare, null_space
from dcglearn.learning.record import is_affine
from helpers.kkt import dense_differences
from helpers.truths import DATA_1


def paper(n: int, different: int, seed: int = 0, truth: DCG = DATA_1) -> np.ndarray:
    """Pairs of the paper's design; the first ones have lists of different content."""
    rng = np.random.default_rng(seed)
    lists = permuted_lists(n, rng)
    lists[:different] = drawn_lists(different, 10, [0.2] * 5, rng)
    return true_pairs(truth, lists)


def test_ranks_of_the_papers_design_and_of_different_content() -> None:
    same = identify(Problem.of(paper(400, 0), 5))
    assert (same.rank, same.n_directions, same.same_content) == (36, 50, True)
    assert "up to an affine map: all pairs reorder one list" in " ".join(same.undetermined())
    other = identify(Problem.of(paper(400, 400), 5))
    assert (other.rank, other.same_content, other.gauge) == (40, False, "worst")
    assert other.undetermined()[1] == "every grade at ranks 1-10 could gain the same constant"
    assert not other.n_unnamed


def test_rank_is_not_enough() -> None:
    """Among 20,000 pairs, ten of different content give full rank, and the penalty dominates."""
    few, some, many = (DCGLearner().fit(paper(20_000, n)) for n in (10, 200, 2000))
    tails = []
    for learner in (few, some, many):
        assert learner.identifiability_.rank == 40
        read = factorise(learner.weights_, "worst").discounts
        tails.append(read[-1] / read[0])
    assert tails[0] == pytest.approx(0.0, abs=0.01)
    assert 0.05 < tails[1] < 0.2
    assert 0.22 < tails[2] < 0.289  # the truth is .289
    assert few.factors_.gauge == "worst order"
    assert few.identifiability_.offset_share < 0.5
    assert "too few pairs hold lists of different content" in " ".join(
        few.identifiability_.undetermined()
    )
    assert many.factors_.gauge == "worst"
    moves = [learner.identifiability_.change_on_doubling_c for learner in (some, many)]
    assert moves[0] > 2 * moves[1]  # at 1% the penalty still matters


@st.composite
def any_pairs(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    n, K, L = draw(st.integers(1, 8)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["full", "short", "same"]))
    pairs = rng.integers(-1 if kind == "short" else 0, L, (n, 2, K))
    if kind == "same":
        pairs[:, 1] = rng.permuted(pairs[:, 0], axis=1)
    return pairs, L


@given(case=any_pairs(), C=st.sampled_from([1e-6, 1.0, 1e6, 1e18]))
def test_the_null_space_is_that_of_the_differences(case: tuple[np.ndarray, int], C: float) -> None:
    pairs, L = case
    K = pairs.shape[2]
    X = dense_differences(pairs, L)
    found = null_space(DataShare(Problem.of(pairs, L)))
    assert found.rank == np.linalg.matrix_rank(X)
    cube = np.abs(X).reshape(len(X), K, L)
    assert found.constant_ranks == tuple(k + 1 for k in range(K) if not cube[:, k].any())
    assert found.constant_grades == tuple(g for g in range(L) if not cube[:, :, g].any())
    for k in range(K):
        row = np.zeros((K, L))
        row[k] = 1
        hidden = not (X @ row.ravel()).any()
        if k + 1 in found.free_ranks:
            assert hidden
        assert hidden == (k + 1 not in found.empty_ranks)
    shown = [g for g in range(L) if g not in found.constant_grades]
    for rank, groups in found.components:
        assert len(groups) > 1
        assert sorted(g for group in groups for g in group) == shown
        for i, j in ((i, j) for i in shown for j in shown if i != j):
            apart = [group for group in groups if i in group] != [g for g in groups if j in g]
            against = ((pairs[:, 0, rank - 1] == i) & (pairs[:, 1, rank - 1] == j)).any()
            assert not (apart and against)
    columns = [np.tile(np.arange(L) == g, K) * 1.0 for g in range(L)]
    assert found.same_content == all(not (X @ column).any() for column in columns)
    assert 0 <= found.n_unnamed <= K * L - found.rank
    said = identify(Problem.of(pairs, L, C=C))
    shares = (said.discount_share, said.gain_share, said.discount_null, said.gain_null)
    for share in (*np.concatenate(shares), said.offset_share):
        assert -1e-12 <= share <= 1 + 1e-12  # sums of squares, up to rounding
    assert all(isinstance(text, str) for text in said.undetermined())


def test_shares_are_those_of_the_formula() -> None:
    """share(t) = 1 - t'(I + C X'VX)^-1 t, with the inverse computed directly."""
    rng = np.random.default_rng(3)
    pairs = drawn_lists(30, 3, [0.3, 0.3, 0.4], rng)
    weights = rng.random(30)
    found = identify(Problem.of(pairs, 3, weights=weights, C=0.7))
    X = dense_differences(pairs, 3)
    inverse = np.linalg.inv(np.eye(9) + 0.7 * X.T @ np.diag(weights) @ X)
    t = np.outer(np.ones(3), np.array([0.5, 0, -0.5])).ravel()
    t /= np.linalg.norm(t)
    offset = 1 - t @ inverse @ t
    assert found.offset_share == pytest.approx(offset, abs=1e-9)
    assert found.gauge == "worst"

    def share(direction: np.ndarray) -> float:
        centred = direction - direction.mean(axis=1, keepdims=True)  # rank offsets have no effect
        d = centred.ravel() / np.linalg.norm(centred)
        return 1 - d @ inverse @ d

    gains, discounts = np.array([1, 0.5, 0]), 1 / np.log2([2, 3, 4])
    by_rank = [min(offset, share(np.outer(row, gains))) for row in np.eye(3)]
    by_grade = [share(np.outer(discounts, column)) for column in np.eye(3)]
    # no number is surer than those that are fixed: the first discount, the best and worst gain
    assert found.discount_share == pytest.approx(np.minimum(by_rank, by_rank[0]), abs=1e-9)
    fixed = min(by_grade[0], by_grade[2])
    assert found.gain_share == pytest.approx(np.minimum(by_grade, fixed), abs=1e-9)
    assert found.discount_null == pytest.approx(np.zeros(3), abs=1e-9)
    assert found.gain_null == pytest.approx(np.zeros(3), abs=1e-9)


def test_constant_ranks_do_not_hide_an_affine_gauge() -> None:
    """Two ranks differ, by permutations; at five more the lists are always alike."""
    rng = np.random.default_rng(0)
    lists = np.ones((300, 2, 7), np.int8)
    lists[:, :, :2] = permuted_lists(300, rng, [0, 2])
    found = DCGLearner(n_grades=3).fit(true_pairs(DCG([2, 1, 0], "log2"), lists)).identifiability_
    assert found.constant_ranks == (3, 4, 5, 6, 7)
    assert found.gauge == "worst order"


def test_a_grade_that_never_occurs_changes_little_else() -> None:
    """Only the penalty depends on it: its weight, tied to the next grade's, counts in w'w."""
    pairs = paper(300, 300)
    one, two = DCGLearner(n_grades=5).fit(pairs), DCGLearner(n_grades=6).fit(pairs)
    found = two.identifiability_
    assert found.constant_grades == (5,)
    assert "no pair differs in grade 5: its gain is undetermined" in found.undetermined()
    assert found.gain_share[5] == 0
    assert two.factors_.discounts == pytest.approx(one.factors_.discounts, abs=0.05)
    better = DCGLearner(n_grades=6).fit(pairs + 1)
    assert better.factors_.gains[:2].tolist() == [1.0, 1.0]  # tied with the best that occurs


def test_the_change_on_doubling_c_keeps_tied_grades_tied() -> None:
    """Two grades of one worth get one weight; the change is that of fits on both sides of C."""
    pairs = true_pairs(DCG([3, 1, 1, 0]), drawn_lists(60, 2, [0.25] * 4, np.random.default_rng(3)))
    one = DCGLearner(n_grades=4).fit(pairs)
    assert (one.weights_[:, 1] == one.weights_[:, 2]).all()
    for C in (1 + 1e-6, 1 - 1e-6):
        slope = (DCGLearner(C=C, n_grades=4).fit(pairs).weights_ - one.weights_) / np.log(C)
        after = factorise(one.weights_ + np.log(2) * slope, one.factors_.gauge)
        moved = [after.discounts - one.factors_.discounts, after.gains - one.factors_.gains]
        expected = np.abs(np.concatenate(moved)).max()
        assert one.identifiability_.change_on_doubling_c == pytest.approx(expected, rel=1e-5)


def test_rank_one_truths_are_recovered() -> None:
    c, g = np.array([1, 0.6, 0.3, 0.2]), np.array([1, 0.7, 0.1, 0])
    W = np.outer(c, g)
    shifted = W - W.mean(axis=1, keepdims=True)
    found = factorise(shifted, "worst")
    assert found.discounts == pytest.approx(c)
    assert found.gains == pytest.approx(g)
    assert found.second_ratio == pytest.approx(0, abs=1e-12)
    assert found.rank_one_share == pytest.approx(1)
    affine = factorise(shifted + np.array([3.0, 1, 0.5, 0]), "worst order")
    assert affine.discounts == pytest.approx((c - c[-1]) / (c[0] - c[-1]))
    floor = np.outer(c, g + 0.5)
    partly = floor.copy()
    partly[:2] -= partly[:2].mean(axis=1, keepdims=True)
    partly[:2] += np.array([[5.0], [-3.0]])  # offsets that are undetermined have no effect
    seen = factorise(partly, "absolute", [False, False, True, True])
    assert seen.discounts == pytest.approx(c)
    assert seen.gains == pytest.approx((g + 0.5) / 1.5)
    assert rank_one(W) == pytest.approx(W)


@pytest.mark.parametrize("gauge", ["worst", "absolute", "worst order", "absolute order"])
@pytest.mark.parametrize("ordered", [True, False])
@given(seed=st.integers(0, 10**6), shape=st.tuples(st.integers(2, 5), st.integers(2, 5)))
def test_the_factors_never_order_against_the_rank_one_part(
    gauge: str, ordered: bool, seed: int, shape: tuple[int, int]
) -> None:
    W = np.random.default_rng(seed).normal(size=shape)
    found = factorise(W, gauge, ordered=ordered)
    T = fix_gauge(W, gauge, -1 if ordered else None)
    nearest = rank_one(T)
    read = np.outer(found.discounts, found.gains)
    if is_affine(gauge):
        read, nearest = (A - A.mean(axis=0) for A in (read, nearest))
    if not ordered:
        read, nearest = (A - A.mean(axis=1, keepdims=True) for A in (read, nearest))
    size = np.linalg.norm(read) * np.linalg.norm(nearest)
    assert (read * nearest).sum() == pytest.approx(size, rel=1e-6)


def test_only_lists_of_different_length_determine_the_worst_gain() -> None:
    truth = DCG([1, 0.6, 0.2], "zipf")
    rng = np.random.default_rng(0)
    pairs = true_pairs(truth, drawn_lists(3000, 5, [0.3, 0.3, 0.4], rng, shortest=3))
    learner = DCGLearner().fit(pairs)
    found = learner.identifiability_
    assert found.gauge == "absolute"
    assert found.determined_offsets == (False, False, False, True, True)
    assert learner.factors_.gains == pytest.approx([1, 0.6, 0.2], abs=0.05)
    assert learner.factors_.discounts == pytest.approx(1 / np.arange(1, 6), abs=0.05)


def test_gains_of_separate_components_are_not_from_the_data() -> None:
    """At every rank only the grades {0, 1} and {2, 3} are compared."""
    rng = np.random.default_rng(0)
    high = rng.integers(0, 2, (2000, 1, 4))
    lists = np.where(high, rng.integers(0, 2, (2000, 2, 4)), rng.integers(2, 4, (2000, 2, 4)))
    for gains in ([1, 0.9, 0.2, 0], [1, 0.55, 0.45, 0]):
        pairs = true_pairs(DCG(gains, "zipf"), lists.astype(np.int8))
        wrong = rng.random(len(pairs)) < 0.15
        pairs[wrong] = pairs[wrong][:, ::-1]
        found = DCGLearner().fit(pairs).identifiability_
        assert found.components
        assert "data" not in found.gains_determined_by


def test_weights_that_tie_all_lists_are_refused() -> None:
    with pytest.raises(InputError, match="tie all lists"):
        factorise(np.zeros((3, 2)))
    for pairs, margin, reason in [
        ([[[0, 1], [1, 0]], [[1, 0], [0, 1]]], "unit", "cancel out"),
        ([[[1, 1], [0, 1]], [[1, 0], [0, 0]]], "unit", "names the best grade first"),
        ([[[0, 1], [1, 1]]], lambda p: [-1.0], "no margin is above 0"),
    ]:
        with pytest.raises(InputError, match=reason):
            DCGLearner(margin=margin).fit(pairs)
