"""The maximum of a posterior: from a sample of many judgments, and with judges in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from dcglearn.inference.equal_judgments import distinct_judgments
from dcglearn.inference.judges import judge_lapses
from dcglearn.inference.likelihood import Likelihood
from dcglearn.inference.maximise import Maximum
from dcglearn.inference.reach import reach_maximum

_JUDGE_ROUNDS = 3
"""Times that judges and the measure are estimated in turn; the third changes the last digits."""

_SAMPLE = 20_000
"""More judgments than twice as many begin at the estimate from about so many of them."""

_L = TypeVar("_L", bound=Likelihood)


def highest_posterior(likelihood: _L) -> tuple[_L, Maximum]:
    """Return the maximum; for many judgments, begin at that of some of them.

    Parameters
    ----------
    likelihood : Likelihood

    Returns
    -------
    likelihood : Likelihood
        The given one, on the scale of the gains at which the maximum is finite.
    maximum : Maximum

    Raises
    ------
    SolverError
        If it is not reached.
    """
    n = len(likelihood.evidence)
    if n <= 2 * _SAMPLE:
        return reach_maximum(likelihood, likelihood.start)
    some = slice(None, None, n // _SAMPLE)
    factors = likelihood.relative_lapses
    sample, of_sample = highest_posterior(
        replace(
            likelihood,
            evidence=likelihood.evidence.take(some),
            relative_lapses=None if factors is None else factors[some],
        )
    )
    likelihood = replace(likelihood, family=sample.family)
    distinct = None if factors is not None else distinct_judgments([likelihood.evidence])
    counted = likelihood if distinct is None else replace(likelihood, evidence=distinct)
    counted, maximum = reach_maximum(counted, of_sample.parameters)
    return replace(likelihood, family=counted.family), maximum


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
        at_maximum, maximum = highest_posterior(likelihood)
        found = judge_lapses(at_maximum, maximum.parameters)
        if likelihood.evidence.judges is None or not found.common:
            break
        factors = (found.mean / found.common)[likelihood.evidence.judges]
        likelihood = replace(likelihood, relative_lapses=factors)
    return likelihood
