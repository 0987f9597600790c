"""The value of one measure for one run, as the rules say: :func:`score_run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.evaluation.ranked import Ranked, score_runs
from dcglearn.evaluation.rules import Rules
from dcglearn.evaluation.unjudged_bounds import ValueBounds, unjudged_bounds
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure


def score_run(measure: Measure, ranked: Ranked, rules: Rules) -> ValueBounds:
    """Return the value of a measure for each query of one run.

    Parameters
    ----------
    measure : DCG or LinearUtility
    ranked : Ranked
        From :func:`rankings_to_score`.
    rules : Rules

    Returns
    -------
    ValueBounds
        The smallest and the largest possible value, which differ only under
        ``unjudged="bounds"``; nan for a query that is left out because its ideal is 0. What
        counts for a query that is missing from the run is up to the caller.

    Raises
    ------
    InputError
        If the measure does not fit the rules or the grades.

    Examples
    --------
    >>> ranked = Ranked(np.array([0, 2]), np.array([1, 0]), np.array([[1, 1]]))
    >>> score_run(DCG([1, 0], "zipf"), ranked, Rules()).low
    array([0.5])
    """
    if isinstance(measure, DCG):
        measure = with_least(measure, rules.least)
    elif rules.least is not None:
        raise InputError(
            f"the rules count gains below {rules.least:g} as 0, and position-dependent weights "
            "have no gains",
            "evaluate a DCG, or choose other rules",
        )
    if rules.unjudged == "bounds":
        return _bounds(measure, ranked, rules)
    gain = 0.0 if rules.unjudged == "nothing" else None
    worthless = np.nan if rules.worthless is None else rules.worthless
    value = score_runs(measure, ranked, gain, worthless)
    return ValueBounds(value, value)


def rankings_to_score(ranked: Ranked, rules: Rules) -> Ranked:
    """Return the rankings of a run as measures see them.

    Parameters
    ----------
    ranked : Ranked
    rules : Rules

    Returns
    -------
    Ranked
        Without documents that have no judgment if the rules remove them.
    """
    return ranked.keep(ranked.grades < ranked.n_grades) if rules.unjudged == "removed" else ranked


def _bounds(measure: Measure, ranked: Ranked, rules: Rules) -> ValueBounds:
    if not isinstance(measure, DCG):
        raise InputError("no bounds for position-dependent weights")
    if rules.worthless is None and measure.normalise is not None:
        raise InputError(
            '`unjudged="bounds"`, and queries without relevant documents left out',
            "use `worthless=0`: without all judgments it is unknown which queries these are",
        )
    return unjudged_bounds(measure, ranked, rules.worthless or 0.0)


def with_least(measure: DCG, least: float | None) -> DCG:
    """Return the measure with 0 for the gains below `least`.

    Parameters
    ----------
    measure : DCG
    least : float or None

    Returns
    -------
    DCG

    Examples
    --------
    >>> with_least(DCG([2, 0.5, 0]), 1.0)
    DCG([2, 0, 0], log2)
    """
    if least is None:
        return measure
    return replace(measure, gains=tuple(gain if gain >= least else 0.0 for gain in measure.gains))


def unjudged_in_ideal(rules: Rules, measures: Sequence[object]) -> bool:
    """Return whether the ideal of some measure depends on documents without a judgment.

    Parameters
    ----------
    rules : Rules
    measures : sequence of measures
        Of any kind.

    Returns
    -------
    bool

    Examples
    --------
    >>> measure = DCG([1, 0.5], normalise="ideal")
    >>> [unjudged_in_ideal(Rules(unjudged=rule), [measure]) for rule in ("worst", "nothing")]
    [True, False]
    """
    normalised = [one for one in measures if isinstance(one, DCG) and one.normalise]
    if rules.unjudged == "worst":
        return any(_ideal_has_worst(with_least(one, rules.least)) for one in normalised)
    return rules.unjudged == "bounds" and bool(normalised)


def _ideal_has_worst(measure: DCG) -> bool:
    """Return whether documents of the worst grade change the ideal, or the worst value."""
    worst = measure.gains[-1]
    if worst >= 0:
        return worst > 0
    costly = not isinstance(measure.discounts, str) and min(measure.discounts) < 0
    return costly or measure.normalise == "minmax"
