"""The same optimum without slack variables: semismooth Newton over the monotone cone.

    F(w) = |w - w_0|^2 + C sum_i v_i max(0, m_i - w'x_i)^2

is quadratic as long as the same pairs miss their margin (A). The minimum of that piece
over the cone,

    min  w'H w - 2 w'b,   H = I + C X_A' V X_A,   b = w_0 + C X_A' V m_A,

is a non-negative least-squares problem in the steps from grade to grade,
w[k, l] = sum_{j >= l} z[k, j] with z[k, j] >= 0 but for the offset z[k, L], so it has K L
unknowns however many pairs there are. Its direction is one of descent. When the same pairs
miss their margin at its minimum, that minimum is the optimum. The idea is
that of Keerthi & DeCoste, "A Modified Finite Newton Method for Fast Solution of Large
Scale Linear SVMs" (JMLR 6, 2005), carried over to a cone. Many pairs are approached by
way of every twentieth, of every twentieth of those, and so on; few whose misses do not settle,
from the inside of the constraints (:mod:`dcglearn.solver.interior_point`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dtrtrs

from dcglearn.base.errors import SolverError
from dcglearn.base.types import Floats
from dcglearn.solver.active_set import (
    QuadraticModel,
    active_set_change,
    directional_derivatives,
    quadratic_model,
)
from dcglearn.solver.certificate import project
from dcglearn.solver.interior_point import interior_point_start
from dcglearn.solver.nnls import solve_nnls
from dcglearn.solver.pair_codes import MAX_DENSE_ENTRIES
from dcglearn.solver.problem import Objective

MAX_NEWTON_STEPS = 100

SOON = 25
"""Steps after which an optimum that is not found is looked for along a path of C."""

FEW, EACH = 5_000, 100
"""Up to so many pairs, or so many for each of the K L unknowns, there is no approach by way of
fewer: their optimum would say little."""

FEWER = 20
"""By how much fewer."""

APPROACH = 10
"""Steps on the way."""

SMALL = 10
"""Up to so many pairs for each of the K L unknowns, steps by which w grows take longer than the
way from inside."""

FAR = 50
"""Where misses cost so many times what w does, and fall fast, w grows for several steps."""

NARROWER = 3
"""How often a line search looks between two of 17 points; it is nearly straight there then."""

ENOUGH = 1e-4
"""A full step is taken if it brings this share of what its slope promises."""


class Descent(NamedTuple):
    """Where Newton's method got.

    Attributes
    ----------
    W : ndarray of float, shape (K, L)
        In the cone; tied grades are exactly tied.
    model : QuadraticModel
        There.
    steps : int
    passes : int
        Over all pairs.
    settled : bool
        Whether the same pairs are active at the minimum of the last piece: it is the
        optimum then. Otherwise W is the best point reached.
    """

    W: Floats
    model: QuadraticModel
    steps: int
    passes: int
    settled: bool


def newton(
    problem: Objective, start: Floats | None = None, known: QuadraticModel | None = None
) -> Descent:
    """Go to the optimum.

    Parameters
    ----------
    problem : Objective
        Only :mod:`dcglearn.solver.active_set` of it are asked for.
    start : ndarray of float, shape (K, L), optional
        Where to begin, such as the optimum of a near problem; it is projected on the cone.
        By default at the optimum of every twentieth pair where there are many, and at w_0.
    known : QuadraticModel, optional
        That at `start`, which is in the cone, where it is known; C is no part of it.

    Returns
    -------
    Descent

    Raises
    ------
    SolverError
        If a piece is beyond double precision.

    Examples
    --------
    >>> from dcglearn.solver.problem import Problem
    >>> problem = Problem.of([[[0, 1], [1, 1]]], 2)
    >>> newton(problem).W.round(4)
    array([[ 0.3333, -0.3333],
           [ 0.    ,  0.    ]])
    """
    if start is None and _many(problem):
        start = _approach(problem)
    tried: list[Descent] = []
    for end in _ends(problem, problem.prior if start is None else start, known):
        tried.append(end)
        if end.settled:
            break
    best = min(tried, key=lambda end: (not end.settled, _value(problem, end.W.ravel(), end.model)))
    steps, passes = sum(end.steps for end in tried), sum(end.passes for end in tried)
    return best._replace(steps=steps, passes=passes)


def _ends(problem: Objective, start: Floats, known: QuadraticModel | None) -> Iterator[Descent]:
    """Go one way after another; one that is not asked for is not gone.

    With fewer pairs than unknowns line searches are quick, so that the inside can wait.
    """
    size = math.prod(problem.shape)
    few = not _many(problem) and problem.n_pairs * size <= MAX_DENSE_ENTRIES
    yield _descend(problem, start, SOON, known, straight=few and problem.n_pairs >= size)
    if few:
        yield _from_inside(problem)
    yield _along_path(problem)


def _from_inside(problem: Objective) -> Descent:
    """Go on from an interior point. Its steps count; for all of them, X is made in one pass."""
    start, steps = interior_point_start(problem)
    found = _descend(problem, start, SOON, straight=True)
    return found._replace(steps=steps + found.steps, passes=1 + found.passes)


def _along_path(problem: Objective) -> Descent:
    """Go from a small C to the problem's own by tens.

    Where C is large, pieces far from the optimum say little of it; but the optima of C and of
    C / 10 are near each other.
    """
    start, known, steps, passes = problem.prior, None, 0, 0
    tens = max(1, math.ceil(math.log10(problem.C * problem.n_pairs)))
    for power in range(-tens, 1):
        found = _descend(problem.with_C(problem.C * 10.0**power), start, MAX_NEWTON_STEPS, known)
        start, known = found.W, found.model
        steps, passes = steps + found.steps, passes + found.passes
    return found._replace(steps=steps, passes=passes)


def _many(problem: Objective) -> bool:
    return problem.n_pairs > max(FEW, EACH * math.prod(problem.shape))


def _approach(problem: Objective) -> Floats:
    """Return the optimum, or nearly, of fewer pairs that cost as much in all."""
    fewer = problem.sample(problem.n_pairs // FEWER)
    start = _approach(fewer) if _many(fewer) else fewer.prior
    return _descend(fewer, start, APPROACH).W


def _descend(
    problem: Objective,
    start: Floats,
    most: int,
    known: QuadraticModel | None = None,
    straight: bool = False,
) -> Descent:
    """Step until the piece returns, or `most` steps; if `straight`, until the way gets long.

    It gets long where a full step does not go down, and, for few pairs, where w has to grow.
    """
    w = project(problem, start).ravel()
    here = known or problem.sum_over_blocks(quadratic_model, w)
    passes = 0 if known else 1
    growing = straight and problem.n_pairs <= SMALL * len(w)
    for step in range(1, most + 1):
        target = _minimum_of_piece(problem, here, w)
        change = problem.sum_over_blocks(active_set_change, w, target)
        passes += 1
        there = here.updated(change, w, target)
        if not change.changed:
            return Descent(target.reshape(problem.shape), there, step, passes, True)
        along = target - w
        if np.abs(along).max() <= 1e-15 * np.abs(w).max():
            break
        enough = _is_enough(problem, w, here, target, there)
        if straight and (not enough or (growing and _has_to_grow(problem, target, here, there))):
            break
        if enough:
            w, here = target, there
        else:
            w = w + _best_step(problem, w, along) * along
            here = problem.sum_over_blocks(quadratic_model, w)
            passes += NARROWER + 1
    return Descent(w.reshape(problem.shape), here, step, passes, False)


def _is_enough(
    problem: Objective, w: Floats, here: QuadraticModel, target: Floats, there: QuadraticModel
) -> bool:
    """Whether a full step goes down: its slope still does at the end, or F has fallen."""
    along = target - w
    if along @ _slope(problem, target, there) <= 0:
        return True
    promised = along @ _slope(problem, w, here)
    fallen = _value(problem, target, there) - _value(problem, w, here)
    return bool(fallen <= ENOUGH * promised)


def _has_to_grow(
    problem: Objective, target: Floats, here: QuadraticModel, there: QuadraticModel
) -> bool:
    """Whether w is far too small: misses cost FAR times what it does, and fall to a third."""
    size = float(np.sum((target - problem.prior.ravel()) ** 2))
    return there.loss < here.loss / 3 and problem.C * there.loss > FAR * size


def _slope(problem: Objective, w: Floats, at: QuadraticModel) -> Floats:
    """Return the gradient of F at w, of which `at` is the piece."""
    found: Floats = 2 * (w - problem.prior.ravel() - problem.C * (at.linear - at.hessian @ w))
    return found


def _value(problem: Objective, w: Floats, at: QuadraticModel) -> float:
    return float(np.sum((w - problem.prior.ravel()) ** 2) + problem.C * at.loss)


def _best_step(problem: Objective, w: Floats, along: Floats) -> float:
    """Return a t in (0, 1) at which the slope of F along the way is 0, or nearly."""
    low, high = 0.0, 1.0
    from_prior = w - problem.prior.ravel()
    for _ in range(NARROWER):
        steps = np.linspace(low, high, 17)
        force = problem.C * problem.sum_over_blocks(directional_derivatives, w, along, steps)
        slope = along @ from_prior + steps * (along @ along) - force
        if not (slope > 0).any():
            return float(steps[-1])
        last = int(np.argmax(slope > 0))
        if last == 0:  # rounding: it is flat
            return float(steps[0] or steps[1])
        low, high = steps[last - 1], steps[last]
    share = -slope[last - 1] / (slope[last] - slope[last - 1])
    return float(low + share * (high - low))


def _minimum_of_piece(problem: Objective, at: QuadraticModel, w: Floats) -> Floats:
    """Minimise the quadratic over the cone; the steps that w has are thought to stay."""
    H = problem.C * at.hessian
    H.flat[:: len(H) + 1] += 1
    b = problem.prior.ravel() + problem.C * at.linear
    try:
        if not problem.monotone or problem.shape[1] == 1:
            found = _solved(*_triangle(H, b))
        else:
            W = w.reshape(problem.shape)
            found = _minimum_in_cone(H, b, W[:, :-1] > W[:, 1:])
        if not np.isfinite(found).all():
            raise LinAlgError("the minimum is not finite")
        return found
    except (LinAlgError, RuntimeError) as error:  # RuntimeError: nnls ran out of steps
        raise SolverError(f"a piece cannot be solved in double precision ({error})") from error


def _minimum_in_cone(H: Floats, b: Floats, steps: NDArray[np.bool_]) -> Floats:
    """Minimise over the steps from grade to grade; the offsets of the ranks are free.

    The offsets are eliminated: the rows of a factor R'R of all, offsets first, leave the
    problem of the steps alone.
    """
    K, L = len(steps), len(steps[0]) + 1
    T, t = _of_steps(H, b, K, L)
    R, u = _triangle(T[:, -1, :, -1], t[:, -1])
    U, _ = dtrtrs(R, T[:, -1, :, :-1].reshape(K, -1), lower=0, trans=1)
    inner = T[:, :-1, :, :-1].reshape(steps.size, -1) - U.T @ U
    found = solve_nnls(inner, t[:, :-1].ravel() - U.T @ u, steps.ravel())
    offsets = _solved(R, u - U @ found)
    z = np.hstack([found.reshape(K, L - 1), offsets[:, None]])
    # Added up from the worst grade, so that a step of 0 ties two grades to the last bit.
    return np.cumsum(z[:, ::-1], axis=1)[:, ::-1].ravel()


def _of_steps(H: Floats, b: Floats, K: int, L: int) -> tuple[Floats, Floats]:
    """Return S'H S, shape (K, L, K, L), and S'b, shape (K, L), with w = S z: sums over grades."""
    T = np.cumsum(H.reshape(K, L, -1), axis=1).reshape(-1, L)
    return np.cumsum(T, axis=1).reshape(K, L, K, L), np.cumsum(b.reshape(K, L), axis=1)


def _triangle(H: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the upper R with R'R = H, and y with R'y = b."""
    R, failed = dpotrf(H, lower=0)
    if failed:
        raise LinAlgError(f"the hessian is not positive definite at {failed}")
    y, _ = dtrtrs(R, b, lower=0, trans=1)
    return R, y


def _solved(R: Floats, y: Floats) -> Floats:
    """Return x with R x = y."""
    x, _ = dtrtrs(R, y, lower=0)
    return np.asarray(x)
