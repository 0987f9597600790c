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
    """Count how often a measure agrees with judgments, of which those of weight 0 are not used.

    >>> from dcglearn.measures.dcg import DCG
    >>> lists = [[[2, 0], [0, 1]], [[0, 2], [0, 1]], [[1, 0], [1, 1]]]
    >>> data = Preferences.from_arrays(*np.swapaxes(lists, 0, 1), ["a", "b", "tie"])
    >>> found = judged_agreement(DCG([2, 1, 0], "constant"), data)
    >>> found.right, found.wrong, found.agreement
    (1, 1, 0.5)
    """
    data = preferences[preferences.weights > 0]
    one = Predictions.of(judged_differences(measure, data)[None], data)
    mean = clustered_mean(one.right, data.pair_groups, data.pair_weights)
    right, tied, wrong = map(int, one.counts)
    return JudgedAgreement(mean.value, *mean.interval(0, 1), right, tied, wrong, one.with_ties)


def judged_differences(measure: MeasureLike, preferences: Preferences) -> Floats:
    """Return u(preferred) - u(other) of each judgment, u(a) - u(b) of ties, in any unit."""
    b_wins = preferences.answers == ANSWERS.index("b")
    return relative_differences(measure, preferences.lists) * np.where(b_wins, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a measure says of judgments, averaged over the repeats R of a learned one.

    Attributes
    ----------
    right : ndarray of float, shape (n,)
        1 for each strict judgment that it agrees with, 1/2 for a tie and 0 otherwise.
    shares : ndarray of float, shape (R,)
        Agreement in each repeat.
    with_ties : float or None
        As in :class:`JudgedAgreement`.
    counts : (float, float, float)
        The number of strict judgments that it orders as judged, ties, and orders otherwise.
    """

    right: Floats
    shares: Floats
    with_ties: float | None
    counts: tuple[float, float, float]

    @classmethod
    def of(cls, differences: Floats, data: Preferences) -> Predictions:
        """Average over u(preferred) - u(other), shape (R, judgments), in a unit per repeat."""
        right = outcomes_of_differences(differences[:, data.strict])
        shares = right @ (data.pair_weights / data.pair_weights.sum())
        won, tied, lost = (float((right == one).sum(axis=1).mean()) for one in (1, 0.5, 0))
        with_ties = None
        if not data.strict.all():
            ties = [agreement_with_ties(one, ~data.strict, data.weights) for one in differences]
            with_ties = float(np.mean(ties))
        return cls(right.mean(axis=0), shares, with_ties, (won, tied, lost))
