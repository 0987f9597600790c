"""Beta-Gamma thresholds: the rule, the two ends it moves between, files, the command.

The slow version goes down the distinct scores and sums what passes, from the start each time.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError
from dcglearn import beta_gamma_threshold as threshold
from dcglearn.systems.beta_gamma import Delivery

Documents = tuple[list[float], list[float], list[bool]]


@st.composite
def documents(draw: st.DrawFn) -> Documents:
    """Scores with ties, whole utilities, and who was judged."""
    n = draw(st.integers(1, 12))
    scores = draw(st.lists(st.integers(0, 6).map(float), min_size=n, max_size=n))
    utilities = draw(st.lists(st.integers(-3, 3).map(float), min_size=n, max_size=n))
    judged = [u > 0 or draw(st.booleans()) for u in utilities]
    return scores, utilities, judged


def interpolated(
    optimal: float, zero: float, N: int, beta: float = 0.1, gamma: float = 0.05
) -> float:
    alpha = beta + (1 - beta) * math.exp(-gamma * N)
    return (1 - alpha) * optimal + alpha * zero


def worth(scores: list[float], utilities: list[float], theta: float) -> float:
    return sum(u for s, u in zip(scores, utilities, strict=True) if s >= theta)


def ends(scores: list[float], utilities: list[float]) -> tuple[float, float]:
    """theta_opt and theta_zero, step by step."""
    best, optimal = 0.0, math.nextafter(max(scores), math.inf)
    ranked = sorted(set(scores), reverse=True)
    for score in ranked:
        if worth(scores, utilities, score) > best:
            best, optimal = worth(scores, utilities, score), score
    for score in ranked:
        if score < optimal and worth(scores, utilities, score) <= 0:
            return optimal, score
    return optimal, ranked[-1]


@pytest.mark.parametrize(("N", "expected"), [(1, 0.321947), (10, 0.477061), (100, 0.746968)])
def test_the_worked_numbers(N: int, expected: float) -> None:
    found = threshold([0.8] * N + [0.3], [1.0] * N + [-N], [True] * N + [False])
    assert (found.theta_optimal, found.theta_zero, found.n_judged) == (0.8, 0.3, N)
    assert round(found.theta, 6) == expected


@given(case=documents())
def test_the_ends_are_those_found_step_by_step(case: Documents) -> None:
    scores, utilities, judged = case
    found = threshold(scores, utilities, judged)
    assert (found.theta_optimal, found.theta_zero) == ends(scores, utilities)
    assert found.n_judged == sum(judged)
    expected_theta = interpolated(found.theta_optimal, found.theta_zero, sum(judged))
    assert found.theta == pytest.approx(expected_theta, abs=1e-12)
    for theta in (found.theta, found.theta_optimal, found.theta_zero, 2.5):
        expected = Delivery(sum(s >= theta for s in scores), worth(scores, utilities, theta))
        assert found.passing(theta) == expected


def test_rounding_does_not_move_a_maximum_or_a_zero() -> None:
    assert sum([0.1, 0.2, -0.3]) > 0
    back = threshold([4, 3, 2, 1], [0.1, 0.2, -0.3, -1])
    assert (back.theta_optimal, back.theta_zero) == (3, 2)
    assert 0.3 + 0.1 + 0.2 - 0.3 > 0.3
    again = threshold([5, 4, 3, 2, 1], [0.3, -0.3, 0.1, 0.2, -5])
    assert (again.theta_optimal, again.theta_zero) == (5, 4)
    assert threshold([3, 2, 1], [-0.3, 0.1, 0.2]).theta_optimal > 3  # 0 but for rounding


@pytest.mark.parametrize("utilities", [[-2, -2, -2], [-2, 2, -2], [0, 0, 0]])
def test_if_no_cut_pays_the_optimum_is_before_the_first_document(utilities: list[float]) -> None:
    judged = [True] * 3
    found = threshold([0.9, 0.5, 0.1], utilities, judged)
    assert found.theta_optimal == math.nextafter(0.9, 1)
    assert found.theta_zero == 0.9
    assert found.passing(found.theta_optimal) == Delivery(0, 0.0)
    for beta in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        later = threshold([0.9, 0.5, 0.1], utilities, judged, beta, gamma=1000.0)
        assert later.alpha == beta
        assert later.theta == (0.9 if beta > 0.5 else found.theta_optimal)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: threshold([], []), "no document"),
        (lambda: threshold([1, 2], [1]), r"utilities of shape \(1,\), not \(2,\)"),
        (lambda: threshold([1, math.nan], [1, 1]), "row 1: scores hold nan"),
        (lambda: threshold([1, 2], [1, 3], [True, False]), "row 1: an unjudged .* utility 3"),
        (lambda: threshold([1], [1], beta=1.1), r"`beta` is 1.1; use a finite number from 0 to 1"),
        (
            lambda: threshold([1], [1], gamma=-1.0),
            "`gamma` is -1.0; use a finite number of 0 or more",
        ),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        call()
