"""Block pivoting: by SciPy, all faces in fractions, and KKT."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from dcglearn.base.types import Floats
from dcglearn.learning import cones
from dcglearn.learning.cones import Cone, solve_nnls

EPS = np.finfo(float).eps


def check_kkt(H: Floats, b: Floats, x: Floats) -> None:
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
        x = non_negative(H, b, start)
        check_kkt(H, b, x)
        off = x - want
        assert off @ H @ off <= 1e-12 * max(1.0, want @ H @ want)


def solved(H: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """Solve a linear system in fractions by Gauss elimination."""
    rows = [[*row, right] for row, right in zip(H, b, strict=True)]
    for i in range(len(rows)):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(len(rows)):
            if j != i:
                rows[j] = [u - rows[j][i] * v for u, v in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def minimum_of_all_faces(H: Floats, b: Floats) -> list[Fraction]:
    """The best of the minima of all faces that are >= 0."""
    A = [[Fraction(int(v)) for v in row] for row in H]
    c = [Fraction(int(v)) for v in b]
    best: tuple[Fraction, list[Fraction]] | None = None
    for free in product([False, True], repeat=len(c)):
        F = [i for i, is_free in enumerate(free) if is_free]
        part = solved([[A[i][j] for j in F] for i in F], [c[i] for i in F])
        if min(part, default=Fraction(0)) < 0:
            continue
        x = [Fraction(0)] * len(c)
        for i, value in zip(F, part, strict=True):
            x[i] = value
        worth = -sum(u * v for u, v in zip(x, c, strict=True))  # x'H x = x'b there
        if best is None or worth < best[0]:
            best = worth, x
    assert best is not None
    return best[1]


@settings(max_examples=60)
@given(n=st.integers(1, 5), seed=st.integers(0, 10**6), C=st.sampled_from([1, 10**8]))
def test_exact_zeros_are_those_of_rational_arithmetic(n: int, seed: int, C: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (rng.integers(1, 6), n))
    H = (np.eye(n) + C * X.T @ X).astype(float)
    b = rng.integers(-1, 2, n) + C * X.T @ rng.integers(0, 2, len(X)).astype(float)
    want = minimum_of_all_faces(H, b)
    for free in product([False, True], repeat=n):
        with patch.object(cones, "PATIENCE", -1 if seed % 2 else cones.PATIENCE):  # single steps
            x = non_negative(H, b, np.array(free))
        assert x == pytest.approx(np.array(want, float), rel=1e-7, abs=1e-7)
        if C == 1:
            assert [value == 0 for value in x] == [value == 0 for value in want]


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
    assert x == pytest.approx(np.array(minimum_of_all_faces(*CYCLING), float), abs=1e-13)
    check_kkt(*CYCLING, x)


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
