"""Certificates of solutions, also of badly scaled problems, against exact rational arithmetic."""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from dcglearn import InputError, Problem, Solution, SolverError, solve
from dcglearn.learning.solve import certify, residual_sums
from helpers.exact_optimum import distance_squared, exact_objective, exact_optimum
from helpers.kkt import dense_differences, margins_of, objective, weights_of
from helpers.solver_cases import noisy_pairs, problems

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
        solution = solve(problem)
        check_bounds(problem, solution)
        if problem.monotone and not stiff:  # grades are tied exactly, or not at all
            best = np.array(exact_optimum(problem)).reshape(problem.shape)
            assert ((np.diff(solution.W) == 0) == (np.diff(best) == 0)).all()
    except SolverError:
        assert stiff
    except InputError:
        assert stiff or not any(exact_optimum(problem))


def test_two_strict_pairs_at_a_C_of_10_to_the_12_are_refused_with_the_distance() -> None:
    problem = Problem.of([[[0, 1], [1, 1]], [[0, 0], [0, 1]]], 2, C=1e12)
    with pytest.raises(SolverError, match=r"\|W - W\*\| <= .* with C = 1e\+12; rescale `C`"):
        solve(problem)
    check_bounds(problem.with_C(1e7), solve(problem.with_C(1e7)))


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


@pytest.mark.parametrize(("relative", "confirmed"), [(1e-5, False), (2e-6, False), (1e-7, True)])
def test_an_answer_off_by_two_millionths_is_not_confirmed(relative: float, confirmed: bool) -> None:
    problem = Problem.of([[[0], [1]]], 2)
    optimum = np.array([[1.0, -1.0]]) / 3
    W, certificate = certify(problem, optimum * (1 + relative))
    assert certificate.confirmed is confirmed
    # w - q = 3 (w - w*) here, so the bound is three times the distance.
    distance = relative * np.linalg.norm(optimum)
    assert certificate.distance == pytest.approx(3 * distance, rel=1e-6)
    assert certificate.residual == pytest.approx(relative, rel=1e-6)
    assert certificate.residual_sum == pytest.approx(1 / 3, rel=1e-3)
    assert certificate.size == pytest.approx(np.linalg.norm(W))
    assert (certificate.active_pairs, certificate.tied_grades) == (1, 0)


def test_bounds_are_stated_whatever_was_rounded_and_printed_rounded_up() -> None:
    """1/3 is not a double, so neither bound can be 0, though the gap as computed is."""
    pair = Problem.of([[[0], [1]]], 2)
    _, certificate = certify(pair, np.array([[1.0, -1.0]]) / 3)
    assert certificate.computed_gap < 1e-32
    assert 2**0.5 * 2**-54 / 3 < certificate.distance < 1e-13
    assert certificate.distance**2 < certificate.gap < 1e-26
    text = str(replace(certificate, gap=1.31e-20, distance=1.01e-10))
    assert "duality gap <= 1.4e-20, |W - W*| <= 1.1e-10 with |W| = 0.4714" in text


def error_of_sums(problem: Problem, W: np.ndarray) -> float:
    """The error of C X'(v r) as added up over blocks, against sums that round once."""
    sums = problem.sum_over_blocks(residual_sums, W.ravel())
    X = dense_differences(problem.pairs, problem.shape[1])
    terms = weights_of(problem) * np.maximum(0, 1 - X @ W.ravel())
    exact = np.array([math.fsum(column * terms) for column in X.T])
    return float(problem.C * np.linalg.norm(sums.normal_residual - exact))


@pytest.mark.parametrize("size", [50, 20_000])
def test_the_bound_covers_the_rounding_of_sums(
    size: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X'(v r) of 60,000 pairs in many blocks, or few."""
    monkeypatch.setattr("dcglearn.learning.source.MAX_BLOCK_PAIRS", size)
    pairs = rng.integers(0, 3, (60_000, 2, 2)).astype(np.int8)
    problem = Problem.of(pairs, 3, weights=rng.random(len(pairs)), C=1e3)
    W, certificate = certify(problem, np.sort(rng.random((2, 3)), axis=1)[:, ::-1])
    rounding = certificate.distance - math.sqrt(certificate.computed_gap) * (1 + 1e-12)
    assert len(problem.arrays.blocks) == 60_000 // size
    assert error_of_sums(problem, W) < min(rounding, 2**-52 * certificate.distance)
    assert rounding < 1e-9 * certificate.distance


def test_weights_and_C_count_by_their_product(rng: np.random.Generator) -> None:
    """To the last bit: factors of 2^20 round nothing."""
    pairs, W = rng.integers(0, 3, (50, 2, 4)), rng.random((4, 3))
    one = Problem.of(pairs, 3, rng.normal(1, 1, 50), rng.random(50), 0.5)
    weights = weights_of(one) / 2.0**20
    other = Problem.of(pairs, 3, margins_of(one), weights, 0.5 * 2.0**20)
    assert vars(certify(one, W)[1]) == vars(certify(other, W)[1])


@given(problem=problems())
def test_the_gap_is_that_of_the_dense_formula(problem: Problem) -> None:
    rng = np.random.default_rng(5)
    W, certificate = certify(problem, rng.normal(size=problem.shape))
    X = dense_differences(problem.pairs, problem.shape[1])
    r = np.maximum(0, margins_of(problem) - X @ W.ravel())
    q = problem.C * (X.T @ (weights_of(problem) * r)).reshape(problem.shape)
    target = problem.cone.project(q)
    gap = np.sum((W - target) ** 2) + 2 * np.sum(W * (target - q))
    assert certificate.computed_gap == pytest.approx(gap, rel=1e-8, abs=1e-8 * np.abs(q).max())
    assert certificate.distance == pytest.approx(np.sqrt(certificate.gap))
    assert certificate.gap >= certificate.computed_gap
    assert certificate.objective == pytest.approx(objective(problem, W.ravel()))
    assert certificate.residual == pytest.approx(np.abs(W - target).max(), rel=1e-8, abs=1e-9)
    assert certificate.residual_sum == pytest.approx(problem.C * (weights_of(problem) @ r))
    assert certificate.active_pairs == (margins_of(problem) > X @ W.ravel()).sum()
    ties = (np.diff(W) == 0).sum() if problem.monotone else 0
    assert certificate.tied_grades == ties


def test_optima_with_many_ties_and_large_C_are_confirmed() -> None:
    """The rounding errors of the multipliers of tied grades must not enter the gap."""
    for seed, (C, wrong) in enumerate(itertools.product((1e3, 1e5), (0.3, 0.45))):
        pairs = noisy_pairs(400, np.random.default_rng(seed), wrong)
        solution = solve(Problem.of(pairs, 5, C=C), "newton")
        assert solution.status == "the active pairs did not change"
        certificate = solution.certificate
        assert np.sqrt(certificate.computed_gap) <= 1e-7 * certificate.size
