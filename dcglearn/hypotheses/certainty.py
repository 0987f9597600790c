"""How certain a fit is: what a model of the judgment says in the same families.

A fit minimises a hinge loss, which has no probability behind it. Beside each gain and discount that
it learned stands the estimate of a logistic model in the same families
(:mod:`dcglearn.inference.estimate`), with its interval; and whether linear gains and 2^g - 1 fit
are two of the usual questions (:mod:`dcglearn.hypotheses.questions`), with the same p-values.

A fit takes a fraction of a second, so its certainty should not take much longer. The time grows
with the number of judgments times the size of W, and with the cube of the number of parameters for
each step and for each query of some weight; the limits below are about 2 seconds on one core.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcglearn.base.errors import InputError, SolverError
from dcglearn.families.given import FamilyLike
from dcglearn.families.vectors import FREE_FAMILY
from dcglearn.hypotheses.questions import Question, usual_questions
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.judgments.packed import PackedPairs
from dcglearn.judgments.preferences import Preferences

MAX_ESTIMATED = 5_000_000
"""The number of strict judgments times the entries of W up to which a fit shows estimates."""

MAX_TESTED = 600_000
"""The same number up to which a fit asks the usual questions."""

MAX_CUBES = 150_000_000
"""The number of steps and queries, times the cubed number of parameters, up to which it does so."""

_STEPS = 200
_QUERIES_PER_PARAMETER = 50
"""More queries per parameter are each too small for a matrix of their own."""

NO_GRADES = "the model of the judgment takes grades, and documents have none"
"""Why there is no estimate beside rankings of documents."""

_NO_MAXIMUM = "the judgments are too few, or depend too little on the grades, for an estimate"
_NO_SIDES = "the packed pairs do not say how they were shown"
_ONE_QUERY = "all strict judgments are of one query, and say nothing about others"
_LONGER = "more than a few seconds; dcglearn study and dcglearn test take them"


@dataclass(frozen=True, eq=False, repr=False)
class Certainty:
    """What a model of the judgment says beside a fit.

    Attributes
    ----------
    fit : JudgmentFit or None
        In the families of the fit; None if there is no estimate.
    questions : tuple of Question
        Whether linear gains and 2^g - 1 fit; empty if this was not asked.
    reason : str
        Why there is no estimate; empty if there is one.
    untested : str
        Why there are no questions, beside an estimate; empty if there are.
    names_queries : bool
        Whether a judgment names its query; otherwise each is taken as independent.
    """

    fit: JudgmentFit | None = None
    questions: tuple[Question, ...] = ()
    reason: str = ""
    untested: str = ""
    names_queries: bool = True

    def __repr__(self) -> str:
        return f"Certainty({self.reason or self.fit})"


def certainty_of(
    preferences: Preferences,
    gains: FamilyLike | None = None,
    discounts: FamilyLike | None = None,
) -> Certainty:
    """Estimate gains and discounts in the families of a fit, and ask whether usual gains fit.

    Parameters
    ----------
    preferences : Preferences
    gains, discounts : str or sequence of float, optional
        As those of :class:`~dcglearn.learning.learner.DCGLearner`.

    Returns
    -------
    Certainty
        Without an estimate, and with the reason, where the judgments allow none.

    Examples
    --------
    >>> from dcglearn.measures.scale import Scale
    >>> lists = [[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]], [[1, 1], [0, 1]]] * 20
    >>> data = Preferences.of(lists, ["a", "a", "a", "b"] * 20, Scale((1, 0)))
    >>> certainty_of(data, discounts="log2").fit.discounts()[1].given
    True
    """
    named = any(query is not None for query in preferences.queries)
    n, (K, L) = len(preferences.pairs), (preferences.n_ranks, preferences.n_grades)
    if n * K * L > MAX_ESTIMATED:
        return Certainty(reason=_too_many(n, K), names_queries=named)
    n_queries = len(np.unique(preferences.pair_groups))
    if _cubes(K + L, n_queries) > MAX_CUBES:
        return Certainty(reason=_too_many(n, K), names_queries=named)
    model = JudgmentModel(
        gains=FREE_FAMILY if gains is None else gains,
        discounts=FREE_FAMILY if discounts is None else discounts,
    )
    try:
        fit = model.fit(preferences)
        fit.gains(), fit.discounts()
    except InputError as error:
        return Certainty(reason=error.problem, names_queries=named)
    except (SolverError, np.linalg.LinAlgError):
        return Certainty(reason=_NO_MAXIMUM, names_queries=named)
    if fit.covariance.one_cluster:
        return Certainty(reason=_ONE_QUERY, names_queries=named)
    if n * K * L > MAX_TESTED or _cubes(K * (L - 1), n_queries) > MAX_CUBES:
        return Certainty(fit, untested=_too_many(n, K), names_queries=named)
    try:
        found = usual_questions(preferences)
    except (InputError, SolverError, np.linalg.LinAlgError):
        return Certainty(fit, untested=_NO_MAXIMUM, names_queries=named)
    return Certainty(fit, tuple(one for one in found if one.about == "gains"), names_queries=named)


def _cubes(parameters: int, n_queries: int) -> int:
    """Return about how many times a matrix of the parameters is decomposed, times its cost."""
    queries = min(n_queries, _QUERIES_PER_PARAMETER * parameters)
    return int((_STEPS + queries) * parameters**3)


def certainty_of_packed(
    pairs: PackedPairs,
    n_strict: int,
    gains: FamilyLike | None = None,
    discounts: FamilyLike | None = None,
) -> Certainty:
    """Estimate the gains and discounts of packed judgments, as :func:`certainty_of`.

    Parameters
    ----------
    pairs : PackedPairs
        Read into memory if they are few enough for an estimate.
    n_strict : int
        The number of strict judgments.
    gains, discounts : str or sequence of float, optional

    Returns
    -------
    Certainty
        Without an estimate also where the sides are unknown.
    """
    if not pairs.has_sides:
        return Certainty(reason=_NO_SIDES)
    if n_strict * pairs.n_ranks * pairs.n_grades > MAX_ESTIMATED:
        return Certainty(reason=_too_many(n_strict, pairs.n_ranks))
    return certainty_of(pairs.preferences(), gains, discounts)


def _too_many(n: int, n_ranks: int) -> str:
    return f"{n:,} strict judgments of lists of {n_ranks} take {_LONGER}"
