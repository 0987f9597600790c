"""One fit: a problem, its optimum, and what the optimum means for gains and discounts.

Solving, factorising and finding out what the pairs determine happen here for everyone: the
estimator, packed pairs, cross-validation, intervals and experiments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.learning.active_set import GramMatrices, gram_matrices
from dcglearn.learning.certificate import Certificate, primal_from_dual
from dcglearn.learning.data_share import DataShare
from dcglearn.learning.factorise import Factors, factorise
from dcglearn.learning.identify import Identifiability, identify
from dcglearn.learning.null_space import constant_grades, constant_ranks
from dcglearn.learning.problem import Objective
from dcglearn.learning.residuals import residual_sums
from dcglearn.learning.solve import Solution, SolverName, solve
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility


@dataclass(frozen=True, eq=False, repr=False)
class Fit(ShortRepr):
    """The optimum of a problem. All but the problem and the solution is computed when asked for.

    Attributes
    ----------
    problem : Objective
        What was solved: pairs, margins, weights and C.
    solution : Solution
    weights : ndarray of float, shape (K, L)
        W.
    certificate : Certificate
        Confirms that W is the optimum.
    factors : Factors
        Discounts and gains in the gauge that the pairs determine; an InputError if W ties
        all lists.
    identifiability : Identifiability
        What the pairs determine, at the optimum.
    utility : LinearUtility
        W as a measure.
    dcg : DCG
        The factors as a measure.
    """

    problem: Objective
    solution: Solution

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
        _check_not_zero(self.problem)
        gram, L = self._gram.gram, self.problem.shape[1]
        constant = constant_grades(gram, L)
        with one_blas_thread():
            shares = DataShare(self.solution.model.hessian, self.problem.C, L, constant)
            gauge = shares.gauge(constant_ranks(gram, L))
            return factorise(
                self.weights,
                gauge.gauge,
                gauge.determined_offsets,
                constant,
                ordered=self.problem.monotone,
            )

    def factors_as_in(self, other: Identifiability) -> Factors:
        """Factorise W in the gauge of another fit, so that their numbers can be compared.

        Parameters
        ----------
        other : Identifiability
            Of the other fit.

        Returns
        -------
        Factors

        Raises
        ------
        InputError
            If W ties all lists.
        """
        _check_not_zero(self.problem)
        return factorise(
            self.weights,
            other.gauge,
            other.determined_offsets,
            other.constant_grades,
            ordered=self.problem.monotone,
        )

    @cached_property
    def identifiability(self) -> Identifiability:
        """What the pairs determine, at the optimum."""
        self.factors  # noqa: B018 - raises if W ties all lists
        with one_blas_thread():
            return identify(self.problem, self.weights, self.solution.model.hessian, self._gram)

    @cached_property
    def utility(self) -> LinearUtility:
        """W as a measure."""
        return LinearUtility(self.weights)

    @cached_property
    def dcg(self) -> DCG:
        """The factors as a measure."""
        return DCG(self.factors.gains, self.factors.discounts)

    @cached_property
    def _gram(self) -> GramMatrices:
        with one_blas_thread():  # with weights, the order of additions decides the last bits
            return self.problem.sum_over_blocks(gram_matrices)


def fit(problem: Objective, solver: SolverName = "auto") -> Fit:
    """Solve a problem to a confirmed optimum.

    Parameters
    ----------
    problem : Objective
        A :class:`dcglearn.learning.problem.Problem`, or a
        :class:`dcglearn.learning.streamed.Streamed` for pairs that do not fit in memory.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
        See :func:`dcglearn.learning.solve.solve`.

    Returns
    -------
    Fit

    Raises
    ------
    SolverError
        If no solver's answer is confirmed.

    Examples
    --------
    >>> from dcglearn.learning.problem import Problem
    >>> problem = Problem.of([[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]]], 2)
    >>> learned = fit(problem)
    >>> learned.factors.discounts.round(3), learned.certificate.confirmed
    (array([1. , 0.4]), True)
    """
    return Fit(problem, solve(problem, solver))


def _largest_projected(problem: Objective, q: Floats) -> float:
    """Return the largest |entry| of the projection of q on the cone.

    On a row that may not increase, the first entry of the projection is the largest mean of the
    first entries, and the last one the smallest mean of the last.
    """
    if not problem.monotone:
        return float(np.abs(q).max())
    counts = np.arange(1, q.shape[1] + 1)
    first = (np.cumsum(q, axis=1) / counts).max()
    last = (np.cumsum(q[:, ::-1], axis=1) / counts).min()
    return float(max(first, -last, 0.0))


def _check_not_zero(problem: Objective) -> None:
    """Refuse a problem whose optimum is W = 0, with the reason.

    The optimum is 0 iff the projection of w_0 + C X'Vm, for the margins m that W = 0 misses,
    on the matrices with monotone rows is 0.
    """
    at_zero = problem.sum_over_blocks(residual_sums, np.zeros(math.prod(problem.shape)))
    size = problem.C * at_zero.total
    if _largest_projected(problem, primal_from_dual(problem, at_zero)) > 1e-12 * size:
        return
    if not size:
        raise InputError("no margin is above 0: W = 0 satisfies all pairs", "raise the margins")
    if problem.C * np.abs(at_zero.normal_residual).max() > 1e-12 * size:
        raise InputError(
            "all weights are 0 at the optimum: better grades lose more often than they win",
            "check that the scale names the best grade first",
        )
    raise InputError("the judgments cancel out", "give judgments that agree more with each other")
