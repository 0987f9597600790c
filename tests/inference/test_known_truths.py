"""Simulated judges whose truth is known: what was once wrongly rejected, or not determined."""

from __future__ import annotations

import numpy as np
import pytest

from dcglearn import JudgmentModel, Preferences, compare_segments, likelihood_ratio, usual_questions
from dcglearn.inference.covariance import FEW
from dcglearn.inference.evidence import Evidence
from dcglearn.report.questions import questions_text
from helpers.simulated import SCALE, logistic_judgments, noisy_answers, utilities, with_ids

LOG2 = 1 / np.log2(np.arange(2, 7))


def of_any_length(n: int, seed: int) -> Preferences:
    """Lists of 2 to 5 documents; the worst grade is worth .2 of the best, no document nothing."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 3, (n, 2, 5))
    lists[np.arange(5) >= rng.integers(2, 6, (n, 2))[..., None]] = -1
    utility = utilities(4 * np.outer(LOG2, [1, 0.6, 0.2, 0]), lists)
    return Preferences.of(lists, noisy_answers(utility, rng), SCALE)


def test_the_true_discount_is_not_rejected_on_lists_of_different_length() -> None:
    """With the worst grade worth as little as no document, log2 was rejected in every study."""
    p, covered = [], 0
    for seed in range(12):
        data = of_any_length(2000, seed)
        free, log2 = JudgmentModel().fit(data), JudgmentModel(discounts="log2").fit(data)
        p.append(likelihood_ratio(log2, free).p)
        gain, empty = free.gains()[1], free.empty_rank()
        assert empty is not None
        covered += (gain.low <= 0.5 <= gain.high) + (empty.low <= -0.25 <= empty.high)
    assert sum(one < 0.05 for one in p) <= 3
    assert covered >= 20


def test_an_empty_rank_has_a_worth_where_lists_differ_in_theirs() -> None:
    data = of_any_length(300, 0)
    same = data[(data.lists[:, 0] == -1).sum(axis=1) == (data.lists[:, 1] == -1).sum(axis=1)]
    assert Evidence.of(data).layout.empty
    assert not Evidence.of(same).layout.empty
    assert JudgmentModel().fit(same).empty_rank() is None
    known = {"rejected", "near the line", "not rejected"}
    assert {one.verdict for one in usual_questions(data)} <= known


@pytest.mark.parametrize("family", ["zipf:free", "free"])
def test_groups_with_formulas_are_compared_by_their_parameters(family: str) -> None:
    """One parameter, one degree of freedom: p is spread from 0 to 1 where nothing differs."""
    model, p = JudgmentModel(gains="linear", discounts=family), {0.9: [], 1.8: []}
    for steep, found in p.items():
        for seed in range(12):
            rng = np.random.default_rng(seed)
            parts = [
                logistic_judgments(3 * np.outer(np.arange(1, 5) ** -s, [1, 0.5, 0]), 500, rng)
                for s in (0.9, steep)
            ]
            lists = np.concatenate([one.lists for one in parts])
            answers = np.array(["a", "b"])[np.concatenate([one.answers for one in parts])]
            data = Preferences.of(lists, answers, SCALE)
            (one,) = compare_segments(data, ["x"] * 500 + ["y"] * 500, model).compared
            assert one.df == (1 if family == "zipf:free" else 3)
            found.append(one.p)
    assert 0.2 < np.mean(p[0.9]) < 0.8
    assert np.median(p[1.8]) < 0.05


def test_intervals_have_bounds_where_scale_and_lapses_go_together() -> None:
    """Of 100 judgments, a fifth at random: Fieller's interval has none for 6 of these 16 seeds."""
    bounded, covered = 0, 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        lists = rng.integers(0, 3, (100, 2, 5))
        answers = noisy_answers(utilities(6 * np.outer(LOG2, [1, 0.5, 0]), lists), rng)
        answers = np.where(rng.random(100) < 0.2, rng.choice(["a", "b"], 100), answers)
        data = Preferences.of(lists, answers, SCALE)
        gain = JudgmentModel(discounts="log2").fit(data).gains()[1]
        bounded += np.isfinite(gain.high)
        covered += gain.low <= 0.5 <= gain.high
        assert gain.low <= gain.estimate <= gain.high
    assert bounded == 16
    assert covered >= 14


def test_few_queries_are_said_and_allowed_for() -> None:
    rng = np.random.default_rng(5)
    data = logistic_judgments(3 * np.outer(LOG2, [1, 0.5, 0]), 900, rng)
    sizes = np.arange(1, 31) ** -1.2
    names = [f"q{i}" for i in rng.choice(30, 900, p=sizes / sizes.sum())]
    uneven = with_ids(data, names)
    found = usual_questions(uneven)
    shares = np.unique(names, return_counts=True)[1] / 900
    for one in found:
        assert one.test.effective == pytest.approx(1 / (shares**2).sum(), rel=0.1)
        assert one.test.effective < FEW
        assert one.test.cluster_df < 30
    assert "queries or judges of equal weight: p allows for so few" in questions_text(found)
    assert "equal weight" not in questions_text(usual_questions(data))
