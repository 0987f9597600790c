"""One fit: a problem, its optimum, and what the optimum means for gains and discounts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.learning.data_share import DataShare
from dcglearn.learning.factorise import factorise
from dcglearn.learning.identify import identify
from dcglearn.learning.null_space import constant_grades, constant_ranks
from dcglearn.learning.problem import Problem
from dcglearn.learning.record import Certificate, ChosenC, Factors, Identifiability
from dcglearn.learning.solve import Solution, SolverName, check_not_zero, solve
from dcglearn.learning.sums import GramMatrices, gram_matrices
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility


@dataclass(frozen=True, eq=False, repr=False)
class Fit(ShortRepr):
    """The optimum of a problem. All but the first three is computed when asked for.

    Attributes
    ----------
    problem : Problem
        What was solved: pairs, margins, weights and C.
    solution : Solution
    choice : ChosenC or None
        How C was chosen, if it was.
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
        check_not_zero(self.problem)
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
        """Factorise W in the gauge of another fit, so that their numbers can be compared."""
        check_not_zero(self.problem)
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
