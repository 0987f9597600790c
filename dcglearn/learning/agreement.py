"""How often a measure agrees with judgments, with an interval, and with ties counted in."""

from typing import NamedTuple

import numpy as np

from dcglearn.base.statistics import clustered_mean
from dcglearn.base.types import Floats
from dcglearn.judgments.preferences import B, Preferences
from dcglearn.measures.agreement import agreement_with_ties, score_differences
from dcglearn.measures.names import MeasureLike, as_measure


class JudgedAgreement(NamedTuple):
    """The share, with its 95% interval, and numbers of strict judgments that a measure agrees with.

    `with_ties` is :func:`~dcglearn.measures.agreement.agreement_with_ties`; None without ties.
    """

    agreement: float
    low: float
    high: float
    with_ties: float | None
    right: float
    tied: float
    wrong: float


def judged_agreement(measure: MeasureLike, preferences: Preferences) -> JudgedAgreement:
    """Count how often a measure agrees with judgments, of which those of weight 0 are not used."""
    data = preferences[preferences.weights > 0]
    found = agreement_of(judged_differences(measure, data)[None], data)
    return found._replace(right=int(found.right), tied=int(found.tied), wrong=int(found.wrong))


def judged_differences(measure: MeasureLike, preferences: Preferences) -> Floats:
    """Return u(preferred) - u(other) of each judgment, u(a) - u(b) of ties, in any unit."""
    signs = np.where(preferences.answers == B, -1.0, 1.0)
    return score_differences(as_measure(measure), preferences.lists) * signs


def agreement_of(differences: Floats, data: Preferences) -> JudgedAgreement:
    """Return the agreement of u(preferred) - u(other), (repeats, judgments), averaged."""
    right = np.heaviside(differences[:, data.strict], 0.5)
    mean = clustered_mean(right, data.pair_groups, data.pair_weights)
    counts = (np.sum(right == one) / len(right) for one in (1, 0.5, 0))
    with_ties = None
    if not data.strict.all():
        ties = [agreement_with_ties(one, ~data.strict, data.weights) for one in differences]
        with_ties = float(np.mean(ties))
    return JudgedAgreement(mean.value, *mean.interval(0, 1), with_ties, *map(float, counts))
