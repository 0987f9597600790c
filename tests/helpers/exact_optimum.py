"""The exact optimum of small problems in rational arithmetic.

It shares no code with the package. Pairs and monotone constraints are rows g of G with
<g, w> + p a >= m, where p = 1 / (2 C v) for a pair and p = m = 0 for two neighbouring grades; the
multipliers a solve a non-negative least-squares problem, by the method of Lawson & Hanson.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dcglearn import Problem
from helpers.kkt import dense_differences, margins_of, weights_of

Vector = list[Fraction]


def exact_optimum(problem: Problem) -> Vector:
    """Solve a problem and check the KKT conditions of the result exactly."""
    G, softness, margins = _constraints(problem)
    gram = [
        [_dot(g, h) / 2 + (softness[i] if i == j else 0) for j, h in enumerate(G)]
        for i, g in enumerate(G)
    ]
    b = margins
    a = [Fraction(0)] * len(G)
    passive: list[int] = []
    while True:
        slack = [_dot(row, a) - y for row, y in zip(gram, b, strict=True)]
        worst = min(range(len(G)), key=lambda i: slack[i], default=-1)
        if worst < 0 or slack[worst] >= 0:
            break
        passive.append(worst)
        while True:
            target = dict(zip(passive, _solve(gram, b, passive), strict=True))
            wrong = [i for i in passive if target[i] <= 0]
            if not wrong:
                a = [target.get(i, Fraction(0)) for i in range(len(G))]
                break
            share = min(a[i] / (a[i] - target[i]) if a[i] else Fraction(0) for i in wrong)
            for i in passive:
                a[i] += share * (target[i] - a[i])
            passive = [i for i in passive if a[i] > 0 or target[i] > 0]
    w = [
        sum((y * g[j] for y, g in zip(a, G, strict=True)), Fraction(0)) / 2
        for j in range(problem.shape[0] * problem.shape[1])
    ]
    for g, y, p, m in zip(G, a, softness, margins, strict=True):
        s = _dot(g, w) + p * y - m
        assert y >= 0
        assert s >= 0
        assert y * s == 0
    return w


def exact_objective(problem: Problem, w: Vector) -> Fraction:
    """Compute the objective at w exactly."""
    penalty = distance_squared(np.zeros(problem.shape), w)
    loss = Fraction(0)
    X = dense_differences(problem.pairs, problem.shape[1]).astype(int)
    for x, m, v in zip(
        X.tolist(), margins_of(problem).tolist(), weights_of(problem).tolist(), strict=True
    ):
        r = max(Fraction(0), Fraction(m) - sum(a * y for a, y in zip(x, w, strict=True) if a))
        loss += Fraction(v) * r**2
    return penalty + Fraction(problem.C) * loss


def distance_squared(W: np.ndarray, w: Vector) -> Fraction:
    """Compute |W - w|^2 exactly."""
    return sum(
        ((Fraction(x) - y) ** 2 for x, y in zip(W.ravel().tolist(), w, strict=True)), Fraction(0)
    )


def _constraints(problem: Problem) -> tuple[list[Vector], Vector, Vector]:
    K, L = problem.shape
    G, softness, margins = [], [], []
    X = dense_differences(problem.pairs, L)
    for x, m, v in zip(
        X.tolist(), margins_of(problem).tolist(), weights_of(problem).tolist(), strict=True
    ):
        if v > 0:
            G.append([Fraction(y) for y in x])
            softness.append(1 / (2 * Fraction(problem.C) * Fraction(v)))
            margins.append(Fraction(m))
    for i in range(K * L if problem.monotone else 0):
        if (i + 1) % L:
            G.append([Fraction((j == i) - (j == i + 1)) for j in range(K * L)])
            softness.append(Fraction(0))
            margins.append(Fraction(0))
    return G, softness, margins


def _dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))


def _solve(gram: list[Vector], b: Vector, rows: list[int]) -> Vector:
    """Solve the equations of these rows by elimination."""
    A = [[gram[i][j] for j in rows] + [b[i]] for i in rows]
    for k in range(len(rows)):
        A[k] = [x / A[k][k] for x in A[k]]
        for i in range(len(rows)):
            if i != k and A[i][k]:
                A[i] = [x - A[i][k] * y for x, y in zip(A[i], A[k], strict=True)]
    return [row[-1] for row in A]
