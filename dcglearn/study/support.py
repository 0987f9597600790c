"""Whether judgments support any measure: whether lists with better grades win.

Gains and discounts are relative to the weight of the best grade at the first rank. If that does
not differ from 0, they are not determined, however many numbers an estimate has; if it is below 0,
people prefer the lists that the measure would put last. Nothing is said of either before answers
are seen to depend on the grades at all (:mod:`dcglearn.inference.tests`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from dcglearn.base.types import Floats
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.questions import Question
from dcglearn.inference.tests import no_effect

Support = Literal["supported", "contradicted", "open", "reversed"]
"""``supported`` if better grades win, ``reversed`` if they lose. Otherwise ``contradicted`` if a
usual measure is rejected nevertheless, and ``open`` if the judgments say nothing."""

NO_EFFECT_LEVEL = 0.05
"""From this p-value of no effect on, the judgments say nothing."""


def support_of(fit: JudgmentFit, questions: Sequence[Question]) -> Support:
    """Return whether judgments support a measure.

    Parameters
    ----------
    fit : JudgmentFit
        Its discounts are given.
    questions : sequence of Question
        Of the same judgments.

    Returns
    -------
    {"supported", "contradicted", "open", "reversed"}
    """
    if no_effect(fit) >= NO_EFFECT_LEVEL:
        return "open"
    weight = np.zeros_like(fit.weights)
    weight[0, 0] = 1.0
    t = t_of(fit, weight)
    if abs(t) > 1:
        return "supported" if t > 0 else "reversed"
    about_grades = ("measure", "gains", "discounts")
    rejected = [one for one in questions if one.verdict == "rejected"]
    return "contradicted" if any(one.about in about_grades for one in rejected) else "open"


def upside_down(fit: JudgmentFit) -> list[str]:
    """Return a sentence for each grade that is worth less than the next worse one.

    Parameters
    ----------
    fit : JudgmentFit
        With free gains.
    """
    labels, found = fit.scale.labels, []
    for i in range(len(labels) - 1):
        weight = np.zeros_like(fit.weights)
        weight[0, i], weight[0, i + 1] = 1.0, -1.0
        if t_of(fit, weight, len(labels) - 1) < -1:
            found.append(f"Grade {labels[i + 1]} is worth more than {labels[i]}, the better one.")
    return found


def t_of(fit: JudgmentFit, contrast: Floats, n_tests: int = 1) -> float:
    """Return <contrast, W> by half the width of its 95% interval; 0 if it does not vary.

    Parameters
    ----------
    fit : JudgmentFit
    contrast : ndarray of float, shape (K, L)
    n_tests : int, default 1
        The level is corrected for so many of them.
    """
    covariance, slope = fit.covariance, fit.contrast_of(contrast.reshape(1, -1))
    variance = covariance.variance(slope[0])
    if covariance.one_cluster or variance <= 0:
        return 0.0
    (df,) = covariance.degrees_of_freedom(slope).tolist()
    quantile = float(stdtrit(df, 1 - 0.025 / n_tests))
    return float((contrast * fit.weights).sum()) / (quantile * math.sqrt(variance))
