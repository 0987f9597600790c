"""The value of one measure for one run, as the rules say: :func:`values`.

All measures follow all rules, but only a DCG counts gains below the least one as 0. To measures of
relevant documents a document without a judgment is not relevant. A query without relevant documents
counts 0, or is left out if the rules leave out queries whose ideal is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.evaluation.binary import score_binary
from dcglearn.evaluation.expected_reciprocal_rank import score_err
from dcglearn.evaluation.rank_biased_precision import rbp_at_most, rbp_residual
from dcglearn.evaluation.ranked import Ranked, score_runs
from dcglearn.evaluation.rules import Rules
from dcglearn.evaluation.unjudged_bounds import ValueBounds, unjudged_bounds
from dcglearn.measures.binary import BinaryMeasure
from dcglearn.measures.dcg import DCG
from dcglearn.measures.expected_reciprocal_rank import ERR
from dcglearn.measures.measure import Measure, OtherMeasure
from dcglearn.measures.rank_biased_precision import RBP, RBPResidual


def values(measure: Measure | OtherMeasure, ranked: Ranked, rules: Rules) -> ValueBounds:
    """Return the value of a measure on the scale of the rankings for each query of a run.

    The smallest and the largest possible value differ only under ``unjudged="bounds"``; they are
    nan for a query that is left out because its ideal is 0. `ranked` is that of
    :func:`rankings_to_score`. What counts for a missing query is up to the caller.

    >>> ranked = Ranked(np.array([0, 2]), np.array([1, 0]), np.array([[1, 1]]))
    >>> values(DCG([1, 0], "zipf"), ranked, Rules()).low
    array([0.5])
    """
    if isinstance(measure, ERR):
        return _err(measure, ranked, rules)
    if isinstance(measure, RBP | RBPResidual):
        return _rbp(measure, ranked, rules)
    if isinstance(measure, BinaryMeasure):
        found = score_binary(measure, ranked)
        return _worthless_out(found, ranked, np.array(measure.levels), rules)
    return _linear(measure, ranked, rules)


def _linear(measure: Measure, ranked: Ranked, rules: Rules) -> ValueBounds:
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


def _rbp(measure: RBP | RBPResidual, ranked: Ranked, rules: Rules) -> ValueBounds:
    rbp = measure.of if isinstance(measure, RBPResidual) else measure
    gain = {"nothing": 0.0, "bounds": min(rbp.dcg.gains)}.get(rules.unjudged)
    if isinstance(measure, RBPResidual):
        value = rbp_residual(rbp, ranked, gain)
    else:
        value = score_runs(rbp.dcg, ranked, gain)
    more = rbp_at_most(rbp, ranked, gain) if rules.unjudged == "bounds" else 0.0
    return ValueBounds(value, value + more)


def _err(measure: ERR, ranked: Ranked, rules: Rules) -> ValueBounds:
    probabilities = measure.probabilities or ()
    if rules.unjudged == "bounds":  # ERR rises with every R_i
        ends = [score_err(measure, ranked, end(probabilities)) for end in (min, max)]
        return ValueBounds(*ends)
    value = score_err(measure, ranked, 0.0 if rules.unjudged == "nothing" else None)
    return _worthless_out(value, ranked, np.array(probabilities), rules)


def _worthless_out(value: Floats, ranked: Ranked, worth: Floats, rules: Rules) -> ValueBounds:
    """Leave out queries without documents of a grade that is worth something, if rules do."""
    if rules.worthless is None:
        value[ranked.pools[:, worth > 0].sum(axis=1) == 0] = np.nan
    return ValueBounds(value, value)


def absent_values(measures: Sequence[object], rules: Rules) -> Floats:
    """Return what counts for a query that is missing from a run, shape (measures,).

    It is the same for all but residuals: of a query without documents nothing is known.

    >>> absent_values([ERR(), RBPResidual(RBP())], Rules())
    array([0., 1.])
    """
    if rules.missing is None:
        return np.full(len(measures), np.nan)
    return np.array(
        [1.0 if isinstance(one, RBPResidual) else rules.missing for one in measures], float
    )


def rankings_to_score(ranked: Ranked, rules: Rules) -> Ranked:
    """Return the rankings as measures see them: without unjudged documents if rules remove them."""
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

    >>> with_least(DCG([2, 0.5, 0]), 1.0)
    DCG([2, 0, 0], log2)
    """
    if least is None:
        return measure
    return replace(measure, gains=tuple(gain if gain >= least else 0.0 for gain in measure.gains))


def unjudged_in_ideal(rules: Rules, measures: Sequence[object]) -> bool:
    """Return whether the ideal of some measure depends on documents without a judgment.

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
