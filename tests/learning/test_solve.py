"""Confirmed optima of the three problems against independent solvers and golden weights."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import nnls

from dcglearn import (
    InputError,
    Problem,
    SolverError,
    drawn_lists,
    permuted_lists,
    solve,
    true_pairs,
)
from dcglearn.learning import qp
from dcglearn.learning import solve as solving
from dcglearn.learning.newton import Descent, newton
from dcglearn.learning.solve import fit_path
from dcglearn.learning.sums import quadratic_model
from helpers.kkt import check_kkt, dense_differences, margins_of, objective, weights_of
from helpers.places import GOLDEN
from helpers.solver_cases import noisy_pairs, problems
from helpers.truths import DATA_1


def reference(problem: Problem) -> np.ndarray:
    """Solve the problem as printed, with slacks, by its dual.

    With u = (w, sqrt(C v) xi) this is the shortest u with G u >= h. By Lawson &
    Hanson (Solving Least Squares Problems, ch. 23) it is u = -r[:-1] / r[-1], for the
    residual r of the non-negative y whose (G, h)' y is nearest to (0, ..., 0, 1).
    """
    K, L = problem.shape
    counted = weights_of(problem) > 0
    X = dense_differences(problem.pairs, L)[counted]
    n = len(X)
    G = np.hstack([X, np.diag((problem.C * weights_of(problem)[counted]) ** -0.5)])
    h = margins_of(problem)[counted]
    G, h = np.vstack([G, np.eye(K * L + n)[K * L :]]), np.r_[h, np.zeros(n)]
    if problem.monotone:
        differences = np.kron(np.eye(K), np.eye(L)[:-1] - np.eye(L)[1:])
        G, h = (
            np.vstack([G, np.hstack([differences, np.zeros((len(differences), n))])]),
            np.r_[h, np.zeros(len(differences))],
        )
    if not len(h):  # SciPy's nnls aborts the process
        return np.zeros((K, L))
    E, f = np.vstack([G.T, h]), np.eye(K * L + n + 1)[-1]
    r = E @ nnls(E, f)[0] - f
    return (-r[: K * L] / r[-1]).reshape(K, L)


@settings(max_examples=20)
@given(problem=problems())
def test_solutions_are_optimal_and_equal_to_those_of_scipy(problem: Problem) -> None:
    for solver in ("newton", "osqp", "clarabel"):
        solution = solve(problem, solver)
        W = solution.W
        check_kkt(problem, W)
        assert solution.certificate.confirmed
        value = objective(problem, W.ravel())
        assert solution.certificate.objective == pytest.approx(value, rel=1e-9, abs=1e-12)
        twin = reference(problem)
        assert np.abs(W - twin).max() <= 2e-6 * max(1.0, np.abs(W).max())
        assert value <= objective(problem, twin.ravel()) + 1e-9 * max(1.0, value)


@pytest.mark.parametrize("margin", ["unit", "hamming", "custom"])
@pytest.mark.parametrize("flips", [0, 0.1])
@pytest.mark.parametrize("C", [0.01, 100])
def test_empty_ranks_weights_and_margins_against_clarabel(
    C: float, flips: float, margin: str, rng: np.random.Generator
) -> None:
    n = 400
    lists = drawn_lists(n + 200, 6, [0.2] * 5, rng, shortest=2)
    pairs = true_pairs(DATA_1, lists)
    pairs = pairs[:n]
    reversed_pairs = rng.random(len(pairs)) < flips
    pairs[reversed_pairs] = pairs[reversed_pairs][:, ::-1]
    m: Any = rng.normal(1, 0.5, len(pairs)) if margin == "custom" else margin
    problem = Problem.of(pairs, 5, m, rng.choice([0.5, 1.0, 2.0], len(pairs)), C)
    program, W = qp.cvxpy_problem(problem)
    program.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    found = newton(problem)
    assert found.settled
    assert np.abs(found.W - W.value).max() <= 1e-7 * max(1.0, np.abs(found.W).max())
    check_kkt(problem, found.W)


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
