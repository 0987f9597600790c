"""Reading a learned W as gains and discounts, as far as its pairs determine them.

The short way, where nothing is to be said of how sure they are
(:mod:`dcglearn.learning.identify` does).
"""

from __future__ import annotations

from dcglearn.learning.data_share import DataShares
from dcglearn.learning.factorise import Factors, factorise
from dcglearn.learning.null_space import still
from dcglearn.solver.active_set import gram_matrices
from dcglearn.solver.problem import Objective
from dcglearn.solver.solve import Solution


def factors_of(problem: Objective, solution: Solution) -> Factors:
    """Read the optimum of a problem in the gauge that its pairs determine.

    Parameters
    ----------
    problem : Objective
    solution : Solution

    Returns
    -------
    Factors
        Discounts and gains.

    Raises
    ------
    InputError
        If it prefers nothing to anything.

    Examples
    --------
    >>> from dcglearn.solver.problem import Problem
    >>> from dcglearn.solver.solve import solve
    >>> problem = Problem.of([[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]]], 2)
    >>> factors_of(problem, solve(problem)).discounts.round(3)
    array([1. , 0.4])
    """
    L = problem.shape[1]
    still_ranks, still_grades = still(problem.sum_over_blocks(gram_matrices).gram, L)
    shares = DataShares(solution.model.hessian, problem.C, L, still_grades)
    gauge, seen = shares.gauge(still_ranks)
    return factorise(solution.W, gauge, seen, still_grades, ordered=problem.monotone)
