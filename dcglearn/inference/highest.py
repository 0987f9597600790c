"""The maximum of a posterior: from a sample of many judgments, and with judges in turn."""

from __future__ import annotations

from dataclasses import replace

from dcglearn.inference.equal_judgments import distinct_judgments
from dcglearn.inference.judges import judge_lapses
from dcglearn.inference.likelihood import Likelihood
from dcglearn.inference.maximise import Maximum, maximise

_JUDGE_ROUNDS = 3
"""Times that judges and the measure are estimated in turn; the third changes the last digits."""

_SAMPLE = 20_000
"""More judgments than twice as many begin at the estimate from about so many of them."""


def highest_posterior(likelihood: Likelihood) -> Maximum:
    """Return the maximum; for many judgments, begin at that of some of them.

    Parameters
    ----------
    likelihood : Likelihood

    Returns
    -------
    Maximum

    Raises
    ------
    SolverError
        If it is not reached.
    """
    start, n = likelihood.start, len(likelihood.evidence)
    if n > 2 * _SAMPLE:
        some = slice(None, None, n // _SAMPLE)
        factors = likelihood.relative_lapses
        part = replace(
            likelihood,
            evidence=likelihood.evidence.take(some),
            relative_lapses=None if factors is None else factors[some],
        )
        start = highest_posterior(part).parameters
        distinct = None if factors is not None else distinct_judgments([likelihood.evidence])
        if distinct is not None:
            likelihood = replace(likelihood, evidence=distinct)
    return maximise(likelihood.expand, start, likelihood.bounds)


def with_judges(likelihood: Likelihood) -> Likelihood:
    """Return the likelihood in which each judge lapses as often as the judgments say.

    Parameters
    ----------
    likelihood : Likelihood
        Every judgment has a judge.

    Raises
    ------
    InputError
        If one has none.
    """
    for _ in range(_JUDGE_ROUNDS):
        found = judge_lapses(likelihood, highest_posterior(likelihood).parameters)
        if likelihood.evidence.judges is None or not found.common:
            break
        factors = (found.mean / found.common)[likelihood.evidence.judges]
        likelihood = replace(likelihood, relative_lapses=factors)
    return likelihood
