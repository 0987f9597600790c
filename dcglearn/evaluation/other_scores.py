"""The values of measures that are not a DCG, as the rules of an evaluation say.

:class:`~dcglearn.measures.expected_reciprocal_rank.ERR` and
:class:`~dcglearn.measures.rank_biased_precision.RBP` follow all rules but the least gain. What
distinguishes relevant and other documents is computed by ir_measures
(:mod:`dcglearn.evaluation.relevance_scores`): an unjudged document is not relevant, documents with
equal scores have ir_measures' order, and a query without relevant documents counts 0, or is left
out if the rules leave out queries whose ideal is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.evaluation.expected_reciprocal_rank import score_err
from dcglearn.evaluation.lookup import LookedUpRun
from dcglearn.evaluation.rank_biased_precision import rbp_residual
from dcglearn.evaluation.ranked import Ranked, score_runs
from dcglearn.evaluation.relevance_scores import score_relevance
from dcglearn.evaluation.rules import Rules
from dcglearn.evaluation.scoring import rankings_to_score
from dcglearn.evaluation.unjudged_bounds import ValueBounds
from dcglearn.measures.expected_reciprocal_rank import ERR
from dcglearn.measures.rank_biased_precision import RBP, RBPResidual
from dcglearn.measures.relevance_measure import RelevanceMeasure


def id_orders(measures: Sequence[object]) -> frozenset[bool]:
    """Return in which orders of equal scores measures of ir_measures need runs.

    Parameters
    ----------
    measures : sequence of measures
        Of any kind.

    Returns
    -------
    frozenset of bool
        Holds True for "by id, the smallest first", and False for trec_eval's order.

    Examples
    --------
    >>> sorted(id_orders([RelevanceMeasure("AP"), RelevanceMeasure("RR", 10), ERR()]))
    [False, True]
    """
    return frozenset(one.smallest_id_first for one in measures if isinstance(one, RelevanceMeasure))


def score_others(
    measures: Sequence[object], ranked: Ranked, run: LookedUpRun, rules: Rules
) -> dict[int, ValueBounds]:
    """Return the values of those measures that are not a DCG.

    Parameters
    ----------
    measures : sequence of measures
        Of any kind, on the scale of the rankings.
    ranked : Ranked
        The rankings of a run, in the order of the rules.
    run : LookedUpRun
        With the orders of :func:`id_orders`.
    rules : Rules

    Returns
    -------
    dict from int to ValueBounds
        By position among the measures.

    Raises
    ------
    InputError
        If ir_measures is not installed, or cannot compute one of its measures.
    """
    found = {
        m: _native(one, ranked, rules)
        for m, one in enumerate(measures)
        if isinstance(one, ERR | RBP | RBPResidual)
    }
    for order in id_orders(measures):
        rows = [
            m
            for m, one in enumerate(measures)
            if isinstance(one, RelevanceMeasure) and one.smallest_id_first == order
        ]
        asked = [cast("RelevanceMeasure", measures[m]) for m in rows]
        rankings = rankings_to_score(run.ranked_by_id(order), rules)
        for m, one, values in zip(rows, asked, score_relevance(asked, rankings), strict=True):
            if rules.worthless is None:
                relevant = np.array(one.levels) > 0
                values[rankings.pools[:, relevant].sum(axis=1) == 0] = np.nan
            found[m] = ValueBounds(values, values)
    return found


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


def _native(measure: ERR | RBP | RBPResidual, ranked: Ranked, rules: Rules) -> ValueBounds:
    if isinstance(measure, ERR):
        return _err(measure, ranked, rules)
    rbp = measure.of if isinstance(measure, RBPResidual) else measure
    gains = rbp.dcg.gains
    gain = {"nothing": 0.0, "bounds": min(gains)}.get(rules.unjudged)
    value = score_runs(rbp.dcg, ranked, gain)
    if rules.unjudged == "bounds":
        return ValueBounds(value, value + rbp_residual(rbp, ranked, gain))
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
