"""Pairs as codes and the statistics of them, against X itself; large and extreme problems."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kkt import check_kkt, dense_differences

from dcglearn.base import threads
from dcglearn.base.errors import InputError, SolverError
from dcglearn.learning.learner import DCGLearner
from dcglearn.simulation.judges import true_pairs
from dcglearn.simulation.lists import drawn_lists, permuted_lists
from dcglearn.simulation.truths import DATA_1
from dcglearn.solver import newton as newtons
from dcglearn.solver import pair_codes as blocks
from dcglearn.solver import qp
from dcglearn.solver.active_set import (
    active_set_change,
    directional_derivatives,
    gram_matrices,
    quadratic_model,
    residual_sums,
)
from dcglearn.solver.c_path import solve_path
from dcglearn.solver.certificate import certify
from dcglearn.solver.newton import newton
from dcglearn.solver.pair_codes import Block, CodeLayout
from dcglearn.solver.problem import Problem
from dcglearn.solver.solve import solve


@st.composite
def weighed(draw: st.DrawFn) -> tuple[Problem, np.random.Generator]:
    """Pairs of any K and L, with empty ranks or none, weights and margins of any kind."""
    n, K, L = draw(st.integers(1, 60)), draw(st.integers(1, 7)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    pairs = rng.integers(draw(st.sampled_from([-1, 0])), L, (n, 2, K)).astype(np.int8)
    weights = draw(st.sampled_from([None, rng.choice([0.0, 1.0, 2.0], n), rng.random(n)]))
    margin = draw(st.sampled_from(["unit", "hamming", "custom"]))
    return Problem.of(
        pairs,
        L,
        rng.normal(1, 1, n) if margin == "custom" else margin,
        weights,
        draw(st.sampled_from([0.1, 1.0, 10.0])),
    ), rng


def ways(problem: Problem) -> list[list[Block]]:
    """The same pairs as X itself, as codes, and as codes in two blocks."""
    (whole,) = problem.blocks
    half = len(whole) // 2

    def coded(part: slice) -> Block:
        found = Block(whole.layout, whole.codes[:, part], whole.margins[part], whole.weights[part])
        vars(found)["dense"] = None  # as if there were too many
        return found

    return [[whole], [coded(slice(None))], [coded(slice(half)), coded(slice(half, None))]]


@settings(max_examples=150)
@given(case=weighed(), counting=st.booleans())
def test_statistics_are_those_of_the_matrix(
    case: tuple[Problem, np.random.Generator], counting: bool
) -> None:
    problem, rng = case
    X = dense_differences(problem.pairs, problem.n_grades)
    m, v = problem.margins, problem.weights
    w, to = rng.normal(size=(2, X.shape[1]))
    r = np.maximum(0, m - X @ w)
    A = (m - X @ w > 0) * 1.0
    B = (m - X @ to > 0) * 1.0
    t = np.linspace(0, 1, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Block, "_counting_is_quicker", lambda self, n: counting)
        for parts in ways(problem):

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
            missed = summed(residual_sums, w)
            assert missed.normal_residual == pytest.approx(X.T @ (v * r), abs=1e-9)
            assert (missed.loss, missed.total, missed.active) == pytest.approx(
                (v @ r**2, v @ r, A.sum()), abs=1e-9
            )
            slope = [(v * (X @ to)) @ np.maximum(0, m - X @ w - s * (X @ to)) for s in t]
            assert summed(directional_derivatives, w, to, t) == pytest.approx(
                np.array(slope), abs=1e-9
            )
            met = summed(gram_matrices)
            kept = v > 0
            assert met.gram == pytest.approx(X[kept].T @ X[kept], abs=1e-9)
            assert met.weighted_gram == pytest.approx(X.T @ (X * v[:, None]), abs=1e-9)
            assert met.n_pairs == kept.sum()


@settings(max_examples=50)
@given(case=weighed(), sizes=st.lists(st.floats(-6, 1), min_size=2, max_size=6))
def test_what_was_seen_before_does_not_change_a_move(
    case: tuple[Problem, np.random.Generator], sizes: list[float]
) -> None:
    """However far and near the points are, in whatever order, as many pairs change."""
    problem, rng = case
    X = dense_differences(problem.pairs, problem.n_grades)
    (block,) = ways(problem)[1]
    at = rng.normal(size=X.shape[1])
    for size in sizes:
        start = at if rng.random() < 0.7 else at + 10**size * rng.normal(size=len(at))
        to = at + 10**size * rng.normal(size=len(at))
        one, other = (block.margins - block.matvec(w) for w in (start, to))
        found = active_set_change(block, start, to)
        assert found.changed == ((one > 0) != (other > 0)).sum()
        assert found.loss == pytest.approx(
            (block.weights * other**2) @ ((other > 0).astype(float) - (one > 0)), abs=1e-9
        )
        at = to


def test_threads_may_share_pairs(rng: np.random.Generator) -> None:
    (block,) = Problem.of(noisy(20_000, rng), 5).blocks
    assert block.dense is None
    points = rng.normal(size=(12, 50))
    points[6:] = points[:6] + 1e-4 * rng.normal(size=(6, 50))
    ways = [(points[i], points[(i + 6) % 12]) for i in range(12)] * 20
    alone = [
        active_set_change(replace(block), w, to) for w, to in ways
    ]  # a block that remembers nothing
    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda way: active_set_change(block, *way), ways))
    finally:
        sys.setswitchinterval(often)
    for one, other in zip(alone, together, strict=True):
        assert one.changed == other.changed
        assert (one.hessian == other.hessian).all()
        assert one.loss == other.loss


@pytest.mark.parametrize("n", [300, 3000])
def test_many_grades(n: int, rng: np.random.Generator) -> None:
    pairs = rng.integers(0, 300, (n, 2, 2))
    worse = pairs[:, 0].sum(axis=1) > pairs[:, 1].sum(axis=1)
    pairs[worse] = pairs[worse][:, ::-1]
    problem = Problem.of(pairs, 300)
    assert problem.blocks[0].dense is not None  # smaller than the tables of gains
    check_kkt(problem, solve(problem).W)


def test_short_moves_look_at_few_pairs(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = Problem.of(noisy(20_000, rng), 5).blocks
    looked = []
    reached = Block.matvec

    def counted(self: Block, w: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        found = reached(self, w, rows)
        looked.append(len(found))
        return found

    w = rng.normal(size=50)
    way = rng.normal(size=50)
    monkeypatch.setattr(Block, "matvec", counted)
    for step in (1e-3, 1e-5, 1e-7):
        active_set_change(block, w, w + step * way)
        w = w + step * way
    every, first, second, third = looked
    assert every == 20_000
    assert 20_000 / 10 > first > 10 * second
    assert third <= second


@pytest.mark.parametrize(
    ("K", "L", "empty", "bits"),
    [
        (10, 5, False, 16),
        (3, 40, True, 16),
        (2, 300, True, 32),
        (4, 2, False, 8),
        (1, 127, True, 16),
    ],
)
def test_codes_hold_any_number_of_grades(K: int, L: int, empty: bool, bits: int) -> None:
    rng = np.random.default_rng(0)
    pairs = rng.integers(-1 if empty else 0, L, (200, 2, K))
    layout = CodeLayout(K, L, empty)
    codes = layout.encode(pairs)
    assert codes.dtype.itemsize * 8 == bits
    X = np.hstack([rows[code] for (rows, _), code in zip(layout.tables, codes, strict=True)])
    assert (dense_differences(pairs, L) == X).all()


def noisy(n: int, rng: np.random.Generator, flips: float = 0.1) -> np.ndarray:
    pairs = true_pairs(DATA_1, drawn_lists(n + n // 20 + 20, 10, [0.2] * 5, rng))
    turned = rng.random(n) < flips
    pairs = pairs[:n]
    pairs[turned] = pairs[turned][:, ::-1]
    return pairs


@pytest.mark.parametrize("weights", [None, "whole", "any"])
@pytest.mark.parametrize("C", [0.01, 100.0])
def test_many_pairs_are_solved_to_the_last_digits(
    C: float, weights: str | None, rng: np.random.Generator
) -> None:
    n = 300_000
    pairs = noisy(n, rng)
    v = {None: None, "whole": rng.integers(0, 4, n), "any": rng.random(n)}[weights]
    problem = Problem.of(pairs, 5, "hamming" if weights == "whole" else "unit", v, C)
    assert len(problem.blocks) > 1
    W, there, steps, passes, settled = newton(problem)
    assert settled
    assert steps < passes < 10
    again = problem.sum_over_blocks(quadratic_model, W.ravel())
    assert there.hessian == pytest.approx(again.hessian, rel=1e-9)
    assert there.linear == pytest.approx(again.linear, rel=1e-9)
    certificate = certify(problem, W)[1]
    assert certificate.gap <= 1e-12 * certificate.objective
    few = replace(
        problem, pairs=pairs[:2000], margins=problem.margins[:2000], weights=problem.weights[:2000]
    )
    check_kkt(few, solve(few).W)


def test_pieces_are_whole_numbers_in_any_order(rng: np.random.Generator) -> None:
    pairs = noisy(200_000, rng)
    W = solve(Problem.of(pairs, 5)).W.ravel()
    one, other = (
        Problem.of(p, 5).sum_over_blocks(quadratic_model, W)
        for p in (pairs, rng.permutation(pairs))
    )
    assert (one.hessian == other.hessian).all()
    assert (one.linear == other.linear).all()


def test_the_same_bits_on_any_number_of_threads() -> None:
    """In processes of their own, for the linear algebra takes its threads when it is loaded."""
    program = """
