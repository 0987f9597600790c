"""Newton's method: few and many pairs, small and large C, any start, any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from dcglearn import Problem, SolverError, permuted_lists, solve, true_pairs
from dcglearn.lab.simulation.judges import flip_pairs
from dcglearn.lab.simulation.truths import DATA_1
from dcglearn.learning import newton as newtons
from dcglearn.learning.newton import Descent, newton
from dcglearn.learning.solve import certify
from dcglearn.learning.sums import directional_derivatives, quadratic_model
from helpers.kkt import check_kkt, dense_differences
from helpers.solver_cases import noisy_pairs


@pytest.mark.parametrize("n", [1, 20, 1000])
@pytest.mark.parametrize("flips", [0, 0.2])
@pytest.mark.parametrize("C", [1e-4, 1e3])
@pytest.mark.parametrize("monotone", [True, False])
def test_newton_settles_without_another_solver(
    n: int, flips: float, C: float, monotone: bool, rng: np.random.Generator
) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(n, rng))
    problem = Problem.of(flip_pairs(pairs, int(flips * n), rng), 5, C=C, monotone=monotone)
    W, _, steps, _, settled = newton(problem)
    certificate = certify(problem, W)[1]
    assert settled
    assert steps < 80
    assert np.sqrt(certificate.computed_gap) <= 1e-7 * certificate.size
    check_kkt(problem, W)


@pytest.mark.parametrize(("C", "weights"), [(0.01, None), (100.0, "whole"), (100.0, "any")])
def test_many_pairs_are_solved_to_the_last_digits(
    C: float, weights: str | None, rng: np.random.Generator
) -> None:
    n = 140_000
    pairs = noisy_pairs(n, rng)
    v = {None: None, "whole": rng.integers(0, 4, n), "any": rng.random(n)}[weights]
    problem = Problem.of(pairs, 5, "hamming" if weights == "whole" else "unit", v, C)
    assert len(problem.arrays.blocks) > 1
    W, model, steps, passes, settled = newton(problem)
    assert settled
    assert steps < passes < 10
    again = problem.sum_over_blocks(quadratic_model, W.ravel())
    assert model.hessian == pytest.approx(again.hessian, rel=1e-9)
    assert model.linear == pytest.approx(again.linear, rel=1e-9)
    certificate = certify(problem, W)[1]
    assert certificate.gap <= 1e-12 * certificate.objective
    few = problem.take(slice(2000))
    check_kkt(few, solve(few).W)


def test_the_same_bits_on_any_number_of_threads() -> None:
    """Each in a new process: the linear algebra starts its threads when it is loaded."""
    program = """
import numpy as np, os
from dcglearn.base import threads
threads.MAX_THREADS = int(os.environ["OMP_NUM_THREADS"])
from dcglearn.learning import source
source.MAX_BLOCK_PAIRS = 30_000
from dcglearn.learning.learner import DCGLearner
rng = np.random.default_rng(1)
pairs = rng.integers(0, 5, (100_000, 2, 10)).astype(np.int8)
better = pairs[:, 0].sum(axis=1) + rng.normal(size=len(pairs)) < pairs[:, 1].sum(axis=1)
pairs[~better] = pairs[~better][:, ::-1]
pairs = pairs[(pairs[:, 0] != pairs[:, 1]).any(axis=1)]
print(DCGLearner().fit(pairs).weights_.tobytes().hex())
"""
    answers = set()
    for count in ("1", "2"):
        limits = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), count
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **limits},
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
        answers.add(done.stdout)
    assert len(answers) == 1


@pytest.mark.parametrize("C", [1e-12, 1e6])
@pytest.mark.parametrize("monotone", [True, False])
def test_tiny_and_huge_C(C: float, monotone: bool, rng: np.random.Generator) -> None:
    for pairs in (
        permuted_lists(1, rng, [0, 1, 2]),  # one pair
        np.repeat(permuted_lists(1, rng, [0, 1, 2]), 50, axis=0),  # all equal
        true_pairs(DATA_1, permuted_lists(20, rng)),  # separable
        rng.integers(0, 5, (80, 2, 10)),  # contradictory
    ):
        solution = solve(Problem.of(pairs, 5, C=C, monotone=monotone), "newton")
        assert solution.certificate.confirmed
        with suppress(SolverError):  # beyond double precision: confirmed, or an error
            assert solve(Problem.of(pairs, 5, C=1e20 * C)).certificate.confirmed


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_passes_are_those_that_are_made(
    C: float, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Of pairs without errors, where a large C takes line searches and a path of C."""
    made, sum_over_blocks = [], Problem.sum_over_blocks

    def counted(problem: Problem, statistic: Callable[..., Any], *points: np.ndarray) -> Any:
        made.append(statistic)
        return sum_over_blocks(problem, statistic, *points)

    problem = Problem.of(true_pairs(DATA_1, permuted_lists(300, rng)), 5, C=C)
    monkeypatch.setattr(Problem, "sum_over_blocks", counted)
    assert newton(problem).passes == len(made)
    assert (directional_derivatives in made) == (C > 1)


