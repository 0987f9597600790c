"""The learned measure compared with given measures by cross-validation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from dcglearn import (
    DCG,
    DCGLearner,
    InputError,
    Preferences,
    Scale,
    agreement,
    compare,
    learn_dcg,
    query_folds,
    usual_presets,
)
from dcglearn.inference.compare import LEARNED, OF_W, UTILITY, ComparedMeasure
from dcglearn.learning.agreement import judged_agreement
from dcglearn.measures.agreement import outcomes
from helpers.simulated import SCALE, TRUTH, simulated_judgments, weighted_and_repeated, with_ids


def test_the_learned_measure_is_compared_on_held_out_queries() -> None:
    data = simulated_judgments(400, 1, reliability=2.0)
    found = compare(
        data, usual_presets(SCALE, 5), DCGLearner(), np.random.default_rng(0), n_folds=4
    )
    assert [row.name for row in found.rows[:3]] == [LEARNED, OF_W, UTILITY]
    assert found.rows[0].ahead is None
    for row in found.rows:
        assert row.low <= row.agreement <= row.high
    for row in found.rows[1:]:
        assert row.ahead == pytest.approx(found.rows[0].agreement - row.agreement)
        decided = row.name.startswith(("binary", "constant"))
        assert row.verdict == ("learned better" if decided else "undecided")
    json.dumps(found.to_json())


def test_the_recommended_learner_is_held_out_as_anyone_would() -> None:
    """Fold by fold, with scikit-learn's scores."""
    data = simulated_judgments(120, 5)
    strict, groups = data[data.strict], data.pair_groups
    found = compare(data, {}, DCGLearner(), np.random.default_rng(3), n_folds=3, n_repeats=1)
    right = np.zeros(len(strict))
    for train, test in query_folds(groups, 3, np.random.default_rng(3)):
        right[test] = outcomes(learn_dcg(strict[train]).dcg, data.pairs[test])
    assert found.rows[0].name == LEARNED
    assert found.rows[0].agreement == pytest.approx(right.mean(), abs=1e-12)


def test_where_the_usual_measures_do_not_apply_w_is_compared() -> None:
    data = replace(simulated_judgments(60, 5), scale=Scale(("x", "y", "z")))
    with pytest.raises(InputError, match="is the name of a learned measure"):
        compare(data, {"W": TRUTH}, DCGLearner(), np.random.default_rng(0))
    documents = Preferences.of([[[0, 1, 2], [1, 0, 2]]] * 4, ["a"] * 4, SCALE)
    found = compare(documents, {}, DCGLearner(encoding="documents"), np.random.default_rng(0))
    assert [row.name for row in found.rows] == [OF_W, UTILITY]


def test_one_query_or_no_strict_judgment_is_refused() -> None:
    data = simulated_judgments(50, 3)
    one_query = data[data.queries == data.queries[0]]
    ties = data[~data.strict]
    for part, problem in ((one_query, "cannot be divided into folds"), (ties, "no strict")):
        with pytest.raises(InputError, match=problem):
            compare(part, {}, DCGLearner(), np.random.default_rng(0))


@pytest.mark.parametrize("C", [1.0, "cv"])
def test_a_judgment_counts_as_often_as_it_weighs(C: Any) -> None:
    weighted, repeated = weighted_and_repeated(120, 6)
    presets = {name: usual_presets(SCALE, 5)[name] for name in ("zipf", "binary:2")}
    one, two = (
        compare(data, presets, DCGLearner(C=C), np.random.default_rng(0), n_folds=3, n_repeats=1)
        for data in (weighted, repeated)
    )
    assert one.C == two.C
    for a, b in zip(one.rows, two.rows, strict=True):
        assert (a.agreement, a.low, a.high) == pytest.approx((b.agreement, b.low, b.high))
        assert a.with_ties == pytest.approx(b.with_ties)
        if a.ahead is not None:
            assert (a.ahead, a.ahead_low, a.ahead_high) == pytest.approx(
                (b.ahead, b.ahead_low, b.ahead_high)
            )
    zipf = one.rows[3]
    known = agreement(presets["zipf"], weighted.pairs, weighted.pair_weights)
    assert zipf.agreement == pytest.approx(known)
    assert zipf.agreement != agreement(presets["zipf"], weighted.pairs)


