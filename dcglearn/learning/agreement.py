"""How often a measure agrees with judgments, with an interval, and with ties counted in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dcglearn.base.clustered_means import clustered_mean
from dcglearn.base.types import Floats
from dcglearn.judgments.preferences import B, Preferences
from dcglearn.measures.agreement import (
    agreement_with_ties,
    score_differences,
)
from dcglearn.measures.names import MeasureLike, as_measure


@dataclass(frozen=True)
class JudgedAgreement:
    """The share, with its 95% interval, and numbers of strict judgments that a measure agrees with.

    `with_ties` is :func:`~dcglearn.measures.agreement.agreement_with_ties`; None without ties.
    """

    agreement: float
    low: float
    high: float
    right: int
    tied: int
    wrong: int
    with_ties: float | None


def judged_agreement(measure: MeasureLike, preferences: Preferences) -> JudgedAgreement:
    """Count how often a measure agrees with judgments, of which those of weight 0 are not used."""
    data = preferences[preferences.weights > 0]
    one = Predictions.of(judged_differences(measure, data)[None], data)
    mean = clustered_mean(one.right, data.pair_groups, data.pair_weights)
    right, tied, wrong = map(int, one.counts)
    return JudgedAgreement(mean.value, *mean.interval(0, 1), right, tied, wrong, one.with_ties)


def judged_differences(measure: MeasureLike, preferences: Preferences) -> Floats:
    """Return u(preferred) - u(other) of each judgment, u(a) - u(b) of ties, in any unit."""
    signs = np.where(preferences.answers == B, -1.0, 1.0)
    return score_differences(as_measure(measure), preferences.lists) * signs


class Predictions(NamedTuple):
    """Whether a measure is `right` about strict judgments (n,), in the mean over R repeats.

    `shares` (R,) are its agreements; it orders, ties and orders otherwise than judged `counts`.
    """

    right: Floats
    shares: Floats
    with_ties: float | None
    counts: tuple[float, float, float]

    @classmethod
    def of(cls, differences: Floats, data: Preferences) -> Predictions:
        """Average over u(preferred) - u(other), shape (R, judgments), in a unit per repeat."""
        right = np.heaviside(differences[:, data.strict], 0.5)
        shares = right @ (data.pair_weights / data.pair_weights.sum())
        won, tied, lost = (float((right == one).sum(axis=1).mean()) for one in (1, 0.5, 0))
        with_ties = None
        if not data.strict.all():
            ties = [agreement_with_ties(one, ~data.strict, data.weights) for one in differences]
            with_ties = float(np.mean(ties))
        return cls(right.mean(axis=0), shares, with_ties, (won, tied, lost))
