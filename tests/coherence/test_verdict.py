"""Verdicts for all gains and discounts, and the smallest changes that reverse them.

Against dense searches, grids, all short lists and conditions of optimality.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dcglearn import (
    DCG,
    InputError,
    Verdict,
    advantage,
    smallest_change_of_discounts,
    smallest_change_of_gains,
    verdict,
)
from dcglearn.base.types import Floats, Grades
from dcglearn.coherence.verdict import (
    WORST_GAINS,
    SmallestChange,
    WorstGain,
    advantage_by_step,
    winners,
)

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


def difference(measure: DCG, a: Grades, b: Grades) -> float:
    """By how much one list, or one run, is better than another."""
    return float(np.sum(measure.score(a)) - np.sum(measure.score(b)))


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
            found = winners(advantage_by_step(D, gains, discounts, worst))
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


# Smallest changes

STEP = 1 / 200


def distance(moves: Floats) -> Floats:
    found: Floats = np.linalg.norm(moves, axis=-1)
    return found


def check_change(
    found: SmallestChange | None, a: Grades, b: Grades, start: DCG, grid: Floats, what: str
) -> None:
    """Evaluate a smallest change, and compare it with the nearest reversal on a grid."""
    values = grid @ [difference(change(start, what, row), a, b) for row in np.eye(grid.shape[1])]
    before = difference(start, a, b)
    reversed_ = values * np.sign(before) < -1e-9
    if found is None:
        assert not reversed_.any()
        return
    tie, given = np.array(found.tie), np.array(getattr(start, what))
    assert difference(change(start, what, tie), a, b) == pytest.approx(0, abs=1e-12)
    assert (np.diff(tie) <= 0).all()
    assert tie[0] == given[0]
    assert tie[-1] >= 0
    assert found.distance == pytest.approx(distance(tie - given))
    if found.beyond is None:
        assert found.distance == before == 0
        return
    after = difference(found.beyond, a, b)
    assert after == pytest.approx(found.difference)
    assert after * before < 0
    beyond = np.array(getattr(found.beyond, what))
    assert (np.diff(beyond) <= 0).all()
    assert beyond[0] == given[0]
    assert beyond[-1] >= 0
    assert distance(beyond - tie) < 0.01
    if reversed_.any():
        nearest = distance(grid[reversed_] - given).min()
        assert nearest >= found.distance - 1e-9
        # near the edges of the cone, the nearest point of the grid is farther away
        assert nearest <= found.distance + 12 * STEP


def change(start: DCG, what: str, values: Floats) -> DCG:
    return DCG(values, start.discounts) if what == "gains" else DCG(start.gains, values)


def monotone_grid(top: float, bottom: float, n: int) -> Floats:
    """All non-increasing vectors of n entries on a grid between top and bottom."""
    levels = np.arange(top, bottom - STEP / 2, -STEP)
    return np.array(list(itertools.combinations_with_replacement(levels, n)))


def test_the_example_of_the_paper() -> None:
    a, b = np.array([1, 2]), np.array([2, 0])
    D = advantage(a, b, 3)
    gains = smallest_change_of_gains(D, [3, 2, 0.5], [1.5, 0.5])
    discounts = smallest_change_of_discounts(D, [3, 2, 0.5], [1.5, 0.5])
    assert gains is not None
    assert discounts is not None
    np.testing.assert_allclose(gains.tie, [3, 4 / 3, 0.5])
    np.testing.assert_allclose(discounts.tie, [1.5, 0.9])
    assert gains.distance == pytest.approx(2 / 3)
    assert discounts.distance == pytest.approx(0.4)


@pytest.mark.parametrize("keep", [True, False])
def test_gains_against_a_grid(keep: bool, rng: np.random.Generator) -> None:
    kinds = set()
    for _ in range(40):
        a, b = rng.integers(-1, 4 if keep else 3, (2, 2, 3))
        gains = np.array([1, 0.7, 0.2, 0.1]) if keep else np.array([1, 0.7, 0.2])
        start = DCG(gains, [1, 0.6, 0.5])
        inner = monotone_grid(1.0, 0.1 if keep else 0.0, 2)
        ends = np.ones((len(inner), 1))
        grid = np.hstack([ends, inner, 0.1 * ends] if keep else [ends, inner])
        D = advantage(a, b, len(gains))
        worst: WorstGain | None = None if keep else "nonnegative"
        found = smallest_change_of_gains(D, gains, start.discounts, worst)
        check_change(found, a, b, start, grid, "gains")
        kinds.add(None if found is None else found.beyond is None)
    assert kinds >= {None, False}


def test_discounts_against_a_grid(rng: np.random.Generator) -> None:
    inner = monotone_grid(1.0, 0.0, 2)
    grid = np.hstack([np.ones((len(inner), 1)), inner])
    kinds = set()
    for _ in range(40):
        a, b = rng.integers(-1, 3, (2, 2, 3))
        start = DCG([2, 1, 0], [1, 0.6, 0.5])
        D = advantage(a, b, 3)
        found = smallest_change_of_discounts(D, start.gains, start.discounts)
        check_change(found, a, b, start, grid, "discounts")
        kinds.add(None if found is None else found.beyond is None)
    assert kinds == {None, False, True}


@pytest.mark.parametrize("seed", range(8))
def test_the_euclidean_projection_satisfies_its_optimality_conditions(seed: int) -> None:
    """All feasible z satisfy (x - y)'z <= (x - y)'y, by a linear programme."""
    rng = np.random.default_rng(seed)
    K, L = 30, 4
    a, b = rng.integers(0, L, (2, 3, K))
    gains, c = [3, 2, 1, 0], DCG([1], "log2").discounts_for(K)
    found = smallest_change_of_discounts(advantage(a, b, L), gains, "log2")
    one = np.eye(K)
    w = np.array([difference(DCG(gains, row), a, b) for row in one])
    falls = {"A_ub": np.diff(one, axis=0), "b_ub": np.zeros(K - 1), "bounds": (0, None)}
    if found is None:
        least = linprog(np.sign(w @ c) * w, A_eq=one[:1], b_eq=c[:1], **falls)
        assert least.fun >= -1e-9
        return
    y = np.array(found.tie)
    best = linprog(y - c, A_eq=np.vstack([w, one[0]]), b_eq=[0.0, c[0]], **falls)
    assert -best.fun <= (c - y) @ y + 1e-7


def test_a_tie_without_a_reversal_beyond_it_does_not_count() -> None:
    """With equal gains of both grades the lists are tied, but no gains reverse them."""
    assert smallest_change_of_gains(advantage([0, 2], [1, 2], 3), [2, 1, 0], "log2") is None


@pytest.mark.parametrize(
    ("gains", "discounts", "options", "message"),
    [
        ([1, 2, 0], [1, 1], {}, "gains are [1.0, 2.0, 0.0]; give gains that never increase"),
        ([2, 1, -1], [1, 1], {"worst_gain": "nonnegative"}, "never increase and are 0 or more"),
        ([2, 1, 0.5], [1, 1], {"worst_gain": "zero"}, "never increase and end with 0"),
        ([2, 1], [1, 1], {}, "gains of shape (2,), not (3,)"),
        ([2, 1, 0], [1, 1], {"worst_gain": "free"}, "unknown worst gain 'free'"),
    ],
)
def test_bad_gains_are_refused(
    gains: list[float], discounts: list[float], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError) as error:
        smallest_change_of_gains([[0, 1, 0], [-1, 0, 0]], gains, discounts, **options)
    assert message in str(error.value)
    for increasing in ([1, 2], [1, -1]):
        with pytest.raises(InputError, match="never increase and are 0 or more"):
            smallest_change_of_discounts([[0, 1, 0]] * 2, [2, 1, 0], increasing)
