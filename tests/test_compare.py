"""The learned measure compared with given measures by cross-validation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from simulated import SCALE, TRUTH, simulated_judgments

from dcglearn.base.errors import InputError
from dcglearn.data.preferences import Preferences
from dcglearn.learning.compare import LEARNED_DCG, LEARNED_UTILITY, compare
from dcglearn.learning.learner import DCGLearner
from dcglearn.measures.dcg import DCG
from dcglearn.measures.presets import usual_presets
from dcglearn.simulation.lists import drawn_lists


def test_the_learned_measure_is_compared_on_held_out_queries() -> None:
    data = simulated_judgments(400, 1, reliability=2.0)
    found = compare(
        data, usual_presets(SCALE, 5), DCGLearner(), np.random.default_rng(0), n_folds=4
    )
    assert [row.name for row in found.rows[:2]] == [LEARNED_DCG, LEARNED_UTILITY]
    assert found.rows[0].ahead is None
    for row in found.rows:
        assert row.low <= row.agreement <= row.high
    for row in found.rows[1:]:
        assert row.ahead == pytest.approx(found.rows[0].agreement - row.agreement)
        decided = row.name.startswith(("binary", "constant"))
        assert row.verdict == ("learned better" if decided else "undecided")
    json.dumps(found.to_json())
    again = compare(
        data, usual_presets(SCALE, 5), DCGLearner(), np.random.default_rng(0), n_folds=4
    )
    assert again == found
    other = compare(
        data, {"zipf": DCG([2, 1, 0], "zipf")}, DCGLearner(), np.random.default_rng(0), "utility", 4
    )
    assert other.learned == LEARNED_UTILITY


def test_the_learned_measure_is_worse_than_the_truth_on_few_judgments() -> None:
    data = simulated_judgments(100, 0, reliability=1e9, indifference=0.01)
    found = compare(data, {"truth": TRUTH}, DCGLearner(), np.random.default_rng(0), n_folds=4)
    assert found.rows[2].agreement == 1
    assert found.rows[2].verdict == "learned worse"


def test_random_answers_are_agreed_with_half_of_the_time() -> None:
    """A test judgment that leaked into the training data would raise the agreement."""
    rng = np.random.default_rng(4)
    lists = drawn_lists(300, 5, [0.3, 0.3, 0.4], rng)
    answers = rng.choice(["a", "b"], 300)
    data = Preferences.of(lists, answers, SCALE, queries=[f"q{i}" for i in range(300)])
    found = compare(data, {}, DCGLearner(C=100), np.random.default_rng(0))
    assert abs(found.rows[0].agreement - 0.5) < 0.08
    assert DCGLearner(C=100).fit(data.pairs).score(data.pairs) > 0.55


def test_c_is_chosen_within_each_fold() -> None:
    data = simulated_judgments(150, 2)
    seen: list[tuple[int, int]] = []
    found = compare(
        data,
        {},
        DCGLearner(),
        np.random.default_rng(0),
        n_folds=2,
        tune=True,
        advance=lambda done, total: seen.append((done, total)),
    )
    assert len(found.C) == 2
    assert set(found.C) <= {10.0**p for p in range(-4, 4)}
    assert seen == [(1, 3), (2, 3)]


def test_one_query_or_no_strict_judgment_is_refused() -> None:
    data = simulated_judgments(50, 3)
    one_query = data.take(data.queries == data.queries[0])
    ties = data.take(~data.strict)
    for part, problem in ((one_query, "queries"), (ties, "no strict")):
        with pytest.raises(InputError, match=problem):
            compare(part, {}, DCGLearner(), np.random.default_rng(0))
