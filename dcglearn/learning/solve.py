"""Solve a problem to a confirmed optimum, and read gains and discounts from it.

``newton`` is the fastest solver; ``osqp`` and ``clarabel`` solve the problem as printed. An answer
that is not the exact optimum is polished: Newton's method descends from it, and the answer with the
smaller duality gap is kept. What is not confirmed raises.

For W in the cone, let r = max(0, m - X w), q = C X'(v r), and P the projection on the cone
(:mod:`dcglearn.learning.cones`). The dual variables 2 C v r are feasible, and their duality gap is

    gap = |w - P(q)|^2 + 2 <w, P(q) - q>,        |w - w*| <= sqrt(gap)

because the objective is 2-strongly convex. w is the optimum if and only if w = P(q). This takes one
pass over the pairs and needs nothing from the solver. X'(v r) is added up over few pairs at a time,
in parts of which most are exact.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from dcglearn.base.errors import InputError, SolverError, check_name
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats, ShortRepr
from dcglearn.learning.factorise import factorise
from dcglearn.learning.identify import DataShare, derivative, identify_at
from dcglearn.learning.newton import Descent, QuadraticModel, descend, newton, quadratic_model
from dcglearn.learning.problem import Problem, SolverName
from dcglearn.learning.record import (
    TOLERANCE,
    Certificate,
    ChosenC,
    Factors,
    Identifiability,
    SolverRun,
)
from dcglearn.learning.source import Additive, Block
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility

SOLVERS: tuple[SolverName, ...] = get_args(SolverName)

C_GRID = tuple(10.0**power for power in range(-4, 4))


@dataclass(frozen=True, repr=False)
class Solution(SolverRun, ShortRepr):
    """A confirmed answer.

    Attributes
    ----------
    solver, status : str
        The solver whose answer it is, and how it ended, in its own words.
    iterations, passes : int
        Its steps, and passes over all pairs, including the certificate's.
    polished : bool
        Whether polishing improved its answer.
    W : ndarray of float, shape (K, L)
    certificate : Certificate
    model : QuadraticModel
        The quadratic model of the loss at W.
    """

    W: Floats
    certificate: Certificate
    model: QuadraticModel


def solve(problem: Problem, solver: SolverName = "auto", start: Solution | None = None) -> Solution:
    """Solve a problem to a confirmed optimum.

    Parameters
    ----------
    problem : Problem
        ``osqp`` and ``clarabel`` need its pairs in memory.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
        ``auto`` is Newton's method.
    start : Solution, optional
        Of the same pairs with another C: Newton's method starts from it.

    Returns
    -------
    Solution

    Raises
    ------
    InputError
        If the solver's name is unknown, or the optimum is 0, so that all lists are tied.
    SolverError
        If the answer is not confirmed, with the status, the iterations and the certificate.

    Examples
    --------
    >>> problem = Problem.of([[[0, 1], [1, 1]]], 2)
    >>> solve(problem).W.round(4)
    array([[ 0.3333, -0.3333],
           [ 0.    ,  0.    ]])
    """
    check_name(solver, "solver", SOLVERS)
    name = "newton" if solver == "auto" else solver
    with one_blas_thread():
        found, status = _answer(problem, name, start)
        (answer, certificate), model, improved = certify(problem, found.W), found.model, False
        if not (found.settled and certificate.confirmed):
            polished = descend(problem, answer)
            W, better = certify(problem, polished.W)
            if better.computed_gap < certificate.computed_gap:
                answer = W
                certificate = better
                model = polished.model
                improved = True
        if certificate.size <= certificate.distance:
            check_not_zero(problem)
        if not certificate.confirmed:
            raise SolverError(
                f"the optimum is not confirmed (|W - W*| <= {TOLERANCE:g} |W|): {name} ended with "
                f"{status!r} after {found.steps} iterations; its answer has {certificate}; with "
                f"C = {problem.C:g}; rescale `C`, the weights or the margins, or choose another "
                "`solver`"
            )
    passes = found.passes + 1
    return Solution(name, status, found.steps, passes, improved, answer, certificate, model)


def check_not_zero(problem: Problem) -> None:
    """Refuse a problem whose optimum is W = 0, with the reason: then P(q) is 0 at W = 0."""
    at_zero = problem.sum_over_blocks(residual_sums, np.zeros(math.prod(problem.shape)))
    size = problem.C * at_zero.total
    q = problem.C * at_zero.normal_residual.reshape(problem.shape)
    if np.abs(problem.cone.project(q)).max() > 1e-12 * size:
        return
    if not size:
        raise InputError("no margin is above 0: W = 0 satisfies all pairs", "raise the margins")
    if np.abs(q).max() > 1e-12 * size:
        raise InputError(
            "all weights are 0 at the optimum: better grades lose more often than they win",
            "check that the scale names the best grade first",
        )
    raise InputError("the judgments cancel out", "give judgments that agree more with each other")


def _answer(problem: Problem, name: str, start: Solution | None) -> tuple[Descent, str]:
    """Return what a solver returns, not yet confirmed, and how it ended."""
    if name == "newton":
        found = newton(problem, *((start.W, start.model) if start else ()))
        return found, "the active pairs did not change" if found.settled else "no further descent"
    from dcglearn.learning.qp import solve_with_cvxpy  # loads slowly

    W, steps, ended = solve_with_cvxpy(problem, name)
    W = problem.cone.project(W)
    model = problem.sum_over_blocks(quadratic_model, W.ravel())
    return Descent(W, model, steps, passes=0, settled=False), ended


SUMMED_PAIRS = 1 << 13
"""Pairs over which X'(v r) is added up at a time for the certificate."""

UNIT_ROUNDOFF = 2.0**-53


