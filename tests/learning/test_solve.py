"""Confirmed optima by independent solvers, KKT and golden weights; Newton; block pivoting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from dcglearn import InputError, Problem, SolverError, permuted_lists, solve, true_pairs
from dcglearn.base.types import Floats
from dcglearn.lab.simulation.judges import flip_pairs
from dcglearn.learning import cones, qp
from dcglearn.learning import newton as newtons
from dcglearn.learning import solve as solving
from dcglearn.learning.cones import Cone, solve_nnls
from dcglearn.learning.newton import Descent, newton, quadratic_model
from dcglearn.learning.solve import certify, fit_path
from helpers.kkt import check_kkt, objective
from helpers.places import GOLDEN
from helpers.solver_cases import noisy_pairs, problems
from helpers.truths import DATA_1


@settings(max_examples=20)
@given(problem=problems())
def test_solutions_of_independent_solvers_are_optimal_and_equal(problem: Problem) -> None:
    try:
        found = [solve(problem, solver) for solver in ("newton", "osqp", "clarabel")]
    except InputError:
        check_kkt(problem, np.zeros(problem.shape))
        return
    for solution in found:
        W = solution.W
        check_kkt(problem, W)
        assert solution.certificate.confirmed
        value = objective(problem, W.ravel())
        assert solution.certificate.objective == pytest.approx(value, rel=1e-9, abs=1e-12)
        assert np.abs(W - found[0].W).max() <= 2e-6 * max(1.0, np.abs(W).max())


def test_golden_weights() -> None:
    for case in json.loads((GOLDEN / "weights.json").read_text("utf-8")):
        problem = Problem.of(
            case["pairs"], case["n_grades"], case["margin"], C=case["C"], monotone=case["monotone"]
        )
        assert pytest.approx(np.array(case["W"]), abs=1e-8) == solve(problem).W, case["name"]


def as_it_is(problem: Problem, W: np.ndarray) -> Descent:
    model = problem.sum_over_blocks(quadratic_model, W.ravel())
    return Descent(W, model, 0, 1, False)


def test_an_answer_that_is_not_confirmed_raises(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(100, rng))
    problem = Problem.of(pairs, 5)
    few = qp._OPTIONS["osqp"] | {"max_iter": 3, "polishing": False}
    monkeypatch.setitem(qp._OPTIONS, "osqp", few)
    monkeypatch.setattr(solving, "descend", as_it_is)
    with pytest.raises(SolverError, match=r"'user_limit' after 3 iterations.*residual"):
        solve(problem, "osqp")


def test_an_unknown_solver_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'osqp'"):
        solve(Problem.of([[[0], [1]]], 2), "osqpp")


def test_a_path_equals_single_fits(rng: np.random.Generator) -> None:
    problem = Problem.of(noisy_pairs(500, rng), 5)
    grid = [0.01, 1.0, 0.1, 100.0]
    for C, learned in zip(grid, fit_path(problem, grid), strict=True):
        assert pytest.approx(solve(problem.with_C(C)).W, abs=1e-10) == learned.weights
        assert learned.certificate.confirmed
    with pytest.raises(InputError, match="C is 0"):
        list(fit_path(problem, [0]))


# Newton's method


@pytest.mark.parametrize("n", [1, 20, 1000])
@pytest.mark.parametrize("flips", [0, 0.2])
@pytest.mark.parametrize("C", [1e-4, 1e3])
@pytest.mark.parametrize("monotone", [True, False])
def test_newton_settles_without_another_solver(
    n: int,
    flips: float,
    C: float,
    monotone: bool,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its steps and its passes over all pairs are those that it takes."""
    changes, sum_over_blocks = list[bool](), Problem.sum_over_blocks

    def counted(problem: Problem, *given: Any) -> Any:
        changes.append(given[0] is quadratic_model and len(given) == 3)
        return sum_over_blocks(problem, *given)

    monkeypatch.setattr(Problem, "sum_over_blocks", counted)
    pairs = true_pairs(DATA_1, permuted_lists(n, rng))
    problem = Problem.of(flip_pairs(pairs, int(flips * n), rng), 5, C=C, monotone=monotone)
    W, _, steps, passes, settled = newton(problem)
    assert (steps, passes) == (sum(changes), len(changes))
    certificate = certify(problem, W)[1]
    assert settled
    assert steps < 80
    assert np.sqrt(certificate.computed_gap) <= 1e-7 * certificate.size
    check_kkt(problem, W)
    assert solve(problem).passes == passes + 1, "with that of the certificate"
    changes.clear()
    monkeypatch.setattr(newtons, "MAX_LINE_SEARCHES", 0)  # the path of C is taken instead
    again, _, steps, passes, settled = newton(problem)
    assert (steps, passes) == (sum(changes), len(changes))
    assert settled
    assert again == pytest.approx(W, rel=1e-9, abs=1e-9)


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


