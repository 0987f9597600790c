"""Intervals of the parameters that say how people answer: side, lapses, ties, level.

Intervals are estimates plus and minus t standard errors, robust to clusters. A share of lapses that
is estimated as 0 lies on its border, where it has no standard error: its upper bound is the share
at which the likelihood, maximised over all else, has fallen by half the quantile of chi-square.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import chdtri, stdtrit

from dcglearn.base.errors import InputError
from dcglearn.inference.covariance import Covariance
from dcglearn.inference.likelihood import MAX_LAPSES, Likelihood
from dcglearn.inference.maximise import Maximum
from dcglearn.inference.ratios import MIN_SHARE, Estimated, share_of_data
from dcglearn.inference.reach import reach_maximum


def estimated_parameter(
    likelihood: Likelihood, maximum: Maximum, covariance: Covariance, name: str, level: float
) -> Estimated:
    """Return the side bias, the share of lapses or another parameter, with its interval.

    Parameters
    ----------
    likelihood : Likelihood
    maximum : Maximum
    covariance : Covariance
    name : str
        One of ``likelihood.names``.
    level : float

    Returns
    -------
    Estimated

    Raises
    ------
    InputError
        If the model does not have it.
    """
    if name not in likelihood.names:
        raise InputError(f"the model has no {name}", f"use one of {', '.join(likelihood.names)}")
    contrast = np.eye(likelihood.n_parameters)[likelihood.index(name)]
    estimate = float(contrast @ maximum.parameters)
    variance = covariance.variance(contrast)
    if not variance:  # held by its bound
        highest = _largest_lapses(likelihood, maximum, level) if name == "lapses" else math.inf
        return Estimated(name, estimate, estimate, highest)
    if covariance.one_cluster:
        low, high = (0.0, 1.0) if name == "lapses" else (-math.inf, math.inf)
        return Estimated(name, estimate, low, high, determined=False)
    df = covariance.degrees_of_freedom(contrast)
    half = float(stdtrit(df, (1 + level) / 2)) * math.sqrt(variance)
    low, high = estimate - half, estimate + half
    if name == "lapses":
        low, high = max(low, 0.0), min(high, 1.0)
    prior = likelihood.prior_information(maximum.parameters)
    determined = share_of_data(covariance, prior, contrast) >= MIN_SHARE
    return Estimated(name, estimate, low, high, df, determined=determined)


def _largest_lapses(likelihood: Likelihood, maximum: Maximum, level: float) -> float:
    """Return the largest share of lapses that the likelihood does not exclude."""
    from scipy.optimize import brentq  # loads slowly

    at = likelihood.index("lapses")
    lowest = maximum.at.value - float(chdtri(1, 1 - level)) / 2

    def excess(share: float) -> float:
        _, found = reach_maximum(likelihood, maximum.parameters, {at: share})
        return found.at.value - lowest

    if excess(MAX_LAPSES) > 0:
        return MAX_LAPSES
    return float(brentq(excess, 0.0, MAX_LAPSES, xtol=1e-4))
