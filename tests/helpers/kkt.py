"""Check the KKT conditions of a solution in plain dense arithmetic.

It shares no code with the package's certificate: encodings, multipliers and projections are
implemented again.
"""

from __future__ import annotations

import numpy as np

from dcglearn import Problem


def margins_of(problem: Problem) -> np.ndarray:
    """Return the margins of a problem, one per pair."""
    m = problem.arrays.margins
    return np.ones(problem.n_pairs) if m is None else m


def weights_of(problem: Problem) -> np.ndarray:
    """Return the weights of a problem, one per pair."""
    v = problem.arrays.weights
    return np.ones(problem.n_pairs) if v is None else v


def check_kkt(problem: Problem, W: np.ndarray, tolerance: float = 1e-6) -> None:
    """Assert primal and dual feasibility, complementarity and stationarity of W.

    With xi = max(0, m - Xw) and alpha = 2 C v xi for the margins, stationarity is
    2 w - X' alpha - D' mu = 0, where D takes the differences of neighbouring grades. The
    multipliers mu of the monotone constraints follow by summing along each row.
    """
    K, L = problem.shape
    X = dense_differences(problem.pairs, L)
    xi = np.maximum(0.0, margins_of(problem) - X @ W.ravel())
    alpha = 2 * problem.C * weights_of(problem) * xi
    gradient = 2 * W - (X.T @ alpha).reshape(K, L)
    scale = max(1.0, np.abs(X.T @ alpha).max())
    if not problem.monotone:
        assert np.abs(gradient).max() <= tolerance * scale
        return
    steps = W[:, :-1] - W[:, 1:]
    assert steps.min(initial=0.0) >= -tolerance * np.abs(W).max()
    mu = np.cumsum(gradient, axis=1)[:, :-1]
    assert np.abs(gradient.sum(axis=1)).max() <= tolerance * scale
    assert mu.min(initial=0.0) >= -tolerance * scale
    assert np.abs(mu * steps).max(initial=0.0) <= tolerance * scale * np.abs(W).max()


def dense_differences(pairs: np.ndarray, L: int) -> np.ndarray:
    """Build X entry by entry."""
    n, _, K = pairs.shape
    X = np.zeros((n, K * L))
    for i in range(n):
        for k in range(K):
            for side, sign in ((0, 1.0), (1, -1.0)):
                if pairs[i, side, k] >= 0:
                    X[i, k * L + pairs[i, side, k]] += sign
    return X


def objective(problem: Problem, w: np.ndarray) -> float:
    """Compute the objective without the package's products."""
    X = dense_differences(problem.pairs, problem.shape[1])
    xi = np.maximum(0.0, margins_of(problem) - X @ w)
    return float(w @ w + problem.C * weights_of(problem) @ xi**2)
