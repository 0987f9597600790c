"""Newton's method among products W = c g'.

Its steps go to the minimum of the quadratic model of the objective among the products, which is
found by solving for c and g in turn, or by a search for the parameters of formulas with the best
coefficients at each. Only K L numbers are involved then, and no pass over the pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.families.structure import ProductStructure
from dcglearn.solver.active_set import QuadraticModel, active_set_change, quadratic_model
from dcglearn.solver.nnls import solve_nnls
from dcglearn.solver.problem import Objective
from dcglearn.solver.product_point import ProductPoint, centred_columns

if TYPE_CHECKING:
    from dcglearn.solver.solve import Solution

SolveConvex = Callable[[Objective, Floats | None, QuadraticModel | None], "Solution"]
"""Solves a convex problem from a start and the model there."""

MAX_ROUNDS = 100
"""Largest number of steps of Newton's method among products."""

MAX_TURNS = 2000
"""Largest number of turns on one quadratic model."""

SMALL_SLOPE = 1e-9
"""A search ends where the derivatives in t, relative to the objective, are below it."""


class ProductTask(NamedTuple):
    """A problem whose W is a product, and how its convex parts are solved."""

    problem: Objective
    structure: ProductStructure
    solve: SolveConvex

    @property
    def centred(self) -> bool:
        """Whether rows have the mean 0: without empty ranks that changes no order."""
        return not self.problem.has_empty_ranks

    def weights(self, point: ProductPoint) -> Floats:
        """Return W, shape (K, L)."""
        return point.weights(self.centred)

    def generators(self, point: ProductPoint) -> tuple[Floats, Floats]:
        """Return the generators of c and g at the parameters of a point."""
        of_c = self.structure.discounts.generators(point.discount_parameter)
        return of_c, self.structure.gains.generators(point.gain_parameter)

    @property
    def parameters(self) -> list[tuple[str, tuple[float, float]]]:
        """The parameters of formulas: their names in a ProductPoint, and their bounds."""
        named = (
            ("discount_parameter", self.structure.discounts.bounds),
            ("gain_parameter", self.structure.gains.bounds),
        )
        return [(name, bounds) for name, bounds in named if bounds]


class Settled(NamedTuple):
    """Where Newton's method among products ends; settled if the active set does not change."""

    point: ProductPoint
    model: QuadraticModel
    steps: int
    passes: int
    settled: bool


def settle(task: ProductTask, point: ProductPoint) -> Settled:
    """Step to the best product of the quadratic model while that lowers the objective."""
    problem, W = task.problem, task.weights(point)
    here = problem.sum_over_blocks(quadratic_model, W.ravel())
    for step in range(1, MAX_ROUNDS + 1):
        target = _best_of_model(task, here, point)
        T = task.weights(target)
        change = problem.sum_over_blocks(active_set_change, W.ravel(), T.ravel())
        there = here.updated(change, W.ravel(), T.ravel())
        if not change.changed:
            return Settled(target, there, step, step + 1, True)
        predicted = _model_value(problem, here, W) - _model_value(problem, here, T)
        lowered = _objective(problem, W, here) - _objective(problem, T, there)
        if lowered <= 1e-4 * predicted:
            break
        point, W, here = target, T, there
    return Settled(point, here, step, step + 1, False)


def _objective(problem: Objective, W: Floats, model: QuadraticModel) -> float:
    return float(np.sum((W - problem.prior) ** 2) + problem.C * model.loss)


def _model_value(problem: Objective, model: QuadraticModel, W: Floats) -> float:
    """Return the quadratic model at W, up to its constant."""
    w = W.ravel()
    of_loss = w @ model.hessian @ w - 2 * w @ model.linear
    return float(np.sum((W - problem.prior) ** 2) + problem.C * of_loss)


def _best_of_model(task: ProductTask, model: QuadraticModel, point: ProductPoint) -> ProductPoint:
    """Minimise the quadratic model over the products, from a point."""
    problem = task.problem
    H = problem.C * model.hessian
    H.flat[:: len(H) + 1] += 1
    b = problem.prior.ravel() + problem.C * model.linear
    if task.parameters:
        return _best_parameters_of_model(task, model, point, H, b)
    return _best_turns_of_model(task, point, H, b)


