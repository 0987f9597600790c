"""The value of a measure for each query of a run: :func:`score_runs`, and as the rules say.

    DCG(q) = sum_i c_i E[g_i],       nDCG(q) = DCG(q) / ideal(q)

E is the mean over all orders of documents with equal scores (McSherry & Najork, ECIR 2008). The
ideal is that of the documents judged for q, by gain and not by label; it leaves out documents that
lower its value. All measures follow all rules, but only a DCG counts gains below the least one as
0. To measures of relevant documents a document without a judgment is not relevant, and a query
without relevant ones counts 0, or is left out if the rules leave out queries whose ideal is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dcglearn.base.checks import LARGEST, checked_number
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG, NO_IDEAL, best_run, ratio
from dcglearn.measures.measure import Measure
from dcglearn.measures.measure_files import MeasureFile
from dcglearn.measures.names import AskedMeasure, Named, asked_measure
from dcglearn.measures.other_measures import ERR, RBP, OtherMeasure, RBPResidual
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility
from dcglearn.systems.binary import expected_stop, score_binary
from dcglearn.systems.ranked import Ranked, rank_discounts
from dcglearn.systems.rules import Rules
from dcglearn.systems.unjudged_bounds import unjudged_bounds


def score_runs(
    measure: AskedMeasure,
    ranked: Ranked,
    unjudged_gain: float | None = None,
    worthless: float = 0.0,
) -> Floats:
    """Return the value of a measure for each query.

    Parameters
    ----------
    measure : DCG, LinearUtility, MeasureFile, NamedMeasure, ERR, RBP, str, path-like or \
    ir_measures.Measure
        Of the same L grades, labelled by the measure or L - 1, ..., 0.
    ranked : Ranked
    unjudged_gain : float, optional
        Gain of a document without a judgment, also in the ideal; by default the worst gain.
    worthless : float, default 0
        Normalised value of a query whose ideal is 0; nan leaves the query out.

    Returns
    -------
    ndarray of float, shape (Q,)

    Examples
    --------
    >>> ranked = Ranked(np.array([0, 2]), np.array([1, 0]), np.array([[1, 1]]))
    >>> score_runs(DCG([1, 0], "zipf", normalise="ideal"), ranked), score_runs("P@2", ranked)
    (array([0.5]), array([0.5]))
    """
    if unjudged_gain is not None:
        unjudged_gain = checked_number(unjudged_gain, "`unjudged_gain`", -LARGEST, LARGEST)
    found = measure.measure if isinstance(measure, MeasureFile | Named) else measure
    labels = getattr(found, "grades", None) or range(ranked.n_grades)[::-1]
    if len(labels) != ranked.n_grades:
        problem = f"a measure of {len(labels)} grades for {ranked.n_grades}"
        raise InputError(problem, "use one scale")
    longest = int(ranked.lengths.max(initial=1))
    named = asked_measure(found, Scale(tuple(labels)), longest)
    return _score(named.measure, ranked, unjudged_gain, worthless)


def values(measure: Measure | OtherMeasure, ranked: Ranked, rules: Rules) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of each query of :func:`rankings_to_score`.

    They differ only under ``unjudged="bounds"``, and are nan for a query that is left out.
    """
    if isinstance(measure, DCG):
        measure = with_least(measure, rules.least)
    elif isinstance(measure, LinearUtility) and rules.least is not None:
        raise InputError(
            f"the rules count gains below {rules.least:g} as 0, and position-dependent weights "
            "have no gains",
            "evaluate a DCG, or choose other rules",
        )
    if rules.unjudged == "bounds":
        return _bounds(measure, ranked, rules)
    gain = 0.0 if rules.unjudged == "nothing" else None
    value = _score(measure, ranked, gain, np.nan if rules.worthless is None else rules.worthless)
    return value, value


def _score(
    measure: Measure | OtherMeasure, ranked: Ranked, unjudged_gain: float | None, worthless: float
) -> Floats:
    if isinstance(measure, LinearUtility):
        every = _with_unjudged(measure.matrix, unjudged_gain)
        return np.asarray(np.einsum("qkl,kl->q", ranked.grade_shares(len(every)), every))
    if isinstance(measure, RBPResidual):
        return _residual(measure, ranked, unjudged_gain)
    if isinstance(measure, DCG | RBP):
        dcg = measure.dcg if isinstance(measure, RBP) else measure
        return _of_dcg(dcg, ranked, unjudged_gain, worthless)
    if isinstance(measure, ERR):
        by_grade = _with_unjudged(np.array(measure.probabilities), unjudged_gain)
        value = expected_stop(ranked, by_grade, measure.cutoff, np.reciprocal)
    else:
        by_grade = np.array([*measure.levels, 0.0])
        value = score_binary(measure, ranked)
    if np.isnan(worthless):
        value[ranked.pools[:, by_grade[:-1] > 0].sum(axis=1) == 0] = np.nan
    return value


