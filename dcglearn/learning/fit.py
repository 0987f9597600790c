"""One fit: a problem, its optimum, and what the optimum means for gains and discounts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.learning.factorise import factorise
from dcglearn.learning.identify import DataShare, derivative, identify_at, share_of_all
from dcglearn.learning.problem import Problem, SolverName
from dcglearn.learning.record import Certificate, ChosenC, Factors, Identifiability
from dcglearn.learning.solve import Solution, check_not_zero, solve
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility


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
        """Discounts and gains in the gauge that the pairs determine; an InputError if W is 0."""
        return self.factors_as_in(self._shares[1])

    @cached_property
    def identifiability(self) -> Identifiability:
        """What the pairs determine, at the optimum."""
        problem, W, (of_all, shares) = self.problem, self.weights, self._shares
        with one_blas_thread():
            slope = derivative(W, problem.C * self.solution.model.hessian, problem.cone)
            doubled = self.factors_as_in(shares, W + np.log(2) * slope)
            gains = (self.factors.gains - doubled.gains)[shares.varying]
            moved = np.append(self.factors.discounts - doubled.discounts, gains)
            return identify_at(of_all, shares, self.factors, float(np.abs(moved).max()))

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
        W, offsets = self.weights if W is None else W, known.determined_offsets
        ordered = self.problem.monotone
        if not self.weights.any():
            check_not_zero(self.problem)
        with one_blas_thread():
            return factorise(W, known.gauge, offsets, known.constant_grades, ordered)

    @cached_property
    def _shares(self) -> tuple[DataShare, DataShare]:
        """The data shares of all pairs, and of the active ones."""
        with one_blas_thread():  # with weights, the order of additions decides the last bits
            of_all = share_of_all(self.problem)
        return of_all, of_all.of_others(self.solution.model.hessian)


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
