"""Whether a W is optimal, and a bound on its distance from the optimum, for any solver.

For W in the cone, let r = max(0, m - X w), q = C X'(v r), and P the projection on the cone
(:mod:`dcglearn.learning.cones`). The dual variables 2 C v r are feasible, and their duality gap is

    gap = |w - P(q)|^2 + 2 <w, P(q) - q>,        |w - w*| <= sqrt(gap)

because the objective is 2-strongly convex. w is the optimum if and only if w = P(q). This
takes one pass over the pairs and needs nothing from the solver. What is confirmed is true whatever
was rounded.
"""

from __future__ import annotations

import math

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.learning.problem import Problem
from dcglearn.learning.record import Certificate
from dcglearn.learning.sums import SUMMED_PAIRS, ResidualSums, residual_sums

UNIT_ROUNDOFF = 2.0**-53
"""The largest relative error of one rounded operation in double precision."""


def certify(problem: Problem, W: Floats) -> tuple[Floats, Certificate]:
    """Project an answer of any solver on the cone, and return it with its certificate."""
    W = problem.cone.project(W)
    sums = problem.sum_over_blocks(residual_sums, W.ravel())
    q = problem.C * sums.normal_residual.reshape(problem.shape)
    gap, target = problem.cone.gap(W, q)
    # the sums of the gap round too
    distance = (math.sqrt(gap) + _rounding(problem, sums, W, q)) * (1 + 1e-12)
    bound = math.nextafter(distance * distance, math.inf)
    if not (W.any() or gap) and _are_exact(sums):
        distance = bound = 0.0
    return W, Certificate(
        objective=float(W.ravel() @ W.ravel() + problem.C * sums.loss),
        gap=bound,
        distance=distance,
        size=float(np.linalg.norm(W)),
        residual=float(np.abs(W - target).max()),
        residual_sum=problem.C * sums.total,
        active_pairs=sums.active,
        tied_grades=W.size - 1 - int(problem.cone.ties(W)[-1]),
        computed_gap=gap,
    )


def _are_exact(sums: ResidualSums) -> bool:
    """Whether nothing was rounded: then W = 0 can be confirmed."""
    q = sums.normal_residual * 2.0**20
    return bool((q == np.rint(q)).all() and float(np.abs(q).sum()) < 2**53 and not sums.rounded)


def _rounding(problem: Problem, sums: ResidualSums, W: Floats, q: Floats) -> float:
    """Return a bound on the rounding error of sqrt(gap).

    The residuals as computed are a dual point too, a little off that of W: this adds
    C sum v (dr)^2 to the gap. The error of X'(v r) and of P(q) adds to |w - P(q)|. A sum of n
    terms is off by at most n u sum |terms|, or almost surely by a multiple of sqrt(n) u
    (Higham & Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM Journal on
    Scientific Computing 41, 2019; 10 times with probability 1 - 4e-22 n).
    """
    K, L = problem.shape
    n = min(problem.n_pairs, SUMMED_PAIRS)
    terms = min(n, 10 * math.sqrt(n) + 400) + 16
    summing = terms * math.sqrt(2 * K) * problem.C * sums.rounded
    sizes = float(np.linalg.norm(q) + np.linalg.norm(W))
    projecting = 4 * (L * problem.monotone + 4) * sizes
    residuals = sums.weight * ((4 * K + 8) * float(np.abs(W).sum())) ** 2 + 8 * sums.loss
    return UNIT_ROUNDOFF * (summing + projecting + math.sqrt(2 * problem.C * residuals))
