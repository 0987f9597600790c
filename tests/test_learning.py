"""The three problems, their certificates, and solvers that nobody here wrote."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kkt import check_kkt, dense_differences, objective
from scipy.optimize import LinearConstraint, lsq_linear, minimize, nnls

from dcglearn.base.errors import InputError, SolverError
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility
from dcglearn.simulation.judges import flip_pairs, true_pairs
from dcglearn.simulation.lists import drawn_lists, permuted_lists
from dcglearn.simulation.truths import DATA_1, DATA_2
from dcglearn.solver import qp
from dcglearn.solver import solve as solving
from dcglearn.solver.active_set import QuadraticModel
from dcglearn.solver.certificate import certify, project
from dcglearn.solver.encoding import difference_matrix, encode, encode_sparse
from dcglearn.solver.margins import margins
from dcglearn.solver.newton import Descent, newton
from dcglearn.solver.polish import polish
from dcglearn.solver.problem import Problem
from dcglearn.solver.solve import solve

GOLDEN = Path(__file__).parent / "golden"


@st.composite
def problems(draw: st.DrawFn, most_pairs: int = 12) -> Problem:
    """Any small problem: empty ranks, odd margins, weights of 0, priors, C tiny to large."""
    n, K, L = draw(st.integers(1, most_pairs)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    low = draw(st.sampled_from([-1, 0]))
    pairs = rng.integers(low, L, (n, 2, K))
    margin = draw(st.sampled_from(["unit", "hamming", "custom"]))
    return Problem.of(
        pairs,
        L,
        rng.normal(1, 1, n) if margin == "custom" else margin,
        rng.choice([0.0, 0.5, 1.0, 3.0], n),
        draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0])),
        draw(st.booleans()),
        rng.normal(0, 1, (K, L)) if draw(st.booleans()) else None,
    )


def test_the_encodings_of_the_paper() -> None:
    def bits(row: np.ndarray, width: int) -> str:
        text = "".join(str(int(x)) for x in row)
        return " ".join(text[i : i + width] for i in range(0, len(text), width))

    perfect, good, bad = 0, 2, 4
    assert bits(encode([[perfect, bad, good]], 5)[0], 5) == "10000 00001 00100"
    documents = [[3 - 1, 1 - 1, 4 - 1, 2 - 1, 5 - 1]]
    assert bits(encode(documents, 5)[0], 5) == "00100 10000 00010 01000 00001"


def test_utility_is_linear_in_the_encoding(rng: np.random.Generator) -> None:
    rankings = rng.integers(-1, 4, (60, 6))
    for measure in (DCG([7, 3, 1, 0], "log2") @ 4, LinearUtility(rng.normal(size=(6, 4)))):
        W = measure.matrix_for(6)
        assert measure.score(rankings) == pytest.approx(encode(rankings, 4) @ W.ravel(), abs=1e-12)
    assert (encode_sparse(rankings, 4).toarray() == encode(rankings, 4)).all()


@given(problem=problems())
def test_the_matrix_of_differences_is_the_dense_one(problem: Problem) -> None:
    X = dense_differences(problem.pairs, problem.n_grades)
    assert (difference_matrix(problem.pairs, problem.n_grades).toarray() == X).all()


def test_hamming_margins_of_the_paper() -> None:
    values = np.array([[[5, 5, 4, 2, 1], [5, 4, 5, 2, 1]], [[5, 5, 4, 2, 1], [2, 1, 5, 5, 4]]])
    assert margins(5 - values, "hamming").tolist() == [2.0, 5.0]


def reference(problem: Problem) -> np.ndarray:
    """Solve the problem as it is printed, with slacks, by its dual.

    With u = (w - w_0, sqrt(C v) xi) it asks for the shortest u with G u >= h. By Lawson &
    Hanson (Solving Least Squares Problems, ch. 23) that is u = -r[:-1] / r[-1], for the
    residual r of the non-negative y that brings (G, h)' y nearest to (0, ..., 0, 1).
    """
    K, L = problem.shape
    counted = problem.weights > 0
    X = dense_differences(problem.pairs, L)[counted]
    w_0, n = problem.prior.ravel(), len(X)
    G = np.hstack([X, np.diag((problem.C * problem.weights[counted]) ** -0.5)])
    h = problem.margins[counted] - X @ w_0
    G, h = np.vstack([G, np.eye(K * L + n)[K * L :]]), np.r_[h, np.zeros(n)]
    if problem.monotone:
        down = np.kron(np.eye(K), np.eye(L)[:-1] - np.eye(L)[1:])
        G, h = np.vstack([G, np.hstack([down, np.zeros((len(down), n))])]), np.r_[h, -down @ w_0]
    if not len(h):  # SciPy's nnls aborts the process
        return problem.prior
    E, f = np.vstack([G.T, h]), np.eye(K * L + n + 1)[-1]
    r = E @ nnls(E, f)[0] - f
    return (w_0 - r[: K * L] / r[-1]).reshape(K, L)


@settings(max_examples=60)
@given(problem=problems())
def test_solutions_are_optimal_and_equal_to_scipys(problem: Problem) -> None:
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


@pytest.mark.parametrize("margin", ["unit", "hamming"])
@pytest.mark.parametrize("encoding", ["grades", "documents"])
def test_the_three_problems_by_trust_constr(
    margin: str, encoding: str, rng: np.random.Generator
) -> None:
    grades = encoding == "grades"
    truth = DATA_1 if grades else DCG([4, 3, 2, 1], "log2")
    base = [0, 1, 2, 3, 4] if grades else [0, 1, 2, 3]
    pairs = true_pairs(truth, permuted_lists(25, rng, base))
    L = len(base)
    problem = Problem.of(pairs, L, margin, monotone=grades)
    K = problem.shape[0]
    X = dense_differences(pairs, L)
    steps = np.array([[(c == l) * 1.0 - (c == l + 1) for c in range(L)] for l in range(L - 1)])  # noqa: E741 - the paper's letter
    rows = LinearConstraint(np.kron(np.eye(K), steps), lb=0) if grades else ()
    twin = minimize(
        lambda w: objective(problem, w),
        np.zeros(K * L),
        jac=lambda w: 2 * w - 2 * X.T @ np.maximum(0, problem.margins - X @ w),
        hess=lambda w: 2 * np.eye(K * L) + 2 * X.T @ ((problem.margins > X @ w)[:, None] * X),
        method="trust-constr",
        constraints=rows,
        options={"gtol": 1e-11, "xtol": 1e-14, "barrier_tol": 1e-12, "maxiter": 5000},
    )
    W = solve(problem).W
    assert twin.x.reshape(K, L) == pytest.approx(W, abs=1e-6)
    check_kkt(problem, W)


@pytest.mark.parametrize("noise", [0, 0.1])
@pytest.mark.parametrize("C", [0.01, 1, 100])
def test_two_thousand_pairs_against_clarabel_alone(
    C: float, noise: float, rng: np.random.Generator
) -> None:
    pairs = true_pairs(DATA_2, permuted_lists(2000, rng))
    wrong = rng.random(len(pairs)) < noise
    pairs[wrong] = pairs[wrong][:, ::-1]
    problem = Problem.of(pairs, 5, C=C)
    program, W = qp.cvxpy_problem(problem)
    program.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    found = solve(problem)
    assert np.linalg.norm(found.W - W.value) <= 1e-6 * np.linalg.norm(found.W)
    check_kkt(problem, found.W)


@pytest.mark.parametrize("n", [1, 20, 200, 1000])
@pytest.mark.parametrize("flips", [0, 0.2])
@pytest.mark.parametrize("C", [1e-4, 1, 1e3])
@pytest.mark.parametrize("monotone", [True, False])
def test_newton_needs_nobody_else(
    n: int, flips: float, C: float, monotone: bool, rng: np.random.Generator
) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(n, rng))
    problem = Problem.of(flip_pairs(pairs, int(flips * n), rng), 5, C=C, monotone=monotone)
    W, _, steps, _, settled = newton(problem)
    certificate = certify(problem, W)[1]
    assert settled
    assert steps < 80  # 25, then along a path of C, where C is large
    assert certificate.distance <= 1e-7 * certificate.size
    check_kkt(problem, W)


def test_golden_weights() -> None:
    for case in json.loads((GOLDEN / "weights.json").read_text("utf-8")):
        problem = Problem.of(
            case["pairs"], case["n_grades"], case["margin"], C=case["C"], monotone=case["monotone"]
        )
        assert pytest.approx(np.array(case["W"]), abs=1e-8) == solve(problem).W, case["name"]


def test_one_fit_of_the_papers_design_is_quick(rng: np.random.Generator) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(200, rng))
    problem = Problem.of(pairs, 5)
    solve(problem)
    start = time.perf_counter()
    solve(problem)
    # .01 s was measured; the bound only tells seconds from tenths of a second.
    assert time.perf_counter() - start < 2.0


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


@given(problem=problems())
def test_polishing_repairs_a_near_answer(problem: Problem) -> None:
    best = solve(problem, "clarabel").W
    rng = np.random.default_rng(3)
    near = best + 1e-7 * rng.normal(size=best.shape)
    W, certificate = polish(problem, near)
    assert certificate.confirmed
    assert pytest.approx(best, abs=1e-6) == W


@given(problem=problems())
def test_the_projection_is_the_nearest_monotone_matrix(problem: Problem) -> None:
    rng = np.random.default_rng(4)
    Q = rng.normal(size=problem.shape)
    P = project(problem, Q)
    if not problem.monotone:
        assert (P == Q).all()
        return
    L = problem.n_grades
    upper = np.triu(np.ones((L, L)))
    low = np.r_[np.zeros(L - 1), -np.inf]
    for row, nearest in zip(Q, P, strict=True):
        twin = upper @ lsq_linear(upper, row, (low, np.inf), tol=1e-14).x
        assert nearest == pytest.approx(twin, abs=1e-5)


def test_an_answer_that_is_not_confirmed_raises(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(100, rng))
    problem = Problem.of(pairs, 5)
    few = qp._OPTIONS["osqp"] | {"max_iter": 3, "polishing": False}
    monkeypatch.setitem(qp._OPTIONS, "osqp", few)
    monkeypatch.setattr(solving, "polish", lambda problem, W: certify(problem, W))
    with pytest.raises(SolverError, match=r"'user_limit' after 3 iterations.*residual"):
        solve(problem, "osqp")
    with monkeypatch.context() as patch:
        nowhere = Descent(
            np.zeros(problem.shape), QuadraticModel(np.eye(50), np.zeros(50), 0.0), 1, 2, False
        )
        patch.setattr(solving, "newton", lambda problem: nowhere)
        patch.setattr(solving, "polish", polish)
        found = solve(problem, "auto")
        assert found.certificate.confirmed
        assert found.solver == "clarabel"


def test_a_failing_solver_is_named(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(50, rng))
    monkeypatch.setitem(qp._OPTIONS, "clarabel", qp._OPTIONS["clarabel"] | {"max_iter": 1})
    monkeypatch.setattr(solving, "polish", lambda problem, W: certify(problem, W))
    with pytest.raises(SolverError, match="clarabel"):
        solve(Problem.of(pairs, 5), "clarabel")


def test_solving_does_not_depend_on_what_was_solved_before(rng: np.random.Generator) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(150, rng))
    problem = Problem.of(pairs, 5)
    first = solve(problem).W.tobytes()
    solve(Problem.of(pairs, 5, "hamming"))
    solve(Problem.of(pairs[::-1], 5, C=100))
    assert solve(problem).W.tobytes() == first


def test_weights_count_like_copies(rng: np.random.Generator) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(60, rng))
    times = rng.integers(0, 4, len(pairs))
    once = solve(Problem.of(pairs, 5, weights=times)).W
    copies = solve(Problem.of(np.repeat(pairs, times, axis=0), 5)).W
    assert once == pytest.approx(copies, abs=1e-7)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": -1.0}, "C is -1"),
        ({"C": float("nan")}, "C is nan"),
        ({"C": float("inf")}, "C is inf"),
        ({"C": "1"}, "C is '1'"),
        ({"C": True}, "C is True"),
        ({"weights": [1, np.nan]}, "weights hold nan"),
        ({"weights": [1, np.inf]}, "row 1: weights hold inf"),
        ({"weights": [1, -1]}, "weights hold -1"),
        ({"weights": [1]}, "weights of shape"),
        ({"weights": ["x", 1]}, "not numbers"),
        ({"margin": [1, np.nan]}, "row 1: margins hold nan"),
        ({"margin": "unti"}, "did you mean 'unit'"),
        ({"pairs": np.zeros((0, 2, 3), int)}, "no pair"),
        ({"pairs": [[[0, 5], [1, 1]]]}, "grade index 5"),
        ({"pairs": [[0, 1, 1]]}, "pairs of shape"),
    ],
)
def test_bad_parts_are_refused(change: dict[str, object], problem: str) -> None:
    parts: dict[str, object] = {"pairs": [[[0, 1], [1, 1]], [[0, 0], [1, 0]]], "n_grades": 2}
    with pytest.raises(InputError, match=problem):
        Problem.of(**(parts | change))


def test_an_unknown_solver_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'osqp'"):
        solve(Problem.of([[[0], [1]]], 2), "osqpp")


def test_drawn_lists_and_lengths(rng: np.random.Generator) -> None:
    lists = drawn_lists(500, 6, [0.5, 0.25, 0.25], rng, shortest=2)
    lengths = (lists >= 0).sum(axis=2)
    assert lengths.min() == 2
    assert lengths.max() == 6
    assert abs((lists[lists >= 0] == 0).mean() - 0.5) < 0.05
