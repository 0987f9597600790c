"""Encoded pairs and the sums over them, against X itself."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import Problem, solve
from dcglearn.learning.source import Block, CodeLayout, taken
from dcglearn.learning.sums import (
    active_set_change,
    directional_derivatives,
    gram_matrices,
    quadratic_model,
    residual_sums,
)
from helpers.kkt import dense_differences, margins_of, weights_of
from helpers.solver_cases import noisy_pairs, weighted_problems


def representations(problem: Problem) -> list[list[Block]]:
    """The same pairs in one block, and in two."""
    (whole,) = problem.arrays.blocks
    half = len(whole) // 2

    def coded(part: slice) -> Block:
        margins, weights = taken(whole.margins, part), taken(whole.weights, part)
        return Block(whole.layout, whole.codes[:, part], margins, weights)

    return [[whole], [coded(slice(half)), coded(slice(half, None))]]


@settings(max_examples=30)
@given(case=weighted_problems())
def test_statistics_are_those_of_the_matrix(case: tuple[Problem, np.random.Generator]) -> None:
    problem, rng = case
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


@settings(max_examples=25)
@given(case=weighted_problems(), sizes=st.lists(st.floats(-6, 1), min_size=2, max_size=6))
def test_cached_residuals_do_not_change_the_result(
    case: tuple[Problem, np.random.Generator], sizes: list[float]
) -> None:
    """Whatever the distances and the order of the points."""
    problem, rng = case
    X = dense_differences(problem.pairs, problem.shape[1])
    (block,) = representations(problem)[0]
    at = rng.normal(size=X.shape[1])
    for size in sizes:
        start = at if rng.random() < 0.7 else at + 10**size * rng.normal(size=len(at))
        to = at + 10**size * rng.normal(size=len(at))
        one, other = (margins_of(problem) - block.matvec(w) for w in (start, to))
        found = active_set_change(block, start, to)
        assert found.changed == ((one > 0) != (other > 0)).sum()
        assert found.loss == pytest.approx(
            (weights_of(problem) * other**2) @ ((other > 0).astype(float) - (one > 0)), abs=1e-9
        )
        at = to


def test_threads_may_share_pairs(rng: np.random.Generator) -> None:
    (block,) = Problem.of(noisy_pairs(20_000, rng), 5).arrays.blocks
    points = rng.normal(size=(12, 50))
    points[6:] = points[:6] + 1e-4 * rng.normal(size=(6, 50))
    steps = [(points[i], points[(i + 6) % 12]) for i in range(12)] * 8
    alone = [active_set_change(replace(block), w, to) for w, to in steps]  # nothing is cached
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda step: active_set_change(block, *step), steps))
    finally:
        sys.setswitchinterval(interval)
    for one, other in zip(alone, together, strict=True):
        assert one.changed == other.changed
        assert (one.hessian == other.hessian).all()
        assert one.loss == other.loss


@pytest.mark.parametrize(
    ("K", "L", "empty", "bits"),
    [
        (10, 5, False, 16),
        (3, 40, True, 16),
        (2, 260, True, 32),
        (4, 2, False, 8),
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


def test_integer_sums_do_not_depend_on_the_order_of_pairs(rng: np.random.Generator) -> None:
    pairs = noisy_pairs(50_000, rng)
    W = solve(Problem.of(pairs, 5)).W.ravel()
    one, other = (
        Problem.of(p, 5).sum_over_blocks(quadratic_model, W)
        for p in (pairs, rng.permutation(pairs))
    )
    assert (one.hessian == other.hessian).all()
    assert (one.linear == other.linear).all()
