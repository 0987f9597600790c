"""W = c g' in families: conditions of optimality, other solvers, exact bounds, starts, threads."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from dcglearn import InputError, Problem, Solution, solve
from dcglearn.families.learned import LearnedFamilies
from dcglearn.families.vectors import discount_family, gain_family
from dcglearn.solver.certificate import certify
from dcglearn.solver.generated_cone import GeneratedCone
from dcglearn.solver.product_point import ProductPoint
from helpers.kkt import dense_differences, objective

VALUES = np.array([3.0, 2.0, 1.0, 0.0])
CONVEX = [
    *[(None, one) for one in ("log2", "zipf:1", "jk:2", "rbp:0.8")],
    *[(one, None) for one in ("linear", "exponential:2", "power:0.5", (5.0, 5.0, 1.0, 0.0))],
    *[("linear", one) for one in ("decreasing", "convex", "log2")],
]
SEARCHED = [
    ("power:free", "log2"),
    (None, "zipf:free"),
    ("exponential:free", "free"),
    ("linear", "rbp:free"),
    ("power:free", "zipf:free"),
]
BOTH_FREE = ["free", "decreasing", "convex"]


def noisy_problem(seed: int, n: int = 400, empty: bool = False, noise: float = 0.6) -> Problem:
    """Weighted judgments by a noisy judge with exponential gains."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 4, (n, 2, 5))
    if empty:
        lists[rng.random(lists.shape) < 0.1] = -1
    worth = np.array([7.0, 3.0, 1.0, 0.0, 0.0]) / 7
    u = worth[lists] @ (1 / np.log2(np.arange(2, 7)))
    first = u[:, 0] - u[:, 1] + noise * rng.logistic(size=n) > 0
    pairs = np.where(first[:, None, None], lists, lists[:, ::-1])
    return Problem.of(pairs, 4, weights=rng.integers(0, 3, n), C=float(rng.choice([0.1, 1, 10])))


def within(problem: Problem, gains: object, discounts: object) -> Problem:
    return problem.with_structure(LearnedFamilies.of(gains, discounts, VALUES, problem.shape[0]))


def point_of(solution: Solution) -> ProductPoint:
    assert solution.product is not None
    return solution.product


def generators(problem: Problem, gains: object, discounts: object) -> np.ndarray:
    """Generators of W with a given or convex family on one side, written out."""
    K, L = problem.shape
    of_g = {None: np.triu(np.ones((L, L)))[:, :-1]}.get(gains)
    if of_g is None:
        given = gain_family(gains, VALUES).at(np.zeros(0)).values if isinstance(gains, str) else 0
        of_g = np.reshape(given if isinstance(gains, str) else np.array(gains) / gains[0], (L, 1))
    i = np.arange(1, K + 1)
    of_c = {
        None: np.eye(K),
        "decreasing": (i[:, None] <= i).astype(float),
        "convex": np.column_stack([*(np.maximum(j - i, 0) for j in i[1:]), np.ones(K)]),
    }.get(discounts)
    if of_c is None:
        of_c = discount_family(discounts, K).at(np.ones(1)).values[:, None]
    shown = of_g if (problem.pairs < 0).any() else of_g - of_g.mean(axis=0)
    return np.array([np.outer(c, g).ravel() for c in of_c.T for g in shown.T]).T


