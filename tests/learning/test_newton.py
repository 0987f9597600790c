"""Newton's method, and its sums over pairs against X itself: any C, start, number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import Problem, SolverError, permuted_lists, solve, true_pairs
from dcglearn.lab.simulation.judges import flip_pairs
from dcglearn.lab.simulation.truths import DATA_1
from dcglearn.learning import newton as newtons
from dcglearn.learning.newton import newton
from dcglearn.learning.solve import certify
from dcglearn.learning.source import Block, taken
from dcglearn.learning.sums import (
    active_set_change,
    directional_derivatives,
    gram_matrices,
    quadratic_model,
    residual_sums,
)
from helpers.kkt import check_kkt, dense_differences, margins_of, weights_of
from helpers.solver_cases import noisy_pairs, problems


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
source.MAX_BLOCK_PAIRS = 9_000
from dcglearn.learning.learner import DCGLearner
rng = np.random.default_rng(1)
pairs = rng.integers(0, 5, (30_000, 2, 10)).astype(np.int8)
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


def representations(problem: Problem) -> list[list[Block]]:
    """The same pairs in one block, and in two."""
    (whole,) = problem.arrays.blocks
    half = len(whole) // 2

    def coded(part: slice) -> Block:
        margins, weights = taken(whole.margins, part), taken(whole.weights, part)
        return Block(whole.layout, whole.codes[:, part], margins, weights)

    return [[whole], [coded(slice(half)), coded(slice(half, None))]]


@settings(max_examples=30)
@given(problem=problems(60), seed=st.integers(0, 99))
def test_statistics_are_those_of_the_matrix(problem: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = dense_differences(problem.pairs, problem.shape[1])
    m, v = margins_of(problem), weights_of(problem)
    w, to = rng.normal(size=(2, X.shape[1]))
    r = np.maximum(0, m - X @ w)
    A = (m - X @ w > 0) * 1.0
    B = (m - X @ to > 0) * 1.0
    t = np.linspace(0, 1, 5)
    for parts in representations(problem):

        def summed(statistic: Any, *arguments: Any, parts: list[Block] = parts) -> Any:
            return reduce(add, [statistic(block, *arguments) for block in parts])

        here = summed(quadratic_model, w)
        assert here.hessian == pytest.approx(X.T @ (X * (A * v)[:, None]), abs=1e-9)
        assert here.linear == pytest.approx(X.T @ (A * v * m), abs=1e-9)
        assert here.loss == pytest.approx(v @ r**2, abs=1e-9)
        change = summed(active_set_change, w, to)
        assert change.changed == (A != B).sum()
        there, moved = summed(quadratic_model, to), here.updated(change, w, to)
        for name, value in vars(there).items():
            assert getattr(moved, name) == pytest.approx(value, abs=1e-9)
        sums = summed(residual_sums, w)
        assert sums.normal_residual == pytest.approx(X.T @ (v * r), abs=1e-9)
        assert (sums.loss, sums.total, sums.active) == pytest.approx(
            (v @ r**2, v @ r, A.sum()), abs=1e-9
        )
        slope = [(v * (X @ to)) @ np.maximum(0, m - X @ w - s * (X @ to)) for s in t]
        assert summed(directional_derivatives, w, to, t) == pytest.approx(np.array(slope), abs=1e-9)
        grams = summed(gram_matrices)
        kept = v > 0
        assert grams.gram == pytest.approx(X[kept].T @ X[kept], abs=1e-9)
        assert grams.weighted_gram == pytest.approx(X.T @ (X * v[:, None]), abs=1e-9)
        assert grams.n_pairs == kept.sum()
