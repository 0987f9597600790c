"""The optima along a path of C, each begun from the one before.

A larger C trusts the pairs more and the size penalty w'w less. Neighbouring optima miss
nearly the same margins, so that a step or two of Newton's lead from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcglearn.solver.problem import Objective
from dcglearn.solver.solve import Solution, SolverName, solve

C_GRID = tuple(10.0**power for power in range(-4, 4))
"""10^-4 ... 10^3 by tens."""


def solve_path(
    problem: Objective, grid: Sequence[float], solver: SolverName = "auto"
) -> Iterator[Solution]:
    """Solve a problem for several C.

    Parameters
    ----------
    problem : Objective
        Its own C does not matter.
    grid : sequence of float
        Positive and finite; ascending is quickest.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"

    Yields
    ------
    Solution
        One a C, in the order of `grid`.

    Raises
    ------
    InputError
        If a C cannot be used.
    SolverError
        If no answer is confirmed.

    Examples
    --------
    >>> from dcglearn.solver.problem import Problem
    >>> problem = Problem.of([[[0], [1]]], 2)
    >>> [float(s.W[0, 0].round(3)) for s in solve_path(problem, [0.1, 1.0, 10.0])]
    [0.083, 0.333, 0.476]
    """
    solution = None
    for C in grid:
        solution = solve(problem.with_C(C), solver, solution)
        yield solution
