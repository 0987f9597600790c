"""Results that a table may also hold: learned numbers beside the true ones, what errors cost.

They are computed where ``COLUMNS`` of an experiment names them.

Gains are identified up to an affine map; discounts up to scale, or up to an affine map where all
pairs compare lists of the same content. They are compared with the truth after the least-squares
map of that kind, unless the truth is not a DCG, or the learned measure ties all lists.
"""

from __future__ import annotations

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Grades
from dcglearn.correlation.tau import kendall_tau
from dcglearn.lab.decorators import CellData
from dcglearn.lab.similarity import cosine
from dcglearn.learning.factorise import factorise
from dcglearn.learning.record import Factors, Gauge, is_affine
from dcglearn.measures.agreement import outcomes, score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure

PAIRS_FOR_TAU = 1000
"""Test pairs whose lists are ordered."""

PARAMETERS = {"gains", "gains_correlation", "discounts", "discounts_correlation"}
"""Results that there are only where the truth is a DCG."""

RESULTS = {
    "gains": "learned gains on the scale of the truth (gains_1 is the best grade's)",
    "gains_correlation": "correlation of learned and true gains",
    "discounts": "learned discounts on the scale of the truth (discounts_1 is the first rank's)",
    "discounts_correlation": "correlation of learned and true discounts",
    "regret": "share of the true difference that is lost by trusting the learned order",
    "kendall_tau": "tau-b between the true and the learned order of the lists of 1,000 test pairs",
}
"""The results, with what they are."""


def result_named(
    name: str, truth: Measure, learned: Measure, data: CellData
) -> float | list[float] | None:
    """Return a result; None leaves it out of the cell."""
    if name == "regret":
        return regret(truth, learned, data)
    if name == "kendall_tau":
        return order_of_lists(truth, learned, data)
    factors = _factors(learned, data)
    if factors is None or not isinstance(truth, DCG):
        return None
    found, true, affine = factors.gains, np.array(truth.gains), True
    if name.startswith("discounts"):
        found, affine = factors.discounts, is_affine(factors.gauge)
        true = truth.discounts_for(len(found))
    if name.endswith("correlation"):
        return abs(cosine(found - found.mean(), true - true.mean()))  # the sign is part of the map
    columns = np.column_stack([found, np.ones(len(found))] if affine else [found])
    nearest = columns @ np.linalg.lstsq(columns, true)[0]
    return [*nearest.tolist()]


def _factors(learned: Measure, data: CellData) -> Factors | None:
    """Return learned gains and discounts; None if the measure ties all lists.

    A fit keeps its factors. Of a learner of one's own, only the measure is known, whose discounts
    pairs that reorder one list determine up to an affine map.
    """
    try:
        if data.fit is not None:
            return data.fit.factors
        pairs, setting = data.training_pairs, data.setting
        reordered = bool((np.sort(pairs[:, 0], axis=1) == np.sort(pairs[:, 1], axis=1)).all())
        gauge: Gauge = "worst order" if reordered else "worst"
        return factorise(learned.matrix_for(setting.n_ranks), gauge, ordered=not setting.documents)
    except InputError:
        return None


def regret(truth: Measure, learned: Measure, data: CellData) -> float:
    """Share of the true difference that is lost by trusting the order of the learned measure.

    With d_i > 0 the true difference of test pair i, and o_i = 1 where the learned measure prefers
    the better list, 1/2 where it ties them, 0 otherwise:

        regret = sum_i (1 - o_i) d_i / sum_i d_i

    0 if no preference is wrong, 1/2 by chance. Errors on lists that hardly differ cost little.
    """
    differences = score_differences(truth, data.test_pairs)
    wrong = 1 - outcomes(learned, data.test_pairs)
    return float(wrong @ differences / differences.sum())


def order_of_lists(truth: Measure, learned: Measure, data: CellData) -> float:
    """Kendall's tau-b between the true and the learned order of the lists of 1,000 test pairs."""
    pairs = data.test_pairs[:PAIRS_FOR_TAU]
    lists = pairs.reshape(-1, pairs.shape[2])
    try:
        return kendall_tau(_scores(truth, lists), _scores(learned, lists))
    except InputError:  # all lists are tied
        return 0.0


def _scores(measure: Measure, lists: Grades) -> Floats:
    """Score lists; differences that are rounding errors are removed."""
    scores = measure.score(lists)
    return np.asarray(np.round(scores / np.abs(scores).max(initial=1e-300), 12))
