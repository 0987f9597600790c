"""The maximum of a posterior from a start, on a scale of the gains on which it is finite.

Newton's method (:mod:`dcglearn.inference.maximise`) ends only where the maximum is at finite
parameters. So a search that leads to very large gains goes on with another gain fixed
(:mod:`dcglearn.families.charts`), and the estimate keeps the usual scale, on which the best grade
is 1, unless some other grade is worth far more than the best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.families.charts import (
    best_chart,
    has_charts,
    in_chart,
    in_new_chart,
    outgrown,
    rising_chart,
)
from dcglearn.families.vectors import BEST_IS_ONE, Anchor
from dcglearn.families.weights import AnyWeights
from dcglearn.inference.likelihood import Likelihood
from dcglearn.inference.maximise import Maximum, maximise

MAX_CHARTS = 20
"""Largest number of times that another gain is fixed."""

_L = TypeVar("_L", bound=Likelihood)


def reach_maximum(
    likelihood: _L, start: Floats, fixed: Mapping[int, float] | None = None
) -> tuple[_L, Maximum]:
    """Return the maximum from a start, and the likelihood on the scale of its parameters.

    Parameters
    ----------
    likelihood : Likelihood
    start : ndarray of float, shape (P,)
    fixed : mapping from int to float, optional
        Parameters after those of W that keep a value.

    Returns
    -------
    likelihood : Likelihood
        The given one, unless another gain is fixed.
    maximum : Maximum

    Raises
    ------
    SolverError
        If it is not reached.
    """
    for _ in range(MAX_CHARTS):
        family, n = likelihood.family, likelihood.n_weights
        if not has_charts(family):
            break
        leave = partial(outgrown, family)
        found = maximise(likelihood.expand, start, _bounds(likelihood, fixed), leave)
        anchor = best_chart(family, found.parameters[:n])
        away = _away_from_zero(likelihood, found) if found.reached else None
        if away is not None:
            likelihood, start = away
            continue
        if found.reached and (family.gains.anchor == BEST_IS_ONE or anchor != BEST_IS_ONE):
            return likelihood, found
        likelihood, start = _moved(likelihood, found.parameters, anchor)
        if found.reached:
            break  # the usual scale serves: only rounding is left
    return likelihood, maximise(likelihood.expand, start, _bounds(likelihood, fixed))


def on_scale(likelihood: _L, anchor: Anchor) -> _L:
    """Return the same likelihood with another gain fixed.

    Parameters
    ----------
    likelihood : Likelihood
    anchor : Anchor
    """
    family = likelihood.family
    if not has_charts(family) or family.gains.anchor == anchor:
        return likelihood
    return replace(likelihood, family=in_chart(family, anchor))


def _moved(likelihood: _L, parameters: Floats, anchor: Anchor) -> tuple[_L, Floats]:
    """Return the likelihood and the parameters with another gain fixed."""
    family, n = likelihood.family, likelihood.n_weights
    if not has_charts(family):
        return likelihood, parameters
    of_weights = in_new_chart(family, parameters[:n], anchor)
    return on_scale(likelihood, anchor), np.concatenate([of_weights, parameters[n:]])


def _away_from_zero(likelihood: _L, found: Maximum) -> tuple[_L, Floats] | None:
    """Return how to go on where W is 0, if some other gains have a larger posterior."""
    family, n = likelihood.family, likelihood.n_weights
    W = family.weights(found.parameters[:n])
    if W.any() or not has_charts(family):
        return None
    K, L = W.shape
    anywhere = replace(likelihood, family=AnyWeights(K, L))
    at_zero = anywhere.expand(np.append(np.zeros(K * (L - 1)), found.parameters[n:]))
    slopes = np.zeros_like(W)
    slopes[:, :-1] = at_zero.gradient[: K * (L - 1)].reshape(K, L - 1)
    rising = rising_chart(family, found.parameters[:n], slopes)
    if rising is None:
        return None
    anchor, of_weights = rising
    return on_scale(likelihood, anchor), np.append(of_weights, found.parameters[n:])


def _bounds(likelihood: Likelihood, fixed: Mapping[int, float] | None) -> tuple[Floats, Floats]:
    low, high = (bound.copy() for bound in likelihood.bounds)
    for at, value in (fixed or {}).items():
        low[at] = high[at] = value
    return low, high
