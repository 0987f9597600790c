"""Simulated judges who follow a model, and what intervals and tests of that model are worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import cauchy, logistic, norm

from dcglearn import InputError, JudgmentModel, LinearUtility, Preferences, preset
from dcglearn.inference.answers import TIE, A, B
from dcglearn.lab.cells import cell_of, setting_of
from dcglearn.lab.compute import run_cell
from dcglearn.lab.draws import Draws
from dcglearn.lab.model_cells import in_log_odds, interval_record, simulated_judgments
from dcglearn.lab.setting import Setting, check_setting, unused_keys
from dcglearn.lab.simulation.judges import NOISES, simulated_answers

SMALL: dict[str, Any] = {
    "learner": "judgment-model",
    "lists": "drawn",
    "base": [3, 3, 2, 1, 1],
    "grades": 3,
    "pairs": 300,
}


def simulated(seed: int = 1, **changed: Any) -> Preferences:
    setting = Setting(**{**SMALL, **changed})
    return simulated_judgments(Draws(cell_of(setting, seed, 0)))


def result(**changed: Any) -> dict[str, Any]:
    outcome = run_cell(cell_of(Setting(**{**SMALL, **changed}), 1, 0))
    assert "result" in outcome, outcome
    found: dict[str, Any] = outcome["result"]
    return found


# --- judges


def test_noises_are_equally_steep_and_those_of_scipy() -> None:
    v = np.linspace(-6, 6, 25)
    scales = {"logistic": 1.0, "normal": 4 / np.sqrt(2 * np.pi), "cauchy": 4 / np.pi}
    for law in (logistic, norm, cauchy):
        name = law.name.replace("norm", "normal")
        assert NOISES[name](v) == pytest.approx(law.cdf(v, scale=scales[name]))
        assert law.pdf(0, scale=scales[name]) == pytest.approx(0.25)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("lapses", [0.0, 0.3])
def test_answers_have_the_probabilities_of_the_model(
    ties: bool, lapses: float, rng: np.random.Generator
) -> None:
    n, v = 40_000, 1.2
    found = simulated_answers(np.full(n, v), rng, lapses=lapses, ties=ties)
    meant = {A: np.exp(v / 2), B: np.exp(-v / 2), TIE: float(ties)}
    total, kinds = sum(meant.values()), 2 + ties
    for answer, odds in meant.items():
        p = (1 - lapses) * odds / total + lapses * (answer != TIE or ties) / kinds
        assert (found == answer).mean() == pytest.approx(p, abs=4 * np.sqrt(0.25 / n))


def test_a_smaller_sample_is_the_start_of_a_larger_one() -> None:
    few, many = simulated(pairs=300), simulated(pairs=700)
    assert (few.lists == many.lists[:300]).all()
    assert (few.answers == many.answers[:300]).all()


def test_the_best_grade_at_rank_1_is_worth_the_sensitivity() -> None:
    W = in_log_odds(np.array([[7.0, 3.0, 1.0], [4.0, 2.0, 1.0]]), 3.0)
    assert W.tolist() == [[3.0, 1.0, 0.0], [1.5, 0.5, 0.0]]


def test_queries_are_uneven_and_show_few_lists() -> None:
    data = simulated(pairs=20_000, clusters=100, unseen=2.0)
    sizes = np.sort(np.unique(data.queries.astype(str), return_counts=True)[1])[::-1]
    assert sizes[0] / 20_000 == pytest.approx(0.108, abs=0.01)
    largest = data[np.array([query == "q0" for query in data.queries])]
    assert len(np.unique(largest.lists.reshape(-1, 10), axis=0)) <= 8  # either side first
    assert len(data.queries) == 20_000
    shown, first = np.unique(largest.lists.reshape(-1, 10), axis=0, return_inverse=True)
    shares = [(largest.answers[first == i] == A).mean() for i in range(len(shown))]
    assert max(shares) + min(shares) == pytest.approx(1, abs=0.1)  # reversed with the sides


# --- cells


def test_settings_without_effect_are_no_part_of_a_cell() -> None:
    unused = unused_keys(Setting(**SMALL))
    assert {"flips", "C", "C_grid", "validation_pairs", "test_lists", "unseen"} <= set(unused)
    assert not {"lapses", "clusters", "pairs", "lists"} & set(unused)
    assert "unseen" not in unused_keys(Setting(**SMALL, clusters=5))
    assert {"lapses", "noise", "hypotheses"} <= set(unused_keys(Setting()))
    assert cell_of(Setting(**SMALL, C=7.0, flips=3), 1, 0) == cell_of(Setting(**SMALL), 1, 0)


def test_a_cell_is_the_same_each_time_and_has_every_result() -> None:
    hypotheses = ["linear-free in free-free", "free-free in positions"]
    one = result(lapses=0.05, hypotheses=hypotheses)
    assert one == result(lapses=0.05, hypotheses=hypotheses)
    assert {f"p:{text}" for text in hypotheses} <= set(one)
    assert one["determined"] == 1
    assert result(lapses=0.05)["coverage"] == one["coverage"]


def test_a_wrong_family_is_rejected_and_the_right_one_is_not() -> None:
    tests = ["linear-free in free-free", "exponential-free in free-free"]
    found = result(pairs=3000, truth="data-2", hypotheses=tests)
    assert found[f"p:{tests[0]}"] < 1e-6
    assert found[f"p:{tests[1]}"] > 0.01


def test_lists_that_permute_each_other_determine_gains_only() -> None:
    found = result(lists="permutations", pairs=3000)
    assert found["determined"] == pytest.approx(1 / 5)  # the middle gain, not four discounts
    assert "coverage:discounts" not in found
    assert abs(found["middle_gain"]) < 0.2
    gain = JudgmentModel().fit(simulated(lists="permutations", pairs=3000)).gains()[1]
    given = (
        JudgmentModel(discounts="log2").fit(simulated(lists="permutations", pairs=3000)).gains()[1]
    )
    assert gain.determined
    assert gain.low < gain.estimate < gain.high
    assert gain.estimate == pytest.approx(given.estimate, abs=0.05)
    assert gain.high - gain.low == pytest.approx(given.high - given.low, rel=0.3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lapses": 1.0}, "lapses: found 1.0"),
        ({"sensitivity": 0.0}, "sensitivity: found 0.0"),
        ({"clusters": -1}, "clusters: found -1"),
        ({"unseen": -1.0, "clusters": 5}, "unseen: found -1.0"),
        ({"ties": "davidson", "noise": "cauchy"}, "ties: ties are drawn with logistic noise"),
        ({"lists": "documents", "base": [3, 2, 1]}, "lists: documents have no grades"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_setting(setting_of({**SMALL, **changed}))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hypotheses": ["linear"]}, "write linear-free in free-free"),
        ({"hypotheses": ["linear in free-free"]}, "does not name gains and discounts"),
        ({"hypotheses": ["free-free in linear-free"]}, "do not hold all measures"),
        ({"truth": "free"}, "has no gains and discounts"),
        ({"gains": "linaer"}, "unknown"),
    ],
)
def test_unknown_models_are_refused(changed: dict[str, Any], message: str) -> None:
    outcome = run_cell(cell_of(Setting(**{**SMALL, **changed}), 1, 0))
    assert message in outcome["error"]
    assert "traceback" not in outcome


# --- the lists of a published study


def test_intervals_cover_on_the_lists_of_a_published_study(ecir: Preferences) -> None:
    """With its queries, and judges whose truth is 2^g - 1 with the discount log2."""
    data, K = ecir[ecir.strict], ecir.n_ranks
    truth = preset("exponential-log2", data.scale, K)
    W = in_log_odds(truth.matrix_for(K), 3.0)
    differences = LinearUtility(W).score(data.lists) @ [1.0, -1.0]
    found = []
    for seed in range(80):
        answers = simulated_answers(differences, np.random.default_rng(seed), lapses=0.05)
        simulated = replace(data, answers=answers, judges=np.full(len(data), None, object))
        found.append(interval_record(JudgmentModel().fit(simulated), truth))
    coverage, of_gains, bias = (
        np.mean([one[key] for one in found])
        for key in ("coverage", "coverage:gains", "middle_gain")
    )
    assert 0.92 <= coverage <= 0.98
    assert of_gains >= 0.89  # 63 of 80 intervals of the QP's resampling contain it
    assert abs(bias) < 0.02
