"""Branch and bound on linear functions of the ratios, whose extremes over a box are known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.coherence.branch_and_bound import (
    EQUAL,
    FOR_A,
    FOR_B,
    UNDECIDED,
    RatioSearch,
    search_ratios,
)
from dcglearn.coherence.mean_ndcg_bounds import BoxBounds


@dataclass
class Linear:
    """The functions w'x - t of d ratios, one per pair, with a log of what was evaluated."""

    w: Floats
    t: Floats
    tolerance: float = 1e-12
    points: list[Floats] = field(default_factory=list)
    pairs: list[NDArray[np.intp]] = field(default_factory=list)

    @property
    def n_ratios(self) -> int:
        return self.w.shape[1]

    def values(self, points: Floats, pairs: NDArray[np.intp]) -> Floats:
        self.points.append(points)
        self.pairs.append(pairs)
        value: Floats = (self.w[pairs] * points).sum(axis=1) - self.t[pairs]
        return value

    def bounds(self, low: Floats, high: Floats, pairs: NDArray[np.intp]) -> BoxBounds:
        ends = self.w[pairs] * low, self.w[pairs] * high
        t, slopes = self.t[pairs], np.abs(self.w[pairs])
        return BoxBounds(
            np.minimum(*ends).sum(axis=1) - t, np.maximum(*ends).sum(axis=1) - t, slopes
        )


def search(function: Linear, resolution: float = 1e-3, max_boxes: int = 4096) -> RatioSearch:
    return search_ratios(function, len(function.t), resolution, max_boxes)


def n_evaluated(function: Linear) -> list[int]:
    return np.bincount(np.concatenate(function.pairs), minlength=len(function.t)).tolist()


def test_extremes_are_the_best_of_all_points(rng: np.random.Generator) -> None:
    function = Linear(rng.normal(size=(6, 2)), rng.normal(scale=0.2, size=6))
    extremes = search(function, max_boxes=100).extremes
    points, pairs = np.concatenate(function.points), np.concatenate(function.pairs)
    values = (function.w[pairs] * points).sum(axis=1) - function.t[pairs]
    assert max(n_evaluated(function)) > 10
    for pair in range(6):
        own = pairs == pair
        assert extremes.largest[pair] == values[own].max()
        assert extremes.smallest[pair] == values[own].min()
        for at, value in (
            (extremes.at_largest, extremes.largest),
            (extremes.at_smallest, extremes.smallest),
        ):
            assert (function.w[pair] * at[pair]).sum() - function.t[pair] == value[pair]
            assert ((at[pair] > 0) & (at[pair] < 1)).all()


def test_leaves_fill_the_box_and_their_labels_hold(rng: np.random.Generator) -> None:
    function = Linear(rng.normal(size=(8, 2)), rng.normal(scale=0.2, size=8))
    leaves = search(function, max_boxes=50).leaves
    volumes = (leaves.high - leaves.low).prod(axis=1)
    np.testing.assert_allclose(np.bincount(leaves.pairs, volumes), 1)
    exact = function.bounds(leaves.low, leaves.high, leaves.pairs)
    np.testing.assert_array_equal(leaves.lower, exact.lower)
    np.testing.assert_array_equal(leaves.upper, exact.upper)
    b_never_ahead = exact.lower >= -function.tolerance
    a_never_ahead = exact.upper <= function.tolerance
    np.testing.assert_array_equal(leaves.labels == FOR_A, b_never_ahead & ~a_never_ahead)
    np.testing.assert_array_equal(leaves.labels == FOR_B, a_never_ahead & ~b_never_ahead)
    assert {FOR_A, FOR_B, UNDECIDED} == set(leaves.labels.tolist())


def test_a_function_of_zero_is_equal_at_once() -> None:
    function = Linear(np.zeros((1, 2)), np.zeros(1))
    assert search(function).leaves.labels.tolist() == [EQUAL]
    assert n_evaluated(function) == [1]


def test_a_box_with_one_sign_is_not_halved() -> None:
    function = Linear(np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([0.0, 0.0]))
    assert search(function).leaves.labels.tolist() == [FOR_A, FOR_B]
    assert n_evaluated(function) == [1, 1]


def test_one_ratio_is_searched_to_the_resolution() -> None:
    function = Linear(np.array([[1.0]]), np.array([0.3]))
    leaves = search(function, resolution=2.0**-7).leaves
    (width,) = (leaves.high - leaves.low)[leaves.labels == UNDECIDED, 0]
    assert width == 2.0**-7
    assert n_evaluated(function) == [1 + 2 * 7]


def test_two_ratios_are_searched_until_both_signs_occur() -> None:
    function = Linear(np.array([[1.0, 0.0]]), np.array([0.3]))
    found = search(function)
    assert found.extremes.largest[0] > 0 > found.extremes.smallest[0]
    assert n_evaluated(function) == [3]  # the middle, at .5, and the two halves
    assert UNDECIDED in found.leaves.labels


def test_two_ratios_with_one_sign_at_the_middle_are_searched_on() -> None:
    """The second pair has one sign; with one sign at the first point it is not yet proved."""
    function = Linear(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.9, 0.01]))
    found = search(function)
    assert (found.extremes.largest > 0).all()
    assert (found.extremes.smallest < 0).all()
    assert min(n_evaluated(function)) > 3


def test_a_difference_within_the_tolerance_is_not_a_sign() -> None:
    function = Linear(np.array([[1.0, 0.0]]), np.array([0.2]), tolerance=0.1)
    found = search(function)
    assert n_evaluated(function) == [5]  # it goes on after .3 at .5 and .05 at .25
    assert UNDECIDED not in found.leaves.labels


def test_bounds_at_the_tolerance_leave_one_sign() -> None:
    function = Linear(np.array([[1.0], [-1.0]]), np.array([0.25, -0.25]), tolerance=0.25)
    assert search(function).leaves.labels.tolist() == [FOR_A, FOR_B]


def test_the_side_with_the_largest_change_is_halved() -> None:
    function = Linear(np.array([[3.0, 2.0]]), np.array([0.01]))
    leaves = search(function, max_boxes=4).leaves
    assert n_evaluated(function) == [5]  # the middle, two halves, two quarters of one half
    widths = leaves.high - leaves.low
    assert sorted(map(tuple, widths.tolist())) == [(0.5, 0.5), (0.5, 0.5), (0.5, 1.0)]


def test_the_largest_number_of_boxes() -> None:
    function = Linear(np.array([[1.0], [1.0]]), np.array([0.3, 0.6]))
    assert search(function, max_boxes=1).leaves.labels.tolist() == [UNDECIDED] * 2
    assert n_evaluated(function) == [1, 1]
