"""Make ``weights.json``: small problems and their optimal W, without this package.

Solved exactly: every set of active pairs and tied grades is tried in rational arithmetic
(``fractions``) until one satisfies the KKT conditions, so every digit is right. Run from
the repository's root:

    python tests/golden/make_weights.py
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np

CASES = [
    {
        "name": "eq. 1: three grades, unit margin",
        "pairs": [[[0, 1, 2], [2, 1, 0]], [[0, 2, 2], [1, 1, 2]], [[1, 1, 0], [2, 0, 1]], [[0, 0, 2], [0, 1, 1]]],
        "n_grades": 3, "margin": "unit", "C": 2, "monotone": True,
    },
    {
        "name": "eq. 4: three grades, Hamming margin, one list shorter",
        "pairs": [[[0, 1, 2], [2, 1, 0]], [[0, 2, -1], [1, 1, 2]], [[1, 1, 0], [2, 0, 1]]],
        "n_grades": 3, "margin": "hamming", "C": 1, "monotone": True,
    },
    {
        "name": "eq. 6: three documents without grades",
        "pairs": [[[0, 1, 2], [2, 1, 0]], [[0, 2, 1], [1, 0, 2]], [[1, 0, 2], [1, 2, 0]]],
        "n_grades": 3, "margin": "unit", "C": 5, "monotone": False,
    },
    {
        "name": "eq. 1 with contradicting pairs",
        "pairs": [[[0, 1], [1, 0]], [[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, 1], [1, 1]]],
        "n_grades": 2, "margin": "unit", "C": 1, "monotone": True,
    },
]  # fmt: skip


def solve_exactly(case: dict) -> list[list[float]]:
    """Try every set of active pairs and tied grades; keep the one that satisfies KKT."""
    pairs, L, C = case["pairs"], case["n_grades"], Fraction(case["C"])
    K, n = len(pairs[0][0]), len(pairs)
    X = [[Fraction(0)] * (K * L) for _ in pairs]
    for row, (first, second) in zip(X, pairs):
        for k in range(K):
            if first[k] >= 0:
                row[k * L + first[k]] += 1
            if second[k] >= 0:
                row[k * L + second[k]] -= 1
    m = [
        Fraction(1 if case["margin"] == "unit" else sum(a != b for a, b in zip(*pair)))
        for pair in pairs
    ]
    joints = [(k, l) for k in range(K) for l in range(L - 1)] if case["monotone"] else []
    for active in itertools.product([True, False], repeat=n):
        for tied in itertools.product([False, True], repeat=len(joints)):
            w = piece(X, m, C, active, {j for j, t in zip(joints, tied) if t}, K, L)
            if w is not None and optimal(w, X, m, C, joints, K, L):
                return [[float(w[k * L + l]) for l in range(L)] for k in range(K)]
    raise ValueError(case["name"])


def piece(X, m, C, active, tied, K, L):
    """Solve the least-squares problem of one piece by Gaussian elimination."""
    block, blocks = [], -1
    for k in range(K):
        for l in range(L):
            blocks += (k, l - 1) not in tied
            block.append(blocks)
    d = blocks + 1
    A = [[Fraction(0)] * (d + 1) for _ in range(d)]
    for b in block:
        A[b][b] += 1
    for row, margin, on in zip(X, m, active):
        if on:
            z = [Fraction(0)] * d
            for b, x in zip(block, row):
                z[b] += x
            for i in range(d):
                for j in range(d):
                    A[i][j] += C * z[i] * z[j]
                A[i][d] += C * z[i] * margin
    for i in range(d):
        pivot = next(r for r in range(i, d) if A[r][i] != 0)
        A[i], A[pivot] = A[pivot], A[i]
        A[i] = [a / A[i][i] for a in A[i]]
        for r in range(d):
            if r != i and A[r][i] != 0:
                A[r] = [a - A[r][i] * b for a, b in zip(A[r], A[i])]
    return [A[b][d] for b in block]


def optimal(w, X, m, C, joints, K, L):
    """Check the KKT conditions exactly."""
    slack = [
        max(Fraction(0), margin - sum(a * b for a, b in zip(row, w))) for row, margin in zip(X, m)
    ]
    force = [w[i] - C * sum(row[i] * s for row, s in zip(X, slack)) for i in range(K * L)]
    if not joints:
        return all(f == 0 for f in force)
    for k in range(K):
        total = Fraction(0)
        for l in range(L):
            total += force[k * L + l]
            if l < L - 1:
                step = w[k * L + l] - w[k * L + l + 1]
                if total < 0 or step < 0 or total * step != 0:
                    return False
        if total != 0:
            return False
    return True


if __name__ == "__main__":
    made = [case | {"W": solve_exactly(case)} for case in CASES]
    target = Path(__file__).with_name("weights.json")
    target.write_text(json.dumps(made, indent=1) + "\n")
    print(np.array(made[0]["W"]))
