"""Judges who lapse more or less often: shrinkage, and its effect on the measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from dcglearn import JudgmentFit, JudgmentModel, Preferences, Scale
from dcglearn.inference.judges import JudgeLapses, judge_lapses

MODEL = JudgmentModel(discounts="log2")


def of_people(lapses: list[float], n: int, seed: int) -> Preferences:
    """Judgments of people of whom each answers a share at random."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 3, size=(n, 2, 4))
    judges = rng.integers(0, len(lapses), n)
    W = np.outer(3 / np.log2(np.arange(2, 6)), [1, 1 / 3, 0])
    utility = W[np.arange(4), lists].sum(axis=2)
    e = np.array(lapses)[judges]
    a = rng.random(n) < e / 2 + (1 - e) * expit(utility[:, 0] - utility[:, 1])
    names = [f"judge {number:02}" for number in judges]
    return Preferences.of(lists, np.where(a, "a", "b"), Scale((2, 1, 0)), judges=names)


def found(data: Preferences) -> tuple[JudgmentFit, JudgeLapses, list[str]]:
    fit = MODEL.fit(data)
    evidence = fit.evidence
    names: dict[int, str] = dict(
        zip(evidence.judged.judges.tolist(), data.judges[evidence.rows].tolist(), strict=True)
    )
    return fit, judge_lapses(fit.likelihood, fit.parameters), [names[i] for i in range(len(names))]


def test_random_judges_are_told_from_careful_ones() -> None:
    _, lapses, names = found(of_people([0.02] * 20 + [0.9] * 4, 4000, 1))
    worst = {names[i] for i in np.argsort(-lapses.mean)[:4]}
    assert worst == {f"judge {number}" for number in range(20, 24)}
    assert lapses.low[lapses.mean > 0.5].min() > lapses.high[lapses.mean < 0.2].max()
    assert ((lapses.low <= lapses.mean) & (lapses.mean <= lapses.high)).all()


def test_a_share_of_random_answers_is_estimated_even_where_most_are() -> None:
    data = of_people([0.8], 30_000, 9)
    share = replace(MODEL, judges=False).fit(data).other("lapses")
    assert share.low < 0.8 < share.high
    assert share.high - share.low < 0.1


def test_unlike_judges_make_intervals_narrower() -> None:
    data = of_people([0.02] * 24 + [0.9] * 8, 3000, 5)
    wide, narrow = (replace(MODEL, judges=judges).fit(data).gains()[1] for judges in (False, True))
    assert narrow.high - narrow.low < 0.95 * (wide.high - wide.low)
    assert narrow.low < 1 / 3 < narrow.high


def test_gradient_with_judges() -> None:
    likelihood = MODEL.fit(of_people([0.05] * 5 + [0.6] * 3, 400, 6)).likelihood
    relative = likelihood.evidence.relative_lapses
    assert relative is not None
    x = likelihood.start.copy()
    x[likelihood.index("lapses")] = 0.1 / relative.max()
    at = likelihood.expand(x)
    for i, step in enumerate(1e-6 * np.eye(len(x))):
        up, down = likelihood.expand(x + step), likelihood.expand(x - step)
        assert at.gradient[i] == pytest.approx((up.value - down.value) / 2e-6, rel=1e-4, abs=1e-3)
        second = (up.gradient - down.gradient) / 2e-6
        np.testing.assert_allclose(at.hessian[i], second, rtol=1e-4, atol=1e-2)
