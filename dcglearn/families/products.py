"""The best W = c g' of two families: convex problems, a search, or two problems in turn.

If one factor has a single generator, W is linear in the coefficients of the other, and the
problem is convex with K or L unknowns (:mod:`dcglearn.solver.generated_cone`). Parameters of
formulas are searched for around it: the derivative of the optimum in t is that of the objective
at the optimal coefficients (the envelope theorem).

If both factors have several generators, the problem is convex in each of them given the other,
and not in both. What is returned is confirmed in each given the other: a local optimum, the best
from several starts.

Either way, Newton's method first goes most of the distance. It takes the minimum of the quadratic
model among the products, found by solving for c and g in turn, or by a search for t: K L numbers
are involved then, and no pass over the pairs.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.families.model_steps import (
    SMALL_SLOPE,
    ProductTask,
    SolveConvex,
    minimise_in_bounds,
    objective_gradient,
    parameter_slopes,
    settle,
)
from dcglearn.families.structure import ProductStructure
from dcglearn.solver.active_set import QuadraticModel
from dcglearn.solver.generated_cone import GeneratedCone
from dcglearn.solver.problem import Objective
from dcglearn.solver.product_point import ProductPoint, centred_columns
from dcglearn.solver.residuals import residual_sums

if TYPE_CHECKING:
    from dcglearn.solver.solve import Solution

SEARCH_PAIRS = 20_000
"""More pairs than that are searched for starts in a subsample of about this size."""

GRID = 5
"""Number of values of each parameter of a formula that are tried first."""

SAME_OBJECTIVE = 1e-7
"""Objectives that differ relatively by less belong to one local optimum."""


class _End(NamedTuple):
    """A solution, and what product it is."""

    solution: Solution
    point: ProductPoint

    @property
    def objective(self) -> float:
        return self.solution.certificate.objective


def solve_product(
    problem: Objective,
    structure: ProductStructure,
    solve: SolveConvex,
    start: ProductPoint | None = None,
) -> Solution:
    """Find the best product of two families.

    Parameters
    ----------
    problem : Objective
        Its own structure has no effect.
    structure : ProductStructure
    solve : callable
        Solves the convex problems.
    start : ProductPoint, optional
        Such as the optimum for a similar C; by default several starts are compared.

    Returns
    -------
    Solution
        With its ``product``.

    Raises
    ------
    InputError
        If W = 0 is the best of the families.
    SolverError
        If a convex problem is not solved to a confirmed optimum.
    """
    task = ProductTask(problem, structure, solve)
    if min(structure.discounts.n_generators, structure.gains.n_generators) > 1:
        end = _in_turn(task, start)
    elif task.parameters:
        end = _search(task, start)
    else:
        origin = _origin(task)
        given = None if start is None else task.weights(start)
        end = _convex(task, origin, *task.generators(origin), start=given)
    return replace(end.solution, product=end.point)


def _origin(task: ProductTask) -> ProductPoint:
    """Return W = 0, at the usual parameters."""
    starts = task.structure.discounts.start, task.structure.gains.start
    K, L = task.problem.shape
    return ProductPoint(np.zeros(K), np.zeros(L), *starts)


def _on_sample(task: ProductTask) -> ProductTask:
    return task._replace(problem=task.problem.sample(SEARCH_PAIRS))


def _convex(
    task: ProductTask,
    point: ProductPoint,
    of_c: Floats,
    of_g: Floats,
    start: Floats | None = None,
    model: QuadraticModel | None = None,
) -> _End:
    """Solve for the coefficients of one factor; the other has one generator."""
    cone = GeneratedCone(np.asarray(np.kron(of_c, centred_columns(of_g, task.centred)), float))
    problem = task.problem.with_structure(cone)
    if model is None or start is None or not start.any():
        _check_not_zero(problem, cone)
    solution = task.solve(problem, start, model)
    z = cone.coefficients(solution.W.ravel())
    gains_given = of_g.shape[1] == 1
    c, g = (of_c @ z, of_g[:, 0]) if gains_given else (of_c[:, 0], of_g @ z)
    return _End(solution, replace(point, discounts=c, gains=g))


def _check_not_zero(problem: Objective, cone: GeneratedCone) -> None:
    """Refuse a cone in which W = 0 is the optimum: no generator has a positive slope there."""
    at_zero = problem.sum_over_blocks(residual_sums, np.zeros(len(cone.generators)))
    slopes = (problem.prior.ravel() + problem.C * at_zero.normal_residual) @ cone.generators
    if slopes.max() <= 1e-12 * problem.C * at_zero.total * np.abs(cone.generators).max():
        raise InputError(
            "no measure of these families agrees with the judgments more than it disagrees",
            "leave `gains` or `discounts` free, or check that the scale names the best grade first",
        )


def _factor(
    task: ProductTask,
    point: ProductPoint,
    gains: bool,
    start: Floats | None = None,
    model: QuadraticModel | None = None,
) -> _End:
    """Solve for the gains given the discounts, or for the discounts given the gains."""
    of_c, of_g = task.generators(point)
    if gains:
        of_c = point.discounts[:, None]
    else:
        of_g = point.gains[:, None]
    return _convex(task, point, of_c, of_g, start, model)


def _search(task: ProductTask, start: ProductPoint | None) -> _End:
    """Search for the parameters of the formulas."""
    names, limits = zip(*task.parameters, strict=True)
    if start is None:
        many = task.problem.n_pairs > SEARCH_PAIRS
        start = _search(_on_sample(task), None).point if many else _best_of_grid(task)
    near = settle(task, start)
    ends: list[_End] = []

    def at(t: Floats) -> tuple[float, Floats]:
        point = replace(near.point, **dict(zip(names, t.tolist(), strict=True)))
        given = ends[-1].solution.W if ends else task.weights(near.point)
        ends.append(_convex(task, point, *task.generators(point), start=given))
        solution = ends[-1].solution
        gradient = objective_gradient(task.problem, solution.W, solution.model)
        slopes = parameter_slopes(task, ends[-1].point, gradient)
        scale = ends[0].objective or 1.0
        return ends[-1].objective / scale, np.array([slopes[name] for name in names]) / scale

    t = np.array([getattr(near.point, name) for name in names])
    minimise_in_bounds(at, t, limits, SMALL_SLOPE)
    solution, point = min(ends, key=lambda end: end.objective)
    steps = near.steps + sum(end.solution.iterations for end in ends)
    passes = near.passes + sum(end.solution.passes for end in ends)
    return _End(replace(solution, iterations=steps, passes=passes), point)


def _best_of_grid(task: ProductTask) -> ProductPoint:
    names, limits = zip(*task.parameters, strict=True)
    ends: list[_End] = []
    refusals: list[InputError] = []
    for t in product(*(np.linspace(low, high, GRID + 2)[1:-1].tolist() for low, high in limits)):
        point = replace(_origin(task), **dict(zip(names, t, strict=True)))
        try:
            ends.append(_convex(task, point, *task.generators(point)))
        except InputError as error:  # W = 0 is the best at this t
            refusals.append(error)
    if not ends:
        raise refusals[0]
    return min(ends, key=lambda end: end.objective).point


def _in_turn(task: ProductTask, start: ProductPoint | None) -> _End:
    """Return the best local optimum of several starts; of many pairs, in a subsample first."""
    if start is not None:
        return _local_optimum(task, start)
    if task.problem.n_pairs > SEARCH_PAIRS:
        best = _in_turn(_on_sample(task), None).point
        solution, point = _local_optimum(task, best)
        counted = replace(point, n_starts=best.n_starts, n_optima=best.n_optima)
        return _End(solution, counted)
    ends: list[_End] = []
    refusals: list[InputError] = []
    for first in (_from_free_weights, _from_log2, _from_linear):
        try:
            ends.append(_local_optimum(task, first(task)))
        except InputError as error:  # W = 0 is the best from there
            refusals.append(error)
    if not ends:
        raise refusals[0]
    values = sorted(end.objective for end in ends)
    n_optima = 1 + sum(b - a > SAME_OBJECTIVE * b for a, b in pairwise(values))
    solution, point = min(ends, key=lambda end: end.objective)
    return _End(solution, replace(point, n_starts=len(ends), n_optima=n_optima))


def _from_free_weights(task: ProductTask) -> ProductPoint:
    """Return the part of rank 1 of the optimum without families."""
    W = task.solve(task.problem.with_structure(None), None, None).W
    U, s, V = np.linalg.svd(W - W[:, -1:] if task.centred else W, full_matrices=False)
    sign = np.sign(U[:, 0].sum()) or 1.0
    point = _origin(task)
    of_c, of_g = task.generators(point)
    c = GeneratedCone(of_c).nearest(sign * s[0] * U[:, 0])
    return replace(point, discounts=c, gains=GeneratedCone(of_g).nearest(sign * V[0]))


def _from_log2(task: ProductTask) -> ProductPoint:
    """Return the best gains for the usual discounts."""
    usual = 1 / np.log2(np.arange(2.0, task.problem.shape[0] + 2))
    return _factor(task, replace(_origin(task), discounts=usual), gains=True).point


def _from_linear(task: ProductTask) -> ProductPoint:
    """Return the best discounts for equally spaced gains."""
    linear = np.linspace(1.0, 0.0, task.problem.shape[1])
    return _factor(task, replace(_origin(task), gains=linear), gains=False).point


def _local_optimum(task: ProductTask, point: ProductPoint) -> _End:
    """Descend until both factors are confirmed given the other, and neither changes F."""
    steps = passes = 0
    value = np.inf
    while True:
        near = settle(task, point)
        c_end = _factor(task, near.point, False, task.weights(near.point), near.model)
        g_end = _factor(task, c_end.point, True, c_end.solution.W, c_end.solution.model)
        steps += near.steps + c_end.solution.iterations + g_end.solution.iterations
        passes += near.passes + c_end.solution.passes + g_end.solution.passes
        before, value, point = value, g_end.objective, g_end.point
        if near.settled or not value < before * (1 - 1e-14):
            break
    both = (c_end.solution.certificate, g_end.solution.certificate)
    certificate = replace(
        both[1],
        gap=max(one.gap for one in both),
        distance=max(one.distance for one in both),
        residual=max(one.residual for one in both),
    )
    solution = replace(g_end.solution, certificate=certificate, iterations=steps, passes=passes)
    return _End(solution, point)
