"""How often each judge lapses, shrunk to what is common.

A judge j answers at random with probability e_j. The e_j of all judges follow a Beta distribution
whose mean and concentration are estimated from all judgments (empirical Bayes; Efron & Morris,
JASA 70, 1975): each judge's own answers move e_j away from the mean as far as there are enough of
them. The probability of an answer that is no lapse is that of the fitted model.

The integral over e is a sum over cells of a grid that is finer near 0, each with the prior's mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers
from dcglearn.inference.answers import log_probability
from dcglearn.inference.likelihood import Likelihood, Rows

_CELLS = 200
_EDGES = np.linspace(0, 1, _CELLS + 1) ** 2
_MIDDLES = (_EDGES[1:] + _EDGES[:-1]) / 2

_ALIKE = 1e4
"""Concentration of the prior from which on judges count as alike."""


@dataclass(frozen=True, eq=False)
class JudgeLapses:
    """The share of random answers of each judge.

    Attributes
    ----------
    judgments : ndarray of int, shape (judges,)
        The number that the model uses.
    mean, low, high : ndarray of float, shape (judges,)
        Of the posterior: its mean, and the middle 95%.
    common : float
        The mean of the prior.
    concentration : float
        Of the prior: judges are as alike as if each had so many judgments in common.
    """

    judgments: Integers
    mean: Floats
    low: Floats
    high: Floats
    common: float
    concentration: float


def judge_lapses(likelihood: Likelihood, parameters: Floats) -> JudgeLapses:
    """Estimate how often each judge answers at random.

    Parameters
    ----------
    likelihood : Likelihood
    parameters : ndarray of float, shape (P,)
        Its own share of lapses is not used.

    Returns
    -------
    JudgeLapses
        By the numbers of judges in ``likelihood.evidence.judges``.

    Raises
    ------
    InputError
        If a judgment has no judge.
    """
    judges = likelihood.evidence.judges
    if judges is None:
        raise InputError("a judgment has no judge", "give `judges`, or fit without them")
    parts = likelihood.sum_over_rows(
        parameters, lambda rows: _meant_probability(likelihood, parameters, rows)
    )
    p, q = np.concatenate(parts), 1 / len(likelihood.answers)
    weights, n = likelihood.evidence.weights, int(judges.max()) + 1
    logs = np.stack(
        [np.bincount(judges, weights * np.log(e * q + (1 - e) * p), n) for e in _MIDDLES], axis=1
    )
    top = logs.max(axis=1, keepdims=True)
    scaled = np.exp(logs - top)

    def negative(x: Floats) -> float:
        mass = _prior_mass(*_prior(x))
        return -float(np.log(np.maximum(scaled @ mass, 1e-300)).sum())

    from scipy.optimize import minimize  # loads slowly

    found = minimize(negative, np.array([-2.5, 2.0]), method="Nelder-Mead")
    common, concentration = _prior(found.x)
    posterior = scaled * _prior_mass(common, concentration)
    posterior /= posterior.sum(axis=1, keepdims=True)
    cumulated = np.cumsum(posterior, axis=1)
    low, high = (
        _EDGES[1:][np.minimum((cumulated < level).sum(axis=1), _CELLS - 1)]
        for level in (0.025, 0.975)
    )
    return JudgeLapses(
        np.bincount(judges, minlength=n), posterior @ _MIDDLES, low, high, common, concentration
    )


def _prior(x: Floats) -> tuple[float, float]:
    """Return mean and concentration for any two numbers."""
    mean = 1 / (1 + np.exp(-np.clip(x[0], -9, 9)))
    return float(mean), float(np.exp(np.clip(x[1], -1, np.log(_ALIKE))))


def _prior_mass(mean: float, concentration: float) -> Floats:
    cumulated = betainc(mean * concentration, (1 - mean) * concentration, _EDGES)
    return np.asarray(np.diff(cumulated))


def _meant_probability(likelihood: Likelihood, parameters: Floats, rows: Rows) -> Floats:
    """Return the probability of each answer if it is no lapse."""
    answers = likelihood.evidence.answers[rows.rows]
    t = likelihood.value_of("ties", parameters)
    return np.asarray(np.exp(log_probability(answers, rows.v, t, rows.h, likelihood.ties).value))