def test_a_line_search_ends_where_the_derivative_is_zero(rng: np.random.Generator) -> None:
    """The derivative of F, in plain arithmetic, is that of its root by bisection."""
    problem = Problem.of(noisy_pairs(60, rng), 5, C=3.0)
    X = dense_differences(problem.pairs, 5)
    for _ in range(20):
        w = problem.cone.project(rng.normal(size=problem.shape)).ravel()
        target = solve(problem).W.ravel()
        direction = 10 * (target - w)

        def slope(t: float, w: np.ndarray = w, direction: np.ndarray = direction) -> float:
            at = w + t * direction
            return float(direction @ (at - problem.C * (X.T @ np.maximum(0, 1 - X @ at))))

        root = brentq(slope, 0.0, 1.0, xtol=1e-14)
        assert newtons._line_search(problem, w, direction) == pytest.approx(root, abs=1e-5)


def test_the_start_does_not_change_the_answer(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    problem = Problem.of(noisy_pairs(3000, rng), 5, C=10)
    cold = newton(problem).W
    for start in (rng.normal(size=cold.shape), cold, 1e3 * cold):
        assert pytest.approx(cold, abs=1e-10) == newton(problem, start).W
    monkeypatch.setattr(newtons, "SUBSAMPLE_MIN", 50)
    monkeypatch.setattr(newtons, "SUBSAMPLE_FROM", 1)
    assert pytest.approx(cold, abs=1e-10) == newton(problem).W


def test_many_grades(rng: np.random.Generator) -> None:
    pairs = rng.integers(0, 150, (300, 2, 2))
    worse = pairs[:, 0].sum(axis=1) > pairs[:, 1].sum(axis=1)
    pairs[worse] = pairs[worse][:, ::-1]
    problem = Problem.of(pairs, 150)
    check_kkt(problem, solve(problem).W)


@pytest.mark.parametrize(("C", "best"), [(1.0, 0.3), (0.1, 0.1)])
def test_the_best_descent_is_returned_not_the_last(
    C: float, best: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F is 0.34 at W = (0.3, -0.3) and 0.66 at (0.1, -0.1) for C = 1; 0.196 and 0.084 for 0.1."""
    problem = Problem.of([[[0], [1]]], 2, C=C)
    better, worse = (
        Descent(W, problem.sum_over_blocks(quadratic_model, W.ravel()), 3, 4, False)
        for W in (np.array([[size, -size]]) for size in (best, 0.4 - best))
    )
    for first, then in ([better, worse], [worse, better]):
        monkeypatch.setattr(newtons, "descend", lambda *_, end=first, **options: end)
        monkeypatch.setattr(newtons, "_descend_along_path", lambda _, end=then: end)
        assert newton(problem).W is better.W