def _best_parameters_of_model(
    task: ProductTask, model: QuadraticModel, point: ProductPoint, H: Floats, b: Floats
) -> ProductPoint:
    """Search for the parameters of the formulas, with the best coefficients at each."""
    names, limits = zip(*task.parameters, strict=True)

    def best_at(t: Floats) -> ProductPoint:
        there = replace(point, **dict(zip(names, t.tolist(), strict=True)))
        of_c, of_g = task.generators(there)
        A = np.kron(of_c, centred_columns(of_g, task.centred))
        z = solve_nnls(A.T @ H @ A, A.T @ b)
        c, g = (of_c @ z, of_g[:, 0]) if of_g.shape[1] == 1 else (of_c[:, 0], of_g @ z)
        return replace(there, discounts=c, gains=g)

    def at(t: Floats) -> tuple[float, Floats]:
        best = best_at(t)
        W = task.weights(best)
        slopes = parameter_slopes(task, best, objective_gradient(task.problem, W, model))
        value = _model_value(task.problem, model, W) / scale
        return value, np.array([slopes[name] for name in names]) / scale

    scale = abs(_model_value(task.problem, model, task.weights(point))) or 1.0
    t = np.array([getattr(point, name) for name in names])
    return best_at(minimise_in_bounds(at, t, limits, SMALL_SLOPE / 100))


def _best_turns_of_model(
    task: ProductTask, point: ProductPoint, H: Floats, b: Floats
) -> ProductPoint:
    """Solve for c given g and for g given c, in turn, until W does not change."""
    K, L = task.problem.shape
    H, B = H.reshape(K, L, K, L), b.reshape(K, L)
    of_c, of_g = task.generators(point)
    shown = centred_columns(of_g, task.centred)
    c, g = point.discounts, centred_columns(point.gains, task.centred)
    z_c, z_g = np.ones(of_c.shape[1]), np.ones(of_g.shape[1])
    W = np.outer(c, g)
    for _ in range(MAX_TURNS):
        given_g = np.einsum("kmn,n->km", np.einsum("klmn,l->kmn", H, g), g)
        z_c = solve_nnls(of_c.T @ given_g @ of_c, of_c.T @ (B @ g), z_c > 0)
        c = of_c @ z_c
        if not c.any():
            break
        c = c / np.linalg.norm(c)
        given_c = np.einsum("lmn,m->ln", np.einsum("klmn,k->lmn", H, c), c)
        z_g = solve_nnls(shown.T @ given_c @ shown, shown.T @ (c @ B), z_g > 0)
        g = shown @ z_g
        before, W = W, np.outer(c, g)
        if not g.any() or np.abs(W - before).max() <= 1e-13 * np.abs(W).max():
            break
    return replace(point, discounts=c, gains=of_g @ z_g)


def minimise_in_bounds(
    function: Callable[[Floats], tuple[float, Floats]], t: Floats, limits: Any, slope: float
) -> Floats:
    """Return the minimum that L-BFGS-B finds from t; the function returns its gradient, too."""
    from scipy.optimize import minimize  # slow to load

    found = minimize(
        function,
        t,
        jac=True,
        method="L-BFGS-B",
        bounds=limits,
        options={"ftol": 0.0, "gtol": slope, "maxiter": 60},
    )
    return np.asarray(found.x, float)


def objective_gradient(problem: Objective, W: Floats, model: QuadraticModel) -> Floats:
    """Return the gradient of the objective, or of a model of it, shape (K, L)."""
    pull = problem.C * (model.linear - model.hessian @ W.ravel())
    gradient: Floats = 2 * (W - problem.prior - pull.reshape(W.shape))
    return gradient


def parameter_slopes(task: ProductTask, point: ProductPoint, gradient: Floats) -> dict[str, float]:
    """Return the derivatives in the parameters, the coefficients being kept."""
    slopes = {}
    families = task.structure
    if families.discounts.derivative:
        dc = families.discounts.derivative(point.discount_parameter)
        (of_c,) = families.discounts.generators(point.discount_parameter).T
        along = (point.discounts @ of_c) / (of_c @ of_c) * dc
        slopes["discount_parameter"] = along @ gradient @ centred_columns(point.gains, task.centred)
    if families.gains.derivative:
        dg = centred_columns(families.gains.derivative(point.gain_parameter), task.centred)
        (of_g,) = families.gains.generators(point.gain_parameter).T
        scale = (point.gains @ of_g) / (of_g @ of_g)
        slopes["gain_parameter"] = scale * (point.discounts @ gradient @ dg)
    return slopes
