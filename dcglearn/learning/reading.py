"""Reading a learned W as gains and discounts, as far as its pairs determine them.

The short way, where nothing is to be said of how sure they are
(:mod:`dcglearn.learning.identify` does).
"""

from __future__ import annotations

from dcglearn.learning.factorise import Factors, factorise
from dcglearn.learning.pieces import counts
from dcglearn.learning.problem import Objective
from dcglearn.learning.shares import Shares
from dcglearn.learning.solve import Solution
from dcglearn.learning.structure import still


def read(problem: Objective, solution: Solution) -> Factors:
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
    >>> from dcglearn.learning.problem import Problem
    >>> from dcglearn.learning.solve import solve
    >>> problem = Problem.of([[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]]], 2)
    >>> read(problem, solve(problem)).discounts.round(3)
    array([1. , 0.4])
    """
    L = problem.shape[1]
    still_ranks, still_grades = still(problem.summed(counts).met, L)
    shares = Shares(solution.piece.curvature, problem.C, L, still_grades)
    gauge, seen = shares.gauge(still_ranks)
    return factorise(solution.W, gauge, seen, still_grades, ordered=problem.monotone)
