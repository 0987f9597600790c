"""The learner without scikit-learn: parameters -> problem -> what was learned.

:class:`dcglearn.learning.learner.DCGLearner` adds scikit-learn's contract to it. Commands need only
this: scikit-learn takes longer to load than most fits take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.types import Grades
from dcglearn.correlation.agreement import checked_pairs, one_per_pair
from dcglearn.judgments.checks import check_worth_learning, warn_if_upside_down
from dcglearn.learning.choose_c import ChosenC
from dcglearn.learning.fit import fit
from dcglearn.learning.margins import MARGINS
from dcglearn.learning.problem import Problem
from dcglearn.learning.solve import SolverName

Encoding = Literal["grades", "documents"]
Margin = str | Callable[[Grades], ArrayLike]


class CoreLearner:
    """Learn the gains and discounts of DCG from pairs that are checked already.

    Parameters
    ----------
    encoding, margin, C, solver, n_grades
        As those of :class:`dcglearn.learning.learner.DCGLearner`.

    Examples
    --------
    >>> learner = CoreLearner()
    >>> problem = learner.problem([[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]]])
    >>> [round(c, 3) for c in learner.learn(problem).dcg_.discounts]
    [1.0, 0.4]
    """

    def __init__(
        self,
        *,
        encoding: Encoding = "grades",
        margin: Margin = "unit",
        C: float | Literal["cv"] = 1.0,
        solver: SolverName = "auto",
        n_grades: int | None = None,
    ) -> None:
        self.encoding = encoding
        self.margin = margin
        self.C = C
        self.solver = solver
        self.n_grades = n_grades

    def problem(self, pairs: ArrayLike, sample_weight: ArrayLike | None = None) -> Problem:
        """Return the problem of learning from pairs, without solving it.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K) or (n, 2 K)
            The preferred ranking first.
        sample_weight : array-like of float, shape (n,), optional

        Returns
        -------
        Problem

        Raises
        ------
        InputError
            If the pairs, the weights or a parameter cannot be used.
        """
        if not is_one_of(self.encoding, ("grades", "documents")):
            raise unknown_name("encoding", self.encoding, ["grades", "documents"])
        if isinstance(self.margin, str) and self.margin not in MARGINS:
            raise unknown_name("margin", self.margin, MARGINS)
        rows = checked_pairs(pairs, np.iinfo(np.int64).max)
        if self.encoding == "documents":
            n_grades = rows.shape[2]
            _check_permutations(rows)
        else:
            n_grades = self._grades_of(rows)
        weights = None
        if sample_weight is not None:
            weights = one_per_pair(sample_weight, len(rows), "sample_weight", 0.0)
            if (weights == 1).all():  # which then need no memory
                weights = None
        check_worth_learning(rows, weights)
        if self.encoding == "grades":
            warn_if_upside_down(rows)
        return Problem.of(
            rows,
            n_grades,
            self.margin(rows) if callable(self.margin) else self.margin,
            weights,
            1.0 if self.C == "cv" else self.C,
            monotone=self.encoding == "grades",
        )

    def learn(self, problem: Problem, choice: ChosenC | None = None) -> Self:
        """Solve a problem and keep what was learned, as :class:`DCGLearner` names it.

        Parameters
        ----------
        problem : Problem
            Of this learner.
        choice : ChosenC, optional
            How the C of the problem was chosen.

        Returns
        -------
        CoreLearner
            The learner itself.

        Raises
        ------
        InputError
            If the optimum ties all lists.
        SolverError
            If no solver's answer is confirmed.
        """
        learned = fit(problem, self.solver)
        self.identifiability_ = learned.identifiability
        self.factors_ = learned.factors
        self.dcg_ = learned.dcg
        self.utility_ = learned.utility
        self.weights_ = learned.weights
        self.solution_ = learned.solution
        self.certificate_ = learned.certificate
        self.singular_values_ = learned.factors.singular_values
        self.C_, self.choice_ = problem.C, choice
        return self

    def with_parameters(self, **changes: Any) -> CoreLearner:
        """Return a learner with some parameters changed, which has learned nothing yet."""
        names = ("encoding", "margin", "C", "solver", "n_grades")
        kept = {name: getattr(self, name) for name in names}
        return CoreLearner(**kept | changes)

    def _grades_of(self, rows: Grades) -> int:
        largest = int(rows.max()) + 1
        if self.n_grades is None:
            return max(largest, 1)
        if not isinstance(self.n_grades, int | np.integer) or self.n_grades < largest:
            raise InputError(
                f"n_grades is {self.n_grades!r}, but grade index {largest - 1} occurs",
                f"use {largest} or more",
            )
        return int(self.n_grades)


def _check_permutations(rankings: Grades) -> None:
    documents = np.arange(rankings.shape[2])
    complete = (np.sort(rankings, axis=2) == documents).all(axis=(1, 2))
    if not complete.all():
        raise InputError(
            f"a ranking is not a permutation of the documents 0 ... {len(documents) - 1}",
            "rank each of the K documents once",
            f"row {int(np.argmin(complete))}",
        )