@dataclass(frozen=True, repr=False)
class ResidualSums(Additive):
    """X_A' V r, as parts of shape (K L,), sum_A v r^2 (loss) and sum_A v r (total) at some W.

    Most parts are exact; `rounded` is the sum of the |terms| of the others. `weight` is sum v over
    all pairs.
    """

    parts: list[Floats]
    rounded: float
    loss: float
    total: float
    active: int
    weight: float

    @property
    def normal_residual(self) -> Floats:
        """X_A' V r, rounded once more than its parts, shape (K L,)."""
        return np.array([math.fsum(column) for column in np.array(self.parts).T])


def residual_sums(block: Block, w: Floats) -> ResidualSums:
    """Return the sums of the positive residuals at w, computed from the pairs themselves."""
    parts: list[Floats] = []
    rounded = 0.0
    r = np.maximum(block.residuals(w), 0.0)
    weighted, weights = block.weighted(r), block.weighted(np.ones(len(r)))
    for begin in range(0, len(r), SUMMED_PAIRS):
        rows = slice(begin, begin + SUMMED_PAIRS)
        high = leading_bits(weighted[rows])
        low = weighted[rows] - high
        parts += [block.rmatvec(high, rows), block.rmatvec(low, rows)]
        rounded += float(np.abs(low).sum())
    loss, total, weight = map(float, (weighted @ r, weighted.sum(), weights.sum()))
    return ResidualSums(parts, rounded, loss, total, int(np.count_nonzero(r)), weight)


def leading_bits(values: Floats) -> Floats:
    """Return so few leading bits of each number that their sums, in any order, are exact.

    Rump, Ogita & Oishi, "Accurate Floating-Point Summation" (SIAM Journal on Scientific Computing
    31, 2008).
    """
    spare = len(values).bit_length() + 12
    exponent = max(-1000, math.frexp(np.abs(values).max(initial=0.0))[1] - 53 + spare)
    return np.ldexp(np.rint(np.ldexp(values, -exponent)), exponent)


def certify(problem: Problem, W: Floats) -> tuple[Floats, Certificate]:
    """Project an answer of any solver on the cone, and return it with its certificate."""
    W = problem.cone.project(W)
    sums = problem.sum_over_blocks(residual_sums, W.ravel())
    q = problem.C * sums.normal_residual.reshape(problem.shape)
    gap, target = problem.cone.gap(W, q)
    # the sums of the gap round too
    distance = (math.sqrt(gap) + _rounding(problem, sums, W, q)) * (1 + 1e-12)
    bound = math.nextafter(distance * distance, math.inf)
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


@dataclass(frozen=True, eq=False, repr=False)
class Fit(ShortRepr):
    """The optimum of a problem; what follows from it is computed when asked for.

    Attributes
    ----------
    problem : Problem
        What was solved: pairs, margins, weights and C.
    solution : Solution
    choice : ChosenC or None
        How C was chosen, if it was.
    """

    problem: Problem
    solution: Solution
    choice: ChosenC | None = None

    @property
    def weights(self) -> Floats:
        """W, shape (K, L)."""
        return self.solution.W

    @property
    def certificate(self) -> Certificate:
        """The certificate of W."""
        return self.solution.certificate

    @cached_property
    def factors(self) -> Factors:
        """Discounts and gains in the gauge that the pairs determine."""
        return self.factors_as_in(self._shares)

    @cached_property
    def identifiability(self) -> Identifiability:
        """What the pairs determine, at the optimum."""
        problem = self.problem
        W = self.weights
        shares = self._shares
        with one_blas_thread():
            slope = derivative(W, problem.C * self.solution.model.hessian, problem.cone)
            doubled = self.factors_as_in(shares, W + np.log(2) * slope)
            gains = (self.factors.gains - doubled.gains)[shares.varying]
            moved = np.append(self.factors.discounts - doubled.discounts, gains)
            return identify_at(shares, self.factors, float(np.abs(moved).max()))

    @cached_property
    def utility(self) -> LinearUtility:
        """W as a measure."""
        return LinearUtility(self.weights)

    @cached_property
    def dcg(self) -> DCG:
        """The factors as a measure."""
        return DCG(self.factors.gains, self.factors.discounts)

    def factors_as_in(self, known: DataShare | Identifiability, W: Floats | None = None) -> Factors:
        """Factorise W, by default the optimum, in a gauge, such as that of another fit."""
        W = self.weights if W is None else W
        offsets = known.determined_offsets
        ordered = self.problem.monotone
        with one_blas_thread():
            return factorise(W, known.gauge, offsets, known.constant_grades, ordered)

    @cached_property
    def _shares(self) -> DataShare:
        """The data shares of the active pairs."""
        with one_blas_thread():  # with weights, the order of additions decides the last bits
            return DataShare(self.problem, self.solution.model.hessian)


def fit(problem: Problem, solver: SolverName = "auto") -> Fit:
    """Solve a problem to a confirmed optimum.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
        See :func:`dcglearn.learning.solve.solve`.

    Returns
    -------
    Fit

    Raises
    ------
    SolverError
        If the answer is not confirmed.

    Examples
    --------
    >>> problem = Problem.of([[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]]], 2)
    >>> learned = fit(problem)
    >>> learned.factors.discounts.round(3), learned.certificate.confirmed
    (array([1. , 0.4]), True)
    """
    return Fit(problem, solve(problem, solver))


def fit_path(problem: Problem, grid: Sequence[float], solver: SolverName = "auto") -> Iterator[Fit]:
    """Yield the fit for each C of a grid, started from the one before; ascending is fastest."""
    solution = None
    for C in grid:
        part = problem.with_C(C)
        solution = solve(part, solver, solution)
        yield Fit(part, solution)