def test_the_verdict_does_not_depend_on_the_seed_or_says_that_it_is_near_the_line() -> None:
    """Measures at all distances from the learned one."""
    data = simulated_judgments(400, 1, reliability=2.0)
    others = usual_presets(SCALE, 5)
    seen: dict[str, set[str]] = {}
    for seed in range(2):
        for row in compare(data, others, DCGLearner(), np.random.default_rng(seed), n_folds=3).rows:
            seen.setdefault(row.name, set()).add(row.verdict)
    decided = [outcomes - {"near the line"} for outcomes in seen.values()]
    assert max(map(len, decided)) == 1
    assert {"learned better"} in decided
    assert {"undecided"} in decided


def test_two_given_measures_are_compared_without_chance() -> None:
    """Against the paired t-test, where every query has one judgment."""
    data = simulated_judgments(300, 9, reliability=0.7)
    data = replace(with_ids(data, map(str, range(300))), weights=np.ones(len(data)))
    others = {"zipf": DCG([2, 1, 0], "zipf"), "rbp": DCG([2, 1, 0], "rbp(0.9)")}
    one, two = (
        compare(data, others, DCGLearner(), np.random.default_rng(seed), "dcg", 2, "zipf", 1)
        for seed in (0, 1)
    )
    assert (one.against, one.rows[0].name) == ("zipf", "zipf")
    assert [row.name for row in one.rows[1:]] == [LEARNED, OF_W, UTILITY, "rbp"]
    found, again = one.rows[4], two.rows[4]
    assert replace(found, corrected=0) == replace(again, corrected=0)
    assert found.monte_carlo == 0
    difference = outcomes(others["zipf"], data.pairs) - outcomes(others["rbp"], data.pairs)
    known = ttest_1samp(difference, 0.0)
    assert found.ahead == pytest.approx(difference.mean())
    assert found.p == pytest.approx(known.pvalue, abs=0.02)
    half = difference.mean() - known.confidence_interval().low
    assert half < found.ahead - found.ahead_low < 1.1 * half
    with pytest.raises(InputError, match="did you mean 'zipf'"):
        compare(data, others, DCGLearner(), np.random.default_rng(0), against="zipff")


def test_the_verdict_names_what_all_are_compared_with() -> None:
    def row(**changes: float) -> ComparedMeasure:
        usual = {"ahead": 0.05, "ahead_low": 0.02, "ahead_high": 0.08, "p": 0.001}
        numbers = usual | {"corrected": 0.001, "monte_carlo": 0.001} | changes
        return ComparedMeasure("rbp", "DCG", 0.9, 0.8, 1.0, None, 9, 0, 1, "zipf", **numbers)

    assert row().verdict == "zipf better"
    assert row(ahead=-0.05, ahead_low=-0.08, ahead_high=-0.02).verdict == "zipf worse"
    assert row(ahead_low=-0.02, p=0.2).verdict == "undecided"
    assert row(p=0.02).verdict == row(p=0.1).verdict == "near the line"
    assert row(p=0.0199).verdict == "zipf better"
    assert row(monte_carlo=0.0066).verdict == "zipf better"
    assert row(monte_carlo=0.0067).verdict == "near the line"
    assert replace(row(), against=OF_W).verdict == "DCG of W better"


def test_ties_without_a_strict_judgment_of_their_query_are_counted() -> None:
    data = simulated_judgments(200, 4, reliability=1.0)
    alone = ~data.strict & (np.arange(len(data)) % 2 == 0)
    data = with_ids(data, np.where(alone, "tied only", data.queries))
    found = compare(data, [TRUTH], DCGLearner(), np.random.default_rng(0), n_folds=3, n_repeats=2)
    assert found.ties == (~data.strict).sum()
    truth = judged_agreement(TRUTH, data)
    assert found.rows[3].with_ties == truth.with_ties
    learned = found.rows[0].with_ties
    assert learned is not None
    assert truth.with_ties is not None
    assert truth.with_ties - 0.1 < learned <= truth.with_ties + 0.03
    strict = compare(data[data.strict], [], DCGLearner(), np.random.default_rng(0), n_folds=3)
    assert strict.rows[0].with_ties is None
