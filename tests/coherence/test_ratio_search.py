"""Branch and bound on linear functions of the ratios, whose extremes over a box are known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.coherence.mean_ndcg import BoxBounds, Extremes, search_ratios


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


def search(function: Linear, max_boxes: int = 4096) -> Extremes:
    return search_ratios(function, len(function.t), max_boxes)  # type: ignore[arg-type]  # same face


def n_evaluated(function: Linear) -> list[int]:
    return np.bincount(np.concatenate(function.pairs), minlength=len(function.t)).tolist()


def test_extremes_are_the_best_of_all_points(rng: np.random.Generator) -> None:
    function = Linear(rng.normal(size=(6, 2)), rng.normal(scale=0.2, size=6))
    found = search(function, max_boxes=100)
    points, pairs = np.concatenate(function.points), np.concatenate(function.pairs)
    values = (function.w[pairs] * points).sum(axis=1) - function.t[pairs]
    assert max(n_evaluated(function)) > 10
    for pair in range(6):
        own = values[pairs == pair]
        assert found.largest[:, pair].tolist() == [own.max(), -own.min()]
        for at, value in zip(found.at[:, pair], (own.max(), own.min()), strict=True):
            assert (function.w[pair] * at).sum() - function.t[pair] == value
            assert ((at > 0) & (at < 1)).all()


def test_bounds_hold_everywhere_and_prove_the_sign(rng: np.random.Generator) -> None:
    function = Linear(rng.normal(size=(200, 2)), rng.normal(scale=0.2, size=200))
    found = search(function, max_boxes=50)
    exact = function.bounds(np.zeros((200, 2)), np.ones((200, 2)), np.arange(200))
    assert (found.lower <= exact.lower + 1e-12).all()
    assert (found.upper >= exact.upper - 1e-12).all()
    np.testing.assert_array_equal(found.lower >= -1e-12, exact.lower >= -1e-12)
    np.testing.assert_array_equal(found.upper <= 1e-12, exact.upper <= 1e-12)


def test_a_function_of_zero_is_bounded_at_once() -> None:
    function = Linear(np.zeros((1, 2)), np.zeros(1))
    found = search(function)
    assert found.lower[0] == found.upper[0] == 0
    assert n_evaluated(function) == [1]


def test_a_box_with_one_sign_is_not_halved() -> None:
    function = Linear(np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([0.0, 0.0]))
    found = search(function)
    assert found.lower.tolist() == [0, -2]
    assert found.upper.tolist() == [2, 0]
    assert n_evaluated(function) == [1, 1]


def test_one_ratio_is_searched_to_the_resolution() -> None:
    function = Linear(np.array([[1.0]]), np.array([0.3]))
    search(function)
    assert n_evaluated(function) == [1 + 2 * 30]  # 2^-30 is the first width below 1e-9


def test_two_ratios_are_searched_until_both_signs_occur() -> None:
    function = Linear(np.array([[1.0, 0.0]]), np.array([0.3]))
    assert (search(function).largest > 0).all()
    assert n_evaluated(function) == [3]  # the middle, at .5, and the two halves


def test_two_ratios_with_one_sign_at_the_middle_are_searched_on() -> None:
    """The second pair has one sign; with one sign at the first point it is not yet proved."""
    function = Linear(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.9, 0.01]))
    assert (search(function).largest > 0).all()
    assert min(n_evaluated(function)) > 3


def test_a_difference_within_the_tolerance_is_not_a_sign() -> None:
    function = Linear(np.array([[1.0, 0.0]]), np.array([0.2]), tolerance=0.1)
    search(function)
    assert n_evaluated(function) == [5]  # it goes on after .3 at .5 and .05 at .25


def test_bounds_at_the_tolerance_leave_one_sign() -> None:
    function = Linear(np.array([[1.0], [-1.0]]), np.array([0.25, -0.25]), tolerance=0.25)
    search(function)
    assert n_evaluated(function) == [1, 1]


def test_the_side_with_the_largest_change_is_halved() -> None:
    function = Linear(np.array([[3.0, 2.0]]), np.array([0.01]))
    search(function, max_boxes=4)
    points = sorted(map(tuple, np.concatenate(function.points).tolist()))
    assert points == [(0.25, 0.25), (0.25, 0.5), (0.25, 0.75), (0.5, 0.5), (0.75, 0.5)]


def test_the_largest_number_of_boxes() -> None:
    function = Linear(np.array([[1.0], [1.0]]), np.array([0.3, 0.6]))
    found = search(function, max_boxes=1)
    assert (found.lower < 0).all()
    assert (found.upper > 0).all()
    assert n_evaluated(function) == [1, 1]
