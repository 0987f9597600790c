"""How often each judge lapses, shrunk to what is common.

A judge j answers at random with probability e_j. The e_j of all judges follow a Beta distribution;
those of a grid of means and concentrations count as all judgments make them probable (Efron &
Morris, JASA 70, 1975, take the most probable one, which jumps where several are alike). The
probability of an answer that is no lapse is that of the fitted model. The integral over e is a sum
over cells of a grid that is finer near 0, each with the prior's mass.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, expit, softmax

from dcglearn.base.types import Floats, Integers
from dcglearn.inference.evidence import SAMPLE, Evidence
from dcglearn.inference.likelihood import Likelihood, Rows
from dcglearn.inference.maximise import highest_posterior

_CELLS = 200
_EDGES = np.linspace(0, 1, _CELLS + 1) ** 2
_MIDDLES = (_EDGES[1:] + _EDGES[:-1]) / 2

_MEANS, _ALIKE = expit(np.linspace(-7, 1, 17)), np.geomspace(0.5, 1e4, 10)
"""Means and concentrations of the prior; with the largest, judges are alike."""


class JudgeLapses(NamedTuple):
    """The share of random answers of judges: mean and middle 95% of the posterior, (judges,)."""

    judgments: Integers
    mean: Floats
    low: Floats
    high: Floats


def judge_lapses(likelihood: Likelihood, parameters: Floats) -> JudgeLapses:
    """Estimate how often each judge answers at random."""
    q, n = 1 / len(likelihood.answers), likelihood.evidence.n_judges

    def of_rows(rows: Rows) -> tuple[Integers, Floats]:
        """Return some judges, and the log likelihood for each share of lapses, (judges, cells)."""
        p = np.exp(likelihood.terms(parameters, rows._replace(e=np.zeros(1))).value)
        # rows of a judge together are summed faster
        order = np.argsort(rows.judged.judges, kind="stable")
        p, weights = p[order], rows.judged.weights[order]
        judges, first = np.unique(rows.judged.judges[order], return_index=True)
        logs = (weights * np.log(e * q + (1 - e) * p) for e in _MIDDLES)
        return judges, np.stack([np.add.reduceat(one, first) for one in logs], axis=1)

    logs = np.zeros((n, _CELLS))
    for judges, part in likelihood.map(parameters, of_rows):
        logs[judges] += part
    scaled, priors = softmax(logs, axis=1), _prior_masses()
    by_prior = np.maximum(scaled @ priors.T, 1e-300)
    shares = softmax(np.log(by_prior).sum(axis=0))
    posterior = scaled * ((shares / by_prior) @ priors)
    posterior /= posterior.sum(axis=1, keepdims=True)
    cumulated = np.cumsum(posterior, axis=1)
    low, high = (
        _EDGES[1:][np.minimum((cumulated < level).sum(axis=1), _CELLS - 1)]
        for level in (0.025, 0.975)
    )
    judgments = np.bincount(likelihood.evidence.judged.judges, minlength=n)
    return JudgeLapses(judgments, posterior @ _MIDDLES, low, high)


@lru_cache(1)
def _prior_masses() -> Floats:
    """Return the mass of each cell for each mean and concentration, (priors, cells)."""
    mean, alike = _MEANS[:, None, None], _ALIKE[:, None]
    mass: Floats = np.diff(betainc(mean * alike, (1 - mean) * alike, _EDGES))
    return mass.reshape(-1, _CELLS)


def with_judges(likelihood: Likelihood) -> Evidence:
    """Return the judgments with how much more or less often than others each judge lapses."""
    evidence = likelihood.evidence
    some = evidence.sample(SAMPLE)
    last = some if evidence.parts else evidence
    for judged in (some, some, last):  # the third time changes the last digits
        at = highest_posterior(replace(likelihood, evidence=some)).parameters
        found = judge_lapses(replace(likelihood, evidence=judged), at)
        relative = found.mean / np.average(found.mean, weights=np.maximum(found.judgments, 1e-9))
        some, evidence = (replace(one, relative_lapses=relative) for one in (some, evidence))
    return evidence
