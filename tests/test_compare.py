"""The learned measure compared with given measures by cross-validation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import norm
from simulated import SCALE, TRUTH, simulated_judgments, weighted_and_repeated

from dcglearn.base.errors import InputError
from dcglearn.data.preferences import ANSWERS, Preferences
from dcglearn.learning.compare import LEARNED_DCG, LEARNED_UTILITY, compare
from dcglearn.learning.learner import DCGLearner
from dcglearn.measures.agreement import agreement
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
    for part, problem in ((one_query, "folds for judgments of 1 query"), (ties, "no strict")):
        with pytest.raises(InputError, match=problem):
            compare(part, {}, DCGLearner(), np.random.default_rng(0))


@pytest.mark.parametrize("tune", [False, True])
def test_a_judgment_counts_as_often_as_it_weighs(tune: bool) -> None:
    weighted, repeated = weighted_and_repeated(120, 6)
    presets = {name: usual_presets(SCALE, 5)[name] for name in ("zipf", "binary:2")}
    one, two = (
        compare(data, presets, DCGLearner(), np.random.default_rng(0), n_folds=3, tune=tune)
        for data in (weighted, repeated)
    )
    assert one.C == two.C
    for a, b in zip(one.rows, two.rows, strict=True):
        assert (a.agreement, a.low, a.high) == pytest.approx((b.agreement, b.low, b.high))
        if a.ahead is not None:
            assert (a.ahead, a.ahead_low, a.ahead_high) == pytest.approx(
                (b.ahead, b.ahead_low, b.ahead_high)
            )
    zipf = one.rows[2]
    assert zipf.agreement == agreement(presets["zipf"], weighted.pairs, weighted.pair_weights)
    assert zipf.agreement != agreement(presets["zipf"], weighted.pairs)


def test_intervals_hold_95_percent() -> None:
    data = simulated_judgments(400, 8, reliability=0.5)
    data = Preferences.of(data.lists, [ANSWERS[a] for a in data.answers], SCALE)
    others = {"zipf": DCG([2, 1, 0], "zipf")}
    found = compare(data, others, DCGLearner(), np.random.default_rng(0), n_folds=2)
    row, n = found.rows[2], len(data.pairs)
    assert found.queries == n  # each judgment without a query is one of its own
    error = np.sqrt(row.agreement * (1 - row.agreement) / n)
    assert (row.high - row.low) / 2 / error == pytest.approx(norm.ppf(0.975), abs=0.15)


def test_a_learner_that_chooses_c_reports_the_c_of_each_fold() -> None:
    data = simulated_judgments(150, 2)
    found = compare(data, {}, DCGLearner(C="cv"), np.random.default_rng(0), n_folds=2)
    assert len(found.C) == 2
    assert set(found.C) <= {10.0**p for p in range(-4, 4)}


def test_the_other_learned_measure_is_second() -> None:
    data = simulated_judgments(150, 2)
    by_dcg, by_utility = (
        compare(data, {}, DCGLearner(), np.random.default_rng(0), use=use, n_folds=2).rows
        for use in ("dcg", "utility")
    )
    assert [row.name for row in by_utility] == [LEARNED_UTILITY, LEARNED_DCG]
    assert {row.name: row.agreement for row in by_utility} == {
        row.name: row.agreement for row in by_dcg
    }
    assert by_utility[1].ahead == pytest.approx(-by_dcg[1].ahead)
    assert by_dcg[0].measure == "2-fold cross-validation by query"
