"""Solve the small problems of ``weights.json`` again, without this package.

All sets of active pairs and tied grades are tried in rational arithmetic (``fractions``) until
one satisfies the KKT conditions, so all digits are correct. Run it from the root of the
repository:

    python tests/golden/make_weights.py
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("weights.json")


def rational(array: np.ndarray) -> np.ndarray:
    """Return whole numbers as fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(array, int))


def solve_exactly(case: dict) -> np.ndarray:
    """Return W of the only set of active pairs and tied grades that satisfies KKT."""
    pairs, L = np.array(case["pairs"]), case["n_grades"]
    n, _, K = pairs.shape
    one_hot = np.vstack([np.eye(L, dtype=int), np.zeros((1, L), int)])  # index -1: no document
    X = rational((one_hot[pairs[:, 0]] - one_hot[pairs[:, 1]]).reshape(n, K * L))
    unit = case["margin"] == "unit"
    m = rational(np.ones(n) if unit else (pairs[:, 0] != pairs[:, 1]).sum(axis=1))
    ties_possible = K * (L - 1) if case["monotone"] else 0
    for active in itertools.product([True, False], repeat=n):
        for tied in itertools.product([False, True], repeat=ties_possible):
            ties = np.zeros((K, L), bool)
            if ties_possible:
                ties[:, 1:] = np.reshape(tied, (K, L - 1))
            W = model_minimum(X[list(active)], m[list(active)], case["C"], ties)
            if optimal(W, X, m, case["C"], case["monotone"]):
                return W.astype(float)
    raise ValueError(case["name"])


def model_minimum(X: np.ndarray, m: np.ndarray, C: int, ties: np.ndarray) -> np.ndarray:
    """Solve B'(I + C X'X)B z = C B'X'm by Gaussian elimination; return W = Bz."""
    block = np.cumsum(~ties.ravel()) - 1
    B = rational(block[:, None] == np.arange(block[-1] + 1))
    XB = X @ B
    A = np.column_stack([B.T @ B + C * XB.T @ XB, C * XB.T @ m])
    for i in range(len(A)):
        A[i] = A[i] / A[i, i]  # positive definite: no pivot is 0
        for row in range(len(A)):
            if row != i:
                A[row] = A[row] - A[row, i] * A[i]
    return A[block, -1].reshape(ties.shape)


def optimal(W: np.ndarray, X: np.ndarray, m: np.ndarray, C: int, monotone: bool) -> bool:
    """Check the KKT conditions exactly."""
    residual = np.maximum(m - X @ W.ravel(), Fraction(0))
    gradient = W - (C * X.T @ residual).reshape(W.shape)
    if not monotone:
        return bool((gradient == 0).all())
    multipliers = np.cumsum(gradient, axis=1)
    steps, inner = W[:, :-1] - W[:, 1:], multipliers[:, :-1]
    feasible = (steps >= 0).all() and (inner >= 0).all() and (steps * inner == 0).all()
    return bool(feasible and (multipliers[:, -1] == 0).all())


if __name__ == "__main__":
    cases = json.loads(FILE.read_text())
    made = [case | {"W": solve_exactly(case).tolist()} for case in cases]
    FILE.write_text(json.dumps(made, indent=1) + "\n")
