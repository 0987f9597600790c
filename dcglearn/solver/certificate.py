"""Is this W optimal, and how far can it be from the optimum? One judge for all solvers.

For any W in the cone of monotone rows let r = max(0, m - X w), q = w_0 + C X'(v r), and P
the projection on that cone (isotonic regression, row by row). The dual variables
2 C v r are feasible, and the duality gap they leave is

    gap = |w - P(q)|^2 + 2 <w, P(q) - q>,        |w - w*| <= sqrt(gap)

because the objective is 2-strongly convex. w is the optimum iff w = P(q). It takes
one pass over the pairs and nothing from the solver. Without monotone rows P is the
identity and gap = |w - q|^2.

The last term is added up as sum z S over the steps z[k, l] = w[k, l] - w[k, l + 1] >= 0
with S[k, l] = sum_{j <= l} (P(q) - q)[k, j] >= 0, which is 0 where P(q) steps: where grades
are tied, q holds multipliers as large as the pulls of all pairs, and only a sum that leaves
them out is exact.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.solver.active_set import ResidualSums, residual_sums
from dcglearn.solver.problem import Objective

TOLERANCE = 1e-6
"""An answer is accepted when sqrt(gap) <= TOLERANCE |w|."""

RESIDUAL_ROUNDING = 1e-14
"""w = P(q) can be told to ROUNDING C sum_i v_i r_i only: what adding up the pulls, and writing
w down in double precision, leave. An answer that is that near is accepted too. It matters
where C sum v is some 10^10 or more, and where the pulls of all pairs cancel, so that the
optimum is 0 and has no size to compare with."""


@dataclass(frozen=True)
class Certificate:
    """What is known about an answer, from the problem and the answer alone.

    Attributes
    ----------
    objective : float
        The value at W.
    gap : float
        An upper bound on objective - optimum.
    distance : float
        sqrt(gap), an upper bound on the Euclidean distance to the optimum.
    size : float
        |W|, the Euclidean norm.
    residual : float
        The largest entry of |W - P(q)|, 0 at the optimum.
    residual_sum : float
        C sum_i v_i r_i, the pulls of all pairs without their signs.
    active_pairs : int
        Pairs that do not reach their margin.
    tied_grades : int
        Monotone rows that hold with equality: neighbouring grades worth the same
        at a rank.
    """

    objective: float
    gap: float
    distance: float
    size: float
    residual: float
    residual_sum: float
    active_pairs: int
    tied_grades: int

    @property
    def confirmed(self) -> bool:
        """Whether the answer is the optimum to within a tolerance or rounding."""
        near = self.distance <= TOLERANCE * self.size
        return near or self.residual <= RESIDUAL_ROUNDING * self.residual_sum

    def to_json(self) -> dict[str, float | int | bool]:
        """Return the numbers as a JSON-able dict."""
        # The key is "pull" in all files written so far.
        numbers = {"pull" if k == "residual_sum" else k: v for k, v in asdict(self).items()}
        return numbers | {"confirmed": self.confirmed}

    def __str__(self) -> str:
        return (
            f"objective {self.objective:.10g}, duality gap {self.gap:.2g}, |W - W*| <= "
            f"{self.distance:.2g} with |W| = {self.size:.4g}, fixed-point residual "
            f"{self.residual:.2g}, {self.active_pairs} active pairs, {self.tied_grades} tied grades"
        )


def certify(problem: Objective, W: Floats) -> tuple[Floats, Certificate]:
    """Project an answer on the cone and judge it.

    Parameters
    ----------
    problem : Objective
    W : ndarray of float, shape (K, L)
        Any solver's answer.

    Returns
    -------
    W : ndarray of float, shape (K, L)
        The answer, projected on the monotone cone; this is what the certificate is of.
    certificate : Certificate

    Examples
    --------
    One pair of lists of one rank; the optimum is W = (1/3, -1/3) for C = 1:

    >>> from dcglearn.solver.problem import Problem
    >>> problem = Problem.of([[[0], [1]]], 2)
    >>> W, certificate = certify(problem, np.array([[1, -1]]) / 3)
    >>> certificate.confirmed, certify(problem, np.array([[0.5, -0.5]]))[1].confirmed
    (True, False)
    """
    W = project(problem, W)
    missed = problem.sum_over_blocks(residual_sums, W.ravel())
    q = primal_from_dual(problem, missed)
    target = project(problem, q)
    gap = float(np.sum((W - target) ** 2))
    if problem.monotone:
        gap += 2 * _complementarity(W, q, target)
    certificate = Certificate(
        objective=float(np.sum((W - problem.prior) ** 2) + problem.C * missed.loss),
        gap=gap,
        distance=float(np.sqrt(gap)),
        size=float(np.linalg.norm(W)),
        residual=float(np.abs(W - target).max()),
        residual_sum=problem.C * missed.total,
        active_pairs=missed.active,
        tied_grades=int((W[:, :-1] == W[:, 1:]).sum()) if problem.monotone else 0,
    )
    return W, certificate


def _complementarity(W: Floats, q: Floats, target: Floats) -> float:
    """Return <W, P(q) - q>, added up by steps from grade to grade."""
    held = np.maximum(0.0, np.cumsum(target - q, axis=1)[:, :-1])
    tied = target[:, :-1] == target[:, 1:]
    return float(np.sum((W[:, :-1] - W[:, 1:]) * held, where=tied))


def primal_from_dual(problem: Objective, missed: ResidualSums) -> Floats:
    """Return q = w_0 + C X'(v r), where the missed margins pull W to, shape (K, L)."""
    return problem.prior + problem.C * missed.normal_residual.reshape(problem.shape)


def project(problem: Objective, W: Floats) -> Floats:
    """Return the nearest matrix with monotone rows, or W itself where none are asked for."""
    if not problem.monotone:
        return np.array(W, float)
    from scipy.optimize import isotonic_regression

    found = np.array(W, float)
    for k in np.flatnonzero((np.diff(found) > 0).any(axis=1)):
        found[k] = isotonic_regression(found[k], increasing=False).x
    return found
