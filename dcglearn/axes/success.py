"""Measures of success that a table may also hold: what a wrong order costs, how alike orders are.

They are computed where ``COLUMNS`` of an experiment names them, from exact test pairs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dcglearn.axes.decorators import CellData, result
from dcglearn.axes.learned_parameters import (
    discounts_correlation,
    gains_correlation,
    learned_discounts,
    learned_gains,
)
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Grades
from dcglearn.correlation.tau import kendall_tau
from dcglearn.measures.agreement import outcomes, score_differences
from dcglearn.measures.measure import Measure

PAIRS_FOR_TAU = 1000
"""Test pairs whose lists are ordered."""


@result(name="regret")
def regret(truth: Measure, learned: Measure, data: CellData) -> float:
    """Share of the true difference that is lost by trusting the order of the learned measure.

    With d_i > 0 the true difference of test pair i, and o_i = 1 where the learned measure prefers
    the better list, 1/2 where it ties them, 0 otherwise:

        regret = sum_i (1 - o_i) d_i / sum_i d_i

    0 if no preference is wrong, 1/2 by chance. Errors on lists that hardly differ cost little.

    Parameters
    ----------
    truth, learned : DCG or LinearUtility
    data : CellData

    Returns
    -------
    float
    """
    differences = score_differences(truth, data.test_pairs)
    wrong = 1 - outcomes(learned, data.test_pairs)
    return float(wrong @ differences / differences.sum())


@result(name="kendall_tau")
def order_of_lists(truth: Measure, learned: Measure, data: CellData) -> float:
    """Kendall's tau-b between the true and the learned order of the lists of 1,000 test pairs.

    Parameters
    ----------
    truth, learned : DCG or LinearUtility
    data : CellData

    Returns
    -------
    float
        0 if the learned measure ties all lists.
    """
    pairs = data.test_pairs[:PAIRS_FOR_TAU]
    lists = pairs.reshape(-1, pairs.shape[2])
    true, estimated = _scores(truth, lists), _scores(learned, lists)
    try:
        return kendall_tau(true, estimated)
    except InputError:  # all lists are tied
        return 0.0


def _scores(measure: Measure, lists: Grades) -> Floats:
    """Score lists; differences that are rounding errors are removed."""
    scores = measure.score(lists)
    rounded: Floats = np.round(scores / np.abs(scores).max(initial=1e-300), 12)
    return rounded


SHIPPED_RESULTS: dict[str, Callable[..., float | list[float] | None]] = {
    "gains": learned_gains,
    "gains_correlation": gains_correlation,
    "discounts": learned_discounts,
    "discounts_correlation": discounts_correlation,
    "regret": regret,
    "kendall_tau": order_of_lists,
}
"""Results that are computed where they are asked for; None leaves one out of the cell."""
