"""Verdicts for all gains and discounts, against dense searches and all short lists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import DCG, InputError, Verdict, advantage, verdict
from dcglearn.base.types import Floats, Grades
from dcglearn.coherence.verdict import WORST_GAINS, WorstGain, cumulative_counts, winners
from dcglearn.measures.agreement import score_differences
from helpers.measured import difference

FEW = settings(max_examples=settings().max_examples * 2 // 5)


@st.composite
def run_pairs(draw: st.DrawFn, full: bool = False) -> tuple[Grades, Grades, int]:
    """Two runs over 1 ... 4 queries, and L."""
    L, K, Q = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    grade = st.integers(0 if full else -1, L - 1)
    both = draw(st.lists(grade, min_size=2 * Q * K, max_size=2 * Q * K))
    a, b = np.array(both).reshape(2, Q, K)
    return a, b, L


def decreasing(rng: np.random.Generator, n: int, size: int) -> Floats:
    """Vectors that decrease strictly and stay above 0, both near to steps and far from them."""
    parts = rng.random((n, size)) ** rng.choice([1, 4, 16], (n, 1)) + 1e-3
    return parts[:, ::-1].cumsum(axis=1)[:, ::-1]


def check_witnesses(
    found: Verdict, a: Grades, b: Grades, gains: object, discounts: object, worst: WorstGain
) -> None:
    """Evaluate witnesses: strictly decreasing where free, as given elsewhere, of both signs."""
    assert len(found.witnesses) == len(found.differences) == 2
    for measure, value, sign in zip(found.witnesses, found.differences, (1, -1), strict=True):
        assert difference(measure, a, b) == pytest.approx(value, rel=1e-9)
        assert sign * difference(measure, a, b) > 0
        if gains is None:
            assert (np.diff(measure.gains) < 0).all()
            assert measure.gains[-1] >= 0
            assert worst != "zero" or measure.gains[-1] == 0
        else:
            assert measure.gains == tuple(np.asarray(gains, float))
        if discounts is None:
            assert min(measure.discounts) > 0
            assert (np.diff(measure.discounts) < 0).all()
        else:
            np.testing.assert_array_equal(
                measure.discounts_for(a.shape[1]), DCG([1], discounts).discounts_for(a.shape[1])
            )


@FEW
@given(case=run_pairs(), seed=st.integers(0, 99))
def test_dcg_is_the_sum_of_advantages_with_the_weights_of_the_steps(
    case: tuple[Grades, Grades, int], seed: int
) -> None:
    a, b, L = case
    rng = np.random.default_rng(seed)
    steps_c, steps_g = rng.normal(size=a.shape[1]), rng.normal(size=L)  # of any sign
    measure = DCG(steps_g[::-1].cumsum()[::-1], steps_c[::-1].cumsum()[::-1])
    D = advantage(a, b, L)
    assert steps_c @ D @ steps_g == pytest.approx(difference(measure, a, b), abs=1e-9)


@pytest.mark.parametrize("K", [1, 2, 3, 4])
def test_two_grades_order_full_lists_identically(K: int, rng: np.random.Generator) -> None:
    """The theorem: all pairs of lists, any compatible gains, the same discounts."""
    lists = np.array(list(itertools.product((0, 1), repeat=K)))
    pairs = np.stack([np.repeat(lists, len(lists), 0), np.tile(lists, (len(lists), 1))], axis=1)
    D = cumulative_counts(pairs[:, 0], 2) - cumulative_counts(pairs[:, 1], 2)
    for discounts in ("log2", "zipf", "constant", *decreasing(rng, 3, K)):
        found = winners(D, discounts=discounts)
        assert set(found) <= {"a", "b", "equal"}
        for gains in ([1, 0], [1, 0.999], [3, -7], *decreasing(rng, 3, 2)):
            signs = np.sign(score_differences(DCG(gains, discounts), pairs))
            expected = np.array(["b", "equal", "a"])[signs.astype(int) + 1]
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("e", "k"), [(0.26, 2), (0.5, 3), (0.9, 8), (0.99, 14)])
def test_three_grades_of_the_paper_depend_on_the_gains(e: float, k: int) -> None:
    """Gains 3, 2, 1/2 to a power, with discounts 1 + e, 1 - e: b is ahead from power k on."""
    a, b = np.array([[1, 2]]), np.array([[2, 0]])
    D, gains, discounts = advantage(a, b, 3), np.array([3, 2, 0.5]), [1 + e, 1 - e]
    by_power = [verdict(D, gains**power, discounts).winner for power in range(1, k + 1)]
    assert by_power == ["a"] * (k - 1) + ["b"]
    found = verdict(D, discounts=discounts)
    assert found.winner == "depends"
    check_witnesses(found, a, b, None, discounts, "nonnegative")


@pytest.mark.parametrize("worst", WORST_GAINS)
@pytest.mark.parametrize("given_", ["nothing", "gains", "discounts"])
@pytest.mark.parametrize(("K", "L"), [(1, 3), (2, 2), (2, 3), (3, 2), (3, 3)])
def test_verdicts_agree_with_a_dense_search(
    K: int, L: int, given_: str, worst: WorstGain, rng: np.random.Generator
) -> None:
    n = 2000
    c, g = decreasing(rng, n, K), decreasing(rng, n, L)
    if worst == "zero":
        g -= g[:, -1:]
    gains = rng.integers(-2, 3, L).astype(float) if given_ == "gains" else None
    discounts = decreasing(rng, 1, K)[0] if given_ == "discounts" else None
    g = g if gains is None else np.broadcast_to(gains, (n, L))
    c = c if discounts is None else np.broadcast_to(discounts, (n, K))
    lists = np.array(list(itertools.product(range(-1, L), repeat=K)))
    chosen = rng.integers(len(lists), size=(150, 2))
    for a, b in lists[chosen][:, :, None]:
        found = verdict(advantage(a, b, L), gains, discounts, worst)
        padded = np.hstack([g, np.zeros((n, 1))])
        values = (c * (padded[:, a[0]] - padded[:, b[0]])).sum(axis=1)
        values[np.abs(values) < 1e-12] = 0.0
        if found.winner == "depends":
            check_witnesses(found, a, b, gains, discounts, worst)
        else:
            sign = {"a": 1, "b": -1, "equal": 0}[found.winner]
            assert not found.witnesses
            np.testing.assert_array_equal(np.sign(values), sign)


@FEW
@given(case=run_pairs(), worst=st.sampled_from(WORST_GAINS), seed=st.integers(0, 9))
def test_witnesses_hold_for_runs(
    case: tuple[Grades, Grades, int], worst: WorstGain, seed: int
) -> None:
    a, b, L = case
    rng = np.random.default_rng(seed)
    c, g = decreasing(rng, 1, a.shape[1])[0], decreasing(rng, 1, L)[0]
    for gains, discounts in ((None, None), (g, None), (None, c), (None, "log2"), (g, c)):
        found = verdict(advantage(a, b, L), gains, discounts, worst)
        if found.winner == "depends":
            check_witnesses(found, a, b, gains, discounts, worst)
        back = verdict(advantage(b, a, L), gains, discounts, worst)
        assert back.winner == {"a": "b", "b": "a"}.get(found.winner, found.winner)


def test_winners_of_many_tables_equal_single_verdicts(rng: np.random.Generator) -> None:
    D = advantage(np.zeros((1, 3), int), np.zeros((1, 3), int), 3) + rng.integers(
        -1, 2, (4, 50, 3, 3)
    ) * rng.integers(0, 2, (4, 50, 1, 1))
    for gains, discounts in itertools.product((None, [2, 1, 0]), (None, "zipf")):
        for worst in WORST_GAINS:
            found = winners(D, gains, discounts, worst)
            assert found.shape == (4, 50)
            for at in np.ndindex(found.shape):
                assert found[at] == verdict(D[at], gains, discounts, worst).winner


def test_sums_of_irrational_discounts_that_are_equal_are_tied() -> None:
    """1 / log2(3) = 2 / log2(9): rank 2 once, or rank 8 twice."""
    a, b = np.ones((2, 8), int), np.ones((2, 8), int)
    a[0, 1] = b[:, 7] = 0
    assert verdict(advantage(a, b, 2), discounts="log2").winner == "equal"
    assert verdict(advantage(a, b, 2)).winner == "depends"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: advantage([0, 1], [0, 1, 2], 3), "shape (2,) against (3,)"),
        (lambda: advantage([0, 3], [0, 1], 3), "grade index 3"),
        (lambda: verdict([1, 2]), "shape (2,)"),
        (lambda: verdict([[1, 2]], discounts=[np.inf]), "row 0: discounts hold inf"),
        (lambda: verdict([[1, 2]], gains=[1]), "gains of shape (1,), not (2,); give one"),
        (lambda: verdict([[1, 2]], discounts="log3"), "did you mean 'log2'"),
        (lambda: verdict([[1, 2]], worst_gain="null"), "unknown worst gain 'null'"),
    ],
)
def test_bad_input_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)
