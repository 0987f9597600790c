"""How often a measure agrees with judgments, with an interval, and with ties counted in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.correlation.agreement import (
    agreement_with_ties,
    outcomes_of_differences,
    relative_differences,
)
from dcglearn.judgments.meaning.answers import ANSWERS
from dcglearn.judgments.preferences import Preferences
from dcglearn.naming.names import MeasureLike
from dcglearn.statistics.clustered_means import clustered_mean


@dataclass(frozen=True)
class JudgedAgreement:
    """The agreement of one measure with a set of judgments.

    Attributes
    ----------
    agreement, low, high : float
        The share of the weight of strict judgments that it agrees with, a tie under the measure
        counting 1/2, and its 95% interval, which keeps a query together.
    right, tied, wrong : int
        The number of strict judgments that it orders as judged, ties, and orders otherwise.
    with_ties : float or None
        Agreement with all judgments where the measure calls as many ties as people did
        (:func:`~dcglearn.correlation.agreement.agreement_with_ties`); None if none is a tie.
    """

    agreement: float
    low: float
    high: float
    right: int
    tied: int
    wrong: int
    with_ties: float | None


def judged_agreement(measure: MeasureLike, preferences: Preferences) -> JudgedAgreement:
    """Count how often a measure agrees with judgments.

    Parameters
    ----------
    measure : DCG, LinearUtility, MeasureFile, or its name
    preferences : Preferences
        At least one strict judgment has a weight above 0. Judgments of weight 0 are not used.

    Returns
    -------
    JudgedAgreement

    Examples
    --------
    >>> from dcglearn.measures.dcg import DCG
    >>> lists = [[[2, 0], [0, 1]], [[0, 2], [0, 1]], [[1, 0], [1, 1]]]
    >>> data = Preferences.from_arrays(*np.swapaxes(lists, 0, 1), ["a", "b", "tie"])
    >>> found = judged_agreement(DCG([2, 1, 0], "constant"), data)
    >>> found.right, found.wrong, found.agreement
    (1, 1, 0.5)
    """
    data = preferences[preferences.weights > 0]
    difference = judged_differences(measure, data)
    result = outcomes_of_differences(difference[data.strict])
    mean = clustered_mean(result, data.pair_groups, data.pair_weights)
    right, wrong = int((result == 1).sum()), int((result == 0).sum())
    with_ties = None
    if not data.strict.all():
        with_ties = agreement_with_ties(difference, ~data.strict, data.weights)
    return JudgedAgreement(
        mean.value, *mean.interval(0, 1), right, len(result) - right - wrong, wrong, with_ties
    )


def judged_differences(measure: MeasureLike, preferences: Preferences) -> Floats:
    """Return u(preferred) - u(other) of each judgment; u(a) - u(b) of ties.

    Parameters
    ----------
    measure : DCG, LinearUtility, MeasureFile, or its name
    preferences : Preferences

    Returns
    -------
    ndarray of float, shape (n,)
        In a unit of the measure's own.
    """
    b_wins = preferences.answers == ANSWERS.index("b")
    return relative_differences(measure, preferences.lists) * np.where(b_wins, -1.0, 1.0)
