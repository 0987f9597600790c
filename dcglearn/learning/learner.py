"""DCGLearner: learning as a scikit-learn estimator, whose tools work on pairs of rankings."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.judgments.preferences import Preferences, group_numbers
from dcglearn.learning.problem import Parameters
from dcglearn.learning.resample import fit_choosing
from dcglearn.measures.agreement import score_differences, weighted_mean
from dcglearn.measures.measure import MeasurePart


class DCGLearner(BaseEstimator, Parameters):  # type: ignore[misc]  # sklearn has no types
    """Learn the gains and discounts of DCG from preferences between rankings.

    Minimises  <W, W> + C sum_i v_i max(0, m_i - u(first_i) + u(second_i))^2  with the
    utility u(ranking) = sum_k W[k, grade at rank k], the margins m and the weights v; for
    grades, subject to W[k, l] >= W[k, l + 1] at every rank (Zhou, Zha, Xue & Yu, arXiv
    1212.5650: eq. 1 with unit margins, eq. 4 with Hamming margins, eq. 6 for documents).

    Parameters
    ----------
    encoding : {"grades", "documents"}, default "grades"
        What a ranking holds: grade indices, 0 the best, -1 for an empty rank; or the numbers of
        K documents, each once.
    margin : {"unit", "hamming"} or callable, default "unit"
        By how much the preferred ranking should win. A callable takes the pairs
        (n, 2, K) and returns n numbers.
    C : float or "cv", default 1.0
        The cost of a missed margin relative to the size of W. ``"cv"`` takes that of
        :func:`dcglearn.learning.resample.choose_C`, with the folds of seed 0.
    solver : {"auto", "newton", "osqp", "clarabel"}, default "auto"
        See :func:`dcglearn.learning.solve.solve`.
    n_grades : int, optional
        L. By default the largest index plus 1; parts of the data may lack the worst grade.

    Attributes
    ----------
    C_ : float
        The C of the fit.
    choice_ : ChosenC or None
        The result of cross-validation, if C is ``"cv"``.
    weights_ : ndarray of float, shape (K, L)
        W, confirmed by `certificate_` to be optimal to a relative 1e-6.
    utility_ : LinearUtility
        W as a measure.
    dcg_ : DCG
        The gains and discounts of W as a measure: what ``predict`` and ``score`` use.
    factors_ : Factors
        Discounts, gains and singular values of W, in the gauge that the pairs determine.
    singular_values_ : ndarray of float, shape (min(K, L),)
        Of W in its gauge. All but the first are 0 if W is a DCG.
    certificate_ : Certificate
    identifiability_ : Identifiability
        What the pairs determine, at the optimum.
    fit_ : Fit
        All of the above, and the problem with its pairs; a pickled learner leaves it out.
    n_features_in_ : int
        2 K.

    Examples
    --------
    Three pairs of lists of two documents; grade 0 is the best, the preferred list is first:

    >>> pairs = [[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]]]
    >>> learner = DCGLearner().fit(pairs)
    >>> learner.dcg_.gains, [round(c, 3) for c in learner.dcg_.discounts]
    ((1.0, 0.0), [1.0, 0.4])
    >>> learner.predict(pairs), learner.score(pairs)
    (array([1., 1., 1.]), 1.0)
    >>> learner.certificate_.confirmed
    True
    """

    def fit(
        self,
        pairs: ArrayLike | Preferences,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from pairs.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K) or (n, 2 K), or Preferences
            The preferred ranking first. Preferences bring their weights, queries and grades.
        y : array-like of -1 and 1, shape (n,), optional
            Where it is -1, the second ranking is the preferred one. Other targets, which
            scikit-learn's tools may pass, have no effect; 0 and 1 warn.
        sample_weight : array-like of float, shape (n,), optional
            The weight of each pair, 0 or more; 1 by default.
        groups : array-like, shape (n,), optional
            The query of each pair, for C ``"cv"``; by default each is one of its own.

        Raises
        ------
        InputError, SolverError
            If the pairs, the weights or a parameter cannot be used, or W is not confirmed.
        """
        learner: Parameters = self
        if isinstance(pairs, Preferences):
            learner = replace(self, n_grades=self.n_grades or pairs.n_grades)
            own = pairs.pair_groups
            pairs, y, sample_weight = _of_preferences(pairs, sample_weight, groups)
            groups = own
        ordered = _preferred_first(pairs, y)
        problem = learner.problem(validate_data(self, _flat(ordered)), sample_weight)
        use: MeasurePart | None = "dcg" if self.C == "cv" else None
        queries = np.arange(problem.n_pairs)
        rng = np.random.default_rng(0)
        if use and groups is not None:
            queries = group_numbers(groups)
            if len(queries) != problem.n_pairs:
                raise InputError(
                    f"groups of shape {np.shape(groups)} for {counted(problem.n_pairs, 'pair')}",
                    "give one per pair",
                )
        self.fit_ = learned = fit_choosing(problem, queries, rng, self.solver, use, n_repeats=5)
        self.C_ = learned.problem.C
        self.choice_ = learned.choice
        self.factors_ = learned.factors
        self.identifiability_ = learned.identifiability
        self.weights_ = learned.weights
        self.utility_ = learned.utility
        self.dcg_ = learned.dcg
        self.singular_values_ = learned.factors.singular_values
        self.certificate_ = learned.certificate
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "fit_": None}

    def decision_function(self, pairs: ArrayLike) -> Floats:
        """Return the difference in DCG of the rankings of each pair, (n,); exactly 0 for a tie."""
        check_is_fitted(self, "utility_")
        flat = validate_data(self, _flat(pairs), reset=False)
        try:
            return score_differences(self.dcg_, flat)
        except InputError as error:
            error.remedy += "; set `n_grades` to include grades that training pairs lack"
            raise

    def predict(self, pairs: ArrayLike) -> Floats:
        """Predict 1 where the first ranking is better, -1 where the second is, 0 for a tie."""
        return np.sign(self.decision_function(pairs))

    def score(
        self,
        pairs: ArrayLike | Preferences,
        y: object = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the share of pairs whose preferred ranking has the higher DCG; a tie counts 1/2.

        Pairs, `y` and `sample_weight` are as for :meth:`fit`.
        """
        if isinstance(pairs, Preferences):
            pairs, y, sample_weight = _of_preferences(pairs, sample_weight)
        differences = self.decision_function(_preferred_first(pairs, y))
        return weighted_mean(np.heaviside(differences, 0.5), sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.three_d_array = True
        tags.target_tags.required = False
        return tags


def _of_preferences(
    preferences: Preferences, sample_weight: object, groups: object = None
) -> tuple[ArrayLike, None, Floats]:
    """Return pairs, no targets, and weights."""
    if sample_weight is not None or groups is not None:
        raise InputError("`preferences` with weights or groups", "they have their own")
    return preferences.pairs, None, preferences.pair_weights


def _flat(pairs: ArrayLike) -> Any:  # whatever scikit-learn's checks pass: frames, sparse
    """Return pairs of shape (n, 2, K) as (n, 2 K), the shape that scikit-learn's checks know."""
    try:
        array: Any = pairs if hasattr(pairs, "dtype") else np.asarray(pairs)
    except ValueError as error:
        raise InputError("lists of different length", "pad short ones with -1") from error
    if np.ndim(array) != 3:
        return array
    if not len(array):
        raise InputError("there are no pairs", "give at least one strict preference")
    return np.reshape(array, (len(array), -1)) if array.shape[1] == 2 else array


def _preferred_first(pairs: Any, y: object) -> Any:
    """Return pairs with their halves swapped where y is -1."""
    labels = np.asarray(y).ravel()
    known = set(labels.tolist())
    if known == {-1, 0, 1}:
        raise InputError(
            "`y` holds -1, 0 and 1", "leave out the ties, from which nothing is learned"
        )
    if known == {0, 1}:
        warn_of_input(
            "`y` holds 0 and 1 and has no effect: the first ranking of each pair is taken for the "
            "preferred one; give -1 where the second one is"
        )
    if known not in ({-1}, {-1, 1}):
        return pairs
    array = np.asarray(_flat(pairs))
    return np.where((labels == -1)[:, None], np.roll(array, array.shape[1] // 2, axis=1), array)
