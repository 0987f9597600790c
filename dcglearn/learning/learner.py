"""DCGLearner: the estimator people call.

It keeps scikit-learn's contract on pairs of rankings, so that its tools work on them:
``GridSearchCV`` with ``GroupKFold`` by query chooses C. What is learned is W of shape
(ranks, grades); its rank-1 reading is a DCG.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats, Grades
from dcglearn.data.preferences import check_worth_learning
from dcglearn.learning.choose_c import cross_validate, interleaved
from dcglearn.learning.factorise import factorise
from dcglearn.learning.identify import identify
from dcglearn.measures.agreement import (
    checked_pairs,
    one_per_pair,
    outcomes_of_differences,
    score_differences,
    weighted_mean,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility
from dcglearn.solver.active_set import residual_sums
from dcglearn.solver.certificate import primal_from_dual, project
from dcglearn.solver.margins import MARGINS
from dcglearn.solver.problem import Objective, Problem
from dcglearn.solver.solve import SolverName, solve

Encoding = Literal["grades", "documents"]
Margin = str | Callable[[Grades], ArrayLike]


class DCGLearner(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """Learn the gains and discounts of DCG from preferences between rankings.

    Minimises  <W, W> + C sum_i v_i max(0, m_i - u(first_i) + u(second_i))^2, and for
    grades W[k, l] >= W[k, l + 1] at every rank (Zhou, Zha, Xue & Yu, arXiv 1212.5650:
    eq. 1 with unit margins, eq. 4 with Hamming margins, eq. 6 for documents).

    Parameters
    ----------
    encoding : {"grades", "documents"}, default "grades"
        What the numbers in a ranking are: grade indices, 0 the best, -1 for no
        document; or the numbers of K documents, each ranking holding each once.
    margin : {"unit", "hamming"} or callable, default "unit"
        By how much the preferred ranking should win; a callable takes the pairs
        (n, 2, K) and returns n numbers.
    C : float or "cv", default 1.0
        What a missed margin costs beside the size of W. Positive. ``"cv"`` chooses it among
        :data:`dcglearn.solver.c_path.C_GRID` by five-fold cross-validation.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
        See :func:`dcglearn.solver.solve.solve`.
    n_grades : int, optional
        L. By default the largest index in the pairs, plus 1: set it where parts of
        the data, as in cross-validation, may lack the worst grade.

    Attributes
    ----------
    C_ : float
        The C that was learned with.
    choice_ : Choice or None
        What cross-validation found, where it chose C.
    weights_ : ndarray of float, shape (K, L)
        W, confirmed optimal to a relative 1e-6 by `certificate_`.
    utility_ : LinearUtility
        W as a measure: what was learned, and what ``predict`` uses.
    dcg_ : DCG
        Its rank-1 reading in the gauge that the pairs determine.
    factors_ : Factors
        Discounts, gains, singular values and gauge of that reading.
    singular_values_ : ndarray of float
        Of W in its gauge: how near to rank 1 it is.
    certificate_ : Certificate
    solution_ : Solution
    identifiability_ : Identifiability
        What the pairs determine, at the optimum.
    n_features_in_ : int
        2 K.

    Examples
    --------
    >>> pairs = [[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]]]
    >>> learner = DCGLearner().fit(pairs)
    >>> learner.dcg_.gains, [round(c, 3) for c in learner.dcg_.discounts]
    ((1.0, 0.0), [1.0, 0.4])
    >>> learner.predict(pairs), learner.score(pairs)
    (array([1., 1., 1.]), 1.0)
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

    def fit(
        self,
        pairs: ArrayLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> DCGLearner:
        """Learn from pairs.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K) or (n, 2 K)
            The preferred ranking first.
        y : ignored
            Here for scikit-learn's tools.
        sample_weight : array-like of float, shape (n,), optional
            How much each pair counts, 0 or more; 1 by default.
        groups : array-like, shape (n,), optional
            The query of each pair; cross-validation keeps a query whole. Every pair is one
            of its own by default. Where C is given it does not matter.

        Returns
        -------
        DCGLearner
            The learner itself.

        Raises
        ------
        InputError
            If the pairs, the weights or a parameter cannot be used.
        SolverError
            If no solver's answer is confirmed.
        """
        validate_data(self, _flat(pairs))
        problem = self.problem(pairs, sample_weight)
        choice = None
        if self.C == "cv":
            folds = interleaved(self._groups(groups, problem.n_pairs))
            choice = cross_validate(problem, folds, solver=self.solver)
            problem = problem.with_C(choice.C)
        self.fit_problem(problem)
        self.choice_ = choice
        return self

    def fit_problem(self, problem: Objective) -> DCGLearner:
        """Learn from a problem that is there already, such as one of pairs in files.

        Parameters
        ----------
        problem : Objective
            A :class:`dcglearn.solver.streamed.Streamed`, for pairs that do not fit in
            memory, or a Problem. Its margins and its C are used, whatever this learner's are.

        Returns
        -------
        DCGLearner
            The learner itself.

        Raises
        ------
        InputError
            If the pairs ask for nothing, or cancel out.
        SolverError
            If no solver's answer is confirmed.

        Examples
        --------
        >>> from dcglearn.solver.problem import Problem
        >>> problem = Problem.of([[[0, 1], [1, 1]]], 2)
        >>> DCGLearner().fit_problem(problem).certificate_.confirmed
        True
        """
        self.n_features_in_ = 2 * problem.shape[0]
        with one_blas_thread():
            solution = solve(problem, self.solver)
            _check_prefers(problem)
            found = identify(problem, solution.W, solution.model.hessian)
            factors = factorise(
                solution.W,
                found.gauge,
                found.seen_offsets,
                found.still_grades,
                ordered=problem.monotone,
            )
        self.C_, self.choice_ = problem.C, None
        self.weights_ = solution.W
        self.solution_ = solution
        self.certificate_ = solution.certificate
        self.identifiability_ = found
        self.factors_ = factors
        self.singular_values_ = factors.singular_values
        self.utility_ = LinearUtility(solution.W)
        self.dcg_ = DCG(factors.gains, factors.discounts)
        return self

    def problem(self, pairs: ArrayLike, sample_weight: ArrayLike | None = None) -> Problem:
        """Return the problem that ``fit`` solves, checked, without solving it.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K) or (n, 2 K)
        sample_weight : array-like of float, shape (n,), optional

        Returns
        -------
        Problem

        Raises
        ------
        InputError
            As ``fit``.
        """
        if self.encoding not in ("grades", "documents"):
            raise unknown_name("encoding", self.encoding, ["grades", "documents"])
        if isinstance(self.margin, str) and self.margin not in MARGINS:
            raise unknown_name("margin", self.margin, MARGINS)
        rows = checked_pairs(check_array(_flat(pairs)), np.iinfo(np.int64).max)
        if self.encoding == "documents":
            n_grades = rows.shape[2]
            _check_permutations(rows)
        else:
            n_grades = self._grades_of(rows)
        weights = None
        if sample_weight is not None:
            weights = one_per_pair(sample_weight, len(rows), "sample_weight", 0.0)
        check_worth_learning(rows, weights)
        return Problem.of(
            rows,
            n_grades,
            self.margin(rows) if callable(self.margin) else self.margin,
            weights,
            1.0 if self.C == "cv" else self.C,
            monotone=self.encoding == "grades",
        )

    def decision_function(self, pairs: ArrayLike) -> Floats:
        """Return u(first) - u(second) of each pair, exactly 0 where they are tied.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K) or (n, 2 K)

        Returns
        -------
        ndarray of float, shape (n,)
        """
        rows = self._checked(pairs)
        return score_differences(self.utility_, rows)

    def predict(self, pairs: ArrayLike) -> Floats:
        """Return 1 where the first ranking is better, -1 where the second is, 0 for a tie.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K) or (n, 2 K)

        Returns
        -------
        ndarray of float, shape (n,)
        """
        found: Floats = np.sign(self.decision_function(pairs))
        return found

    def score(
        self, pairs: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of pairs whose first ranking is scored higher; a tie counts 1/2.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K) or (n, 2 K)
            The preferred ranking first.
        y : ignored
        sample_weight : array-like of float, shape (n,), optional

        Returns
        -------
        float
        """
        return weighted_mean(outcomes_of_differences(self.decision_function(pairs)), sample_weight)

    def _checked(self, pairs: ArrayLike) -> Grades:
        """Return pairs to predict, of the K and L that were learned from."""
        check_is_fitted(self, "utility_")
        flat = validate_data(self, _flat(pairs), reset=False)
        try:
            return checked_pairs(flat, self.utility_.n_grades)
        except InputError as error:
            error.remedy += "; set n_grades so that the learner knows grades it has not seen"
            raise

    def _groups(self, groups: ArrayLike | None, n_pairs: int) -> Any:
        found = np.arange(n_pairs) if groups is None else np.asarray(groups)
        if found.shape != (n_pairs,):
            raise InputError(
                f"groups of shape {found.shape} for {n_pairs} pairs", "give one a pair"
            )
        return found

    def _grades_of(self, rows: Grades) -> int:
        largest = int(rows.max()) + 1
        if self.n_grades is None:
            return max(largest, 1)
        if not isinstance(self.n_grades, int | np.integer) or self.n_grades < largest:
            raise InputError(
                f"n_grades is {self.n_grades!r}, and grade index {largest - 1} occurs",
                f"use {largest} or more",
            )
        return int(self.n_grades)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.three_d_array = True
        tags.target_tags.required = False
        return tags


def _flat(pairs: ArrayLike) -> Any:
    """Return pairs of shape (n, 2, K) as (n, 2 K), the shape scikit-learn's checks know."""
    try:
        array: Any = pairs if hasattr(pairs, "dtype") else np.asarray(pairs)
    except ValueError as error:
        raise InputError("lists of different length", "fill short ones up with -1") from error
    if getattr(array, "ndim", 0) == 3 and array.shape[1] == 2:
        array = np.reshape(array, (len(array), -1))
    return array


def _check_prefers(problem: Objective) -> None:
    """Refuse an optimum of 0, saying what made it so.

    It is 0 iff what the pairs pull 0 to is no matrix with monotone rows but 0.
    """
    missed = problem.sum_over_blocks(residual_sums, np.zeros(math.prod(problem.shape)))
    strength = problem.C * missed.total
    if np.abs(project(problem, primal_from_dual(problem, missed))).max() > 1e-12 * strength:
        return
    if not strength:
        raise InputError("no margin is above 0: nothing is asked of the weights", "raise them")
    if problem.C * np.abs(missed.normal_residual).max() > 1e-12 * strength:
        raise InputError(
            "all weights are 0 at the optimum: better grades lose more often than they win",
            "check that the scale names the best grade first",
        )
    raise InputError("the judgments cancel out", "give judgments that agree more with each other")


def _check_permutations(rows: Grades) -> None:
    whole = (np.sort(rows, axis=2) == np.arange(rows.shape[2])).all(axis=(1, 2))
    if not whole.all():
        raise InputError(
            f"a ranking is no permutation of the documents 0 ... {rows.shape[2] - 1}",
            "rank each of the K documents once",
            f"row {int(np.argmin(whole))}",
        )
