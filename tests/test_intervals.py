"""Intervals of learned gains and discounts: their coverage and their width."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import simulated_judgments

from dcglearn.base.errors import InputError
from dcglearn.learning.intervals import parameter_intervals
from dcglearn.learning.learner import DCGLearner


def test_intervals_have_about_their_nominal_coverage() -> None:
    covered = []
    for seed in range(10):
        data = simulated_judgments(400, seed, reliability=2.0, indifference=0.0)
        learner = DCGLearner(n_grades=3).fit(data.pairs)
        found = parameter_intervals(learner, data, np.random.default_rng(0), 40)
        assert found.gains[0].tolist() == [1, 1]  # fixed
        assert found.gains[2].tolist() == [0, 0]
        assert found.discounts[0].tolist() == [1, 1]
        c = 1 / np.log2(np.arange(2, 7))
        covered += list((found.discounts[1:, 0] <= c[1:]) & (c[1:] <= found.discounts[1:, 1]))
        covered.append(found.gains[1, 0] <= 0.5 <= found.gains[1, 1])
    assert 0.8 <= np.mean(covered) <= 1.0


def test_intervals_are_reproducible_and_narrower_with_more_data() -> None:
    few, many = simulated_judgments(150, 1), simulated_judgments(1500, 1)
    widths = []
    for data in (few, many):
        learner = DCGLearner(n_grades=3).fit(data.pairs, sample_weight=data.pair_weights)
        one, two = (
            parameter_intervals(learner, data, np.random.default_rng(5), 20) for _ in range(2)
        )
        assert (one.gains == two.gains).all()
        assert (one.discounts == two.discounts).all()
        assert one.left_out == 0
        widths.append(np.ptp(one.discounts, axis=1).mean())
    assert widths[1] < 0.6 * widths[0]


def test_judgments_of_one_query_are_refused() -> None:
    data = simulated_judgments(40, 3)
    one = data.take(data.queries == data.queries[np.flatnonzero(data.strict)[0]])
    learner = DCGLearner(n_grades=3).fit(data.pairs)
    with pytest.raises(InputError, match="intervals from judgments of 1 query"):
        parameter_intervals(learner, one, np.random.default_rng(0), 5)
