"""The minimum of a quadratic over matrices with non-increasing rows, by another solver."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import lsq_linear

from dcglearn.base.types import Floats
from dcglearn.learning import cones
from dcglearn.learning.cones import Cone


def bounded_least_squares(H: Floats, b: Floats, C: float, K: int, L: int) -> Floats:
    """Return the minimum in the steps of each row and its free offset, by scipy."""
    R = cholesky(np.eye(K * L) + C * H)
    target = solve_triangular(R, C * b, trans="T")
    sums = np.kron(np.eye(K), np.triu(np.ones((L, L))))
    low = np.tile(np.r_[np.zeros(L - 1), -np.inf], K)
    return np.asarray(sums @ lsq_linear(R @ sums, target, (low, np.inf), "bvls").x)


@pytest.mark.parametrize("patience", [3, -1])
@given(
    K=st.integers(1, 4),
    L=st.integers(2, 5),
    n=st.integers(1, 12),
    C=st.sampled_from([1e-3, 1.0, 1e3]),
    offsets=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_it_is_the_minimum_whatever_the_start(
    patience: int, K: int, L: int, n: int, C: float, offsets: bool, seed: int
) -> None:
    """Also by single exchanges, which take over if those of several cycle."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, K, L)).astype(float)
    if not offsets:
        X -= X.mean(axis=2, keepdims=True)
    X = X.reshape(n, -1)
    H, b = X.T @ X, X.T @ rng.random(n)
    want = bounded_least_squares(H, b, C, K, L)
    for start in (np.zeros((K, L)), np.sort(rng.random((K, L)))[:, ::-1]):
        # What needs no offsets is also found with them.
        for given_offsets in {True, offsets}:
            with patch.object(cones, "PATIENCE", patience):
                W = Cone(L).minimise(H, b, C, start, given_offsets)
            assert W.ravel() == pytest.approx(want, abs=1e-7)
            assert (W[:, :-1] >= W[:, 1:]).all()


@pytest.mark.parametrize("offsets", [False, True])
def test_a_quadratic_that_is_not_convex_is_refused(offsets: bool) -> None:
    H, zeros = np.array([[-4.0, 4.0], [4.0, -4.0]]), np.zeros((1, 2))
    with pytest.raises(LinAlgError):
        Cone(2).minimise(H - 4 * offsets, np.zeros(2), 1.0, zeros, offsets)