def slopes_and_coefficients(
    problem: Problem, W: np.ndarray, A: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives along generators, relative to their terms, and the coefficients of W."""
    X = dense_differences(problem.pairs, problem.n_grades)
    r = np.maximum(0.0, problem.margins - X @ W.ravel())
    terms = problem.C * (problem.weights * r)
    slopes = A.T @ (W.ravel() - problem.prior.ravel() - X.T @ terms)
    z, residual, *_ = np.linalg.lstsq(A, W.ravel())
    assert residual.sum() <= 1e-16 * (W**2).sum()
    return slopes / (np.abs(X @ A).T @ terms), z


def check_cone_kkt(problem: Problem, W: np.ndarray, A: np.ndarray) -> None:
    slopes, z = slopes_and_coefficients(problem, W, A)
    assert slopes.min() >= -1e-9
    assert z.min() >= -1e-9 * np.abs(z).max()
    assert np.abs(slopes * z).max() <= 1e-9 * np.abs(z).max()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("gains", "discounts"), CONVEX)
def test_convex_families_are_optimal(gains: object, discounts: object, seed: int) -> None:
    problem = noisy_problem(seed, empty=seed == 1)
    solution = solve(within(problem, gains, discounts))
    A = generators(problem, gains, discounts)
    check_cone_kkt(problem, solution.W, A)
    assert solution.certificate.confirmed
    assert solution.certificate.objective == pytest.approx(objective(problem, solution.W.ravel()))
    point = point_of(solution)
    np.testing.assert_allclose(point.weights(seed != 1), solution.W, atol=1e-12)
    z = cp.Variable(A.shape[1], nonneg=True)
    missed = cp.pos(problem.margins - dense_differences(problem.pairs, 4) @ A @ z)
    loss = problem.C * (problem.weights @ cp.square(missed))
    program = cp.Problem(cp.Minimize(cp.sum_squares(A @ z) + loss))
    program.solve(cp.CLARABEL)
    np.testing.assert_allclose((A @ z.value).reshape(5, 4), solution.W, atol=1e-4)
    assert solution.certificate.objective <= program.value * (1 + 1e-9)


@pytest.mark.parametrize("solver", ["osqp", "clarabel"])
def test_other_solvers_give_the_same_weights(solver: str) -> None:
    problem = within(noisy_problem(5, n=120), None, "log2")
    assert isinstance(problem, Problem)
    np.testing.assert_allclose(solve(problem, solver).W, solve(problem).W, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("gains", "discounts"), [(None, "log2"), ("linear", "convex")])
def test_the_distance_bound_holds_exactly(gains: object, discounts: object, seed: int) -> None:
    """The optimum in fractions, from the face and the active pairs of the answer."""
    rng = np.random.default_rng(seed)
    pairs = noisy_problem(seed, n=12, noise=0.2).pairs
    problem = Problem.of(pairs, 4, rng.normal(1, 0.3, 12), rng.random(12), 3.0)
    structure = within(problem, gains, discounts).structure
    solution = solve(problem.with_structure(structure))
    point = point_of(solution)
    cone = _cone(problem, structure, point)
    exact = exact_optimum(problem, cone.generators, solution.W)
    off = sum(
        ((x - Fraction(float(y))) ** 2 for x, y in zip(exact, solution.W.ravel(), strict=True)),
        Fraction(0),
    )
    assert off <= Fraction(solution.certificate.distance) ** 2
    nudged = solution.W + 1e-4 * cone.generators[:, 0].reshape(5, 4)
    W, certificate = certify(problem.with_structure(cone), nudged)
    far = sum(
        ((x - Fraction(float(y))) ** 2 for x, y in zip(exact, W.ravel(), strict=True)), Fraction(0)
    )
    assert far <= Fraction(certificate.distance) ** 2
    assert not certificate.confirmed


def _cone(problem: Problem, structure: object, point: ProductPoint) -> GeneratedCone:
    """The cone that was solved in, as the package computes its generators."""
    assert isinstance(structure, LearnedFamilies)
    of_g = structure.gains.generators(point.gain_parameter)
    of_c = structure.discounts.generators(point.discount_parameter)
    return GeneratedCone(np.kron(of_c, of_g - of_g.mean(axis=0)))


def exact_optimum(problem: Problem, A: np.ndarray, W: np.ndarray) -> list[Fraction]:
    """Solve for the coefficients in use, and check all conditions without rounding."""
    X = dense_differences(problem.pairs, problem.n_grades)
    active = problem.margins - X @ W.ravel() > 0
    z = np.linalg.lstsq(A, W.ravel())[0]
    face = np.flatnonzero(z > 1e-9 * z.max())
    exact = np.vectorize(lambda x: Fraction(float(x)), otypes=[object])
    columns, rows = exact(A), exact(X)
    v, m = exact(problem.C * problem.weights), exact(problem.margins)
    used = columns[:, face]
    products = rows[active] @ used
    H = used.T @ used + products.T @ (v[active][:, None] * products)
    b = products.T @ (v[active] * m[active])
    w = used @ _eliminated(H, b)
    residuals = m - rows @ w
    assert ((residuals > 0) == active).all()
    slopes = columns.T @ (w - rows[active].T @ (v[active] * residuals[active]))
    assert all(s == 0 if j in face else s >= 0 for j, s in enumerate(slopes))
    return list(w)


def _eliminated(H: np.ndarray, b: np.ndarray) -> np.ndarray:
    table = np.column_stack([H, b])
    for i in range(len(table)):
        table[i] = table[i] / table[i, i]
        for j in range(len(table)):
            if j != i:
                table[j] = table[j] - table[j, i] * table[i]
    return table[:, -1]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("gains", "discounts"), SEARCHED)
def test_parameters_of_formulas_are_those_of_a_brute_search(
    gains: str | None, discounts: str, seed: int
) -> None:
    problem = noisy_problem(seed + 10)
    solution = solve(within(problem, gains, discounts))
    point = point_of(solution)
    best = solution.certificate.objective

    def value(discount_parameter: float, gain_parameter: float) -> float:
        c = c_family.at(np.array([1.0, discount_parameter])).values if c_free else None
        g = g_family.at(np.array([gain_parameter])).values if g_free else gains
        named = discounts if c is None else tuple(c)
        families = (g if g is None or isinstance(g, str) else tuple(g), named)
        return solve(within(problem, *families)).certificate.objective

    c_free, g_free = discounts != "free" and discounts.endswith("free"), "free" in str(gains)
    c_family = discount_family(discounts, 5)
    g_family = gain_family(gains or "free", VALUES)
    at = point.discount_parameter, point.gain_parameter
    assert value(*at) == pytest.approx(best, rel=1e-9)
    for i, free in enumerate((c_free, g_free)):
        if not free:
            continue

        def along(t: float, i: int = i) -> float:
            return value(*(t if j == i else at[j] for j in range(2)))

        found = minimize_scalar(along, bounds=(at[i] - 2, at[i] + 2), options={"xatol": 1e-7})
        assert at[i] == pytest.approx(found.x, abs=1e-4)
        assert best <= found.fun * (1 + 1e-12)


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("discounts", BOTH_FREE)
def test_both_factors_are_optimal_given_the_other(discounts: str, empty: bool) -> None:
    problem = noisy_problem(20, empty=empty)
    solution = solve(within(problem, "free", discounts))
    point = point_of(solution)
    assert solution.certificate.confirmed
    check_cone_kkt(problem, solution.W, generators_at(problem, discounts, point, fixed="gains"))
    check_cone_kkt(problem, solution.W, generators_at(problem, discounts, point, fixed="discounts"))
    assert point.n_starts == 3
    assert point.n_optima >= 1


def generators_at(problem: Problem, discounts: str, point: ProductPoint, fixed: str) -> np.ndarray:
    """Generators of one factor where the other is as learned."""
    if fixed == "gains":
        return generators(problem, tuple(point.gains), discounts.replace("free", "") or None)
    steps = np.triu(np.ones((4, 4)))[:, :-1]
    shown = steps if (problem.pairs < 0).any() else steps - steps.mean(axis=0)
    return np.kron(point.discounts[:, None], shown)


@pytest.mark.parametrize("seed", range(3))
def test_no_other_start_leads_to_a_better_product(seed: int) -> None:
    """An outside minimiser over c and g, from random starts."""
    problem = noisy_problem(seed + 30, n=150)
    X = dense_differences(problem.pairs, 4)
    best = solve(within(problem, "free", "free")).certificate.objective
    rng = np.random.default_rng(seed)
    steps = np.triu(np.ones((4, 4)))[:, :-1]
    steps = steps - steps.mean(axis=0)

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        c, g = x[:5], steps @ x[5:]
        w = np.outer(c, g).ravel()
        r = np.maximum(0.0, problem.margins - X @ w)
        pull = (2 * w - 2 * problem.C * X.T @ (problem.weights * r)).reshape(5, 4)
        total = w @ w + problem.C * problem.weights @ r**2
        return float(total), np.concatenate([pull @ g, steps.T @ (c @ pull)])

    for _ in range(5):
        start = rng.random(8)
        found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * 8)
        assert best <= found.fun * (1 + 1e-9)


def test_larger_families_fit_at_least_as_well() -> None:
    problem = noisy_problem(3)

    def least(gains: str | None, discounts: str | None) -> float:
        return solve(within(problem, gains, discounts)).certificate.objective

    chains = [
        [("linear", "log2"), ("power:free", "log2"), ("free", "log2"), ("free", "log:free")],
        [("linear", "log2"), ("linear", "convex"), ("linear", "decreasing"), ("linear", "free")],
        [("free", "log2"), ("free", "convex"), ("free", "decreasing"), ("free", "free")],
    ]
    for chain in chains:
        values = [least(*one) for one in chain]
        assert all(a >= b * (1 - 1e-12) for a, b in pairwise(values))
        assert values[-1] >= solve(problem).certificate.objective


def test_a_warm_start_does_not_change_the_optimum() -> None:
    for families in (("free", "free"), ("power:free", "zipf:free"), (None, "log2")):
        problem = within(noisy_problem(4), *families)
        near = solve(problem.with_C(problem.C / 3))
        again = solve(problem, "auto", near)
        assert pytest.approx(solve(problem).W, abs=1e-6) == again.W


def test_more_pairs_than_the_search_uses() -> None:
    """Between one and two times as many, too: the search sees a part of them once."""
    problem = noisy_problem(0, n=25_000)
    assert problem.sample(20_000).n_pairs == 12_500
    solution = solve(within(problem, "free", "zipf:free"))
    assert solution.certificate.confirmed
    assert point_of(solution).discount_parameter > 0


def test_families_that_only_disagree_are_refused() -> None:
    problem = noisy_problem(0)
    backwards = Problem.of(problem.pairs[:, ::-1], 4)
    for families in ((None, "log2"), ("power:free", "log2"), ("free", "free")):
        with pytest.raises(InputError, match="no measure of these families agrees"):
            solve(within(backwards, *families))


@pytest.mark.parametrize(
    ("gains", "discounts"),
    [((1.0, 2.0, 0.0, 0.0), None), ((1.0, 1.0, 1.0, 1.0), None), (None, (0.0, 1, 1, 1, 1))],
)
def test_numbers_that_are_not_gains_or_discounts(gains: object, discounts: object) -> None:
    with pytest.raises(InputError, match="are not those of"):
        within(noisy_problem(0), gains, discounts)


def test_the_same_bits_on_any_number_of_threads() -> None:
    """Each in a new process: the linear algebra starts its threads when it is loaded."""
    program = """
import numpy as np, os
from dcglearn.base import threads
threads.MAX_THREADS = int(os.environ["OMP_NUM_THREADS"])
from dcglearn.families.learned import LearnedFamilies
from dcglearn.solver.problem import Problem
from dcglearn.solver.solve import solve
rng = np.random.default_rng(1)
pairs = rng.integers(0, 5, (150_000, 2, 10)).astype(np.int8)
better = pairs[:, 0].sum(axis=1) + rng.normal(size=len(pairs)) < pairs[:, 1].sum(axis=1)
pairs[~better] = pairs[~better][:, ::-1]
problem = Problem.of(pairs, 5)
print(solve(problem).W.tobytes().hex())
for families in ((None, "log2"), ("power:free", "zipf:free"), ("free", "decreasing")):
    structure = LearnedFamilies.of(*families, np.arange(4.0, -1, -1), 10)
    print(solve(problem.with_structure(structure)).W.tobytes().hex())
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
            timeout=300,
        )
        answers.add(done.stdout)
    assert len(answers) == 1
