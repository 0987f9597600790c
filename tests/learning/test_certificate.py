"""The certificate, the projection and polishing against other solvers and known answers."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from dcglearn import Problem, solve
from dcglearn.learning.solve import certify
from dcglearn.learning.sums import residual_sums
from helpers.kkt import dense_differences, margins_of, objective, weights_of
from helpers.solver_cases import noisy_pairs, problems


@given(problem=problems())
def test_the_certificate_bounds_the_distance_of_any_answer(problem: Problem) -> None:
    best = solve(problem, "clarabel").W
    rng = np.random.default_rng(2)
    for size in (1.0, 1e-3, 0.0):
        answer = best + size * rng.normal(size=best.shape)
        W, certificate = certify(problem, answer)
        assert np.linalg.norm(W - best) <= certificate.distance + 1e-7
        excess = certificate.objective - objective(problem, best.ravel())
        assert excess <= certificate.gap + 1e-7 * max(1.0, certificate.objective)


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