# Block pivoting

EPS = np.finfo(float).eps


def check_non_negative(H: Floats, b: Floats, x: Floats) -> None:
    """The gradient is 0 where x is positive and not negative elsewhere, to within rounding."""
    gradient = H @ x - b
    size = np.sqrt(np.diagonal(H))
    rounding = 20 * EPS * len(b) * (size * (size @ x) + np.abs(b))
    assert (x >= 0).all()
    assert (np.abs(gradient) <= rounding)[x > 0].all()
    assert (gradient >= -rounding).all()


def by_scipy(H: Floats, b: Floats) -> Floats:
    R = np.linalg.cholesky(H).T
    return scipy.optimize.nnls(R, np.linalg.solve(R.T, b))[0]


def non_negative(H: Floats, b: Floats, start: NDArray[np.bool_] | None = None) -> Floats:
    return solve_nnls(H, b, b > 0 if start is None else start, np.zeros(len(b), bool))


@st.composite
def models(draw: st.DrawFn, largest: float) -> tuple[Floats, Floats, np.random.Generator]:
    """I + C X'X and C X'm, with more or fewer rows than columns, some of them equal."""
    n, rows = draw(st.integers(1, 30)), draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(-2, 3, (rows, n)).astype(float)
    if draw(st.booleans()):
        X = np.cumsum(X, axis=1)
    if draw(st.booleans()):
        X[:, n // 2 :] = X[:, : n - n // 2]
    C = draw(st.sampled_from([1.0, largest]))
    m = draw(st.sampled_from([np.ones(rows), rng.normal(size=rows), np.zeros(rows)]))
    return np.eye(n) + C * X.T @ X, C * X.T @ m + draw(st.sampled_from([0.0, 1.0, -1.0])), rng


@settings(max_examples=40)
@given(case=models(largest=1e8))
def test_hessians_that_are_nearly_singular(
    case: tuple[Floats, Floats, np.random.Generator],
) -> None:
    """x is accurate to the condition of H times rounding only, the objective to all digits."""
    H, b, rng = case
    want = by_scipy(H, b)
    for start in (None, rng.random(len(b)) < 0.5):
        with patch.object(cones, "PATIENCE", 3 if start is None else -1):  # or by bounds at once
            x = non_negative(H, b, start)
        check_non_negative(H, b, x)
        off = x - want
        assert off @ H @ off <= 1e-12 * max(1.0, want @ H @ want)


CYCLING = (
    np.array(
        [
            [29, -9, 2, 25, -2, -24],
            [-9, 28, -9, 6, 0, 24],
            [2, -9, 27, -1, 0, -1],
            [25, 6, -1, 32, -2, -11],
            [-2, 0, 0, -2, 12, 2],
            [-24, 24, -1, -11, 2, 37],
        ],
        float,
    ),
    np.array([-6.0, 1, -2, -2, -1, 7]),
)
"""The only one of 60,000 random problems with three to seven unknowns on which pivoting cycles."""


def test_cycles_end() -> None:
    x = non_negative(*CYCLING)
    assert x == pytest.approx(by_scipy(*CYCLING), abs=1e-13)
    check_non_negative(*CYCLING, x)


@pytest.mark.parametrize(
    "H", [[[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]]]
)
def test_a_matrix_that_is_not_positive_definite_is_refused(H: list[list[float]]) -> None:
    with pytest.raises(LinAlgError):
        non_negative(np.array(H), np.ones(2))


@pytest.mark.parametrize("offsets", [False, True])
def test_a_quadratic_that_is_not_convex_is_refused(offsets: bool) -> None:
    H, zeros = np.array([[-4.0, 4.0], [4.0, -4.0]]), np.zeros((1, 2))
    with pytest.raises(LinAlgError):
        Cone(2).minimise(H - 4 * offsets, np.zeros(2), 1.0, zeros, offsets)
