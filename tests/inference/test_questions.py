"""Questions to judgments, and groups of judgments compared: effects by hand, known answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import t

from dcglearn import (
    DCG,
    InputError,
    JudgmentModel,
    Preferences,
    SolverError,
    ask,
    certainty_of,
    compare_segments,
    likelihood_ratio,
    preset,
    usual_questions,
)
from helpers.simulated import SCALE, every_answer, noisy_answers, preset_judgments, with_ids


def test_effects_by_hand() -> None:
    data = every_answer(80, 31)
    one = ask(data, JudgmentModel(discounts="constant"), JudgmentModel(), "constant")
    strict = data[data.strict & (data.lists[:, 0] != data.lists[:, 1]).any(axis=1)]

    def order(first: np.ndarray, second: np.ndarray, W: np.ndarray) -> float:
        return float(np.sign(round(sum(W[k, first[k]] - W[k, second[k]] for k in range(4)), 9)))

    both = one.restricted.weights, one.fit.weights
    differ = [abs(order(*pair, both[0]) - order(*pair, both[1])) / 2 for pair in strict.lists]
    assert one.reversed_judged == pytest.approx(np.average(differ, weights=strict.weights))


def test_a_measure_is_tested_with_its_scale_free() -> None:
    """Multiples of a measure are one hypothesis; so is a shift of its gains."""
    data = every_answer(300, 32)
    measures = [DCG([2, 1, 0], "log2"), DCG([20, 10, 0], "log2"), DCG([3, 2, 1], "log2")]
    found = [ask(data, JudgmentModel(measure=one), JudgmentModel(), "m") for one in measures]
    assert len({round(one.test.statistic, 6) for one in found}) == 1
    linear = JudgmentModel(gains="linear", discounts="log2")
    same = ask(data, linear, JudgmentModel(), "linear-log2")
    assert found[0].test.statistic == pytest.approx(same.test.statistic, abs=1e-6)
    assert found[0].test.df == same.test.df == 4


def test_the_true_measure_is_not_rejected_and_a_wrong_one_is() -> None:
    data = preset_judgments("linear-log2", 3000, 33)
    measures = {name: preset(name, SCALE, 4) for name in ("linear-log2", "exponential-log2")}
    found = {one.hypothesis: one for one in usual_questions(data, measures=measures)}
    assert found["linear-log2"].verdict == "not rejected"
    assert found["exponential-log2"].verdict == "rejected"
    assert found["the same gains at every rank"].verdict == "not rejected"
    assert found["exponential-log2"].reversed_judged > found["linear-log2"].reversed_judged
    assert all(one.corrected >= one.test.p for one in found.values())


def test_a_share_of_lapses_is_tested_on_its_border() -> None:
    """By its standard error, on one side, and p = 1 where the share is estimated as 0."""
    ps = []
    for seed in range(8):
        data = preset_judgments("linear-log2", 500, seed)
        larger = JudgmentModel(discounts="log2").fit(data)
        one = likelihood_ratio(JudgmentModel(discounts="log2", lapses=False).fit(data), larger)
        share = larger.other("lapses").estimate
        assert one.df == 1
        if share:
            contrast = np.eye(larger.likelihood.n_parameters)[
                larger.likelihood.places["lapses"].start
            ]
            V = larger.covariance.variance(contrast)
            df = larger.covariance.degrees_of_freedom(contrast[None])[0]
            assert one.p == pytest.approx(t.sf(share / np.sqrt(V), df))
        else:
            assert one.p == 1
        ps.append(one.p)
    assert 1.0 in ps
    assert min(ps) < 0.5


def test_a_question_without_a_maximum_is_not_answered_and_others_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, fit = every_answer(200, 32), JudgmentModel.fit

    def failing(model: JudgmentModel, *given: Any) -> Any:
        if model.gains == "linear" or model.position_dependent:
            raise SolverError("no maximum")
        return fit(model, *given)

    usual = {one.hypothesis: one.verdict for one in usual_questions(data)}
    monkeypatch.setattr(JudgmentModel, "fit", failing)
    found = {one.hypothesis: one.verdict for one in usual_questions(data)}
    assert found["linear"] == found["the same gains at every rank"] == "not determined"
    assert found["exponential"] == usual["exponential"]


@pytest.mark.parametrize("seed", range(2))
def test_directions_that_change_no_weight_are_not_counted(seed: int) -> None:
    """Of four ranks and three grades: 3 discounts, 1 gain, or both, whatever their scale."""
    data = every_answer(400, seed, levels=False)
    larger = JudgmentModel().fit(data)
    for given, df in (
        ({"gains": "exponential", "discounts": "constant"}, 4),
        ({"gains": "linear"}, 1),
        ({"discounts": "zipf"}, 3),
    ):
        assert likelihood_ratio(JudgmentModel(**given).fit(data), larger).df == df


def test_groups_that_differ() -> None:
    rng = np.random.default_rng(36)
    lists = rng.integers(0, 3, size=(2000, 2, 4))
    groups = np.repeat(["news", "shops"], 1000)
    gains = np.where((groups == "news")[:, None], [3, 2.7, 0], [3, 0.3, 0])
    worth = np.take_along_axis(gains, lists.reshape(2000, -1), axis=1).reshape(lists.shape)
    answers = noisy_answers(worth @ [1, 0.7, 0.5, 0.4], rng)
    data = Preferences.of(lists, answers, SCALE)
    (one,) = compare_segments(data, groups.tolist()).compared
    assert one.name == "news"
    assert one.corrected < 1e-6
    assert one.reversed_judged > 0.1
    assert one.fit.gains()[1].low > one.other.gains()[1].high


def test_a_query_in_both_groups_is_one_cluster() -> None:
    """Copies of all judgments in both groups: the difference is 0 and has no variance."""
    data = every_answer(200, 37, levels=False)
    double = data[np.tile(np.arange(200), 2)]
    labels = [0] * 200 + [1] * 200
    (one,) = compare_segments(double, labels, JudgmentModel(discounts="log2")).compared
    assert one.statistic == pytest.approx(0, abs=1e-6)
    assert one.reversed_judged == 0


def test_small_groups_are_named_and_left_out() -> None:
    data = every_answer(300, 38, levels=False)
    labels = ["left"] * 140 + ["right"] * 140 + ["tiny"] * 10 + [None] * 10
    found = compare_segments(data, labels, JudgmentModel(discounts="log2"))
    assert found.too_small == ("tiny",)
    assert len(found.compared) == 1
    with pytest.raises(InputError, match="1 group of 20"):
        compare_segments(data, ["all"] * 290 + ["tiny"] * 10)
    with pytest.raises(InputError, match="2 groups for 300 judgments"):
        compare_segments(data, ["a", "b"])


def test_known_verdicts_on_ecir2015(ecir: Preferences) -> None:
    found = {one.hypothesis: one for one in usual_questions(ecir)}
    assert found["exponential"].verdict == found["exponential-log2"].verdict == "rejected"
    assert found["log2"].verdict == found["the same gains at every rank"].verdict == "not rejected"
    assert found["constant"].verdict == "rejected"
    assert found["linear"].verdict == "near the line"
    assert 0.01 < found["exponential-log2"].reversed_judged < 0.03  # rejected, and hardly different


def of_judges(second: str, seed: int) -> Preferences:
    """400 judgments of each of two judges of other queries; the first follows linear-log2."""
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 3, size=(800, 2, 4))
    truths = [
        3 * np.array(preset(name, SCALE, 4).matrix_for(4)) for name in ("linear-log2", second)
    ]
    W = np.repeat([truth / truth.max() for truth in truths], 400, axis=0)
    utility = 4 * W[np.arange(800)[:, None, None], np.arange(4), lists].sum(axis=2)
    answers = noisy_answers(utility, rng)
    queries = [f"q{i // 4}" for i in range(800)]
    judges = ["ann"] * 400 + ["bob"] * 400
    return Preferences.of(lists, answers, SCALE, None, queries, judges)


def test_two_judges_are_compared() -> None:
    """A group of one judge has no clusters of judges: they would leave one degree of freedom."""
    found = []
    for second in ("linear-log2", "constant"):
        data = of_judges(second, 41)
        (one,) = compare_segments(data, data.judges.tolist()).compared
        assert one.cluster_df > 20
        found.append(one.verdict)
    assert found == ["not rejected", "rejected"]


def test_one_query_says_nothing_about_others() -> None:
    one = with_ids(every_answer(300, 43), ["q"] * 300)
    fit = JudgmentModel().fit(one)
    assert not fit.gains()[1].determined
    assert np.isinf(fit.gains()[1].high)
    assert not fit.other("side").determined
    assert {question.verdict for question in usual_questions(one)} == {"not determined"}
    reason = "all strict judgments are of one query, and say nothing about others"
    assert certainty_of(one).reason == reason