def _of_dcg(measure: DCG, ranked: Ranked, unjudged_gain: float | None, worthless: float) -> Floats:
    gains = _with_unjudged(np.array(measure.gains), unjudged_gain)
    first = ranked.first(measure.n_ranks)
    discounts = rank_discounts(measure, first)
    expected = first.mean_over_ties(gains[first.grades])
    value = first.sum_by_query(expected * discounts[first.ranks])
    if measure.normalise is None:
        return value
    if max(measure.gains) <= 0 > min(measure.gains):
        raise InputError(*NO_IDEAL)
    others = np.zeros_like(ranked.lengths)  # of no gain, they do not count
    if gains[-1]:
        others = ranked.unjudged if ranked.pooled is None else ranked.pooled
    counts = np.column_stack([ranked.pools, others])
    every = measure.discounts_for(measure.n_ranks or int(counts.sum(axis=1).max(initial=0)))
    return ratio(value, best_run(every, gains, counts), worthless)


def _with_unjudged(by_grade: Floats, unjudged: float | None) -> Floats:
    """Return numbers (..., L + 1) by grade; the last one is of a document without a judgment."""
    last = by_grade[..., -1:]
    last = last if unjudged is None else np.full_like(last, unjudged)
    return np.concatenate([by_grade, last], axis=-1)


def _residual(measure: RBP, ranked: Ranked, unjudged_gain: float | None) -> Floats:
    """Return how much RBP can rise with more judgments and documents."""
    weights = rank_discounts(measure.dcg, ranked)
    unknown = ranked.mean_over_ties(ranked.grades == ranked.n_grades)
    open_gain = 1.0 - (measure.dcg.gains[-1] if unjudged_gain is None else unjudged_gain)
    judged_later = unknown * weights[ranked.ranks] * open_gain
    seen = ranked.lengths if measure.cutoff is None else np.minimum(ranked.lengths, measure.cutoff)
    return ranked.sum_by_query(judged_later) + np.power(measure.p, seen)


def _bounds(measure: Measure | OtherMeasure, ranked: Ranked, rules: Rules) -> tuple[Floats, Floats]:
    if isinstance(measure, ERR):  # rises with every R_i
        ends = min(measure.probabilities or ()), max(measure.probabilities or ())
        low, high = (_score(measure, ranked, end, 0.0) for end in ends)
        return low, high
    if isinstance(measure, RBP):
        least = min(measure.dcg.gains)
        low = _score(measure, ranked, least, 0.0)
        below = 0.0 if measure.cutoff is None else measure.p**measure.cutoff
        return low, low + (_residual(measure, ranked, least) - below)
    if not isinstance(measure, DCG):
        raise InputError("no bounds for position-dependent weights")
    if rules.worthless is None and measure.normalise is not None:
        raise InputError(
            '`unjudged="bounds"`, and queries without relevant documents left out',
            "use `worthless=0`: without all judgments it is unknown which queries these are",
        )
    return unjudged_bounds(measure, ranked, rules.worthless or 0.0)


def in_order(ranked: Ranked, rules: Rules) -> Ranked:
    """Return the rankings with ties only if their mean counts; anew, as what they derive is big."""
    return replace(ranked, tied=ranked.tied if rules.ties == "mean" else None)


def rankings_to_score(ranked: Ranked, rules: Rules) -> Ranked:
    """Return the rankings as measures see them: without unjudged documents if rules remove them."""
    ordered = in_order(ranked, rules)
    return ordered.keep(ranked.grades < ranked.n_grades) if rules.unjudged == "removed" else ordered


def with_least(measure: DCG, least: float | None) -> DCG:
    """Return the measure with 0 for the gains below `least`."""
    if least is None:
        return measure
    return replace(measure, gains=tuple(gain if gain >= least else 0.0 for gain in measure.gains))


def unjudged_in_ideal(rules: Rules, measures: Sequence[object]) -> bool:
    """Return whether the ideal of some measure may count documents without a judgment."""
    normalised = [one for one in measures if isinstance(one, DCG) and one.normalise]
    if rules.unjudged == "worst":
        return any(with_least(one, rules.least).gains[-1] for one in normalised)
    return rules.unjudged == "bounds" and bool(normalised)
