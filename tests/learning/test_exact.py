"""What is confirmed of badly scaled problems, against exact rational arithmetic."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dcglearn import (
    InputError,
    PackedPairs,
    Problem,
    Scale,
    Solution,
    SolverError,
    packed_writer,
    solve,
)
from dcglearn.base.workers import open_workers
from dcglearn.judgments import packed as packing
from dcglearn.learning.solve import certify
from dcglearn.learning.source import in_threads
from helpers.exact_optimum import distance_squared, exact_objective, exact_optimum
from helpers.kkt import weights_of

PROBLEMS = int(os.environ.get("DCGLEARN_EXACT_PROBLEMS", "80"))
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
def test_what_is_confirmed_is_within_its_stated_bounds(seed: int) -> None:
    """What double precision cannot confirm is refused: stiff problems, and ties of all lists."""
    problem = random_problem(np.random.default_rng(seed))
    v = weights_of(problem)
    stiff = problem.C * v.max() > 1e5 or v.max() > 1e8 * v.min(where=v > 0, initial=np.inf)
    try:
        check_bounds(problem, solve(problem))
    except SolverError:
        assert stiff
    except InputError:
        assert stiff or not any(exact_optimum(problem))


def test_two_strict_pairs_at_a_C_of_10_to_the_12_are_refused_with_the_distance() -> None:
    problem = Problem.of([[[0, 1], [1, 1]], [[0, 0], [0, 1]]], 2, C=1e12)
    with pytest.raises(SolverError, match=r"\|W - W\*\| <= .* with C = 1e\+12; rescale `C`"):
        solve(problem)
    check_bounds(problem.with_C(1e7), solve(problem.with_C(1e7)))


def test_packed_pairs_have_the_same_bits_on_threads_and_on_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "ROW_GROUP_SIZE", 32)
    with open_workers("2") as processes:
        for seed in (0, 5, 9, 21):
            rng = np.random.default_rng(seed)
            n = int(rng.integers(60, 200))
            pairs = rng.integers(0, 3, (n, 2, 3)).astype(np.int8)
            weights, C = 10.0 ** rng.uniform(-2, 2, n), 10.0 ** rng.uniform(-2, 3)
            path = tmp_path / f"{seed}.parquet"
            with packed_writer(path, Scale((2, 1, 0))) as write:
                write(pairs, weights)
            packed = PackedPairs.of(path)
            assert len(packed.row_groups) > 1
            twin = solve(Problem.of(pairs, 3, weights=weights, C=C))
            one, other = (
                solve(Problem.packed(packed, C=C, workers=workers))
                for workers in (in_threads, processes)
            )
            assert pytest.approx(twin.W, rel=1e-9) == one.W
            assert (one.W == other.W).all()
            assert one.certificate == other.certificate


def test_an_optimum_whose_squares_underflow_is_refused() -> None:
    for other, L in (([1], 2), ([-1], 1)):
        with pytest.raises(SolverError, match="the optimum is not confirmed"):
            solve(Problem.of([[[0], other]], L, weights=[1e-150], C=1e-8))


def test_products_that_are_equal_only_when_rounded_do_not_confirm_zero() -> None:
    """3 * 0.1 is less than 0.1 + 0.2 by a rounding error, so the optimum is about 1e-17, not 0."""
    pair = [[0], [1]]
    problem = Problem.of([pair, pair[::-1]], 2, [1.0, 3.0], [0.1 + 0.2, 0.1])
    best = exact_optimum(problem)
    W, certificate = certify(problem, np.zeros((1, 2)))
    assert 0 < distance_squared(W, best) <= Fraction(certificate.distance) ** 2
    assert not certificate.confirmed
