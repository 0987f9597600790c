"""The number of queries that a difference needs: published numbers, simulation, the command."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp

from dcglearn import InputError, queries_needed
from dcglearn.systems.power import paired_deviations, paired_power


@pytest.mark.parametrize(("effect", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_numbers_of_the_tables(effect: float, n: int) -> None:
    """Cohen's small, medium and large effects, as G*Power prints them for a paired t test."""
    assert queries_needed(effect, 1.0) == n
    assert queries_needed(effect / 100, 0.01) == n
    assert paired_power(n, effect, 1.0) >= 0.8 > paired_power(n - 1, effect, 1.0)


def test_many_queries_follow_the_normal_closed_form() -> None:
    closed = ((norm.isf(0.025) + norm.isf(0.2)) / 0.01) ** 2
    assert queries_needed(0.01, 1.0) == pytest.approx(closed, rel=1e-4)


def test_the_power_is_that_of_simulated_tests(rng: np.random.Generator) -> None:
    drawn = rng.normal(0.4, 1.0, (20_000, 30))
    share = (ttest_1samp(drawn, 0.0, axis=1).pvalue < 0.05).mean()
    assert share == pytest.approx(paired_power(30, 0.4, 1.0), abs=4 * np.sqrt(0.25 / 20_000))


def test_deviations_of_all_pairs_with_queries_left_out(rng: np.random.Generator) -> None:
    values = rng.random((4, 9))
    values[1, 3] = np.nan
    variances = []
    for i in range(4):
        for j in range(i):
            difference = values[i] - values[j]
            variances.append(difference[~np.isnan(difference)].var(ddof=1))
    mean, largest = paired_deviations(values)
    assert mean == pytest.approx(np.sqrt(np.mean(variances)))
    assert largest == pytest.approx(np.sqrt(max(variances)))


def test_what_never_differs_and_what_is_refused() -> None:
    assert queries_needed(0.02, 0.0) == 2
    for arguments in ((0.0, 1.0), (0.1, -1.0), (0.1, 1.0, 1.0), (1e-9, 1.0)):
        with pytest.raises(InputError):
            queries_needed(*arguments)
