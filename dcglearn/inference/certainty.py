"""How certain a fit is: what a model of the judgment says in the same families.

A fit minimises a hinge loss, which has no probability behind it. Beside each gain and discount that
it learned stands the estimate of a logistic model (:mod:`dcglearn.inference.estimate`), with its
interval; and whether linear gains and 2^g - 1 fit are two of the usual questions
(:mod:`dcglearn.inference.questions`). This should take seconds: the time grows with the number of
judgments times the size of W, and with the cube of the number of parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcglearn.base.errors import InputError, SolverError
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.families import FREE_FAMILY, FamilyLike
from dcglearn.inference.questions import Question, gain_questions
from dcglearn.judgments.packed import PackedPairs
from dcglearn.judgments.preferences import Preferences

MAX_COST = 60_000_000
"""The number of judgments times the entries of W up to which a fit shows estimates and tests usual
gains: for a million judgments of lists of 10 in five grades, estimates take about 5 seconds."""

_QUESTIONS = 8
_CUBES = 120
"""So often the cube of the number of parameters is added, and for questions as many times that."""

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
    """

    fit: JudgmentFit | None = None
    questions: tuple[Question, ...] = ()
    reason: str = ""
    untested: str = ""

    def __repr__(self) -> str:
        return f"Certainty({self.reason or self.fit})"


def certainty_of(
    judgments: Preferences | PackedPairs,
    gains: FamilyLike | None = None,
    discounts: FamilyLike | None = None,
) -> Certainty:
    """Estimate gains and discounts in the families of a fit, and ask whether usual gains fit.

    Parameters
    ----------
    judgments : Preferences or PackedPairs
    gains, discounts : str or sequence of float, optional
        As those of :class:`~dcglearn.inference.estimate.JudgmentModel`; free by default.

    Returns
    -------
    Certainty
        Without an estimate, and with the reason, where the judgments allow none.

    Examples
    --------
    >>> from dcglearn.judgments.preferences import Preferences
    >>> from dcglearn.measures.scale import Scale
    >>> lists = [[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]], [[1, 1], [0, 1]]] * 20
    >>> data = Preferences.of(lists, ["a", "a", "a", "b"] * 20, Scale((1, 0)))
    >>> certainty_of(data, discounts="log2").fit.discounts()[1].given
    True
    """
    K, L = judgments.n_ranks, judgments.n_grades
    n = len(judgments.pairs) if isinstance(judgments, Preferences) else judgments.n_pairs
    if isinstance(judgments, PackedPairs) and not judgments.has_sides:
        return Certainty(reason=_NO_SIDES)
    too_many = f"{n:,} strict judgments of lists of {K} take {_LONGER}"
    if n * K * L + _CUBES * (K + L) ** 3 > MAX_COST:
        return Certainty(reason=too_many)
    model = JudgmentModel(
        gains=FREE_FAMILY if gains is None else gains,
        discounts=FREE_FAMILY if discounts is None else discounts,
    )
    try:
        evidence = Evidence.of(judgments)
        fit = model.fit(evidence)
        fit.gains(), fit.discounts()
    except InputError as error:
        return Certainty(reason=error.problem)
    except (SolverError, np.linalg.LinAlgError):
        return Certainty(reason=_NO_MAXIMUM)
    if fit.covariance.one_cluster:
        return Certainty(reason=_ONE_QUERY)
    if n * K * L + _QUESTIONS * _CUBES * (K * (L - 1)) ** 3 > MAX_COST:
        return Certainty(fit, untested=too_many)
    try:
        free = model == JudgmentModel()
        return Certainty(fit, gain_questions(fit if free else JudgmentModel().fit(evidence)))
    except (InputError, SolverError, np.linalg.LinAlgError):
        return Certainty(fit, untested=_NO_MAXIMUM)
