"""The parameters of learning, and the problem that they make of pairs.

:class:`dcglearn.learning.learner.DCGLearner` adds scikit-learn's contract to them;
commands do without scikit-learn, which takes longer to load than most fits take.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, is_one_of, unknown_name, warn_of_input
from dcglearn.base.types import Grades
from dcglearn.judgments.folds import count_true
from dcglearn.judgments.preferences import check_worth_learning
from dcglearn.learning.problem import Problem
from dcglearn.learning.solve import SolverName
from dcglearn.measures.agreement import checked_pairs, one_per_pair
from dcglearn.measures.scale import NO_DOCUMENT

Encoding = Literal["grades", "documents"]
Margin = str | Callable[[Grades], ArrayLike]


@dataclass(kw_only=True, eq=False)
class Parameters:
    """As those of :class:`dcglearn.learning.learner.DCGLearner`."""

    encoding: Encoding = "grades"
    margin: Margin = "unit"
    C: float | Literal["cv"] = 1.0
    solver: SolverName = "auto"
    n_grades: int | None = None

    def problem(self, pairs: ArrayLike, sample_weight: ArrayLike | None = None) -> Problem:
        """Return the problem of learning from pairs, (n, 2, K) or (n, 2 K), preferred first.

        InputError if the pairs, the weights or a parameter cannot be used.
        """
        if not is_one_of(self.encoding, ("grades", "documents")):
            raise unknown_name("encoding", self.encoding, ["grades", "documents"])
        rows = checked_pairs(pairs, np.iinfo(np.int64).max)
        documents = self.encoding == "documents"
        if documents:
            _check_permutations(rows)
        weights = None
        if sample_weight is not None:
            weights = one_per_pair(sample_weight, len(rows), "sample_weight", 0.0)
        check_worth_learning(rows, weights)
        if not documents:
            _warn_if_upside_down(rows)
        return Problem.of(
            rows,
            rows.shape[2] if documents else self._grades_of(rows),
            self.margin(rows) if callable(self.margin) else self.margin,
            weights,
            1.0 if self.C == "cv" else self.C,
            monotone=not documents,
        )

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


_SAMPLE = 20_000


def _warn_if_upside_down(pairs: Grades) -> None:
    """Warn if pairs (n, 2, K) prove that their grades are not indices, of which 0 is the best.

    Of lists that are as good at each rank, and better at one, the other one is preferred more often
    than chance allows, by 6 standard errors.
    """
    first, second = pairs[:_SAMPLE, 0], pairs[:_SAMPLE, 1]
    same_ranks = ((first == NO_DOCUMENT) == (second == NO_DOCUMENT)).all(axis=1)
    rises, falls = (first > second).any(axis=1), (first < second).any(axis=1)
    worse = count_true(same_ranks & rises & ~falls)
    compared = count_true(same_ranks & (rises != falls))
    if worse - compared / 2 > 3 * np.sqrt(compared):
        warn_of_input(
            f"grades seem to be upside down: of {compared:,} pairs in which one list is as good at "
            f"every rank, and better at one, the other is preferred in {worse:,}; name the best "
            "grade first in `scale`; arrays hold grade indices, 0 the best, the preferred list "
            "first (values such as 4 for the best become indices by Preferences.from_arrays)"
        )