import numpy as np, os
from dcglearn.base import threads
threads.MAX_THREADS = int(os.environ["OMP_NUM_THREADS"])
from dcglearn.learning.learner import DCGLearner
rng = np.random.default_rng(1)
pairs = rng.integers(0, 5, (300_000, 2, 10)).astype(np.int8)
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


def test_threads_keep_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_processors", lambda: 4)
    assert threads.map_threads(lambda x: x * x, range(50)) == [x * x for x in range(50)]


@pytest.mark.parametrize("margin", ["unit", "hamming", "custom"])
@pytest.mark.parametrize("flips", [0, 0.1])
@pytest.mark.parametrize("C", [0.01, 1, 100])
def test_two_thousand_pairs_as_clarabel_has_them(
    C: float, flips: float, margin: str, rng: np.random.Generator
) -> None:
    """With empty ranks, weights, and margins of every kind."""
    n = 2000
    lists = drawn_lists(n + 200, 6, [0.2] * 5, rng, shortest=2)
    pairs = true_pairs(DATA_1, lists)
    pairs = pairs[:n]
    turned = rng.random(len(pairs)) < flips
    pairs[turned] = pairs[turned][:, ::-1]
    m: Any = rng.normal(1, 0.5, len(pairs)) if margin == "custom" else margin
    problem = Problem.of(pairs, 5, m, rng.choice([0.5, 1.0, 2.0], len(pairs)), C)
    program, W = qp.cvxpy_problem(problem)
    program.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    found = newton(problem)
    assert found.settled
    assert np.abs(found.W - W.value).max() <= 1e-7 * max(1.0, np.abs(found.W).max())
    check_kkt(problem, found.W)


