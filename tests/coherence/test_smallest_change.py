"""Smallest changes that reverse a verdict, against grids and conditions of optimality."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from dcglearn import (
    DCG,
    InputError,
    advantage,
    smallest_change_of_discounts,
    smallest_change_of_gains,
)
from dcglearn.base.types import Floats, Grades
from dcglearn.coherence.smallest_change import SmallestChange
from dcglearn.coherence.verdict import WorstGain
from helpers.measured import difference

STEP = 1 / 200


def distance(moves: Floats) -> Floats:
    found: Floats = np.linalg.norm(moves, axis=-1)
    return found


def check(
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
        check(found, a, b, start, grid, "gains")
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
        check(found, a, b, start, grid, "discounts")
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


@pytest.mark.parametrize("discounts", [[1, 2], [1, 0.5, -1]])
def test_bad_discounts_are_refused(discounts: list[float]) -> None:
    with pytest.raises(InputError, match="never increase and are 0 or more"):
        smallest_change_of_discounts([[0, 1, 0]] * len(discounts), [2, 1, 0], discounts)
