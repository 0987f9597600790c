"""Confirmed optima of badly scaled problems against exact rational arithmetic."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dcglearn import (
    PackedPairs,
    Problem,
    Scale,
    Solution,
    SolverError,
    Streamed,
    packed_writer,
    solve,
)
from dcglearn.base.workers import open_workers
from dcglearn.judgments import packed as packing
from dcglearn.learning import streamed
from dcglearn.learning.exact import solve_exactly
from helpers.exact_optimum import distance_squared, exact_objective, exact_optimum

PROBLEMS = int(os.environ.get("DCGLEARN_EXACT_PROBLEMS", "300"))
"""Number of random problems; 10,000 take five minutes."""


def random_problem(rng: np.random.Generator) -> Problem:
    """A problem with up to nine pairs, whose weights span up to 24 orders of magnitude.

    C is up to 10^10, and up to 10^12 without weights. Margins need not be 1. Ranks may be
    empty, pairs contradict or repeat each other or be between equal lists, and weights be 0.
    """
    n, K, L = (int(x) for x in rng.integers([1, 1, 2], [10, 4, 5]))
    weights, largest_C = None, 12.0
    if rng.random() < 0.6:
        span = rng.choice([1.0, 12.0], p=[0.2, 0.8])
        weights, largest_C = 10.0 ** rng.uniform(-span, span, n), 10.0
        if rng.random() < 0.2:
            weights[rng.random(n) < 0.5] = 0.0
    if rng.random() < 0.2:  # documents without grades, in any order
        K = L
        pairs = np.array([[rng.permutation(K) for _ in range(2)] for _ in range(n)])
    else:
        pairs = rng.integers(rng.choice([-1, 0]), L, (n, 2, K))
    if rng.random() < 0.3:  # a small rank: repeated and reversed pairs
        pairs = pairs[rng.integers(0, max(1, n // 3), n)]
        swapped = rng.random(n) < 0.3
        pairs[swapped] = pairs[swapped][:, ::-1]
    return Problem.of(
        pairs,
        L,
        rng.choice(["unit", "hamming"]) if rng.random() < 0.7 else rng.normal(1, 1, n),
        weights,
        10.0 ** rng.uniform(-8, largest_C),
        bool(rng.random() < 0.7),
        rng.normal(0, 1, (K, L)) if rng.random() < 0.2 else None,
    )


def check_bounds(problem: Problem, solution: Solution) -> None:
    """Assert the stated bounds on the distance and on the objective, and the tolerance."""
    certificate, best = solution.certificate, exact_optimum(problem)
    W = [Fraction(x) for x in solution.W.ravel().tolist()]
    off = distance_squared(solution.W, best)
    assert certificate.confirmed
    assert off <= Fraction(certificate.distance) ** 2
    assert off <= Fraction(1.000001e-6) ** 2 * sum(x**2 for x in best)
    excess = exact_objective(problem, W) - exact_objective(problem, best)
    assert 0 <= excess <= Fraction(certificate.gap)


@pytest.mark.parametrize("seed", range(PROBLEMS))
def test_every_problem_is_solved_to_within_its_stated_bounds(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed))
    check_bounds(problem, solve(problem))  # none is refused


def test_five_pairs_whose_weights_span_nine_orders_of_magnitude() -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        weights = 10.0 ** rng.permutation([3, 5, 7, 10, 12])
        problem = Problem.of(rng.integers(0, 3, (5, 2, 2)), 3, weights=weights, C=1e4)
        check_bounds(problem, solve(problem))


def test_two_strict_pairs_at_a_C_of_10_to_the_12() -> None:
    problem = Problem.of([[[0, 1], [1, 1]], [[0, 0], [0, 1]]], 2, C=1e12)
    check_bounds(problem, solve(problem))


def test_packed_pairs_have_the_same_bits_as_those_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However they are split into row groups and blocks, by threads and by processes."""
    monkeypatch.setattr(packing, "ROW_GROUP_SIZE", 32)
    monkeypatch.setattr(streamed, "MAX_BLOCK_PAIRS", 20)
    with open_workers("2") as processes:
        for seed in (0, 5, 9, 21):
            rng = np.random.default_rng(seed)
            n = int(rng.integers(60, 200))
            pairs = rng.integers(0, 3, (n, 2, 3)).astype(np.int8)
            weights, C = 10.0 ** rng.uniform(-12, 12, n), 10.0 ** rng.uniform(-2, 8)
            path = tmp_path / f"{seed}.parquet"
            with packed_writer(path, Scale((2, 1, 0))) as write:
                write(pairs, weights)
            packed = PackedPairs.of(path)
            assert len(packed.row_groups) > 1
            twin = solve(Problem.of(pairs, 3, weights=weights, C=C))
            for workers in (None, processes):
                found = solve(Streamed.of(packed, C=C, workers=workers))
                assert (found.W == twin.W).all()
                assert found.certificate.distance == twin.certificate.distance
                assert found.certificate.gap == twin.certificate.gap


@pytest.mark.parametrize("span", [0, 9])
def test_the_exact_optimum_does_not_depend_on_the_start(span: int) -> None:
    rng = np.random.default_rng(2)
    pairs, weights = rng.integers(0, 3, (40, 2, 3)), 10.0 ** rng.uniform(-span, span, 40)
    problem = Problem.of(pairs, 3, weights=weights)
    W, certificate = solve_exactly(problem, problem.prior)
    for start in (W, W * (1 + 1e-12), rng.normal(size=W.shape)):
        again, twin = solve_exactly(problem, start)
        assert (again == W).all()
        assert twin == certificate


def test_an_optimum_below_the_last_place_is_not_taken_for_0() -> None:
    """It is 1e-158; fixed-point numbers have 120 decimal places."""
    for other, L in (([1], 2), ([-1], 1)):
        with pytest.raises(SolverError, match="no solver reached a confirmed optimum"):
            solve(Problem.of([[[0], other]], L, weights=[1e-150], C=1e-8), "newton")


def test_too_many_unknowns_are_refused() -> None:
    pairs = np.zeros((1, 2, 251), int)
    pairs[0, 1] = 1
    problem = Problem.of(pairs, 2)
    with pytest.raises(SolverError, match="502 unknowns are too many"):
        solve_exactly(problem, problem.prior)


@pytest.mark.parametrize("C", [1e5, 1e9])
def test_random_judgments_with_hundreds_of_unknowns_are_solved(C: float) -> None:
    """|W| is small and C sum v r large, more than double precision can certify."""
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 5, (10_000, 2, 41)).astype(np.int8)
    solution = solve(Problem.of(pairs, 5, C=C), "newton")
    assert solution.certificate.distance <= 1e-14 * solution.certificate.size