@pytest.mark.parametrize("C", [1e-12, 1e6])
@pytest.mark.parametrize("monotone", [True, False])
def test_tiny_and_huge_C(C: float, monotone: bool, rng: np.random.Generator) -> None:
    for pairs in (
        permuted_lists(1, rng, [0, 1, 2]),  # one pair
        np.repeat(permuted_lists(1, rng, [0, 1, 2]), 50, axis=0),  # all equal
        true_pairs(DATA_1, permuted_lists(80, rng)),  # separable
        rng.integers(0, 5, (80, 2, 10)),  # not at all
    ):
        solution = solve(Problem.of(pairs, 5, C=C, monotone=monotone), "newton")
        assert solution.certificate.confirmed
        with suppress(SolverError):  # beyond double precision: confirmed, or an error
            assert solve(Problem.of(pairs, 5, C=1e20 * C)).certificate.confirmed


@pytest.mark.parametrize("C", [1e3, 1e5])
@pytest.mark.parametrize("wrong", [0.3, 0.45])
def test_many_ties_and_large_costs_are_confirmed(C: float, wrong: float) -> None:
    """Where grades are tied, the gap must not hold the rounding of their multipliers."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        pairs = noisy(400, rng, wrong)
        solution = solve(Problem.of(pairs, 5, C=C), "newton")
        assert solution.status == "the active pairs did not change"
        assert solution.certificate.distance <= 1e-7 * solution.certificate.size


def test_costs_beyond_what_a_bound_on_W_can_tell(rng: np.random.Generator) -> None:
    pairs = noisy(2000, rng, 0.3)
    heavy = Problem.of(pairs, 5, weights=np.full(len(pairs), 1e6), C=1e3)
    solution = solve(heavy, "newton")
    certificate = solution.certificate
    assert certificate.distance > 1e-6 * certificate.size  # what the bound can tell
    assert certificate.residual <= 1e-14 * certificate.residual_sum
    # The optimum hardly depends on C there, and is told well for a smaller one.
    W = solve(Problem.of(pairs, 5, C=1e5), "newton").W
    assert np.diff(solution.W) == pytest.approx(np.diff(W), abs=1e-6)
    off = Problem.of(pairs, 5, C=1e9)
    assert not certify(off, solution.W * (1 + 1e-9))[1].confirmed
    assert DCGLearner(C=1e12).fit(pairs).certificate_.confirmed  # and is not taken for 0


def test_one_active_pair(rng: np.random.Generator) -> None:
    pairs = true_pairs(DATA_1, permuted_lists(50, rng))
    margins = np.full(len(pairs), -100.0)
    margins[7] = 1.0
    problem = Problem.of(pairs, 5, margins)
    solution = solve(problem, "newton")
    assert solution.certificate.active_pairs == 1
    check_kkt(problem, solution.W)


def test_a_prior_is_kept_where_pairs_say_nothing(rng: np.random.Generator) -> None:
    prior = np.outer([3.0, 2.0], [2.0, 1.0, 0.0])
    problem = Problem.of([[[0, 1], [1, 1]]], 3, C=1e6, prior=prior)
    W = solve(problem).W
    assert W[1] == pytest.approx(prior[1], abs=1e-12)
    assert W[0, 2] == pytest.approx(prior[0, 2], abs=1e-12)
    still = Problem.of([[[0, 1], [1, 1]]], 3, margin=[-10.0], prior=prior)
    assert pytest.approx(prior, abs=1e-12) == solve(still).W
    for bad in ([1.0], np.full((2, 3), np.nan), "x", np.zeros((3, 2))):
        with pytest.raises(InputError, match="prior"):
            Problem.of([[[0, 1], [1, 1]]], 3, prior=bad)


@pytest.mark.parametrize(
    "change",
    [
        {"C": 1e200},
        {"weights": [1e200, 1]},
        {"margin": [1e100, 1]},
        {"weights": [1e308, 1e308]},
        {"C": 1e60, "weights": [1e60, 1], "margin": [1e20, 1.0]},
    ],
)
def test_what_overflows_is_refused_with_its_scale(change: dict[str, Any]) -> None:
    parts: dict[str, Any] = {"pairs": [[[0, 1], [1, 1]], [[0, 0], [1, 0]]], "n_grades": 2}
    with pytest.raises(InputError, match=r"overflow; scale them down: C x weights x margins\^2"):
        Problem.of(**parts, **change)


def test_starts_do_not_change_the_answer(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    problem = Problem.of(noisy(3000, rng), 5, C=10)
    cold = newton(problem).W
    for start in (rng.normal(size=cold.shape), cold, 1e3 * cold):
        assert pytest.approx(cold, abs=1e-10) == newton(problem, start).W
    monkeypatch.setattr(newtons, "SUBSAMPLE_FROM", 1)
    assert pytest.approx(cold, abs=1e-10) == newton(problem).W


def test_a_path_is_that_of_single_fits(rng: np.random.Generator) -> None:
    problem = Problem.of(noisy(500, rng), 5)
    grid = [0.01, 1.0, 0.1, 100.0]
    for C, solution in zip(grid, solve_path(problem, grid), strict=True):
        assert pytest.approx(solve(problem.with_C(C)).W, abs=1e-10) == solution.W
        assert solution.certificate.confirmed
    with pytest.raises(InputError, match="C is 0"):
        list(solve_path(problem, [0]))


def test_blocks_are_cut_alike_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = np.zeros((10, 2, 1), np.int8)
    monkeypatch.setattr("dcglearn.solver.problem.MIN_BLOCK_PAIRS", 3)
    assert [len(b) for b in Problem.of(pairs, 1).blocks] == [5, 5]
    monkeypatch.setattr("dcglearn.solver.problem.MAX_BLOCK_PAIRS", 4)
    assert [len(b) for b in Problem.of(pairs, 1).blocks] == [4, 4, 2]
    assert blocks.MAX_BLOCK_PAIRS > blocks.MIN_BLOCK_PAIRS
