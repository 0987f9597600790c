"""The optima along a path of C, each started from the previous one.

With a larger C the pairs count more relative to the penalty |W - W_0|^2. Neighbouring optima
have nearly the same active set, so one or two Newton steps lead from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcglearn.learning.problem import Objective
from dcglearn.learning.solve import Solution, SolverName, solve

C_GRID = tuple(10.0**power for power in range(-4, 4))
"""The powers of ten from 10^-4 to 10^3."""


def solve_path(
    problem: Objective, grid: Sequence[float], solver: SolverName = "auto"
) -> Iterator[Solution]:
    """Solve a problem for several C.

    Parameters
    ----------
    problem : Objective
        Its own C is not used.
    grid : sequence of float
        Positive and finite; ascending is fastest.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"

    Yields
    ------
    Solution
        One per C, in the order of `grid`.

    Raises
    ------
    InputError
        If a C is not positive and finite, or overflows.
    SolverError
        If no answer is confirmed.

    Examples
    --------
    >>> from dcglearn.learning.problem import Problem
    >>> problem = Problem.of([[[0], [1]]], 2)
    >>> [float(s.W[0, 0].round(3)) for s in solve_path(problem, [0.1, 1.0, 10.0])]
    [0.083, 0.333, 0.476]
    """
    solution = None
    for C in grid:
        solution = solve(problem.with_C(C), solver, solution)
        yield solution
