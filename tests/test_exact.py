"""Confirmed optima of badly scaled problems against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exact_optimum import distance_squared, exact_optimum

from dcglearn.base.errors import SolverError
from dcglearn.solver.exact import solve_exactly
from dcglearn.solver.problem import Problem
from dcglearn.solver.solve import Solution, solve


def random_problem(rng: np.random.Generator, weighted: bool, largest_C: float) -> Problem:
    """A problem with up to seven pairs, whose weights span up to 24 orders of magnitude."""
    n, K, L = (int(x) for x in rng.integers([1, 1, 2], [8, 4, 5]))
    pairs = rng.integers(rng.choice([-1, 0]), L, (n, 2, K))
    return Problem.of(
        pairs,
        L,
        rng.choice(["unit", "hamming"]) if rng.random() < 0.7 else rng.normal(1, 1, n),
        10.0 ** rng.uniform(-12, 12, n) if weighted else None,
        10.0 ** rng.uniform(-8, largest_C),
        bool(rng.random() < 0.7),
        rng.normal(0, 1, (K, L)) if rng.random() < 0.2 else None,
    )


def check_bound(problem: Problem, solution: Solution) -> None:
    certificate, w = solution.certificate, exact_optimum(problem)
    bound = Fraction(certificate.distance) + Fraction(certificate.rounding)
    assert distance_squared(solution.W, w) <= bound**2
    size = sum(x**2 for x in w)
    assert distance_squared(solution.W, w) <= Fraction(1.000001e-6) ** 2 * size


@pytest.mark.parametrize("seed", range(60))
def test_unweighted_problems_are_solved_for_every_C(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), False, 12)
    check_bound(problem, solve(problem))


@pytest.mark.parametrize("seed", range(100))
def test_what_is_confirmed_is_within_its_bound(seed: int) -> None:
    problem = random_problem(np.random.default_rng(1000 + seed), True, 10)
    check_bound(problem, solve(problem))  # none is refused


def test_five_pairs_whose_weights_span_nine_orders_of_magnitude() -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        weights = 10.0 ** rng.permutation([3, 5, 7, 10, 12])
        problem = Problem.of(rng.integers(0, 3, (5, 2, 2)), 3, weights=weights, C=1e4)
        check_bound(problem, solve(problem))


def test_two_strict_pairs_at_a_C_of_10_to_the_12() -> None:
    problem = Problem.of([[[0, 1], [1, 1]], [[0, 0], [0, 1]]], 2, C=1e12)
    check_bound(problem, solve(problem))


def test_too_many_unknowns_are_refused() -> None:
    pairs = np.zeros((1, 2, 101), int)
    pairs[0, 1] = 1
    problem = Problem.of(pairs, 2)
    with pytest.raises(SolverError, match="202 unknowns are too many"):
        solve_exactly(problem, problem.prior)
