"""Confirmed optima of the three problems against independent solvers and golden weights."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings

from dcglearn import (
    InputError,
    Problem,
    SolverError,
    permuted_lists,
    solve,
    true_pairs,
)
from dcglearn.lab.simulation.truths import DATA_1
from dcglearn.learning import qp
from dcglearn.learning import solve as solving
from dcglearn.learning.newton import Descent
from dcglearn.learning.solve import fit_path
from dcglearn.learning.sums import quadratic_model
from helpers.kkt import check_kkt, objective
from helpers.places import GOLDEN
from helpers.solver_cases import noisy_pairs, problems


@settings(max_examples=20)
@given(problem=problems())
def test_solutions_of_independent_solvers_are_optimal_and_equal(problem: Problem) -> None:
    found = [solve(problem, solver) for solver in ("newton", "osqp", "clarabel")]
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
