"""The values of measures that are not a DCG, as the rules of an evaluation say.

ERR, RBP and measures of relevant documents follow all rules but the least gain. For the latter a
document without a judgment is not relevant, and a query without relevant documents counts 0, or is
left out if the rules leave out queries whose ideal is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.evaluation.binary import score_binary
from dcglearn.evaluation.expected_reciprocal_rank import score_err
from dcglearn.evaluation.rank_biased_precision import rbp_at_most, rbp_residual
from dcglearn.evaluation.ranked import Ranked, score_runs
from dcglearn.evaluation.rules import Rules
from dcglearn.evaluation.unjudged_bounds import ValueBounds
from dcglearn.measures.binary import BinaryMeasure
from dcglearn.measures.expected_reciprocal_rank import ERR
from dcglearn.measures.rank_biased_precision import RBP, RBPResidual
from dcglearn.naming.other_measures import OtherMeasure


def score_other(measure: OtherMeasure, ranked: Ranked, rules: Rules) -> ValueBounds:
    """Return the values of a measure that is not a DCG, on the scale of the rankings."""
    if isinstance(measure, ERR):
        return _err(measure, ranked, rules)
    if isinstance(measure, BinaryMeasure):
        values = score_binary(measure, ranked)
        if rules.worthless is None:
            values[ranked.pools[:, np.array(measure.levels) > 0].sum(axis=1) == 0] = np.nan
        return ValueBounds(values, values)
    return _rbp(measure, ranked, rules)


def absent_values(measures: Sequence[object], rules: Rules) -> Floats:
    """Return what counts for a query that is missing from a run.

    Parameters
    ----------
    measures : sequence of measures
        Of any kind.
    rules : Rules

    Returns
    -------
    ndarray of float, shape (measures,)
        The same for all but residuals: of a query without documents nothing is known.

    Examples
    --------
    >>> absent_values([ERR(), RBPResidual(RBP())], Rules())
    array([0., 1.])
    """
    absent = np.nan if rules.missing is None else rules.missing
    values = np.full(len(measures), absent)
    if rules.missing is not None:
        values[[isinstance(one, RBPResidual) for one in measures]] = 1.0
    return values


def _rbp(measure: RBP | RBPResidual, ranked: Ranked, rules: Rules) -> ValueBounds:
    rbp = measure.of if isinstance(measure, RBPResidual) else measure
    gains = rbp.dcg.gains
    gain = {"nothing": 0.0, "bounds": min(gains)}.get(rules.unjudged)
    value = score_runs(rbp.dcg, ranked, gain)
    if rules.unjudged == "bounds":
        return ValueBounds(value, value + rbp_at_most(rbp, ranked, gain))
    if isinstance(measure, RBPResidual):
        value = rbp_residual(rbp, ranked, gain)
    return ValueBounds(value, value)


def _err(measure: ERR, ranked: Ranked, rules: Rules) -> ValueBounds:
    probabilities = measure.probabilities or ()
    if rules.unjudged == "bounds":  # ERR rises with every R_i
        ends = [score_err(measure, ranked, end(probabilities)) for end in (min, max)]
        return ValueBounds(*ends)
    value = score_err(measure, ranked, 0.0 if rules.unjudged == "nothing" else None)
    if rules.worthless is None:
        satisfying = np.array(probabilities) > 0
        value[ranked.pools[:, satisfying].sum(axis=1) == 0] = np.nan
    return ValueBounds(value, value)
