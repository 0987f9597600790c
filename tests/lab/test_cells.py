"""Cells and their store: the same dict gives the same result; no record is lost or misused."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn.asking.policies import POLICIES
from dcglearn.lab import compute, draws, store
from dcglearn.lab.cells import (
    CELL_VERSION,
    cell_of,
    key_of,
)
from dcglearn.lab.compute import compute_cell, run_cell
from dcglearn.lab.draws import Draws
from dcglearn.lab.setting import Setting
from dcglearn.lab.store import Store
from helpers.places import GOLDEN

CELLS = GOLDEN / "cells.json"
SMALL: dict[str, Any] = {"seed": 3, "repetition": 0, "pairs": 20, "test_pairs": 50}
PARAMETERS = ["discounts", "discounts_correlation", "gains", "gains_correlation"]


def test_results_change_only_with_the_version() -> None:
    """If this fails, raise CELL_VERSION in cells.py and run tests/golden/make_cells.py."""
    golden = json.loads(CELLS.read_text("utf-8"))
    assert golden["version"] == CELL_VERSION
    for one in golden["cells"]:
        found = compute_cell(one["cell"])
        assert found.keys() == one["result"].keys()
        for name, value in one["result"].items():
            assert found[name] == pytest.approx(value, rel=1e-6, abs=1e-9), (one["cell"], name)


def test_keys_of_stored_cells_stay_the_same() -> None:
    """They change with the version of cells alone."""
    assert key_of(SMALL) == "1470c1f953c8bef97df61617eb325764"
    assert key_of(dict(reversed(SMALL.items()))) == key_of(SMALL)
    assert key_of(cell_of(Setting(flips=5), 1, 0)) == "ad076d6e5e7a51f61f2bf1abfb16f1e3"


def test_how_the_hamming_margin_goes_with_the_true_difference() -> None:
    setting = Setting(pairs=20, margin="hamming", test_pairs=400)
    cell = cell_of(setting, 3, 0)
    found = compute_cell(cell)["margin_correlation"]
    test = Draws(cell).exact_pairs("test")
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
        {"learner": "usual", "pairs": 15, "policy": "smallest", "pool": 60},
        {"policy": "everything", "pool": 70},
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
    assert [json.dumps(run_cell(cell)) for cell in some] == found
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
        assert str(Store(tmp_path).error({"seed": 1})).startswith("ValueError: ")


def test_two_stores_of_one_folder_lose_nothing(tmp_path: Path) -> None:
    one, other = Store(tmp_path), Store(tmp_path)
    for seed in range(20):
        (one if seed % 2 else other).add({"seed": seed}, {"result": {"precision": 0.9}})
    assert all(Store(tmp_path).get({"seed": seed}) for seed in range(20))


def test_a_line_that_was_not_written_to_its_end_loses_one_cell(tmp_path: Path) -> None:
    for seed in (1, 2):
        Store(tmp_path).add({"seed": seed}, {"result": {"precision": 0.9}})
    file = tmp_path / store.CELLS_FILE
    file.write_bytes(file.read_bytes()[:-9])
    kept = Store(tmp_path)
    kept.add({"seed": 3}, {"result": {"precision": 0.9}})
    found = [Store(tmp_path).get({"seed": seed}) is not None for seed in (1, 2, 3)]
    assert found == [True, False, True]
