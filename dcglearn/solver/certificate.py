"""Whether a W is optimal, and a bound on its distance from the optimum, for any solver.

For W in the cone of matrices with non-increasing rows, let r = max(0, m - X w),
q = w_0 + C X'(v r), and P the projection on that cone (isotonic regression of each row).
The dual variables 2 C v r are feasible, and their duality gap is

    gap = |w - P(q)|^2 + 2 <w, P(q) - q>,        |w - w*| <= sqrt(gap)

because the objective is 2-strongly convex. w is the optimum if and only if w = P(q). This
takes one pass over the pairs and needs nothing from the solver. Without monotone
constraints, P is the identity and gap = |w - q|^2.

The last term is computed as sum z S over the steps z[k, l] = w[k, l] - w[k, l + 1] >= 0
with S[k, l] = sum_{j <= l} (P(q) - q)[k, j] >= 0, which is 0 where P(q) has a step. Where
grades are tied, q contains multipliers as large as C sum v r, and only a sum that skips
them is accurate.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

import numpy as np

from dcglearn.base.numbers import counted, round_up
from dcglearn.base.types import Floats
from dcglearn.solver.generated_cone import GeneratedCone
from dcglearn.solver.problem import Objective
from dcglearn.solver.residuals import SUMMED_PAIRS, ResidualSums, accurate_sums, residual_sums

TOLERANCE = 1e-6
"""An answer is accepted if its distance to w*, whatever was rounded, is at most TOLERANCE |w|."""

UNIT_ROUNDOFF = 2.0**-53
"""The largest relative error of one rounded operation in double precision."""


@dataclass(frozen=True)
class Certificate:
    """What follows about an answer from the problem and the answer alone.

    Attributes
    ----------
    objective : float
        The objective at W.
    gap : float
        An upper bound on objective - optimum, whatever was rounded.
    distance : float
        An upper bound on the Euclidean distance to the optimum, whatever was rounded.
    size : float
        |W|, the Euclidean norm.
    residual : float
        The largest entry of |W - P(q)|, 0 at the optimum.
    residual_sum : float
        C sum_i v_i r_i, which bounds the entries of q - w_0.
    active_pairs : int
        Number of pairs that do not reach their margin.
    tied_grades : int
        Number of monotone constraints that hold with equality: neighbouring grades with the
        same weight at a rank.
    computed_gap : float
        The duality gap as computed, without a bound on its rounding error: it compares answers.
    """

    objective: float
    gap: float
    distance: float
    size: float
    residual: float
    residual_sum: float
    active_pairs: int
    tied_grades: int
    computed_gap: float

    @property
    def near(self) -> bool:
        """Whether the distance is within the tolerance unless something was rounded."""
        return math.sqrt(self.computed_gap) <= TOLERANCE * self.size

    @property
    def confirmed(self) -> bool:
        """Whether the answer is the optimum to within the tolerance, whatever was rounded."""
        return self.distance <= TOLERANCE * self.size

    def to_json(self) -> dict[str, float | int | bool]:
        """Return the numbers as a dict for JSON; `residual_sum` has the key ``pull`` in files."""
        numbers = {"pull" if k == "residual_sum" else k: v for k, v in asdict(self).items()}
        del numbers["computed_gap"]
        return numbers | {"confirmed": self.confirmed}

    def __str__(self) -> str:
        return (
            f"objective {self.objective:.10g}, duality gap <= {round_up(self.gap, 2):.2g}, "
            f"|W - W*| <= {round_up(self.distance, 2):.2g} with |W| = {self.size:.4g}, "
            f"fixed-point residual {self.residual:.2g}, "
            f"{counted(self.active_pairs, 'active pair')}, "
            f"{counted(self.tied_grades, 'tied grade')}"
        )


def certify(problem: Objective, W: Floats) -> tuple[Floats, Certificate]:
    """Project an answer on the cone and compute its certificate.

    Parameters
    ----------
    problem : Objective
    W : ndarray of float, shape (K, L)
        Any solver's answer.

    Returns
    -------
    W : ndarray of float, shape (K, L)
        The answer, projected on the cone of non-increasing rows.
    certificate : Certificate
        Of the projected answer.

    Examples
    --------
    One pair of lists with one rank. The optimum is W = (1/3, -1/3) for C = 1:

    >>> from dcglearn.solver.problem import Problem
    >>> problem = Problem.of([[[0], [1]]], 2)
    >>> W, certificate = certify(problem, np.array([[1, -1]]) / 3)
    >>> certificate.confirmed, certify(problem, np.array([[0.5, -0.5]]))[1].confirmed
    (True, False)
    """
    W = project(problem, W)
    sums = problem.sum_over_blocks(residual_sums, W.ravel())
    q = primal_from_dual(problem, sums)
    gap, target = _gap(problem, W, q)
    distance, bound = _bounds(gap, _rounding(problem, sums, W, q, sums.total))
    from_prior = (W - problem.prior).ravel()
    certificate = Certificate(
        objective=float(from_prior @ from_prior + problem.C * sums.loss),
        gap=bound,
        distance=distance,
        size=float(np.linalg.norm(W)),
        residual=float(np.abs(W - target).max()),
        residual_sum=problem.C * sums.total,
        active_pairs=sums.active,
        tied_grades=int((W[:, :-1] == W[:, 1:]).sum()) if problem.monotone else 0,
        computed_gap=gap,
    )
    if certificate.near and not certificate.confirmed:
        accurate = problem.sum_over_blocks(accurate_sums, W.ravel())
        parts = np.array(accurate.normal_residuals)
        total = np.array([math.fsum(column) for column in parts.T])
        q = primal_from_dual(problem, replace(sums, normal_residual=total))
        rounding = _rounding(problem, sums, W, q, accurate.rounded)
        distance, bound = _bounds(_gap(problem, W, q)[0], rounding)
        certificate = replace(certificate, distance=distance, gap=bound)
    return W, certificate


def _bounds(gap: float, rounding: float) -> tuple[float, float]:
    """Bound the distance and the gap, from a gap as computed and the error of its root."""
    distance = (math.sqrt(gap) + rounding) * (1 + 1e-12)  # the sums of the gap round too
    return distance, math.nextafter(distance * distance, math.inf)


def _gap(problem: Objective, W: Floats, q: Floats) -> tuple[float, Floats]:
    """Return the duality gap and P(q)."""
    if isinstance(problem.structure, GeneratedCone):
        nearest = problem.structure.projection(q.ravel())
        off = W.ravel() - nearest.point
        coefficients = problem.structure.coefficients(W.ravel())
        gap = float(off @ off + 2 * coefficients @ nearest.multipliers)
        return gap, nearest.point.reshape(W.shape)
    target, complementarity = _tied_projection(W, q) if problem.monotone else q, 0.0
    if target is None:
        target = project(problem, q)
        complementarity = _complementarity(W, q, target)
    off = (W - target).ravel()
    return float(off @ off) + 2 * complementarity, target


def _tied_projection(W: Floats, q: Floats) -> Floats | None:
    """Return P(q) if its ties are those of W, as at the optimum; this is quick to verify."""
    starts = np.ones(W.shape, bool)
    starts[:, 1:] = W[:, 1:] != W[:, :-1]
    group = starts.ravel().cumsum() - 1
    means = np.bincount(group, q.ravel()) / np.bincount(group)
    target: Floats = means[group].reshape(W.shape)
    falls = target[:, 1:] < target[:, :-1]
    multipliers = (target - q).cumsum(axis=1)[:, :-1]
    valid = (falls == starts[:, 1:]).all() and (falls | (multipliers >= 0)).all()
    return target if valid else None


def _rounding(
    problem: Objective, sums: ResidualSums, W: Floats, q: Floats, rounded: float
) -> float:
    """Return a bound on the rounding error of sqrt(gap), where terms up to `rounded` may round.

    The residuals as computed are a dual point too, a little off that of W: this adds
    C sum v (dr)^2 to the gap. The error of X'(v r) and of P(q) adds to |w - P(q)|. A sum of n
    terms is off by at most n u sum |terms|, or almost surely by a multiple of sqrt(n) u
    (Higham & Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM Journal on
    Scientific Computing 41, 2019; with the factor 10, with probability 1 - 4e-22 n).
    """
    K, L = problem.shape
    n, parts = min(problem.n_pairs, SUMMED_PAIRS), sums.n_parts
    terms = min(n, 10 * math.sqrt(n) + 400) + min(parts, 10 * math.sqrt(parts)) + 16
    summing = terms * math.sqrt(2 * K) * problem.C * rounded
    sizes = float(np.linalg.norm(q) + np.linalg.norm(W) + np.linalg.norm(problem.prior))
    projecting = 4 * ((L if problem.monotone else 0) + 4) * sizes
    if isinstance(problem.structure, GeneratedCone):  # q is rounded once; the rest is bounded
        projecting = 4 * float(np.linalg.norm(W)) + sizes
        projecting += problem.structure.projection(q.ravel()).error / UNIT_ROUNDOFF
    residuals = sums.weight * ((4 * K + 8) * float(np.abs(W).sum())) ** 2 + 8 * sums.loss
    return UNIT_ROUNDOFF * (summing + projecting + math.sqrt(2 * problem.C * residuals))


def _complementarity(W: Floats, q: Floats, target: Floats) -> float:
    """Return <W, P(q) - q>, summed over the steps between neighbouring grades."""
    multipliers = np.maximum(0.0, (target - q).cumsum(axis=1)[:, :-1])
    tied = target[:, :-1] == target[:, 1:]
    return float(((W[:, :-1] - W[:, 1:]) * multipliers)[tied].sum())


def primal_from_dual(problem: Objective, sums: ResidualSums) -> Floats:
    """Return q = w_0 + C X'(v r), the primal point of the dual variables 2 C v r.

    Parameters
    ----------
    problem : Objective
    sums : ResidualSums
        At some W.

    Returns
    -------
    ndarray of float, shape (K, L)
        The unconstrained optimum if the residuals stayed as they are; it equals W at the
        optimum without monotone constraints.
    """
    return problem.prior + problem.C * sums.normal_residual.reshape(problem.shape)


def project(problem: Objective, W: Floats) -> Floats:
    """Return the nearest matrix of the cone: with non-increasing rows, or as the structure says.

    Parameters
    ----------
    problem : Objective
    W : ndarray of float, shape (K, L)
    """
    if isinstance(problem.structure, GeneratedCone):
        return problem.structure.nearest(W.ravel()).reshape(W.shape)
    if not problem.monotone:
        return np.array(W, float)
    projected = np.array(W, float)
    for k in np.flatnonzero((projected[:, 1:] > projected[:, :-1]).any(axis=1)):
        projected[k] = _non_increasing(projected[k])
    return projected


def _non_increasing(row: Floats) -> Floats:
    """Pool adjacent violators; SciPy's function is in a module that takes 0.15 s to load."""
    sums: list[float] = []
    sizes: list[int] = []
    for value in row.tolist():
        total, size = value, 1
        while sums and sums[-1] / sizes[-1] < total / size:
            total, size = total + sums.pop(), size + sizes.pop()
        sums.append(total)
        sizes.append(size)
    return np.repeat(np.array(sums) / sizes, sizes)
