"""How wide intervals will be after more answers, against what comes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcglearn import Preferences, learn_dcg
from dcglearn.asking.information import Forecast, forecast_of_fit
from dcglearn.inference.estimate import JudgmentModel
from dcglearn.inference.maximise import maximum_from
from helpers.simulated import SCALE

W = 4 * np.outer(1 / np.log2(np.arange(2, 6)), [1, 0.5, 0])


def judged(n: int, rng: np.random.Generator, short: bool = False) -> Preferences:
    """Answers of judges of whom a tenth answers at random; lists may have empty ranks."""
    lists = rng.integers(0, 3, (n, 2, 4)).astype(np.int8)
    if short:
        lists[rng.random(lists.shape[:2]) < 0.3, -1] = -1
    utility = np.append(W, np.zeros((4, 1)), axis=1)[np.arange(4), lists].sum(axis=2)
    first = utility @ [1.0, -1.0] + rng.logistic(size=n) > 0
    first = np.where(rng.random(n) < 0.1, rng.random(n) < 0.5, first)
    differ = (lists[:, 0] != lists[:, 1]).any(axis=1)  # of others nothing is learned
    return Preferences.of(lists, np.where(first, "a", "b"), SCALE)[differ]


def forecast(data: Preferences, ties: float = 0.0) -> tuple[np.ndarray, Forecast]:
    """Return half widths now, and the forecast, with lapses as they are expected."""
    return forecast_of_fit(JudgmentModel().fit(data), learn_dcg(data).posterior, ties)


def said(by: Forecast, lists: np.ndarray) -> np.ndarray:
    slopes, weights = by.of_lists(lists)
    return np.einsum("mn,mnp,mnq->mpq", weights, slopes, slopes)


@pytest.mark.parametrize("short", [False, True])
def test_answers_say_what_the_likelihood_says_of_them(short: bool) -> None:
    """The information of lists that were judged, shown on either side in turn."""
    data = judged(200, np.random.default_rng(0), short)
    lists = data.lists.copy()
    lists[1::2] = lists[1::2, ::-1]
    fit, lapses = JudgmentModel().fit(data), learn_dcg(data).posterior.lapses
    held = np.arange(len(fit.parameters)) == fit.likelihood.places["lapses"].start
    start = np.where(held, lapses, fit.parameters)
    there = maximum_from(fit.likelihood, start, held).parameters
    turned = JudgmentModel().evidence(replace(data, lists=lists))
    twin = replace(fit.likelihood, evidence=turned).information(there)
    found = said(forecast(data)[1], data.lists)[0]
    np.testing.assert_allclose(found, twin, rtol=1e-9, atol=1e-9)
    with_ties = said(forecast(data, ties=1.0)[1], data.lists)[0]
    assert (np.diagonal(with_ties) < np.diagonal(found)).all()


def test_without_more_answers_intervals_are_those_of_now() -> None:
    now, by = forecast(judged(1000, np.random.default_rng(1)))
    np.testing.assert_allclose(by.half_widths(0.0), now, rtol=0.1)


def test_widths_come_as_foretold() -> None:
    """Those from 120 answers after 120 more, on average within 15%, also if lapses were 0."""
    foretold, came, at_bound = [], [], 0
    for seed in range(12):
        data = judged(250, np.random.default_rng(seed))[:240]
        half = JudgmentModel().fit(data[:120])
        at_bound += half.likelihood.value_of("lapses", half.parameters) == 0
        _, by = forecast(data[:120])
        foretold.append(by.half_widths(said(by, data[120:].lists), 2.0))
        fit = JudgmentModel().fit(data)
        found = (*fit.gains()[1:-1], *fit.discounts()[1:])
        came.append([(one.high - one.low) / 2 for one in found])
    assert at_bound > 3
    assert np.mean(came) / np.mean(foretold) == pytest.approx(1, abs=0.15)
