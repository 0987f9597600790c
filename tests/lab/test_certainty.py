"""Simulated judges who follow a model, and what intervals and tests of that model are worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import cauchy, logistic, norm

from dcglearn import JudgmentModel, LinearUtility, Preferences, preset
from dcglearn.inference.answers import TIE, A, B
from dcglearn.lab.cells import cell_of
from dcglearn.lab.compute import run_cell
from dcglearn.lab.draws import Draws
from dcglearn.lab.model_cells import in_log_odds, interval_record, simulated_judgments
from dcglearn.lab.setting import Setting, unused_keys
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


def test_lists_that_permute_each_other_determine_gains_only() -> None:
    found = result(lists="permutations", pairs=3000)
    assert found["determined"] == pytest.approx(1 / 5)  # the middle gain, not four discounts
    assert "coverage:discounts" not in found


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hypotheses": ["linear"]}, "write linear-free in free-free"),
        ({"hypotheses": ["free-free in linear-free"]}, "do not hold all measures"),
        ({"truth": "free"}, "has no gains and discounts"),
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
