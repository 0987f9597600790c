"""Cells and their store: the same dict gives the same result; cells of the judgment model."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import cauchy, logistic, norm

from dcglearn import JudgmentModel, Preferences, preset
from dcglearn.asking.policies import POLICIES
from dcglearn.inference.answers import TIE, A, B
from dcglearn.lab import compute, draws
from dcglearn.lab.compute import compute_cell, interval_record, run_cell, simulated_judgments
from dcglearn.lab.config import CELL_VERSION, cell_of, key_of
from dcglearn.lab.draws import Draws
from dcglearn.lab.results import CELLS_FILE, Store
from dcglearn.lab.setting import Setting, unused_keys
from dcglearn.lab.simulation.judges import NOISES, simulated_answers
from dcglearn.measures.agreement import score_differences
from helpers.places import GOLDEN

CELLS = GOLDEN / "cells.json"
SMALL: dict[str, Any] = {"seed": 3, "repetition": 0, "pairs": 20, "test_pairs": 50}
PARAMETERS = ["discounts", "discounts_correlation", "gains", "gains_correlation"]


def test_results_change_only_with_the_version() -> None:
    """If this fails, raise CELL_VERSION in config.py and run tests/golden/make_cells.py."""
    golden = json.loads(CELLS.read_text("utf-8"))
    assert golden["version"] == CELL_VERSION
    for one in golden["cells"]:
        found = compute_cell(one["cell"])
        assert found.keys() == one["result"].keys()
        for name, value in one["result"].items():
            assert found[name] == pytest.approx(value, rel=1e-6, abs=1e-9), (one["cell"], name)


def test_keys_of_stored_cells_stay_the_same() -> None:
    """They change with the version of cells alone."""
    assert key_of(SMALL) == "e27c3731f419a682f3d6c7a27e572a4e"
    assert key_of(dict(reversed(SMALL.items()))) == key_of(SMALL)
    assert key_of(cell_of(Setting(flips=5), 1, 0)) == "4ce4c6f87ff508c66748e7cce35da633"


def test_least_squares_on_which_single_exchanges_take_too_many() -> None:
    """On some processors more than 500, at the largest C tried (figure 5, repetition 11)."""
    setting = Setting.model_validate({"truth": "data-1", "pairs": 200, "C": "validation"})
    assert 0.9 < compute_cell(cell_of(setting, 2012, 11))["precision"] < 1


def test_how_the_hamming_margin_goes_with_the_true_difference() -> None:
    setting = Setting(pairs=20, margin="hamming", test_pairs=400)
    cell = cell_of(setting, 3, 0)
    found = compute_cell(cell)["margin_correlation"]
    test = Draws(cell).part("test").exact_pairs
    distances = (test[:, 0] != test[:, 1]).sum(axis=1)
    W = np.outer([1 / np.log2(k + 2) for k in range(10)], [5, 4, 3, 2, 1])
    scores = W[np.arange(10), test].sum(axis=2)
    twin = np.corrcoef(distances, scores[:, 0] - scores[:, 1])[0, 1]
    assert found == pytest.approx(twin, rel=1e-9)
    assert "margin_correlation" not in compute_cell(SMALL)


def test_without_grades_the_gains_of_documents_are_compared_with_their_grades() -> None:
    cell = {**SMALL, "lists": "documents", "base": [5, 3, 3, 1], "pairs": 400}
    found = compute_cell({**cell, "columns": PARAMETERS})
    assert found["gains"] == pytest.approx([5, 3, 3, 1], abs=0.3)
    assert found["gains_correlation"] > 0.98


def test_cross_validation_chooses_C_on_the_noisy_judgments_only() -> None:
    """With that C given, everything else is the same: the folds move no other generator."""
    noisy = {**SMALL, "lists": "drawn", "pairs": 30, "reliability": 0.7, "C_grid": [0.01, 1.0]}
    found = [compute_cell({**noisy, "C": "cv", "seed": seed}) for seed in range(3)]
    assert {one["chosen_C"] for one in found} == {0.01, 1.0}
    for seed, one in enumerate(found):
        assert one == compute_cell({**noisy, "C": one["chosen_C"], "seed": seed})
    more = compute_cell({**noisy, "C": "cv", "seed": 0, "validation_pairs": 7})
    assert more == found[0]


def test_gains_and_discounts_of_a_measure_that_ties_all_lists_are_left_out() -> None:
    """As where the judge always prefers the worse list, and W is 0."""
    reversed_ = {"flips": 20, "lists": "drawn", "base": [2, 1], "grades": 2, "columns": PARAMETERS}
    found = compute_cell({**SMALL, **reversed_})
    assert (found["precision"], found["similarity"]) == (0.5, 0.0)
    assert not found.keys() & set(PARAMETERS)
    assert not compute_cell({**SMALL, "truth": "free", "columns": PARAMETERS}).keys() & set(
        PARAMETERS
    )


DRAWN = {"lists": "drawn"}
NOISY = {**DRAWN, "pairs": 30, "reliability": 0.7}
MODEL = {**DRAWN, "learner": "judgment-model", "base": [3, 2, 1], "grades": 3, "pairs": 300}
IN_QUERIES = {**MODEL, "clusters": 40}
VARIED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"learner": "study", "pairs": 60}, {"design": "coin"}),
    (
        {},
        {
            "seed": 4,
            "repetition": 1,
            "columns": ["regret"],
            "truth": "data-2",
            "lists": "drawn",
            "base": [5, 5, 5, 4, 3, 3, 2, 2, 1, 1],
            "grades": 6,
            "ranks": 5,
            "pairs": 21,
            "flips": 3,
            "wrong_grades": 30,
            "reliability": 0.8,
            "bias": 1.0,
            "learner": "qp-dcg",
            "margin": "hamming",
            "C": 0.01,
            "test_pairs": 60,
            "test_lists": "drawn",
            "against": ["zipf"],
        },
    ),
    (DRAWN, {"probabilities": [0.1, 0.1, 0.1, 0.1, 0.6]}),
    (
        {"learner": "usual", "pairs": 15, "policy": "order", "pool": 60},
        {"policy": "everything", "pool": 200},
    ),
    ({**NOISY, "C": "cv"}, {"C_grid": [0.01, 0.02]}),
    ({**NOISY, "C": "validation"}, {"validation_pairs": 9}),
    (
        MODEL,
        {
            "noise": "cauchy",
            "sensitivity": 2.0,
            "lapses": 0.1,
            "ties": "davidson",
            "clusters": 50,
            "gains": "linear",
            "discounts": "log2",
            "hypotheses": ["linear-free in free-free"],
        },
    ),
    (IN_QUERIES, {"unseen": 1.0}),
]
"""Cells, and each key with another value."""


def forget() -> None:
    for one in vars(draws).values():
        if hasattr(one, "cache_clear") and one.__module__ == draws.__name__:
            one.cache_clear()


def test_what_cells_share_does_not_change_what_they_result_in() -> None:
    """Each key has an effect, and cells are the same alone, in either order and in threads."""
    keys = {*Setting.model_fields, "seed", "repetition", "columns"} - {"judge", "options"}
    assert {key for _, more in VARIED for key in more} == keys  # the others are of one's own
    cells = [{**SMALL, **base} for base, _ in VARIED]
    cells += [{**SMALL, **base, key: x} for base, more in VARIED for key, x in more.items()]
    some = list({key_of(cell): cell for cell in cells}.values())
    found = []
    for cell in some:
        forget()
        found.append(json.dumps(run_cell(cell)))
    assert len(set(found)) == len(some)
    assert not any("error" in one for one in found)
    assert [json.dumps(run_cell(cell)) for cell in reversed(some)] == found[::-1]
    forget()
    with ThreadPoolExecutor(4) as pool:
        assert [*map(json.dumps, pool.map(run_cell, some))] == found


@pytest.mark.parametrize("policy", [*POLICIES, "random"])
def test_a_larger_number_of_answers_begins_with_the_smaller(policy: str) -> None:
    asked = {"learner": "usual", "policy": policy, "pool": 80, "truth": "data-2"}
    cells = [{**SMALL, **asked, "pairs": n} for n in (40, 20, 10)]
    pairs = [training_pairs(one) for one in cells]
    for fewer in pairs[1:]:
        assert (pairs[0][: len(fewer)] == fewer).all()
    forget()
    again = training_pairs(cells[1])
    assert (again == pairs[1]).all()
    assert len(np.unique(pairs[0].reshape(len(pairs[0]), -1), axis=0)) == len(pairs[0])


def test_exact_answers_about_the_order_leave_less_error() -> None:
    asked = {"seed": 4, "truth": "data-2", "learner": "usual", "pool": 1000, "pairs": 40}

    def error(policy: str) -> float:
        cells = ({**asked, "repetition": r, "policy": policy, "test_pairs": 2000} for r in range(3))
        return sum(1 - run_cell(cell)["result"]["precision"] for cell in cells)

    assert error("order") < 0.75 * error("everything") < 0.3 * error("random")


def training_pairs(cell: dict[str, Any]) -> np.ndarray:
    return Draws(cell).training_pairs()


def test_cells_that_differ_in_method_or_errors_use_the_same_lists() -> None:
    lists = training_pairs(SMALL)
    for changed in (
        {"margin": "hamming"},
        {"C": 0.1},
        {"flips": 2},
        {"learner": "qp-dcg"},
        {"test_pairs": 60},
        {"test_lists": "drawn"},
    ):
        assert (training_pairs({**SMALL, **changed}) == lists).all()
    more = training_pairs({**SMALL, "pairs": 600})
    assert (more[:20] == lists).all()  # a smaller sample is a part
    other = training_pairs({**SMALL, "truth": "data-2"})
    same = np.sort(lists, axis=1) == np.sort(other, axis=1)
    assert same.all()  # the same two lists, perhaps exchanged
    for changed in ({"repetition": 1}, {"seed": 4}, {"lists": "drawn"}):
        assert not (training_pairs({**SMALL, **changed}) == lists).all()


def test_defaults_are_not_part_of_a_cell() -> None:
    assert cell_of(Setting(truth="data-1", C=1.0), 3, 0) == {"seed": 3, "repetition": 0}
    assert cell_of(Setting(C=1), 3, 0) == cell_of(Setting(), 3, 0)


def test_a_bug_in_a_cell_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Traceback" not in run_cell({**SMALL, "wrong_grades": 401})["error"]  # bad input

    def broken(*_: object) -> None:
        np.linalg.inv(np.zeros((2, 3)))

    monkeypatch.setattr(compute, "_solve", broken)
    forget()
    outcome = run_cell(SMALL)
    assert "compute.py" in outcome["error"]
    assert outcome["error"].splitlines()[-1].startswith("numpy.linalg.LinAlgError: ")


def test_a_result_that_is_not_finite_is_a_failure(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    for result in ({"precision": float("nan")}, {"gains": [1.0, float("inf")]}, {"gains": []}):
        kept.add({"seed": 1}, {"result": result})
        assert kept.get({"seed": 1}) is None
        assert Store(tmp_path).outcome({"seed": 1})["error"].startswith("ValueError: ")


def test_two_stores_of_one_folder_lose_nothing(tmp_path: Path) -> None:
    one, other = Store(tmp_path), Store(tmp_path)
    for seed in range(20):
        (one if seed % 2 else other).add({"seed": seed}, {"result": {"precision": 0.9}})
    assert all(Store(tmp_path).get({"seed": seed}) for seed in range(20))


def test_a_line_that_was_not_written_to_its_end_loses_one_cell(tmp_path: Path) -> None:
    for seed in (1, 2):
        Store(tmp_path).add({"seed": seed}, {"result": {"precision": 0.9}})
    file = tmp_path / CELLS_FILE
    file.write_bytes(file.read_bytes()[:-9])
    kept = Store(tmp_path)
    kept.add({"seed": 3}, {"result": {"precision": 0.9}})
    found = [Store(tmp_path).get({"seed": seed}) is not None for seed in (1, 2, 3)]
    assert found == [True, False, True]


# --- cells of the judgment model: simulated judges, and what intervals and tests are worth


JUDGED: dict[str, Any] = {
    "learner": "judgment-model",
    "lists": "drawn",
    "base": [3, 3, 2, 1, 1],
    "grades": 3,
    "pairs": 300,
}


def simulated(seed: int = 1, **changed: Any) -> Preferences:
    setting = Setting(**{**JUDGED, **changed})
    return simulated_judgments(Draws(cell_of(setting, seed, 0)))


def result(**changed: Any) -> dict[str, Any]:
    outcome = run_cell(cell_of(Setting(**{**JUDGED, **changed}), 1, 0))
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
    unused = unused_keys(Setting(**JUDGED))
    assert {"flips", "C", "C_grid", "validation_pairs", "test_lists", "unseen"} <= set(unused)
    assert not {"lapses", "clusters", "pairs", "lists"} & set(unused)
    assert "unseen" not in unused_keys(Setting(**JUDGED, clusters=5))
    assert {"lapses", "noise", "hypotheses"} <= set(unused_keys(Setting()))
    assert cell_of(Setting(**JUDGED, C=7.0, flips=3), 1, 0) == cell_of(Setting(**JUDGED), 1, 0)


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
    outcome = run_cell(cell_of(Setting(**{**JUDGED, **changed}), 1, 0))
    assert message in outcome["error"]
    assert "traceback" not in outcome


# --- the lists of a published study


def test_intervals_cover_on_the_lists_of_a_published_study(ecir: Preferences) -> None:
    """With its queries, and judges whose truth is 2^g - 1 with the discount log2."""
    data, K = ecir[ecir.strict], ecir.n_ranks
    truth = preset("exponential-log2", data.scale, K)
    W = truth.matrix_for(K)
    differences = 3.0 * score_differences(truth, data.lists) / (W[0, 0] - W[0, -1])
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
