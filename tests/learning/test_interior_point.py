"""The interior point from which Newton's method continues when C is large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import DCG, Problem, SolverError, drawn_lists, true_pairs
from dcglearn.base.types import Pairs
from dcglearn.learning import newton as newtons
from dcglearn.learning.certificate import certify, project
from dcglearn.learning.interior_point import interior_point_start
from dcglearn.learning.newton import newton
from dcglearn.learning.qp import solve_with_cvxpy
from dcglearn.simulation.judges import flip_pairs
from helpers.kkt import check_kkt

TRUTH = DCG([5, 4, 3, 2, 1], "log2")


def flipped_pairs(n: int, wrong: float, rng: np.random.Generator) -> Pairs:
    pairs = true_pairs(TRUTH, drawn_lists(n + n // 20 + 20, 10, [0.2] * 5, rng))[:n]
    return flip_pairs(pairs, round(wrong * n), rng)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    K=st.integers(1, 4),
    L=st.integers(1, 5),
    power=st.integers(-6, 8),
    monotone=st.booleans(),
)
def test_the_objective_is_not_above_that_of_the_prior(
    seed: int, n: int, K: int, L: int, power: int, monotone: bool
) -> None:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(-1, L, (n, 2, K))
    weights = rng.integers(0, 3, n) + (np.arange(n) == 0)
    prior = rng.normal(size=(K, L)) if rng.random() < 0.5 else None
    margins = rng.normal(1, 1, n)
    problem = Problem.of(pairs, L, margins, weights, 10.0**power, monotone, prior)
    W, steps = interior_point_start(problem)
    assert W.shape == (K, L)
    W = project(problem, W)
    assert 0 <= steps <= 50
    near = certify(problem, W)[1]
    start = certify(problem, problem.prior)[1]
    assert near.objective <= start.objective * (1 + 1e-3) + 1e-9


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_it_approximates_the_optimum_of_another_solver(
    C: float, wrong: float, rng: np.random.Generator
) -> None:
    problem = Problem.of(flipped_pairs(200, wrong, rng), 5, C=C)
    printed, _, _ = solve_with_cvxpy(problem, "clarabel")
    W, steps = interior_point_start(problem)
    best, near = (certify(problem, w)[1].objective for w in (printed, W))
    assert near == pytest.approx(best, rel=1e-4)
    assert steps < 30


@pytest.mark.parametrize("n", [20, 200, 2000])
@pytest.mark.parametrize("C", [1e2, 1e4, 1e6])
def test_few_separable_pairs_take_few_steps_for_any_C(
    n: int, C: float, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem.of(flipped_pairs(n, 0.0, rng), 5, C=C)
    found = newton(problem)
    assert found.settled
    assert found.steps <= 60
    check_kkt(problem, found.W)
    monkeypatch.setattr(newtons, "MAX_DENSE_ENTRIES", 0)  # as if there were many
    assert pytest.approx(newton(problem).W, abs=1e-8 * np.abs(found.W).max()) == found.W


@pytest.mark.parametrize("monotone", [True, False])
def test_a_model_beyond_double_precision_is_an_error(
    monotone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem.of([[[0, 1], [1, 0]]], 2, monotone=monotone)
    monkeypatch.setattr(newtons, "monotone_minimum", lambda H, *_: np.full(len(H), np.nan))
    monkeypatch.setattr(newtons, "_unconstrained_minimum", lambda H, b: np.full(len(b), np.nan))
    with pytest.raises(SolverError, match="not finite"):
        newton(problem)


def test_with_all_weights_0_it_stays_at_the_prior() -> None:
    for monotone in (True, False):
        problem = Problem.of([[[0], [1]]], 2, weights=[0.0], monotone=monotone)
        assert interior_point_start(problem)[0] == pytest.approx(np.zeros((1, 2)), abs=1e-6)
